"""Long sums of few results, cut into parts that threads of a GPU add up side by side.

Input: the code of a kernel on buffers, with linalg ops. Output: the same, where a reduction whose results are
fewer than threads is a loop over its results and parts, and one over its results that combines the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isqrt, prod
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Value, ValueMap
from .walk import operations_named, terminator

THREADS: Final = 512
"""So many parts and results at most."""
FEWEST: Final = 32
"""Terms of a sum that is cut."""
COMBINING: Final = frozenset(
    {"complex.add", "complex.mul"}
    | {f"arith.{name}" for name in ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")}
    | {
        f"arith.{name}"
        for name in ("addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori")
    }
)


def parts_of(results: int, terms: int) -> int:
    """Into how many parts sums of so many terms are cut; 1 where they are not."""
    most = min(isqrt(terms - 1) + 1 if terms else 1, THREADS // max(results, 1))
    return most if terms >= FEWEST and most > 1 else 1


def cut_sums(module: mlir.ir.Module) -> int:
    """Cut the sums of a kernel; how many were."""
    found = [sum_ for each in operations_named(module, "linalg.generic") if (sum_ := _sum_of(each))]
    for each in found:
        _cut(each)
    return len(found)


@dataclass(frozen=True)
class _Sum:
    """A reduction: its sizes by loop, how many loops are of results, and the loops of each operand's axes."""

    generic: Operation
    sizes: tuple[int, ...]
    kept: int
    axes: tuple[tuple[int, ...], ...]
    combine: Operation

    @property
    def parts(self) -> int:
        return parts_of(prod(self.sizes[: self.kept]), self.terms)

    @property
    def terms(self) -> int:
        return prod(self.sizes[self.kept :])


def _sum_of(generic: Operation) -> _Sum | None:
    """The sum that a generic is, None for what is none, or not cut."""
    kinds = ["reduction" in str(k) for k in mlir.ir.ArrayAttr(generic.attributes["iterator_types"])]
    if kinds != sorted(kinds) or not any(kinds) or len(generic.results):
        return None
    axes: list[tuple[int, ...]] = []
    sizes: dict[int, int] = {}
    for value, attribute in zip(
        generic.operands, mlir.ir.ArrayAttr(generic.attributes["indexing_maps"]), strict=True
    ):
        places = list(mlir.ir.AffineMapAttr(attribute).value.results)
        if not all(isinstance(place, mlir.ir.AffineDimExpr) for place in places):
            return None
        axes.append(tuple(place.position for place in places))
        sizes.update(zip(axes[-1], mlir.ir.MemRefType(value.type).shape, strict=True))
    block = generic.regions[0].blocks[0]
    combine = _combination(generic)
    if combine is None or len(sizes) < len(kinds) or len(axes) != len(block.arguments):
        return None
    known = _Sum(
        generic, tuple(sizes[k] for k in range(len(kinds))), kinds.count(False), tuple(axes), combine
    )
    return known if known.parts > 1 else None


def _combination(generic: Operation) -> Operation | None:
    """The last op of the body, where that combines what the others compute with the result so far."""
    block = generic.regions[0].blocks[0]
    total = block.arguments[len(block.arguments) - 1]
    end = terminator(block)
    outputs = mlir.ir.DenseI32ArrayAttr(generic.attributes["operandSegmentSizes"])[1]
    if outputs != 1 or len(end.operands) != 1 or isinstance(end.operands[0].owner, mlir.ir.Block):
        return None
    combine = end.operands[0].owner.operation
    steps = [child.operation for child in block.operations]
    is_simple = all(not len(step.regions) and step.name != "linalg.index" for step in steps)
    uses = [use.owner.operation for use in total.uses]
    if not is_simple or combine.name not in COMBINING or uses != [combine]:
        return None
    return combine if combine.operands[0] != combine.operands[1] else None


