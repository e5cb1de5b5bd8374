"""`--default-dtypes`: whether NumPy's own float64 yields to narrower numbers while a function is traced.

Input: the name on the command line or in a project. Output: a context for the trace; another
name is bad usage.
"""

from __future__ import annotations

import contextlib
from typing import Annotated, Final

import typer

from .reporting import BadUsage

NAMES: Final = ("float32", "numpy")
"""What `adze.default_dtypes` takes: a test compares."""
DefaultDtypesOption = Annotated[
    str | None,
    typer.Option(
        "--default-dtypes",
        metavar="|".join(NAMES),
        help="float32: NumPy's float64 scalars and captured arrays yield to what they meet.",
        show_default=False,
    ),
]


def tracing_dtypes(name: str | None) -> contextlib.AbstractContextManager[None]:
    """The context of a trace; without a name, what ADZE_DEFAULT_DTYPES says."""
    if name is None:
        return contextlib.nullcontext()
    from ..frontend.tracing.default_dtypes import default_dtypes

    return default_dtypes(name)


def check_default_dtypes(name: str | None) -> None:
    """Bad usage for what is no choice."""
    if name is not None and name not in NAMES:
        raise BadUsage(
            f"--default-dtypes: {name!r} is no choice", hint=f"write {' or '.join(map(repr, NAMES))}"
        )
