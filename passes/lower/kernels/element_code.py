"""The code of what fused kernels compute: numbers, and vectors of elements, where loops stand at a place.

Input: a `ReductionProgram`, the memrefs of its arguments, and places of its loops. Output: ops at the ambient
insertion point.
Idea: a `Scope` knows the places of some loops, and what was computed from them. What needs fewer loops is
computed in a scope above, outside of the other loops, by `prepare`; a scope of the last loop has vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field
from math import prod
from typing import Final, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Operation, Type, Value
from .builder import Array, Number, Place, broadcast, constant, index, product
from .computed_places import Affine, Known, Places
from .counted_sizes import Size
from .gathers import (
    can_gather,
    gather,
    has_short_places,
    is_row_major,
    lanes_of,
    linear_places,
    load_each,
)
from .reduction_programs import COMBINING, EXTRACT, Constant, Loaded, ReductionProgram, Scalar, Source, Step
from .strided_vectors import gathered, load_strided

_BIT: Final = 1
_CASTS: Final = frozenset({"arith.index_cast", "arith.index_castui"})
_AS_FLOATS: Final = "arith.sitofp"
_MOST_CONSTANT: Final = 1 << 50
_MOST_FACTOR: Final = 16
WIDENING: Final = frozenset(f"arith.{name}" for name in ("index_cast", "index_castui", "extsi", "extui"))
"""Casts of integers to wider ones."""

Key: TypeAlias = "Value | Step"
"""A number that is known: a value of the code of an element, or what a step has reduced."""


@dataclass(frozen=True, slots=True)
class Code:
    """A program, the memrefs of its arguments, how many elements a vector has, whether the processor takes
    those of a vector from anywhere at once, and the numbers that tell sizes at the call."""

    program: ReductionProgram
    arrays: Sequence[Array]
    width: int
    has_gathers: bool = False
    numbers: Sequence[Number] = ()
    _needs: dict[Step, Mapping[Value, frozenset[int]]] = field(default_factory=dict)
    _affine: Known = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The loop along memory."""
        return len(self.program.sizes) - 1

    def affine(self, step: Step, value: Value) -> Affine | None:
        """A value of the code of a step as a sum of multiples of places, None for other numbers."""
        if not self._affine:
            self._affine.update(self.program.known)
        return Places(self.program.sizes, step.loops).of(value, self._affine)

    def size(self, loop: int) -> Place:
        """The size of a loop."""
        return size_of(self.program.sizes[loop], self.numbers)

    def count(self, loops: Iterable[int]) -> Place:
        """How often some loops go around."""
        return product(self.size(loop) for loop in loops)

    def scalar(self, value: Value) -> Number:
        """A number that is the same for the whole kernel."""
        number = self.program.numbers.get(value)
        if number is not None:
            return self.numbers[number.number]
        operation = value.owner.operation
        if operation.name == "arith.constant":
            return constant_of(operation.attributes["value"])
        return applied(operation, [self.scalar(operand) for operand in operation.operands])

    def needs(self, step: Step) -> Mapping[Value, frozenset[int]]:
        """The loops that each value of the code of a step depends on."""
        if step not in self._needs:
            found: dict[Value, frozenset[int]] = {}
            for argument, (source, loops) in zip(_arguments(step), step.inputs, strict=False):
                if isinstance(source, Step) and source.is_full:
                    found[argument] = self.needs(source)[source.result]
                else:
                    found[argument] = frozenset(loops if isinstance(source, Loaded | Step) else ())
            for operation in step.operations:
                result = operation.results[0]
                affine = self.affine(step, result)
                if affine is not None:
                    found[result] = frozenset(affine.factors)
                else:
                    found[result] = frozenset[int]().union(*(found.get(o, ()) for o in operation.operands))
            self._needs[step] = found
        return self._needs[step]

    def shifted(self, step: Step, place: Value) -> tuple[Value, int]:
        """The number that a place is computed from by adding a constant, and that constant, by their last 32
        bits."""
        if self.affine(step, place) is not None or isinstance(place.owner, mlir.ir.Block):
            return place, 0
        operation = place.owner.operation
        if operation.name in WIDENING and str(operation.operands[0].type) in ("i32", "i64"):
            return self.shifted(step, operation.operands[0])
        if operation.name in ("arith.addi", "arith.subi"):
            sign = 1 if operation.name == "arith.addi" else -1
            left, right = operation.operands
            if sign == 1 and (number := self.affine(step, left)) is not None and number.is_constant:
                left, right = right, left
            number = self.affine(step, right)
            if number is not None and number.is_constant:
                base, more = self.shifted(step, left)
                return base, more + sign * number.constant
        return place, 0

    def begun_before(self, source: Loaded, array: Array, axis: int) -> int | None:
        """How far before a column's element the first of its row lies, along an axis with the columns of one
        row behind those of another; None where the last row may have fewer."""
        first, step = source.offsets[axis], source.strides[axis]
        if step < 2:
            return None
        there, count = array.size(axis), self.program.sizes[self.last]
        if not (isinstance(first, int) and isinstance(there, int) and isinstance(count, int)):
            return None
        before = first % step
        return before if first - before + step * count <= there else None

    def element_of(self, source: Loaded) -> Type:
        """The type of an array's elements as they are computed with."""
        return mlir.ir.RankedTensorType(self.program.arguments[source.argument]).element_type

    def vector_of(self, element: Type) -> Type:
        """The type of a vector of elements."""
        return mlir.ir.VectorType.get([self.width], element)

    def lifted(self, number: Number) -> Number:
        """A number as a vector."""
        return number if number.is_vector else broadcast(number, self.vector_of(number.type))


