"""The steps of an innermost loop of a kernel on buffers: what they load and store, and their code in vectors.

Input: a loop that yields nothing. Output: whether its steps are there for vectors, and their code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Type, Value
from ..builder import Array, Number, Place, broadcast, index
from ..element_code import applied
from ..reduction_programs import BITS
from .windows import base_of

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
NOTHING: Final[Mapping[Value, Number]] = MappingProxyType({})
Stored: TypeAlias = tuple[Array, tuple[Number, ...], Number]
"""An array, places in it, and what is stored there."""


@dataclass(frozen=True, eq=False)
class Access:
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
class Steps:
    """The steps of a loop that yields nothing."""

    operation: Operation

    @cached_property
    def _inside(self) -> list[Operation]:
        """The ops of a step, without the last one."""
        return [child.operation for child in self.operation.regions[0].blocks[0].operations][:-1]

    @cached_property
    def accesses(self) -> list[Access]:
        """The loads and stores of a step."""
        return [Access(each) for each in self._inside if each.name in (LOAD, STORE)]

    @property
    def number(self) -> Value:
        """The number of a step."""
        return self.operation.regions[0].blocks[0].arguments[0]

    @property
    def bits(self) -> int:
        """The bits of the largest element."""
        return max(BITS[str(access.element)] for access in self.accesses)

    @property
    def are_of_vectors(self) -> bool:
        """Whether all ops are there for vectors, and no step reads or writes what another one writes."""
        written = [access.base for access in self.accesses if access.is_store]
        return (
            bool(written)
            and all(map(self.is_of_vectors, self._inside))
            and all(is_of_its_own(access.base) for access in self.accesses)
            and len(set(written)) == len(written)
            and not any(access.base in written for access in self.accesses if not access.is_store)
        )

    def is_of_vectors(self, operation: Operation) -> bool:
        if operation.name not in (LOAD, STORE):
            return self._is_computed(operation)
        access = Access(operation)
        *others, last = access.places or [None]
        if last is None or str(access.element) not in BITS or any(map(self.changes, others)):
            return False
        if not self.changes(last):
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

    def changes(self, value: Value) -> bool:
        """Whether a value is one of a step."""
        if isinstance(value.owner, mlir.ir.Block):
            return bool(value.owner == self.operation.regions[0].blocks[0])
        return bool(value.owner.operation.parent == self.operation)

    def _moves(self, value: Value) -> bool:
        """Whether a place is as far from the step's number in every step."""
        while value != self.number:
            operation = value.owner.operation
            changing = [place for place, v in enumerate(operation.operands) if self.changes(v)]
            if operation.name not in MOVING or len(changing) != 1:
                return False
            if operation.name == "arith.subi" and changing != [0]:
                return False
            value = operation.operands[changing[0]]
        return True

    def write(self, at: Place, width: int, known: Sequence[Mapping[Value, Number]] = (NOTHING,)) -> None:
        """The code of `width` steps from a place on; for each of some steps of the loop around, whose values
        are `known`. All is computed before anything is stored."""
        written = [self.computed(at, width, each)[1] for each in known]
        for array, places, number in chain.from_iterable(written):
            array[places] = number

    def computed(
        self,
        at: Place,
        width: int,
        known: Mapping[Value, Number] = NOTHING,
        left_out: Collection[Operation] = (),
    ) -> tuple[Callable[[Value], Number], list[Stored]]:
        """The values of `width` steps from a place on, without some of their ops, and what they store."""
        numbers: dict[Value, Number] = {**known, self.number: index(at)}
        stores: list[Stored] = []

        def now(value: Value) -> Number:
            return numbers.get(value, Number(value))

        for operation in self._inside:
            if operation in left_out:
                continue
            if operation.name not in (LOAD, STORE):
                numbers[operation.results[0]] = applied(operation, [now(v) for v in operation.operands])
                continue
            access = Access(operation)
            array, places = Array(access.buffer), tuple(now(v) for v in access.places)
            if access.is_store:
                number = now(operation.operands[0])
                vector = mlir.ir.VectorType.get([width], number.element)
                stores.append((array, places, number if number.is_vector else broadcast(number, vector)))
            elif self.changes(access.places[-1]):
                numbers[operation.results[0]] = array.vector(width, *places)
            else:
                numbers[operation.results[0]] = array[places]
        return now, stores


def is_of_its_own(value: Value) -> bool:
    """Whether this is memory of its own: an argument of the kernel, or made by it."""
    owner = value.owner
    if isinstance(owner, mlir.ir.Block):
        return bool(owner.owner.operation.name == "func.func")
    return bool(owner.operation.name in ("memref.alloc", "memref.alloca"))
