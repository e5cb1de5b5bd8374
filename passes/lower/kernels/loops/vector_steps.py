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

from collections.abc import Callable, Collection
from functools import cached_property, reduce
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....runtime.targets import Target
from ....ir.aliases import Operation, Type, Value
from ..builder import Array, Number, Place, broadcast, carried, constant, index, loop
from ..element_code import applied
from ..reduction_programs import BITS, COMBINING
from .vector_reductions import may_be_reordered
from .walk import operations_named
from .windows import base_of, number_of

LONGEST: Final = 48  # vectors of a loop; what LLVM does before and behind a longer one counts little
SUMS: Final = 4  # vectors of sums, so that one addition does not wait for another
FEWEST: Final = 4  # steps, fewer than a register has elements: a shorter vector
LOAD: Final = "memref.load"
STORE: Final = "memref.store"
MOVING: Final = ("arith.addi", "arith.subi")
"""Ops of a place that lies one further than in the step before."""
ONE_BY_ONE: Final = frozenset(
    {"arith.remsi", "arith.remui", "arith.remf", "arith.divsi", "arith.divui", "arith.constant"}
)
"""Ops of numbers that processors do not do for vectors, or that are no computation."""
INSTRUCTIONS: Final = frozenset({"math.absf", "math.sqrt"})
"""Functions that are one instruction for vectors."""


def step_in_vectors(module: mlir.ir.Module, target: Target) -> int:
    """Make loops over vectors of those that allow it; how many."""
    bits = target.vector_bits
    return sum(_rewrite(each, bits) or _sum(each, bits) for each in operations_named(module, "scf.for"))


