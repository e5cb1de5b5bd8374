"""Looking for NaN: `with adze.debug.nans():` stops at the op that made the first one.

What is evaluated at once is watched op by op. What is compiled inside the context is compiled with checks
(a program of its own beside the unchecked one), which a saved artifact keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import Token
from typing import Any

import numpy as np

from ...dialects.errors import AdzeError
from ...dialects.types import INEXACT
from ...passes.analysis.check_nans import NanWatch, reported
from ...passes.analysis.evaluate import WATCH, Watch
from ...passes.pipeline import CHECK_NANS, run_pipeline
from ..tracing.trace import Parameter, TracedProgram


@contextmanager
def nans(enabled: bool = True) -> Iterator[None]:
    """Raise `NanError` at the first op that gives NaN, in this thread, in a `with` block or as a decorator.

    The error names the op, the line of the forward pass that the op comes from, and whether it belongs to
    the forward or the backward pass; for evaluated ops also the ranges of the operands, and where an infinity
    among them came from. A NaN that a `where` drops counts: the derivative meets it again. `nans(False)`
    switches the watch off inside. What a user wrote as a derivative (`custom_vjp`, `custom_jvp`) is named by
    its own lines and counts as forward.

    Functions of `adze.jit` are compiled once more for this, with a check for each op: compiling takes about
    four times as long, a step of a small network two to twenty times.
    """
    token = watch_nans(enabled)
    try:
        yield
    finally:
        WATCH.reset(token)


def watch_nans(enabled: bool) -> Token[Watch | None]:
    """Start to look for NaN in this thread, or stop it, as `nans` does for a block."""
    return WATCH.set(NanWatch() if enabled else None)


def add_checks(traced: TracedProgram) -> None:
    """Let a traced program stop at its first NaN."""
    run_pipeline(traced.module, CHECK_NANS, check=False)  # verified once it is a `Traced`


def explained(error: AdzeError, parameters: Sequence[Parameter], leaves: Sequence[Any]) -> AdzeError:
    """What to raise for a call that failed with `error`: a `NanError` where a check for NaN did."""
    of_nan = reported(error.message)
    if of_nan is None:
        return error
    arguments = [p.name for p, leaf in zip(parameters, leaves, strict=True) if _holds_nan(leaf)]
    return (
        reported(error.message, f"NaN came in through {', '.join(arguments)}" if arguments else None) or error
    )


def _holds_nan(leaf: Any) -> bool:
    array = np.asarray(leaf)
    return array.dtype in INEXACT and bool(np.isnan(array).any())
