"""Options on named dimensions: which sizes they may have, and for which a program is specialized.

Input: texts such as `batch: 1..1024, %8` and `batch=1,8,64`. Output: names with bounds, and sizes by name;
what means nothing is bad usage.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .reporting import BadUsage, usage

if TYPE_CHECKING:
    from ..frontend.tracing.specs import BoundedName

DimOption = Annotated[
    list[str],
    typer.Option(
        "--dim",
        metavar="NAME: MIN..MAX, %N",
        help="The sizes that a named dimension may have, and what they are multiples of.",
        show_default=False,
    ),
]
SpecializeOption = Annotated[
    list[str],
    typer.Option(
        "--specialize",
        metavar="NAME=N,...",
        help="Add programs for these sizes of a named dimension, which calls of such sizes take.",
        show_default=False,
    ),
]
_MOST: Final = 64  # programs of one function: a file of more is a mistake


def parse_dims(texts: Sequence[str]) -> dict[str, BoundedName]:
    """The names of `--dim` with their bounds."""
    from ..frontend.tracing.specs import bounded_name

    dims: dict[str, BoundedName] = {}
    for text in texts:
        name = usage("--dim", bounded_name, text)
        if str(name) in dims:
            raise BadUsage(f"--dim: {str(name)!r} is described twice")
        dims[str(name)] = name
    return dims


def bounded(
    specs: tuple[tuple[Any, ...], dict[str, Any]], dims: Mapping[str, BoundedName], option: str = "--dim"
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The specs of arguments, whose named dimensions have these bounds."""
    from ..frontend import tree
    from ..frontend.tracing.specs import ShapeDtype

    if not dims:
        return specs
    found: set[str] = set()

    def replaced(spec: Any) -> Any:
        if not isinstance(spec, ShapeDtype):
            return spec
        found.update(n for n in spec.shape if isinstance(n, str))
        return ShapeDtype([dims.get(n, n) if isinstance(n, str) else n for n in spec.shape], spec.dtype)

    args, kwargs = tree.map(replaced, specs)
    missing = sorted(dims.keys() - found)
    if missing:
        known = ", ".join(sorted(found)) or "none"
        raise BadUsage(f"{option}: no argument has a dimension {missing[0]!r}: there is {known}")
    return args, kwargs


def parse_sizes(texts: Sequence[str]) -> list[dict[str, int]]:
    """The sizes of `--specialize`; of several dimensions, every combination."""
    by_name: dict[str, list[int]] = {}
    for text in texts:
        name, separator, numbers = text.partition("=")
        sizes = numbers.split(",")
        is_legal = all(size.strip().isdecimal() and len(size) < 19 for size in sizes)
        if not separator or not name.strip().isidentifier() or not is_legal:
            raise BadUsage(
                f"--specialize: {text!r} is not NAME=N,...", hint="write --specialize batch=1,8,64"
            )
        if name.strip() in by_name or len(set(map(int, sizes))) < len(sizes):
            raise BadUsage(f"--specialize: {text!r} names a dimension or a size twice")
        by_name[name.strip()] = [int(size) for size in sizes]
    if not by_name:
        return []
    combinations = [dict(zip(by_name, sizes, strict=True)) for sizes in itertools.product(*by_name.values())]
    if len(combinations) > _MOST:
        raise BadUsage(f"--specialize: {len(combinations)} programs, at most {_MOST} are built")
    return combinations
