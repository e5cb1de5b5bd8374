"""What a `linalg.generic` over large arrays says of itself, and how others are written from its body.

Input: lowered IR. Output: `Generic`s, which state the loops of an elementwise op or a reduction without
affine maps; copies of bodies; reductions made of reductions. Nothing is decided here: `reduction_fusion.py`
and `horizontal_fusion.py` decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ..builder import DYNAMIC, Attribute, Body, LinalgBuilder, Operation, Value
from ..tuning import configuration

if TYPE_CHECKING:
    from iree.compiler import ir

Map = tuple[int, ...]  # for each axis of an array the loop that indexes it, FIXED where the index is always 0
Access: TypeAlias = "tuple[Value, Map]"  # an array, and the loops that index it
FIXED: Final = -1
COUNTED: Final = 1024  # what a size that only a call knows counts as

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
    """An elementwise op or a reduction with many steps. Its first result stands for it."""

    operation: Operation
    maps: list[Map]  # of the inputs
    kept: Map  # the loops that index the results, in the order of their axes
    loops: int
    is_reduction: bool
    is_cheap: bool = False  # an elementwise op that may be computed again

    @property
    def key(self) -> Value:
        return self.operation.results[0]

    @property
    def body(self) -> ir.Block:
        return self.operation.regions[0].blocks[0]

    @property
    def inputs(self) -> list[Value]:
        return list(self.operation.operands)[: len(self.maps)]

    @property
    def inits(self) -> list[Value]:
        return list(self.operation.operands)[len(self.maps) :]

    @property
    def accesses(self) -> list[Access]:
        """The inputs and their maps."""
        return list(zip(self.inputs, self.maps, strict=True))

    @property
    def tiles(self) -> Attribute | None:
        """Its `compilation_info`, None for none."""
        return self.operation.attributes.get("compilation_info")


def may_be_a_reduction(operation: Operation) -> bool:
    """Whether `operation` may be a reduction: those that `recognise` knows have one input."""
    if operation.name != "linalg.generic" or len(operation.operands) != 2:
        return False
    return "reduction" in str(operation.attributes["iterator_types"])


def recognise(operation: Operation) -> Generic | None:
    """What is known of `operation`, if it is a large elementwise op or reduction."""
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return None
    *inputs, init = operation.operands
    if not any(is_large(v) for v in (*inputs, init)):
        return None
    attributes = operation.attributes
    maps = [_loops_of(mlir.ir.AffineMapAttr(a).value) for a in mlir.ir.ArrayAttr(attributes["indexing_maps"])]
    kinds = [str(kind) for kind in mlir.ir.ArrayAttr(attributes["iterator_types"])]
    *input_maps, kept = maps
    loops = list(range(len(kinds)))
    if any("reduction" in kind for kind in kinds):
        if len(inputs) != 1 or sorted(input_maps[0]) != loops or FIXED in kept:
            return None
        return Generic(operation, input_maps, kept, len(loops), is_reduction=True)
    if list(kept) != loops or any(not m and _rank(v) for v, m in zip(inputs, input_maps, strict=True)):
        return None
    is_cheap = _is_cheap(operation)
    return Generic(operation, input_maps, kept, len(loops), is_reduction=False, is_cheap=is_cheap)


def defining_op(value: Value) -> Operation | None:
    """The op that `value` is a result of, None for an argument."""
    return None if isinstance(value.owner, mlir.ir.Block) else value.owner.operation


def _loops_of(map_: ir.AffineMap) -> Map:
    """The loops that index the axes of an array, each another; nothing for any other map."""
    loops = []
    for expression in map_.results:
        if isinstance(expression, mlir.ir.AffineDimExpr):
            loops.append(expression.position)
        elif isinstance(expression, mlir.ir.AffineConstantExpr):
            loops.append(FIXED)
        else:
            return ()
    moving = [loop for loop in loops if loop != FIXED]
    return tuple(loops) if len(set(moving)) == len(moving) else ()


def compose(map_: Map, loops: Map) -> Map:
    """The map of an operand of an elementwise op whose result is indexed by `loops`."""
    return tuple(FIXED if axis == FIXED else loops[axis] for axis in map_)


def splat_constant(value: Value) -> Attribute | None:
    """The scalar that a constant of real or integer elements repeats: as an operand it costs the tiles."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.name != "arith.constant":
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, mlir.ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    if isinstance(attribute.type.element_type, (mlir.ir.ComplexType, mlir.ir.BF16Type)):
        return None
    return attribute.get_splat_value()


def _rank(value: Value) -> int:
    return len(mlir.ir.RankedTensorType(value.type).shape)


def is_large(value: Value) -> bool:
    """Whether this is an array that is rather computed again than written and read."""
    return counted_size(value) >= configuration.LARGE


def counted_size(value: Value) -> int:
    """How many elements an array has; a size that only a call knows counts as `COUNTED`. 0 for others."""
    if not isinstance(value.type, mlir.ir.RankedTensorType):
        return 0
    return prod(COUNTED if size == DYNAMIC else size for size in value.type.shape)


def _is_cheap(operation: Operation) -> bool:
    *steps, _ = operation.regions[0].blocks[0].operations
    return all(step.operation.name in CHEAP for step in steps)


# -- writing -----------------------------------------------------------------------------------


def inline_body(body: ir.Block, arguments: Sequence[Value | None], loops: Sequence[int]) -> list[Value]:
    """What a body yields for `arguments`, computed again here; its loop `i` is loop `loops[i]` here."""
    values = dict(zip(body.arguments, arguments, strict=True))
    for step in body.operations:
        operation = step.operation
        if operation.name == "linalg.yield":
            return [values.get(v, v) for v in operation.operands]
        copy = operation.clone()
        for number, operand in enumerate(operation.operands):
            copy.operands[number] = values.get(operand, operand)
        if operation.name == "linalg.index":
            loop = loops[mlir.ir.IntegerAttr(operation.attributes["dim"]).value]
            copy.attributes["dim"] = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), loop)
        values.update(zip(operation.results, copy.results, strict=True))
    raise AssertionError("a body without a yield")


def emit_reduction(
    b: LinalgBuilder, reductions: Sequence[Generic], accesses: Sequence[Access], body: Body
) -> Generic:
    """One reduction in the place of the first of `reductions`, with the results of all; they are erased."""
    kept, loops = reductions[0].kept, reductions[0].loops
    inits = [init for reduction in reductions for init in reduction.inits]
    maps = [m for _, m in accesses]
    attributes = [_map_attribute(loops, m) for m in (*maps, *[kept] * len(inits))]
    iterators = ["parallel" if loop in kept else "reduction" for loop in range(loops)]
    tiles = next((r.tiles for r in reductions if r.tiles is not None), None)
    anchor = reductions[0].operation
    with mlir.ir.InsertionPoint(anchor), anchor.location:
        results = b.generics([v for v, _ in accesses], inits, attributes, iterators, body, tiles)
    replaced = [result for reduction in reductions for result in reduction.operation.results]
    for before, after in zip(replaced, results, strict=True):
        before.replace_all_uses_with(after)
    for reduction in reductions:
        reduction.operation.erase()
    return Generic(results[0].owner.operation, maps, kept, loops, is_reduction=True)


def _map_attribute(loops: int, map_: Map) -> Attribute:
    expression = mlir.ir.AffineExpr
    entries = [expression.get_constant(0) if a == FIXED else expression.get_dim(a) for a in map_]
    return mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get(loops, 0, entries))