@dataclass(slots=True)
class Scope:
    """What is known where some loops stand at a place.

    `count`: how many elements there are from the place of the last loop on; 0 where no vector is. `above`:
    scopes that know fewer loops. `kept`: what is known of a key that lies somewhere else, such as in memory.
    `lanes`: by places along the axes of an array and their sizes, the places in row-major order one by one.
    """

    code: Code
    places: Mapping[int, Number]
    count: Place = 0
    above: Sequence[Scope] = ()
    kept: Callable[[Key], Number | None] = lambda key: None
    values: dict[Key, Number] = field(default_factory=dict)
    lanes: dict[tuple[Value | int, ...], list[Number]] = field(default_factory=dict)

    @property
    def has_vectors(self) -> bool:
        """Whether the place of the last loop is that of several elements."""
        return isinstance(self.count, Number) or self.count > 0

    def find(self, key: Key) -> Number | None:
        """A number that is known here or above."""
        if key in self.values:
            return self.values[key]
        number = self.kept(key)
        if number is not None:
            self.values[key] = number
            return number
        return next((found for each in self.above if (found := each.find(key)) is not None), None)

    def of(self, step: Step) -> Number:
        """What the step computes here; of a reduction, what is added."""
        return self.value(step, step.result)

    def value(self, step: Step, wanted: Value) -> Number:
        """A value of the code of a step."""
        found = self.find(wanted)
        if found is None:
            self._compute(step, [wanted], self.code.needs(step).keys())
            found = self._operand(wanted)
        return found

    def prepare(self, steps: Iterable[Step]) -> None:
        """Compute what needs no loop but those that are known here."""
        known = self.places.keys()
        for step in steps:
            needs = self.code.needs(step)
            self._compute(step, [step.result], {value for value in needs if needs[value] <= known})

    def _compute(self, step: Step, wanted: Sequence[Value], possible: Set[Value]) -> None:
        """Compute those of the values that `wanted` take which are not known and possible."""
        operations = self._operations(step, wanted)
        used = {operand for each in operations for operand in each.operands}.union(wanted)
        for argument, (source, loops) in zip(_arguments(step), step.inputs, strict=False):
            if argument in used and argument in possible and self.find(argument) is None:
                self.values[argument] = self._read(source, loops)
        for operation in operations:
            result = operation.results[0]
            if result in possible and self.find(result) is None:
                self.values[result] = self._applied(step, operation)

    def _operations(self, step: Step, wanted: Sequence[Value]) -> list[Operation]:
        """The operations of a step that some of its values take, in turn; sums of multiples of places take
        none."""
        needed, found = set(wanted), []
        for each in reversed(step.operations if step.result in needed else _body(step)):
            result = each.results[0]
            if result in needed:
                found.append(each)
                if self.code.affine(step, result) is None:
                    needed.update(each.operands)
        return found[::-1]

    def _applied(self, step: Step, operation: Operation) -> Number:
        affine = self.code.affine(step, operation.results[0])
        if affine is not None:
            return self._number(affine, operation.results[0].type)
        if operation.name == EXTRACT:
            return self._taken(step, operation)
        if operation.name == _AS_FLOATS:
            affine = self.code.affine(step, operation.operands[0])
            if affine is not None and self._is_exact(affine, operation.results[0].type):
                return self._as_floats(affine, operation.results[0].type)
        return applied(operation, [self._operand(operand) for operand in operation.operands])

    def _operand(self, value: Value) -> Number:
        found = self.find(value)
        if found is None:  # outside of the code
            found = self.code.scalar(value)
            self.values[value] = found
        return found

    def _number(self, affine: Affine, type_: Type) -> Number:
        """A sum of multiples of the places here, of the last loop those of the elements."""
        number = self._first(affine)
        factor = affine.factor(self.code.last)
        if self.has_vectors and factor:
            vector = self.code.vector_of(mlir.ir.IndexType.get())
            counted = ", ".join(str(factor * lane) for lane in range(self.code.width))
            steps = mlir.ir.Attribute.parse(f"dense<[{counted}]> : {vector}")
            number = broadcast(number, vector) + Number(mlir.arith.constant(vector, steps))
        return _resized(number, type_, mlir.arith.index_cast)

    def _is_exact(self, affine: Affine, type_: Type) -> bool:
        """Whether places are floats of 64 bits, and differ here: no array has 2^47 elements."""
        factors = (*affine.factors.values(), *affine.numbers.values())
        is_small = abs(affine.constant) < _MOST_CONSTANT and sum(map(abs, factors)) <= _MOST_FACTOR
        is_float = isinstance(type_, (mlir.ir.F32Type, mlir.ir.F64Type))
        return is_small and is_float and self.has_vectors and affine.factor(self.code.last) != 0

    def _as_floats(self, affine: Affine, type_: Type) -> Number:
        """A sum of multiples of the places here, as floats.

        Processors without AVX-512 convert integers of 64 bits one by one. One is converted, to 64 bits, and
        the others are added to it; all are rounded once.
        """
        wide = mlir.ir.F64Type.get()
        first = mlir.arith.index_cast(mlir.ir.IntegerType.get_signless(64), self._first(affine).value)
        vector = self.code.vector_of(wide)
        factor = affine.factor(self.code.last)
        counted = ", ".join(str(float(factor * lane)) for lane in range(self.code.width))
        steps = mlir.ir.Attribute.parse(f"dense<[{counted}]> : {vector}")
        number = broadcast(Number(mlir.arith.sitofp(wide, first)), vector)
        number = number + Number(mlir.arith.constant(vector, steps))
        return (
            number if type_ == wide else Number(mlir.arith.truncf(self.code.vector_of(type_), number.value))
        )

    def _first(self, affine: Affine) -> Number:
        """A sum of multiples of the places here, at the first element."""
        number = None
        for loop, factor in affine.factors.items():
            part = self.places[loop] * factor if factor != 1 else self.places[loop]
            number = part if number is None else number + part
        for counted, factor in affine.numbers.items():
            part = self.code.numbers[counted.number] * factor
            number = part if number is None else number + part
        if number is None:
            return index(affine.constant)
        return number + affine.constant if affine.constant else number

    def _taken(self, step: Step, operation: Operation) -> Number:
        """The element of an array at a place, or a vector of those at several."""
        taken, *values = operation.operands
        source = step.gathered[taken]
        array, element = self.code.arrays[source.argument], self.code.element_of(source)
        if self.has_vectors:
            last = self.code.affine(step, values[-1]) if values else None
            along = last.factor(self.code.last) if last is not None else 0
            places = [self._operand(value) for value in values[:-1]]
            if last is not None and along and not any(place.is_vector for place in places):
                first = self._first(last)
                vector = load_strided(array, self.code.width, self.count, along, *places, first)
                return from_memory(vector, element)
        places = [self._operand(value) for value in values]
        if not any(place.is_vector for place in places):
            return from_memory(array[tuple(places)], element)
        assert isinstance(self.count, int)
        if self.code.has_gathers and can_gather(array):
            return from_memory(gather(array, self.code.width, self.count, places), element)
        if is_row_major(array) and has_short_places(array):
            return from_memory(self._loaded(step, array, values), element)
        lanes = [[_lane(place, lane) for place in places] for lane in range(self.count)]
        return from_memory(gathered(array, self.code.width, lanes), element)

    def _loaded(self, step: Step, array: Array, values: Sequence[Value]) -> Number:
        """The elements at several places, one by one; places that differ by constants are computed once."""
        assert isinstance(self.count, int)
        sizes = [int(size) for size in array.type.shape]
        bases, further = list(values), 0
        shifted = [self.code.shifted(step, value) for value in values]
        for (_, more), size in zip(shifted, sizes, strict=True):
            further = further * size + more
        if prod(sizes) + abs(further) < 2**31:
            bases = [base for base, _ in shifted]
        else:
            further = 0
        may_be_negative = any(more > 0 for _, more in shifted)  # before the constants are added
        key = (*bases, *sizes, may_be_negative)
        if key not in self.lanes:
            linear = linear_places(array, self.code.width, [self._operand(base) for base in bases])
            self.lanes[key] = lanes_of(linear, self.count, may_be_negative=may_be_negative)
        return load_each(array, self.code.width, self.lanes[key], further)

    def _read(self, source: Source, loops: tuple[int, ...]) -> Number:
        """A constant, what a step computes or has reduced, or elements of an array."""
        if isinstance(source, Constant):
            return constant_of(source.attribute)
        if isinstance(source, Scalar):
            return self.code.scalar(source.value)
        if isinstance(source, Step):
            if not source.sums:
                return self.of(source)
            reduced = self.find(source)
            assert reduced is not None
            return reduced
        array = self.code.arrays[source.argument]
        places = [size_of(offset, self.code.numbers) for offset in source.offsets]
        for axis, loop in zip(source.axes, loops, strict=True):
            stride = source.strides[axis]
            here = self.places[loop] * stride if stride != 1 else self.places[loop]
            places[axis] = here + places[axis] if source.offsets[axis] else here
        if self.has_vectors and self.code.last in loops:
            axis = source.axes[loops.index(self.code.last)]
            before = self.code.begun_before(source, array, axis)
            along = source.strides[axis]
            number = load_strided(array, self.code.width, self.count, along, *places, before=before)
        else:
            number = array[tuple(places)]
        return from_memory(number, self.code.element_of(source))

    def initial(self, step: Step) -> Number:
        """What a reduction begins with."""
        assert step.initial is not None
        kept = (*self.code.program.outer, *(() if self.code.program.is_of_rows else (self.code.last,)))
        return self._read(step.initial, kept)


