"""Inner loops over elements that lie side by side, as loops over vectors.

Input: the code of a kernel of a CPU on buffers, as loops. Output: the same, where an innermost loop inside of
another one, which computes each element that it stores from buffers that it does not write, does a vector of
them in a step. What is left over is a shorter vector if it is a power of two. Otherwise the last vector
overlaps the one before, and what both store is the same. A loop that combines one number with what it
computes has several vectors of sums, if that may be done in any order.
Idea: LLVM makes vectors of such loops too, but asks before each whether the buffers overlap, and does what is
left over element by element; where a loop but copies, it calls a function. Where a loop is short, these cost
as much as its vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....runtime.targets import Target
from ....ir.aliases import Operation, Value
from ..builder import Array, Number, Place, broadcast, carried, constant, loop
from ..element_code import applied
from ..reduction_programs import COMBINING
from .rows_together import TOGETHER, Rows, rows_around
from .steps import NOTHING, Access, Steps, is_of_its_own
from .vector_reductions import may_be_reordered
from .walk import operations_named
from .windows import number_of

LONGEST: Final = 48  # vectors of a loop; what LLVM does before and behind a longer one counts little
SUMS: Final = 4  # vectors of sums, so that one addition does not wait for another
FEWEST: Final = 4  # steps, fewer than a register has elements: a shorter vector


def step_in_vectors(module: mlir.ir.Module, target: Target) -> int:
    """Make loops over vectors of those that allow it; how many."""
    bits = target.vector_bits
    return sum(_rewrite(each, bits) or _sum(each, bits) for each in operations_named(module, "scf.for"))


def _rewrite(operation: Operation, vector_bits: int) -> bool:
    first, stop, step = (number_of(value) for value in list(operation.operands)[:3])
    is_inner = operation.parent is not None and operation.parent.name != "func.func"
    if first is None or stop is None or step != 1 or len(operation.results) or not is_inner:
        return False
    steps = Steps(operation)
    if not steps.are_of_vectors:
        return False
    count, most = stop - first, vector_bits // steps.bits
    if most < 2 or count < min(FEWEST, most):
        return False
    rows = rows_around(steps)
    if rows is not None and rows.load_less_together:
        _write_rows(rows, range(first, stop), most)
        return True
    if count > LONGEST * most:
        return False
    with mlir.ir.InsertionPoint(operation), operation.location:
        _write(steps, range(first, stop), most, [NOTHING])
    operation.erase()
    return True


def _write_rows(rows: Rows, span: range, most: int) -> None:
    """The steps of the loop around, some at once; then those that are left."""
    whole = rows.stop - (rows.stop - rows.first) % TOGETHER
    with mlir.ir.InsertionPoint(rows.loop), rows.loop.location:
        with loop(rows.first, whole, TOGETHER) as row:
            _write(rows.steps, span, most, [rows.values(row + k) for k in range(TOGETHER)])
        if whole < rows.stop:
            with loop(whole, rows.stop) as row:
                _write(rows.steps, span, most, [rows.values(row)])
    rows.loop.erase()


def _write(steps: Steps, span: range, most: int, known: Sequence[Mapping[Value, Number]]) -> None:
    """The steps of a loop in vectors of up to `most` elements, for each row whose values are `known`."""
    width = min(most, 1 << (len(span).bit_length() - 1))
    left = len(span) % width
    whole = span.stop - left
    with loop(span.start, whole, width) as at:
        steps.write(at, width, known)
    if left & (left - 1):
        steps.write(span.stop - width, width, known)
    elif left:
        steps.write(whole, left, known)


def _sum(operation: Operation, vector_bits: int) -> bool:
    first, stop, step = (number_of(value) for value in list(operation.operands)[:3])
    if step != 1 or len(operation.results):
        return False
    steps = _Combined(operation)
    if not steps.are_of_vectors:
        return False
    width = vector_bits // steps.bits
    is_short = first is not None and stop is not None and stop - first < SUMS * width
    if width < 2 or is_short:
        return False
    with mlir.ir.InsertionPoint(operation), operation.location:
        steps.combine(width)
    operation.erase()
    return True


@dataclass(frozen=True, eq=False)
class _Combined(Steps):
    """The steps of a loop that combines one number with what it computes, and stores nothing else."""

    @cached_property
    def _ends(self) -> tuple[Operation, Operation, Operation] | None:
        """The load of the number, the combination, and its store; None where this is another loop."""
        stores = [access for access in self.accesses if access.is_store]
        if len(stores) != 1 or any(map(self.changes, stores[0].places)):
            return None
        (store,), value = stores, stores[0].operation.operands[0]
        loads = [each for each in self.accesses if not each.is_store and each.base == store.base]
        if len(loads) != 1 or (loads[0].buffer, loads[0].places) != (store.buffer, store.places):
            return None
        load, combination = loads[0].operation, value.owner
        if isinstance(combination, mlir.ir.Block) or not may_be_reordered(combination.operation):
            return None
        uses = [use.owner for value in (load.results[0], value) for use in value.uses]
        if uses != [combination, store.operation]:
            return None
        return load, combination.operation, store.operation

    @property
    def are_of_vectors(self) -> bool:
        """Whether all other ops are there for vectors, and elements lie side by side."""
        ends = self._ends
        if ends is None:
            return False
        others = [each for each in self._inside if each not in ends]
        loads = [each for each in self.accesses if each.operation not in ends]
        return (
            any(each.places and self.changes(each.places[-1]) for each in loads)
            and all(map(self.is_of_vectors, others))
            and all(is_of_its_own(access.base) for access in self.accesses)
        )

    def combine(self, width: int) -> None:
        """The loops: over several vectors, over one, and over the steps that are left."""
        ends = self._ends
        assert ends is not None
        load, combination, store = ends
        (element,) = (v for v in combination.operands if v != load.results[0])
        kind = COMBINING[combination.name]
        identity = constant(element.type, kind.identity(element.type))
        vector = mlir.ir.VectorType.get([width], element.type)

        def combined(at: Place, width: int, total: Number) -> Number:
            number = self.computed(at, width, left_out=ends)[0](element)
            if total.is_vector and not number.is_vector:
                number = broadcast(number, total.type)
            elif number.is_vector and not total.is_vector:  # of one element
                number = Number(mlir.vector.extract(number.value, [], [0]))
            return applied(combination, [total, number])

        first, stop = (Number(value) for value in list(self.operation.operands)[:2])
        count = (stop - first).most(0)
        together, whole = (first + (count - count % each) for each in (SUMS * width, width))
        sums = carried(
            first,
            together,
            [broadcast(identity, vector)] * SUMS,
            lambda at, *sums: [combined(at + k * width, width, total) for k, total in enumerate(sums)],
            SUMS * width,
        )
        sums[:1] = carried(together, whole, sums[:1], lambda at, total: [combined(at, width, total)], width)
        (rest,) = carried(whole, stop, [identity], lambda at, total: [combined(at, 1, total)])
        all_sums = reduce(lambda x, y: applied(combination, [x, y]), sums)
        fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>") if all_sums.is_float else None
        how = getattr(mlir.vector.CombiningKind, kind.kind)
        total = Number(mlir.vector.reduction(element.type, how, all_sums.value, fastmath=fast))
        access = Access(store)
        array, places = Array(access.buffer), tuple(Number(v) for v in access.places)
        number = applied(combination, [array[places], total])
        array[places] = applied(combination, [number, rest])
