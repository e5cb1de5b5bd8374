"""Where standard output leads: the command's result, or nowhere."""

from __future__ import annotations

import os

STDOUT, STDERR = 1, 2


def divert(descriptor: int | None) -> None:
    """Let standard output's descriptor lead where `descriptor` leads; None, or a closed one: nowhere."""
    try:
        if descriptor is not None:
            os.dup2(descriptor, STDOUT)
            return
    except OSError:
        pass
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDOUT)
    if nowhere != STDOUT:
        os.close(nowhere)