def size_of(size: Size, numbers: Sequence[Number]) -> Place:
    """A size, by the numbers that tell those that are not known."""
    return size if isinstance(size, int) else numbers[size.number]


def _body(step: Step) -> list[Operation]:
    return [each.operation for each in step.code.regions[0].blocks[0].operations][:-1]


def _arguments(step: Step) -> list[Value]:
    return list(step.code.regions[0].blocks[0].arguments)


def _lane(place: Number, lane: int) -> Number:
    """The place of an element."""
    if not place.is_vector:
        return place
    return Number(_extracted(place.value, lane))


def _extracted(places: Value, lane: int) -> Value:
    """One of a vector of places; LLVM would widen all of those that are numbers of 32 bits before."""
    cast = None if isinstance(places.owner, mlir.ir.Block) else places.owner.operation
    if cast is None or cast.name not in _CASTS or _bits(cast.operands[0]) != 32:
        return mlir.vector.extract(places, dynamic_position=[], static_position=[lane])
    number = mlir.vector.extract(cast.operands[0], dynamic_position=[], static_position=[lane])
    index = mlir.ir.IndexType.get()
    return mlir.ir.Operation.create(cast.name, results=[index], operands=[number]).results[0]


def _bits(vector: Value) -> int:
    """The bits of each of a vector of integers."""
    return int(mlir.ir.IntegerType(mlir.ir.VectorType(vector.type).element_type).width)


