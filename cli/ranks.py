"""`--ranks`: programs for a job of several processes, built by one.

Input: the number of ranks. Output: a block in which meshes are of that job.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer

from .reporting import BadUsage

RanksOption = Annotated[
    int | None,
    typer.Option(
        "--ranks",
        metavar="N",
        help="Build for a job of N processes, over which meshes lie.",
        show_default=False,
    ),
]


def ranks_of_the_job(count: int | None) -> AbstractContextManager[None]:
    """Let meshes be of `count` ranks that run elsewhere; of 1 or None, they are local."""
    from ..runtime.distributed.planned import planned

    if count is None or count == 1:
        return nullcontext()
    if count < 1:
        raise BadUsage(f"--ranks: {count} is no number of ranks", hint="write --ranks 4")
    return planned(count)
