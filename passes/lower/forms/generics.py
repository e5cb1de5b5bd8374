"""What a `linalg.generic` over large arrays says of itself, and the writing of others from its body.

In: lowered IR. Out: `Generic`s, which state the loops of an elementwise op or a fold (a reduction over axes)
without affine maps; copies of bodies; folds made of folds. Here nothing is decided: `fusion.py` and
`merging.py` decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from ....dialects import mlir
from ..builder import DYNAMIC
from ..tuning import configuration
from .rearrangement import RearrangementForms

Map = tuple[int, ...]  # for each axis of an array the loop that walks it, FIXED where it is always at 0
FIXED: Final = -1

CHEAP: Final = frozenset(
    f"arith.{name}"
    for name in (
        *("constant", "addf", "subf", "mulf", "divf", "negf", "maximumf", "minimumf", "maxnumf", "minnumf"),
        *("cmpf", "cmpi", "select", "extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast"),
        *("addi", "subi", "muli", "andi", "ori", "xori", "extsi", "extui", "trunci", "index_cast"),
        *("maxsi", "minsi", "maxui", "minui"),
    )
) | {"math.absf", "math.sqrt", "math.rsqrt", "math.copysign", "linalg.index"}


@dataclass(slots=True)
class Generic:
    """An elementwise op or a fold with large static loops. Its first result stands for it."""

    operation: Any
    maps: list[Map]  # of the inputs
    kept: Map  # the loops that walk the results, in the order of their axes
    loops: int
    is_fold: bool
    is_cheap: bool = False  # an elementwise op that may be computed again

    @property
    def key(self) -> Any:
        return self.operation.results[0]

    @property
    def body(self) -> Any:
        return self.operation.regions[0].blocks[0]

    @property
    def inputs(self) -> list[Any]:
        return list(self.operation.operands)[: len(self.maps)]

    @property
    def inits(self) -> list[Any]:
        return list(self.operation.operands)[len(self.maps) :]

    @property
    def reads(self) -> list[tuple[Any, Map]]:
        """The arrays that are read, and how."""
        return list(zip(self.inputs, self.maps, strict=True))

    @property
    def tiles(self) -> Any:
        """The tiles it was given, None for none."""
        return self.operation.attributes.get("compilation_info")


def read(operation: Any) -> Generic | None:
    """What is known of `operation`, if it is a large elementwise op or fold."""
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return None
    *inputs, init = operation.operands
    if not any(is_large(v) for v in (*inputs, init)):
        return None
    attributes = operation.attributes
    maps = [_loops_of(mlir.ir.AffineMapAttr(a).value) for a in mlir.ir.ArrayAttr(attributes["indexing_maps"])]
    kinds = [str(kind) for kind in mlir.ir.ArrayAttr(attributes["iterator_types"])]
    *sources, kept = maps
    loops = list(range(len(kinds)))
    if any("reduction" in kind for kind in kinds):
        if len(inputs) != 1 or sorted(sources[0]) != loops or FIXED in kept:
            return None
        return Generic(operation, sources, kept, len(loops), True)
    if list(kept) != loops or any(not m and _rank(v) for v, m in zip(inputs, sources, strict=True)):
        return None
    return Generic(operation, sources, kept, len(loops), False, _is_cheap(operation))


def owner(value: Any) -> Any:
    """The op that makes `value`, None for an argument."""
    return None if isinstance(value.owner, mlir.ir.Block) else value.owner.operation


def _loops_of(map_: Any) -> Map:
    """The loops that walk the axes of an array, each another; nothing for any other map."""
    loops = []
    for expression in map_.results:
        if isinstance(expression, mlir.ir.AffineDimExpr):
            loops.append(expression.position)
        elif isinstance(expression, mlir.ir.AffineConstantExpr):
            loops.append(FIXED)
        else:
            return ()
    walking = [loop for loop in loops if loop != FIXED]
    return tuple(loops) if len(set(walking)) == len(walking) else ()


def through(map_: Map, walk: Map) -> Map:
    """How an operand of an elementwise op is walked where its result is walked by `walk`."""
    return tuple(FIXED if axis == FIXED else walk[axis] for axis in map_)


def repeated_constant(value: Any) -> Any:
    """The scalar that a constant of real or integer elements repeats: as an operand it costs the tiles."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.name != "arith.constant":
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, mlir.ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    if isinstance(attribute.type.element_type, (mlir.ir.ComplexType, mlir.ir.BF16Type)):
        return None
    return attribute.get_splat_value()


def _rank(value: Any) -> int:
    return len(mlir.ir.RankedTensorType(value.type).shape)


def is_large(value: Any) -> bool:
    type_ = value.type
    if not isinstance(type_, mlir.ir.RankedTensorType):
        return False
    shape = type_.shape
    return DYNAMIC not in shape and prod(shape) >= configuration.LARGE


def _is_cheap(operation: Any) -> bool:
    *steps, _ = operation.regions[0].blocks[0].operations
    return all(step.operation.name in CHEAP for step in steps)


# -- writing -----------------------------------------------------------------------------------


def copied(body: Any, arguments: Sequence[Any], walk: Sequence[int]) -> list[Any]:
    """What a body yields, computed again here from `arguments`; loop `i` of it is loop `walk[i]` here."""
    values = dict(zip(body.arguments, arguments, strict=True))
    for step in body.operations:
        operation = step.operation
        if operation.name == "linalg.yield":
            return [values.get(v, v) for v in operation.operands]
        copy = operation.clone()
        for number, operand in enumerate(operation.operands):
            copy.operands[number] = values.get(operand, operand)
        if operation.name == "linalg.index":
            loop = walk[mlir.ir.IntegerAttr(operation.attributes["dim"]).value]
            copy.attributes["dim"] = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), loop)
        values.update(zip(operation.results, copy.results, strict=True))
    raise AssertionError("a body without a yield")


def emit_fold(
    lowering: RearrangementForms,
    folds: Sequence[Generic],
    reads: Sequence[tuple[Any, Map]],
    body: Callable[..., Any],
) -> Generic:
    """One fold in the place of the first of `folds`, with the results of all; they are erased."""
    kept, loops = folds[0].kept, folds[0].loops
    inits = [init for fold in folds for init in fold.inits]
    maps = [m for _, m in reads]
    attributes = [_map_attribute(loops, m) for m in (*maps, *[kept] * len(inits))]
    iterators = ["parallel" if loop in kept else "reduction" for loop in range(loops)]
    tiles = next((fold.tiles for fold in folds if fold.tiles is not None), None)
    place = folds[0].operation
    with mlir.ir.InsertionPoint(place), place.location:
        made = lowering.generic([v for v, _ in reads], inits, attributes, iterators, body, tiles)
    results = list(made) if isinstance(made, tuple) else [made]
    replaced = [result for fold in folds for result in fold.operation.results]
    for before, after in zip(replaced, results, strict=True):
        before.replace_all_uses_with(after)
    for fold in folds:
        fold.operation.erase()
    return Generic(results[0].owner.operation, maps, kept, loops, True)


def _map_attribute(loops: int, map_: Map) -> Any:
    expression = mlir.ir.AffineExpr
    entries = [expression.get_constant(0) if a == FIXED else expression.get_dim(a) for a in map_]
    return mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get(loops, 0, entries))