def _rewrite(operation: Operation, vector_bits: int) -> bool:
    first, stop, step = (number_of(value) for value in list(operation.operands)[:3])
    is_inner = operation.parent is not None and operation.parent.name != "func.func"
    if first is None or stop is None or step != 1 or len(operation.results) or not is_inner:
        return False
    steps = _Steps(operation)
    if not steps.are_of_vectors:
        return False
    count, most = stop - first, vector_bits // steps.bits
    if most < 2 or not min(FEWEST, most) <= count <= LONGEST * most:
        return False
    width = min(most, 1 << (count.bit_length() - 1))
    left = count % width
    whole = stop - left
    with mlir.ir.InsertionPoint(operation), operation.location:
        with loop(first, whole, width) as at:
            steps.write(at, width)
        if left & (left - 1):
            steps.write(stop - width, width)
        elif left:
            steps.write(whole, left)
    operation.erase()
    return True


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
class _Access:
    """A load or store of a step."""

    operation: Operation

    @property
    def is_store(self) -> bool:
        """Whether it stores."""
        return bool(self.operation.name == STORE)

    @property
    def buffer(self) -> Value:
        """What it loads from or stores to."""
        return self.operation.operands[1 if self.is_store else 0]

    @property
    def places(self) -> list[Value]:
        """Where, along each axis."""
        return list(self.operation.operands)[2 if self.is_store else 1 :]

    @property
    def element(self) -> Type:
        """The type of an element."""
        return mlir.ir.MemRefType(self.buffer.type).element_type

    @property
    def is_side_by_side(self) -> bool:
        """Whether the elements of the last axis are."""
        strides, _ = mlir.ir.MemRefType(self.buffer.type).get_strides_and_offset()
        return bool(strides) and strides[-1] == 1

    @property
    def base(self) -> Value:
        """The memory that holds the buffer."""
        return base_of(self.buffer)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps of a loop that yields nothing."""

    operation: Operation

    @cached_property
    def _inside(self) -> list[Operation]:
        """The ops of a step, without the last one."""
        return [child.operation for child in self.operation.regions[0].blocks[0].operations][:-1]

    @cached_property
    def _accesses(self) -> list[_Access]:
        return [_Access(each) for each in self._inside if each.name in (LOAD, STORE)]

    @property
    def _number(self) -> Value:
        """The number of a step."""
        return self.operation.regions[0].blocks[0].arguments[0]

    @property
    def bits(self) -> int:
        """The bits of the largest element."""
        return max(BITS[str(access.element)] for access in self._accesses)

    @property
    def are_of_vectors(self) -> bool:
        """Whether all ops are there for vectors, and no step reads or writes what another one writes."""
        written = [access.base for access in self._accesses if access.is_store]
        return (
            bool(written)
            and all(map(self._is_of_vectors, self._inside))
            and all(_is_own(access.base) for access in self._accesses)
            and len(set(written)) == len(written)
            and not any(access.base in written for access in self._accesses if not access.is_store)
        )

    def _is_of_vectors(self, operation: Operation) -> bool:
        if operation.name not in (LOAD, STORE):
            return self._is_computed(operation)
        access = _Access(operation)
        *others, last = access.places or [None]
        if last is None or str(access.element) not in BITS or any(map(self._changes, others)):
            return False
        if not self._changes(last):
            return not access.is_store
        return self._moves(last) and access.is_side_by_side

    def _is_computed(self, operation: Operation) -> bool:
        """Whether an op computes a place, or a number from others than places."""
        name = operation.name
        is_one = name.startswith("arith.") and name not in ONE_BY_ONE
        if not (is_one or name in INSTRUCTIONS) or len(operation.results) != 1:
            return False
        kinds = {isinstance(v.type, mlir.ir.IndexType) for v in [*operation.operands, *operation.results]}
        return len(kinds) == 1

    def _changes(self, value: Value) -> bool:
        """Whether a value is one of a step."""
        if isinstance(value.owner, mlir.ir.Block):
            return bool(value.owner == self.operation.regions[0].blocks[0])
        return bool(value.owner.operation.parent == self.operation)

    def _moves(self, value: Value) -> bool:
        """Whether a place is as far from the step's number in every step."""
        while value != self._number:
            operation = value.owner.operation
            changing = [place for place, v in enumerate(operation.operands) if self._changes(v)]
            if operation.name not in MOVING or len(changing) != 1:
                return False
            if operation.name == "arith.subi" and changing != [0]:
                return False
            value = operation.operands[changing[0]]
        return True

    def write(self, at: Place, width: int, left_out: Collection[Operation] = ()) -> Callable[[Value], Number]:
        """The code of `width` steps from a place on, without some of its ops; what it computes."""
        known: dict[Value, Number] = {self._number: index(at)}

        def now(value: Value) -> Number:
            return known.get(value, Number(value))

        for operation in self._inside:
            if operation in left_out:
                continue
            if operation.name not in (LOAD, STORE):
                known[operation.results[0]] = applied(operation, [now(v) for v in operation.operands])
                continue
            access = _Access(operation)
            array, places = Array(access.buffer), tuple(now(v) for v in access.places)
            if access.is_store:
                number = now(operation.operands[0])
                vector = mlir.ir.VectorType.get([width], number.element)
                array[places] = number if number.is_vector else broadcast(number, vector)
            elif self._changes(access.places[-1]):
                known[operation.results[0]] = array.vector(width, *places)
            else:
                known[operation.results[0]] = array[places]
        return now


@dataclass(frozen=True, eq=False)
class _Combined(_Steps):
    """The steps of a loop that combines one number with what it computes, and stores nothing else."""

    @cached_property
    def _ends(self) -> tuple[Operation, Operation, Operation] | None:
        """The load of the number, the combination, and its store; None where this is another loop."""
        stores = [access for access in self._accesses if access.is_store]
        if len(stores) != 1 or any(map(self._changes, stores[0].places)):
            return None
        (store,), value = stores, stores[0].operation.operands[0]
        loads = [each for each in self._accesses if not each.is_store and each.base == store.base]
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
        loads = [each for each in self._accesses if each.operation not in ends]
        return (
            any(each.places and self._changes(each.places[-1]) for each in loads)
            and all(map(self._is_of_vectors, others))
            and all(_is_own(access.base) for access in self._accesses)
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
            number = self.write(at, width, ends)(element)
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
        access = _Access(store)
        array, places = Array(access.buffer), tuple(Number(v) for v in access.places)
        number = applied(combination, [array[places], total])
        array[places] = applied(combination, [number, rest])


def _is_own(value: Value) -> bool:
    """Whether this is memory of its own: an argument of the kernel, or made by it."""
    owner = value.owner
    if isinstance(owner, mlir.ir.Block):
        return bool(owner.owner.operation.name == "func.func")
    return bool(owner.operation.name in ("memref.alloc", "memref.alloca"))
