"""The pass `row-kernels`: kernels that IREE has fused of rows become loops over the elements of each row.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel of rows (`row_programs.py`) is an
executable of our own, called as before.
Idea: IREE makes a whole row one vector, or steps whose elements are added up at once. A loop of a few
registers, each with partial sums of its own, is short code for any length, and memory is read in the order
that processors fetch in advance. What is the same for a whole row is computed once for it. A row is gone over
once for reductions that do not depend on each other, and once for the elements that are stored.
A sum has as many partial sums as registers have elements, a long one those of blocks; they are added at the
end.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from ....dialects import mlir
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Type, Value
from ..plan import target_of
from ..tuning.row_tiles import RowLoops, row_loops
from .builder import Array, Number, Place, broadcast, carried, constant, index, loop
from .executable import add_beside, workgroup_id
from .products import load_some, store_some
from .row_programs import (
    COMBINING,
    EXTRACT,
    INDEX,
    Constant,
    Loaded,
    RowProgram,
    Source,
    Step,
    captured,
    read,
)

EXECUTABLE: Final = "flow.executable"
ADDED_IN_A_ROW: Final = 128  # vectors, before what they come to is added to the sum of other blocks
_BIT: Final = 1

Values: TypeAlias = "dict[Value, Number]"


class KernelWarning(RuntimeWarning):
    """A kernel of our own could not be written, which is a fault of adze: the program is slower than it was
    to be."""


@dataclass(frozen=True)
class RowKernels(Pass):
    """Write the kernels of rows of IREE's phase `flow` as loops over the elements of a row."""

    name = "row-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        target = target_of(module)
        if target.kind is not TargetKind.CPU:
            return False
        is_changed = False
        with module.context, mlir.ir.Location.unknown():
            for executable in list(module.body.operations):
                if executable.operation.name == EXECUTABLE and _write(target, executable.operation):
                    executable.operation.erase()
                    is_changed = True
        return is_changed


