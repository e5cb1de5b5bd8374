"""Shardy's ops in a text: meshes and constraints go, bodies for one rank become functions.

Input: a text. Output: the text without the dialect, which the wheel does not have, and where its lines were;
the rule of the custom calls that stand for `sdy.manual_computation`.

Idea: the body for one rank of a mesh is mapped over the mesh by `adze.vmap` with named axes, over which its
collectives go: one program on one device computes what the ranks would. What a sharding says beside that
changes no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ...library import numpy as xp
from ...transforms.vmap import vmap
from .application import Application, as_array
from .program import StableHLOError

_SYMBOL: Final = r"@([\w.]+|\"[^\"]*\")"
_MESH: Final = re.compile(rf"^\s*sdy\.mesh\s+{_SYMBOL}\s*=\s*<\[([^\]]*)\]([^>]*)>[^\n]*$", re.MULTILINE)
_AXIS: Final = re.compile(r'\s*"([^"]+)"\s*=\s*(\d+)\s*')
_CONSTRAINT: Final = re.compile(r"sdy\.sharding_constraint(\s+%[\w#]+)\s+<[^\n]*?>\s*:")
_MANUAL: Final = re.compile(r"sdy\.manual_computation\(")
_PARTS: Final = ("in_shardings=", "out_shardings=", "manual_axes=")
_RETURN: Final = re.compile(
    r"\bsdy\.return\b((?:[^:\n]*:\s*([^\n]*?))?(?:\s+loc\([^\n]*\))?)\s*$", re.MULTILINE
)
_OTHER: Final = re.compile(r"^\s*(?:%[\w:, %]+=\s*)?\"?sdy\.(\w+)", re.MULTILINE)
_OPENING: Final = re.compile(r"\s*\(")
_BODY: Final = re.compile(r"\s*\{")
_MODULE: Final = re.compile(r"^\s*module\b", re.MULTILINE)
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[(\[{]|[)\]}]')
_SHARDING: Final = re.compile(rf"<{_SYMBOL},\s*\[((?:\{{[^}}]*\}}(?:,\s*)?)*)\]([^>]*)>")
_ESCAPES: Final = str.maketrans({'"': r"\"", "\\": r"\\", "\n": " "})
_MOST_RANKS: Final = 4096


@dataclass(frozen=True, slots=True)
class Lines:
    """Which line of a text was which: `moved` are pairs of a line and the one that was it, ascending."""

    moved: tuple[tuple[int, int], ...] = ()

    def before(self, line: int) -> int:
        """The number of a line before the text was changed."""
        for now, was in reversed(self.moved):
            if line >= now:
                return line - now + was
        return line


def without_shardy(text: str, name: str) -> tuple[str, Lines]:
    """The text without Shardy's ops: bodies for one rank are functions, called by a custom call."""
    meshes: dict[str, str] = {}
    for mesh in _MESH.finditer(text):
        if mesh[3].strip(", \t"):
            raise _error(text, name, mesh.start(1), f"the mesh @{mesh[1]} numbers its devices by itself")
        meshes[mesh[1]] = ",".join(f"{axis}={size}" for axis, size in _AXIS.findall(mesh[2]))
    text = _MESH.sub("", text)
    text = _CONSTRAINT.sub(r"stablehlo.optimization_barrier\1 :", text)
    lines = Lines()
    count = 0
    while (found := _MANUAL.search(text)) is not None:
        text, lines = _lifted(text, name, found, meshes, lines, f"sdy_body_{count}")
        count += 1
    other = _OTHER.search(text)
    if other:
        problem = f"sdy.{other[1]}: a program that is divided among devices is not supported"
        raise _error(text, name, other.start(1), problem, lines)
    return text, lines


def _error(text: str, name: str, place: int, problem: str, lines: Lines | None = None) -> StableHLOError:
    line = (lines or Lines()).before(text.count("\n", 0, place) + 1)
    return StableHLOError(problem, where=f"{name}:{line}", hint="export it for one device")