def _cut(sum_: _Sum) -> None:
    """Replace a sum by those of its parts, and theirs."""
    generic, parts = sum_.generic, sum_.parts
    kept, summed = sum_.sizes[: sum_.kept], sum_.sizes[sum_.kept :]
    out = generic.operands[len(generic.operands) - 1]
    element = mlir.ir.MemRefType(out.type).element_type
    with mlir.ir.InsertionPoint(generic), generic.location:
        none = mlir.ir.DenseI32ArrayAttr.get([0, 0])
        place = mlir.ir.Operation.create(
            "memref.alloc",
            results=[mlir.ir.MemRefType.get([*kept, parts], element)],
            attributes={"operandSegmentSizes": none},
        ).result

        def part_of(places: Sequence[Value]) -> None:
            *at, part = places

            def term(number: Value) -> Value:
                return _term(sum_, [*at, *_unravelled(number, summed)])

            begin = mlir.arith.addi(part, _index(parts))
            loop = mlir.scf.ForOp(begin, _index(sum_.terms), _index(parts), [term(part)])
            with mlir.ir.InsertionPoint(loop.body):
                total = _combined(sum_, loop.inner_iter_args[0], term(loop.induction_variable))
                mlir.scf.YieldOp([total])
            mlir.memref.store(loop.results[0], place, [*at, part])

        def whole_of(at: Sequence[Value]) -> None:
            indices = [at[loop] for loop in sum_.axes[-1]]
            first = mlir.memref.load(out, indices)
            loop = mlir.scf.ForOp(_index(0), _index(parts), _index(1), [first])
            with mlir.ir.InsertionPoint(loop.body):
                one = mlir.memref.load(place, [*at, loop.induction_variable])
                mlir.scf.YieldOp([_combined(sum_, loop.inner_iter_args[0], one)])
            mlir.memref.store(loop.results[0], out, indices)

        _parallel([*kept, parts], part_of)
        _parallel(kept, whole_of)
    generic.erase()


def _term(sum_: _Sum, places: Sequence[Value]) -> Value:
    """What the body adds to the result at a place of the loops."""
    block = sum_.generic.regions[0].blocks[0]
    (*inputs, total) = block.arguments
    known: ValueMap = {}
    for argument, array, axes in zip(inputs, sum_.generic.operands, sum_.axes, strict=False):
        known[argument] = mlir.memref.load(array, [places[loop] for loop in axes])
    added = next(value for value in sum_.combine.operands if value != total)
    for child in list(block.operations):
        step = child.operation
        if step not in (sum_.combine, terminator(block)):
            known.update(zip(step.results, _clone(step, known).results, strict=True))
    return known.get(added, added)


def _combined(sum_: _Sum, total: Value, value: Value) -> Value:
    """`total` and one more value, in the order in which the body has them."""
    block = sum_.generic.regions[0].blocks[0]
    so_far = block.arguments[len(block.arguments) - 1]
    added = next(each for each in sum_.combine.operands if each != so_far)
    return _clone(sum_.combine, {so_far: total, added: value}).results[0]


def _clone(operation: Operation, known: Mapping[Value, Value]) -> Operation:
    copy = operation.clone().operation
    for position, operand in enumerate(operation.operands):
        copy.operands[position] = known.get(operand, operand)
    return copy


def _parallel(sizes: Sequence[int], emit: Callable[[Sequence[Value]], None]) -> None:
    """`emit` at each place of loops that threads may share; here, where there are none."""
    if not sizes:
        emit([])
        return
    rank = len(sizes)
    bounds = [*[_index(0)] * rank, *map(_index, sizes), *[_index(1)] * rank]
    segments = mlir.ir.DenseI32ArrayAttr.get([rank, rank, rank, 0])
    loop = mlir.ir.Operation.create(
        "scf.parallel", operands=bounds, attributes={"operandSegmentSizes": segments}, regions=1
    )
    index = mlir.ir.IndexType.get()
    block = loop.regions[0].blocks.append(*[index] * rank, arg_locs=[mlir.ir.Location.current] * rank)
    with mlir.ir.InsertionPoint(block):
        emit(list(block.arguments))
        mlir.ir.Operation.create("scf.reduce")


def _unravelled(number: Value, sizes: Sequence[int]) -> list[Value]:
    """The place that has this number in an array of `sizes`."""
    places: list[Value] = []
    for size in reversed(sizes[1:]):
        places.insert(0, mlir.arith.remui(number, _index(size)))
        number = mlir.arith.divui(number, _index(size))
    return [number, *places]


def _index(n: int) -> Value:
    return mlir.arith.constant(mlir.ir.IndexType.get(), n)
