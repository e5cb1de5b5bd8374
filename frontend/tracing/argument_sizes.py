"""The sizes that arguments of a traced function share, are bounded by, or are expressions of.

Input: the arguments, whose dynamic dimensions are names or expressions of names. Output: sizes of names, and
ops that check, when the program runs, that every dimension has the size that its name stands for. Idea: names
that stand alone come first; an expression with one name left, such as `2*n + 1`, is solved for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...dialects.dialect import BY_NAME
from ...dialects.symbolic_sizes import NamedSize, parse_size
from ...runtime.artifact.signature import Bounds
from ..errors import ArgumentError
from . import sizes
from .frames import Frame, Tracer
from .locations import user_location_text
from .sizes import Dim, size_of_text
from .specs import BoundedName, SpecError

if TYPE_CHECKING:
    from .size_assumptions import SizeAssumptions
    from .trace import Parameter


def solved(dimensions: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The size of each name in these dimensions, whose texts and sizes are given.

    Raises `ArgumentError` where a name does not follow, as that of `n*n` does not.
    """
    found: dict[str, Any] = {}
    waiting = []
    for text, size in dimensions:
        if text.isidentifier():
            found.setdefault(text, size)
        else:
            waiting.append((text, size))
    while waiting:
        left = [entry for entry in waiting if not _solve(*entry, found)]
        if len(left) == len(waiting):
            names = sorted({str(n) for text, _ in left for n in _names(text)} - found.keys())
            raise ArgumentError(
                f"cannot solve for the sizes {', '.join(names)}: only dimensions in which one unknown name "
                f"stands once, as in '2*n + 1', are solved, got {', '.join(repr(text) for text, _ in left)}",
                where=user_location_text(),
                hint="let an argument have the name itself as a dimension",
            )
        waiting = left
    return found


def _names(text: str) -> set[Any]:
    size = parse_size(text)
    return size.names() if isinstance(size, NamedSize) else set()


def _solve(text: str, value: Any, found: dict[str, Any]) -> bool:
    """Whether all names of an expression are known, the last one by solving for it."""
    size = parse_size(text)
    assert isinstance(size, NamedSize), text
    unknown = size.names() - found.keys()
    if not unknown:
        return True
    terms = [(monomial, factor) for monomial, factor in size.terms if monomial == (*unknown,)]
    rest = size if len(unknown) > 1 or len(terms) != 1 else size - NamedSize(*unknown) * terms[0][1]
    if rest is size or (isinstance(rest, NamedSize) and not rest.names() <= found.keys()):
        return False
    known = size_of_text(str(rest), found) if isinstance(rest, NamedSize) else rest
    (name,) = unknown
    found[str(name)] = (value - known) // terms[0][1]
    return True


def check_shared_dimensions(
    frame: Frame, parameters: Sequence[Parameter], tracers: Sequence[Tracer]
) -> dict[str, Dim]:
    """Let the program check that each name has one size; the sizes of names."""
    first: dict[str, tuple[str, Dim]] = {}
    expressions: list[tuple[str, Dim, str]] = []
    for parameter, tracer in zip(parameters, tracers, strict=True):
        for axis, (name, n) in enumerate(zip(parameter.dimensions, tracer.shape, strict=False)):
            if name is None or not isinstance(n, Dim):
                continue
            place = f"axis {axis} of '{parameter.name}'"
            if not name.isidentifier():
                expressions.append((name, n, place))
            elif name not in first:
                first[name] = (place, n)
            else:
                other, m = first[name]
                message = f"adze: dimension '{name}' must have one size: {other} and {place} differ"
                frame.emit(BY_NAME["size_check"], (m.value, n.value), {"message": message})
    own = [(name, n) for name, (_, n) in first.items()]
    if not expressions:
        return dict(own)
    # `n` itself, not the Dim of the argument: what is computed from that is the expression it must equal
    free = [Dim(frame, n.value, f"?of_{k}") for k, (_, n, _) in enumerate(expressions)]
    found = solved([*own, *((text, n) for (text, _, _), n in zip(expressions, free, strict=True))])
    found = {name: n if n.text == name else Dim(frame, n.value, name) for name, n in found.items()}
    for (text, _, place), n in zip(expressions, free, strict=True):
        expected = size_of_text(text, {name: Dim(frame, m.value, f"?{name}") for name, m in found.items()})
        message = f"adze: {place} must have the size '{text}' of its dimensions"
        frame.emit(BY_NAME["size_check"], (n.value, frame.size_value(expected)), {"message": message})
    return found


def check_assumptions(frame: Frame, assumptions: SizeAssumptions, found: dict[str, Dim]) -> None:
    """Let the program check what was assumed of the sizes of its arguments."""
    known = {name: Dim(frame, n.value, f"?{name}") for name, n in found.items()}
    expressions = [NamedSize(name) - 1 for name in found]
    for size in (*expressions, *assumptions.nonnegative):
        value = size_of_text(str(size), known)
        if isinstance(value, Dim):
            zero = frame.size_value(0)
            (legal,) = frame.emit(BY_NAME["size_max"], (value.value, zero), {})
            message = f"adze: sizes of arguments: '{size}' must not be negative"
            frame.emit(BY_NAME["size_check"], (value.value, legal), {"message": message})


def check_bounds(
    frame: Frame, parameters: Sequence[Parameter], tracers: Sequence[Tracer]
) -> dict[str, Bounds]:
    """Sizes outside the bounds of their dimension are an error when the program is called; the bounds."""
    found: dict[str, Bounds] = {}
    for parameter, tracer in zip(parameters, tracers, strict=True):
        for axis, (name, n) in enumerate(zip(parameter.dimensions, tracer.shape, strict=False)):
            if not isinstance(name, BoundedName) or not isinstance(n, Dim):
                continue
            if str(name) in found:
                if found[str(name)] != name.bounds:
                    raise SpecError(
                        f"dimension '{name}' has two bounds: {found[str(name)]} and {name.bounds}",
                        where=user_location_text(),
                    )
                continue
            found[str(name)] = name.bounds
            place = f"dimension '{name}' (axis {axis} of '{parameter.name}') must be {name.bounds}"
            legal = sizes.maximum(n, name.bounds.least)
            if name.bounds.most is not None:
                legal = sizes.minimum(legal, name.bounds.most)
            if name.bounds.multiple_of > 1:
                legal = legal // name.bounds.multiple_of * name.bounds.multiple_of
            frame.emit(
                BY_NAME["size_check"], (n.value, frame.size_value(legal)), {"message": f"adze: {place}"}
            )
    return found