def _closing(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`; -1 where there is none."""
    depth = 0
    for sign in _TOKEN.finditer(text, start):
        if sign[0] in "([{":
            depth += 1
        elif sign[0] in ")]}":
            depth -= 1
            if not depth:
                return sign.end()
    return -1


def _lifted(
    text: str, name: str, found: re.Match[str], meshes: dict[str, str], lines: Lines, symbol: str
) -> tuple[str, Lines]:
    """`sdy.manual_computation(%x) in_shardings=... (%arg: type) {...} : types` as a call of its body."""

    def error(problem: str) -> StableHLOError:
        return _error(text, name, found.start(), f"sdy.manual_computation: {problem}", lines)

    def bracket(start: int) -> tuple[str, int]:
        end = _closing(text, start)
        if end < 0:
            raise error("a bracket is not closed")
        return text[start:end], end

    operands, place = bracket(found.end() - 1)
    attributes = []
    for part in _PARTS:
        while text[place : place + 1].isspace():
            place += 1
        if not text.startswith(part, place):
            raise error(f"expected {part.rstrip('=')}")
        value, place = bracket(place + len(part))
        attributes.append((part.rstrip("="), value))
    used = {mesh for _, value in attributes for mesh in re.findall(rf"<{_SYMBOL}", value)}
    if len(used) != 1 or not used <= meshes.keys():
        raise error(f"expected one mesh that the module declares, got {sorted(used)}")
    attributes.append(("mesh", meshes[used.pop()]))
    opening = _OPENING.match(text, place)
    arguments, place = bracket(opening.end() - 1) if opening else ("()", place)
    body = _BODY.match(text, place)
    if body is None:
        raise error("it has no body")
    inside, end = bracket(body.end() - 1)
    returned = next(reversed(list(_RETURN.finditer(inside))), None)
    if returned is None:
        raise error("its body returns nothing")
    inside = f"{inside[: returned.start()]}func.return{returned[1]}{inside[returned.end() :]}"
    written = ", ".join(f'{key} = "{value.translate(_ESCAPES)}"' for key, value in attributes)
    call = f"stablehlo.custom_call @sdy_manual_computation{operands} "
    call += f"{{called_computations = [@{symbol}], {written}}}"
    call += "\n" * text.count("\n", found.start(), end)  # lines keep their numbers
    was = lines.before(text.count("\n", 0, body.end()) + 1)
    text = f"{text[: found.start()]}{call}{text[end:]}"
    place = text.rfind("\n}") + 1 if _MODULE.search(text) else len(text)
    function = f"\nfunc.func private @{symbol}{arguments} -> ({returned[2] or ''}) {inside}\n"
    now = text.count("\n", 0, place) + 2
    text = f"{text[:place]}{function}{text[place:]}"
    behind = now + function.count("\n") - 1
    return text, Lines((*lines.moved, (now, was), (behind, lines.before(now - 1))))


def manual_computation(app: Application) -> Any:
    """The custom call that stands for the op: its computation, for all ranks of the mesh."""
    sizes = dict(_axis(entry) for entry in str(app.attribute("mesh")).split(",") if entry)
    if int(np.prod(list(sizes.values()), dtype=np.float64)) > _MOST_RANKS:
        raise app.error(f"a mesh of {sizes} has more than {_MOST_RANKS} ranks")
    manual = set(re.findall(r'"([^"]+)"', str(app.attribute("manual_axes"))))
    incoming, outgoing = (_dimensions(app, f"{end}_shardings", manual, sizes) for end in ("in", "out"))
    (symbol,) = app.attribute("called_computations")
    arrays, region = app.arrays, app.functions[symbol].body
    if (len(incoming), len(outgoing)) != (len(arrays), len(app.op.results)):
        raise app.error("it has not one sharding for each operand and result")
    divided = [_divided(app, x, spec, sizes) for x, spec in zip(arrays, incoming, strict=True)]

    def body(*xs: Any) -> list[Any]:
        return [as_array(v) for v in app.run(region, xs)]

    mapped: Any = body
    for axis in reversed(sizes):
        places = tuple(0 if any(axis in names for names in spec) else None for spec in incoming)
        mapped = vmap(mapped, in_axes=places, axis_name=axis, axis_size=sizes[axis])
    results = mapped(*divided)
    return [_joined(r, spec, sizes) for r, spec in zip(results, outgoing, strict=True)]


def _axis(entry: str) -> tuple[str, int]:
    name, _, size = entry.rpartition("=")
    return name, int(size)


def _dimensions(
    app: Application, attribute: str, manual: set[str], sizes: dict[str, int]
) -> list[list[tuple[str, ...]]]:
    """For each array, for each of its dimensions, the manual axes of the mesh that divide it."""
    result = []
    for _, dimensions, rest in _SHARDING.findall(str(app.attribute(attribute))):
        if ":(" in dimensions or ":(" in rest:
            raise app.error("parts of the axes of a mesh are not supported")
        each = [re.findall(r'"([^"]+)"', part) for part in re.findall(r"\{([^}]*)\}", dimensions)]
        spec = [tuple(name for name in names if name in manual) for names in each]
        flat = [name for names in spec for name in names]
        if len(set(flat)) < len(flat) or not set(flat) <= sizes.keys():
            raise app.error(f"the axes {flat} are not distinct axes of the mesh {sizes}")
        result.append(spec)
    return result


def _divided(app: Application, x: Any, spec: Sequence[tuple[str, ...]], sizes: dict[str, int]) -> Any:
    """`x` with the axes of the mesh that divide it in front, in the order of the mesh."""
    if len(spec) != x.ndim:
        raise app.error(f"a sharding of {len(spec)} dimensions is that of an array of {x.ndim}")
    shape: list[int] = []
    places: dict[str, int] = {}
    kept = []
    for n, names in zip(x.shape, spec, strict=True):
        count = int(np.prod([sizes[name] for name in names], dtype=np.int64))
        if count > 1 and (not isinstance(n, int) or n % count):
            raise app.error(f"an axis of size {n} is not divided by {count} ranks")
        for name in names:
            places[name] = len(shape)
            shape.append(sizes[name])
        kept.append(len(shape))
        shape.append(n if count == 1 else n // count)
    order = [places[name] for name in sizes if name in places]
    return xp.transpose(xp.reshape(x, tuple(shape)), (*order, *kept))


def _joined(x: Any, spec: Sequence[tuple[str, ...]], sizes: dict[str, int]) -> Any:
    """The inverse of `_divided`; of ranks that have the same, the first counts."""
    used = {name for names in spec for name in names}
    x = x[tuple(slice(None) if name in used else 0 for name in sizes)]
    front = [name for name in sizes if name in used]
    order: list[int] = []
    shape = []
    for axis, (n, names) in enumerate(zip(x.shape[len(front) :], spec, strict=True)):
        order += [*(front.index(name) for name in names), len(front) + axis]
        shape.append(n * int(np.prod([sizes[name] for name in names], dtype=np.int64)))
    return xp.reshape(xp.transpose(x, tuple(order)), tuple(shape))