# -- operations ------------------------------------------------------------------------------------


def applied(operation: Operation, operands: Sequence[Number]) -> Number:
    """An op on numbers, element by element where one is a vector."""
    type_ = operation.results[0].type
    vectors = [mlir.ir.VectorType(n.type).shape for n in operands if n.is_vector]
    if vectors:
        type_ = mlir.ir.VectorType.get(vectors[0], type_)
        operands = [
            n if n.is_vector else broadcast(n, mlir.ir.VectorType.get(vectors[0], n.type)) for n in operands
        ]
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    made = mlir.ir.Operation.create(
        operation.name, results=[type_], operands=[n.value for n in operands], attributes=attributes
    )
    return Number(made.result)


def combined(step: Step, left: Number, right: Number) -> Number:
    """What a reduction makes of two numbers."""
    return applied(_combination(step), [left, right])


def identity(step: Step) -> Number:
    """The number that changes none in a reduction."""
    type_ = step.result.type
    return constant(type_, COMBINING[_combination(step).name].identity(type_))


def total(step: Step, vector: Number) -> Number:
    """The elements of a vector, combined."""
    kind = getattr(mlir.vector.CombiningKind, COMBINING[_combination(step).name].kind)
    fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>") if vector.is_float else None
    return Number(mlir.vector.reduction(vector.element, kind, vector.value, fastmath=fast))


def _combination(step: Step) -> Operation:
    """The op that combines elements in a reduction."""
    assert step.combination is not None
    return step.combination


def constant_of(attribute: mlir.ir.Attribute) -> Number:
    """The number of an attribute."""
    return Number(mlir.arith.constant(attribute.type, attribute))


def from_memory(number: Number, element: Type) -> Number:
    """A number as it is computed with: a bool is a bit, and a byte in memory."""
    return _resized(number, element, mlir.arith.trunci)


def in_memory(number: Number, array: Array) -> Number:
    """A number as it lies in memory."""
    return _resized(number, array.element, mlir.arith.extui)


def _resized(number: Number, element: Type, cast: Callable[..., Value]) -> Number:
    if number.element == element:
        return number
    if mlir.ir.IndexType.get() in (number.element, element):
        cast = mlir.arith.index_cast
    elif _BIT not in (_width(number.element), _width(element)):
        return number
    shape = mlir.ir.VectorType(number.type).shape if number.is_vector else None
    return Number(cast(mlir.ir.VectorType.get(shape, element) if shape else element, number.value))


def _width(type_: Type) -> int:
    return mlir.ir.IntegerType(type_).width if isinstance(type_, mlir.ir.IntegerType) else 0