def _write(target: Target, executable: Operation) -> bool:
    """Write an executable beside one of IREE's, if it has a kernel of rows; whether it has."""
    exports = [o.operation for o in executable.regions[0].blocks[0].operations]
    functions = [
        each.operation
        for inner in exports
        if inner.name == "builtin.module"
        for each in inner.regions[0].blocks[0].operations
    ]
    if len(functions) != 1 or functions[0].name != "func.func":
        return False
    program = read(functions[0])
    operations = program.operations if program else None
    if program is None or operations is None:
        return False
    loops = row_loops(target, program.sizes, program.bits, operations)
    if loops is None:
        return False
    mlir.load_dialects(executable.context)

    def emit(memrefs: Sequence[Value]) -> None:
        _Rows(program, loops, [Array(memref) for memref in memrefs]).run()

    rows = prod(program.sizes[:-1])
    try:
        add_beside(executable, program.arguments, (-(-rows // loops.block),), emit)
    except Exception as error:  # of any kind: IREE's kernel computes the same
        warnings.warn(
            f"a kernel of rows was not written, and IREE's is slower: {type(error).__name__}: {error}",
            KernelWarning,
            stacklevel=2,
        )
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Rows:
    """The code of one workgroup: a block of rows."""

    program: RowProgram
    loops: RowLoops
    arrays: Sequence[Array]

    def run(self) -> None:
        """Each row of the block."""
        rows, block = prod(self.program.sizes[:-1]), self.loops.block
        first = Number(workgroup_id(0)) * block
        last = first + block
        with loop(first, last.least(rows) if rows % block else last) as row:
            _Row(self.program, self.loops, self.arrays, self._places(row)).run()

    def _places(self, row: Number) -> list[Number]:
        """Where a row is along each axis but the last."""
        *outer, _ = self.program.sizes
        places: list[Number] = []
        for size in reversed(outer[1:]):
            places.insert(0, row % size)
            row = row // size
        return [row, *places]


@dataclass(slots=True)
class _Row:
    """The code of one row; `numbers` are those that hold for all of it, by the values that stand for them."""

    program: RowProgram
    loops: RowLoops
    arrays: Sequence[Array]
    places: list[Number]
    numbers: Values = field(default_factory=dict)
    results: list[tuple[Step, Number]] = field(default_factory=list)

    def run(self) -> None:
        """Reductions in their order, those together that do not depend on each other; then what is stored."""
        program = self.program
        sums = [step for step in program.steps if step.sums]
        for depth in sorted({step.depth for step in sums}):
            self._reduce([step for step in sums if step.depth == depth])
        whole = [(step, argument) for step, argument in program.stores if step.has_elements and not step.sums]
        for step, argument in program.stores:
            if (step, argument) not in whole:
                array = self.arrays[argument]
                array[tuple(self.places)] = _in_memory(self._number(step), array)
        if whole:
            self._store(whole)

    # -- loops over the row ------------------------------------------------------------------------

    def _reduce(self, steps: Sequence[Step]) -> None:
        """One loop for the reductions `steps`."""
        width, vectors, size = self.loops.width, self.loops.sums, self.program.sizes[-1]
        self._prepare(steps)
        identities = [self._identity(step) for step in steps]
        initial = [broadcast(n, self.vector_of(n.type)) for n in identities for _ in range(vectors)]
        whole = size // (width * vectors) * width * vectors

        def added(at: Place, counts: Sequence[int], sums: Sequence[Number]) -> list[Number]:
            following = list(sums)
            for number, count in enumerate(counts):
                element = _Elements(self, index(at) + number * width if number else index(at), count)
                for position, step in enumerate(steps):
                    value = self._lifted(element.of(step))
                    if count < width:
                        value = _first(count, value, initial[position * vectors])
                    mine = position * vectors + number
                    following[mine] = _combined(step, following[mine], value)
            return following

        def scanned(start: Place, stop: Place, sums: Sequence[Number]) -> list[Number]:
            return carried(
                start, stop, sums, lambda at, *values: added(at, [width] * vectors, values), width * vectors
            )

        def block_added(at: Number, *totals: Number) -> list[Number]:
            sums = scanned(at, (at + block).least(whole), initial)
            return [
                _combined(steps[n // vectors], *pair) for n, pair in enumerate(zip(totals, sums, strict=True))
            ]

        block = ADDED_IN_A_ROW * width * vectors
        sums: Sequence[Number] = initial
        if whole > 2 * block:
            sums = carried(0, whole, sums, block_added, block)
        elif whole:
            sums = scanned(0, whole, sums)
        if size > whole:
            left = size - whole
            sums = added(whole, [min(width, left - at) for at in range(0, left, width)], sums)
        for position, step in enumerate(steps):
            partial = sums[position * vectors : (position + 1) * vectors]
            vector = functools.reduce(functools.partial(_combined, step), partial)
            start = self._read(step.initial, tuple(range(len(self.places))))
            self.results.append((step, _combined(step, start, _total(step, vector))))

    def _store(self, stored: Sequence[tuple[Step, int]]) -> None:
        """One loop that computes elements of the row and stores them."""
        width, size = self.loops.width, self.program.sizes[-1]
        steps = [step for step, _ in stored]
        self._prepare(steps)
        together = width * self.loops.stores
        whole = size // together * together

        def written(at: Place, counts: Sequence[int]) -> None:
            for number, count in enumerate(counts):
                place = index(at) + number * width if number else index(at)
                element = _Elements(self, place, count)
                for step, argument in stored:
                    array = self.arrays[argument]
                    vector = _in_memory(self._lifted(element.of(step)), array)
                    store_some(array, vector, count, *self.places, place)

        if whole:
            with loop(0, whole, together) as at:
                written(at, [width] * self.loops.stores)
        if size > whole:
            left = size - whole
            written(whole, [min(width, left - at) for at in range(0, left, width)])

    def _prepare(self, steps: Sequence[Step]) -> None:
        """Compute what is the same for all elements, outside of the loop."""
        for each in [inner for step in steps for inner in self.program.in_loop(step)]:
            arguments = each.code.regions[0].blocks[0].arguments
            for argument, (source, loops) in zip(arguments, each.inputs, strict=False):
                if argument not in self.numbers and not _varies(source, loops, len(self.places)):
                    self.numbers[argument] = self._read(source, loops)
            for operation in each.operations:
                self._note(each, operation)

    # -- numbers of the whole row ------------------------------------------------------------------

    def _number(self, step: Step) -> Number:
        """The result of a step that is the same for all elements."""
        for known, number in self.results:
            if known is step:
                return number
        block = step.code.regions[0].blocks[0]
        for argument, (source, loops) in zip(block.arguments, step.inputs, strict=False):
            self.numbers[argument] = self._read(source, loops)
        for operation in step.operations:
            self._note(step, operation)
        number = self.numbers[step.result]
        self.results.append((step, number))
        return number

    def _note(self, step: Step, operation: Operation) -> None:
        """Compute an op of a step where its operands hold for the whole row."""
        result = operation.results[0]
        if result in self.numbers:
            return
        if operation.name == "arith.constant":
            self.numbers[result] = _constant(operation.attributes["value"])
        elif operation.name == INDEX:
            axis = mlir.ir.IntegerAttr(operation.attributes["dim"]).value
            if axis < len(self.places):
                self.numbers[result] = self.places[axis]
        else:
            arrays = operation.operands[:1] if operation.name == EXTRACT else []
            known = [self.known(operand) for operand in list(operation.operands)[len(arrays) :]]
            operands = [number for number in known if number is not None]
            if len(operands) < len(known):
                return
            if arrays:
                self.numbers[result] = self.taken(step.gathered[arrays[0]], operands)
            else:
                self.numbers[result] = _applied(operation, operands)

    def taken(self, source: Loaded, places: Sequence[Number]) -> Number:
        """The element of an array at a place."""
        return _from_memory(self.arrays[source.argument][tuple(places)], self.element_of(source))

    def known(self, value: Value) -> Number | None:
        """A number of the whole row, None for what elements differ in."""
        if value in self.numbers:
            return self.numbers[value]
        owner = value.owner
        if not isinstance(owner, mlir.ir.Block) and owner.operation.name == "arith.constant":
            self.numbers[value] = _constant(captured(value))
            return self.numbers[value]
        return None

    def _read(self, source: Source | None, loops: tuple[int, ...]) -> Number:
        """A number of the whole row: a constant, a result, or an element of an array."""
        if isinstance(source, Constant):
            return _constant(source.attribute)
        if isinstance(source, Step):
            return self._number(source)
        assert source is not None
        array = self.arrays[source.argument]
        return _from_memory(array[tuple(self.place_in(source, loops, None))], self.element_of(source))

    def place_in(self, source: Loaded, loops: tuple[int, ...], at: Number | None) -> list[Place]:
        """The place in an array for this row, and for `at` along it."""
        places: list[Place] = list(source.offsets)
        for axis, each in zip(source.axes, loops, strict=True):
            here = self.places[each] if each < len(self.places) else at
            assert here is not None
            places[axis] = here + source.offsets[axis] if source.offsets[axis] else here
        return places

    def element_of(self, source: Loaded) -> Type:
        return mlir.ir.RankedTensorType(self.program.arguments[source.argument]).element_type

    def vector_of(self, element: Type) -> Type:
        return mlir.ir.VectorType.get([self.loops.width], element)

    def _lifted(self, number: Number) -> Number:
        return number if number.is_vector else broadcast(number, self.vector_of(number.type))

    def _identity(self, step: Step) -> Number:
        type_ = step.result.type
        return constant(type_, COMBINING[_combination(step).name].identity(type_))


@dataclass(slots=True)
class _Elements:
    """The code of one vector of elements: `count` from the place `at` of a row on."""

    row: _Row
    at: Number
    count: int
    values: Values = field(default_factory=dict)

    def of(self, step: Step) -> Number:
        """What the step computes of them; of a reduction, what is added."""
        if step.result in self.values:
            return self.values[step.result]
        arguments = step.code.regions[0].blocks[0].arguments
        for argument, (source, loops) in zip(arguments, step.inputs, strict=False):
            if argument not in self.row.numbers and argument not in self.values:
                self.values[argument] = self._read(source, loops)
        for operation in step.operations:
            result = operation.results[0]
            if result in self.row.numbers or result in self.values:
                continue
            if operation.name == INDEX:
                self.values[result] = self._places()
            elif operation.name == EXTRACT:
                array, *places = operation.operands
                self.values[result] = self._gathered(step.gathered[array], [self._value(p) for p in places])
            else:
                operands = [self._value(operand) for operand in operation.operands]
                self.values[result] = _applied(operation, operands)
        return self._value(step.result)

    def _places(self) -> Number:
        """The places of the elements in their row."""
        type_ = self.row.vector_of(mlir.ir.IndexType.get())
        counted = ", ".join(map(str, range(self.row.loops.width)))
        steps = mlir.ir.Attribute.parse(f"dense<[{counted}]> : {type_}")
        return broadcast(self.at, type_) + Number(mlir.arith.constant(type_, steps))

    def _gathered(self, source: Loaded, places: Sequence[Number]) -> Number:
        """The elements of an array at places of which one at least is a vector."""
        array = self.row.arrays[source.argument]
        vector = broadcast(constant(array.element, 0), self.row.vector_of(array.element)).value
        for lane in range(self.count):
            here = [
                Number(mlir.vector.extract(p.value, dynamic_position=[], static_position=[lane]))
                if p.is_vector
                else p
                for p in places
            ]
            vector = mlir.vector.insert(
                array[tuple(here)].value, vector, dynamic_position=[], static_position=[lane]
            )
        return _from_memory(Number(vector), self.row.element_of(source))

    def _value(self, value: Value) -> Number:
        if value in self.values:
            return self.values[value]
        number = self.row.known(value)
        assert number is not None
        return number

    def _read(self, source: Source, loops: tuple[int, ...]) -> Number:
        if isinstance(source, Step):
            return self.of(source)
        assert isinstance(source, Loaded)
        array = self.row.arrays[source.argument]
        places = self.row.place_in(source, loops, self.at)
        vector = load_some(array, self.row.loops.width, self.count, *places)
        return _from_memory(vector, self.row.element_of(source))


# -- code ------------------------------------------------------------------------------------------


def _varies(source: Source, loops: tuple[int, ...], last: int) -> bool:
    """Whether the elements of a row differ in an input."""
    if isinstance(source, Constant):
        return False
    return last in loops


def _applied(operation: Operation, operands: Sequence[Number]) -> Number:
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


def _combination(step: Step) -> Operation:
    """The op that combines elements in a reduction."""
    assert step.combination is not None
    return step.combination


def _combined(step: Step, left: Number, right: Number) -> Number:
    return _applied(_combination(step), [left, right])


def _total(step: Step, vector: Number) -> Number:
    """The elements of a vector, combined."""
    kind = getattr(mlir.vector.CombiningKind, COMBINING[_combination(step).name].kind)
    fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>") if vector.is_float else None
    return Number(mlir.vector.reduction(vector.element, kind, vector.value, fastmath=fast))


def _constant(attribute: mlir.ir.Attribute) -> Number:
    return Number(mlir.arith.constant(attribute.type, attribute))


def _first(count: int, vector: Number, others: Number) -> Number:
    """A vector whose first `count` elements are those of `vector`, and then those of `others`."""
    (width,) = mlir.ir.VectorType(vector.type).shape
    return Number(mlir.arith.select(_mask(count, width), vector.value, others.value))


def _mask(count: int, width: int) -> Value:
    """A vector of bits, the first `count` of which are set."""
    bits = ", ".join("true" if place < count else "false" for place in range(width))
    mask = mlir.ir.Attribute.parse(f"dense<[{bits}]> : vector<{width}xi1>")
    return mlir.arith.constant(mask.type, mask)


def _from_memory(number: Number, element: Type) -> Number:
    """A number as it is computed with: a bool is a bit, and a byte in memory."""
    return _resized(number, element, mlir.arith.trunci)


def _in_memory(number: Number, array: Array) -> Number:
    """A number as it lies in memory."""
    return _resized(number, array.element, mlir.arith.extui)


def _resized(number: Number, element: Type, cast: Callable[..., Value]) -> Number:
    if number.element == element or _BIT not in (_width(number.element), _width(element)):
        return number
    shape = mlir.ir.VectorType(number.type).shape if number.is_vector else None
    return Number(cast(mlir.ir.VectorType.get(shape, element) if shape else element, number.value))


def _width(type_: Type) -> int:
    return mlir.ir.IntegerType(type_).width if isinstance(type_, mlir.ir.IntegerType) else 0
