"""The options of commands that compile a derivative or a batch of a function in its place.

Input: the flags and texts of the command line. Output: a `Derivation`; what contradicts itself is bad usage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from .reporting import BadUsage

if TYPE_CHECKING:
    from ..frontend.staging.derived import Derivation

DERIVATIVES = ("grad", "value_and_grad", "vjp", "jvp")
GradOption = Annotated[bool, typer.Option("--grad", help="Compile the gradient of its one result, a scalar.")]
ValueAndGradOption = Annotated[
    bool, typer.Option("--value-and-grad", help="Compile the value and the gradient.")
]
VjpOption = Annotated[
    bool, typer.Option("--vjp", help="Compile results and cotangents of arguments; takes `cotangents` too.")
]
JvpOption = Annotated[
    bool, typer.Option("--jvp", help="Compile results and their tangents; takes `tangents` too.")
]
ArgnumsOption = Annotated[
    str, typer.Option("--argnums", metavar="N,...", help="Which arguments derivatives are by, from 0.")
]
VmapOption = Annotated[
    str | None,
    typer.Option(
        "--vmap", metavar="[SIZE]", help="Compile a batch of this size: a number, or a name, such as batch."
    ),
]
InAxesOption = Annotated[
    str | None,
    typer.Option(
        "--in-axes",
        metavar="AXIS,...",
        help="The batch's axis of each argument; None: all elements share it.",
    ),
]
KeepIrOption = Annotated[
    bool, typer.Option("--keep-ir", help="Keep the adze IR in the file, for adze transform.")
]


def derivation(flags: Mapping[str, bool], argnums: str, batch: str | None, in_axes: str | None) -> Derivation:
    """What the options ask for; at most one of `flags` may be set."""
    from ..frontend.staging.derived import Derivation

    chosen = [name for name, is_set in flags.items() if is_set]
    if len(chosen) > 1:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in chosen)
        raise BadUsage(f"{names}: one derivative at a time", hint="adze transform takes the result further")
    if in_axes is not None and batch is None:
        raise BadUsage("--in-axes: there is no batch", hint="write --vmap SIZE too")
    axes = None if in_axes is None else tuple(_axis(text) for text in in_axes.split(","))
    return Derivation(chosen[0] if chosen else None, _numbers(argnums), _size(batch), axes)


def _numbers(text: str) -> tuple[int, ...]:
    entries = text.split(",")
    if not all(entry.strip().isdecimal() for entry in entries):
        raise BadUsage(f"--argnums: {text!r} is no list of argument numbers", hint="write 0, or 0,2")
    return tuple(int(entry) for entry in entries)


def _axis(text: str) -> int | None:
    if text.strip() == "None":
        return None
    if not text.strip().isdecimal():
        raise BadUsage(f"--in-axes: {text!r} is no axis", hint="write a number from 0, or None")
    return int(text)


def _size(text: str | None) -> int | str | None:
    if text is None or text.isidentifier():
        return text
    if not text.isdecimal():
        raise BadUsage(f"--vmap: {text!r} is no size", hint="write a number, or a name: --vmap 8, --vmap n")
    return int(text)
