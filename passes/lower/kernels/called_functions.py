"""The pass `call-functions`: long computations of elements that call the scalar functions they apply.

Input: lowered functions. Output: the same, where an elementwise generic that applies many scalar functions
is a dispatch of a kernel of our own, in which each function stands once, on vectors, and is called.
Idea: IREE puts the code of a function wherever it is called. A sine is a hundred ops, and of three hundred
sines in one body each pass of IREE and of LLVM sees all. A call takes about as long as the code. A long
computation is itself divided into functions, of which those that are equal stand once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from ...analysis.shared import shared
from ...base import Pass
from ...ir.aliases import Block, Operation, Type, Value
from ...ir.functions import functions, is_private
from ..elementwise_parts import Input, Part, elementwise_blocks, parts_of
from ..merge_elementwise import merge
from ..plan import target_of
from ..scalars import NO_INLINE
from ..tuning.configuration import has_kernels
from .builder import Array, Number, body_of, broadcast, index, loop
from .element_code import applied, constant_of
from .executable import Kernel, Kernels, Result, workgroup_id
from .reduced_rows import places_of

FEWEST: Final = 16  # calls of one computation; the code of fewer compiles as fast where it is called
MOST_IN_PART: Final = 24
"""Calls of one function: LLVM's allocation of registers takes time with the square of those that a number
lives across."""
MOST_ARRAYS: Final = 30  # of a dispatch
CALLS: Final = 1 << 10  # of a workgroup, which take some ten microseconds
TIMES: Final = {4: 4.0, 2: 2.35, 1: 1.55}
"""How long calls take, by how many vectors a call computes: the steps of one function follow each other."""
BITS: Final = {"f32": 32, "f64": 64, "i32": 32, "i64": 64}
"""The elements of arrays that are loaded and stored as vectors."""

CALL: Final = "func.call"
_NONE: Final = -1
_CONSTANT: Final = "arith.constant"
_COMPUTING: Final = ("arith.", "math.")


@dataclass(frozen=True)
class CallFunctions(Pass):
    """Make kernels that call the functions they apply of long computations of elements."""

    name = "call-functions"
    needs = (CALL,)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there were such computations."""
        by_symbol, kernels = functions(module), Kernels(module)
        called = {name for name, function in by_symbol.items() if NO_INLINE in function.attributes}
        if not called:
            return False
        target = target_of(module)
        if not has_kernels(target):
            return False
        found = [
            computation
            for block in shared(elementwise_blocks, module)
            if block.symbol not in called
            for part in parts_of(block, MOST_ARRAYS, _array_of)
            if (computation := _read(part, by_symbol, target)) is not None
        ]
        with module.context:
            for number, computation in enumerate(found):
                _replace(kernels, computation, number)
        return bool(found)


@dataclass(frozen=True)
class Source:
    """Where an operand is from: one number of an array, at `places`; a number for all; or a whole array."""

    array: Value | None
    places: tuple[int, ...] = ()
    number: mlir.ir.Attribute | None = None


@dataclass(frozen=True)
class Computation:
    """Generics that become one, the functions that they call, how often, the elements of a vector, and the
    sizes of the loops. `is_flat`: all inputs are single numbers, or lie as the result does."""

    part: Part
    callees: dict[str, Operation]
    calls: int
    width: int
    sizes: list[int]
    is_flat: bool


def _array_of(key: Input) -> Value | None:
    """The array that an input is from."""
    return _source(key[0]).array


def _source(value: Value) -> Source:
    """Where a value is from."""
    type_ = mlir.ir.RankedTensorType(value.type)
    if type_.rank or isinstance(value.owner, mlir.ir.Block):
        return Source(value)
    owner = value.owner.operation
    if owner.name == _CONSTANT:
        return Source(None, number=mlir.ir.DenseElementsAttr(owner.attributes["value"]).get_splat_value())
    if owner.name != "tensor.collapse_shape" or isinstance(owner.operands[0].owner, mlir.ir.Block):
        return Source(value)
    slice_ = owner.operands[0].owner.operation
    if slice_.name != "tensor.extract_slice" or len(slice_.operands) > 1:
        return Source(value)
    return Source(slice_.operands[0], tuple(slice_.attributes["static_offsets"]))


def _read(part: Part, by_symbol: dict[str, Operation], target: Target) -> Computation | None:
    """A part as a computation that gains by calls, None for others."""
    bodies = [
        [child.operation for child in member.regions[0].blocks[0].operations] for member in part.members
    ]
    calls = [each for body in bodies for each in body if each.name == CALL]
    if len(calls) < FEWEST:
        return None
    callees = {name: by_symbol[name] for name in map(_callee, calls) if name in by_symbol}
    inner = [each for body in bodies for each in body[:-1]]
    if not all(map(_is_computed, inner)) or not _are_simple(callees.values()):
        return None
    if any(_callee(each) not in callees for each in calls) or not all(map(_is_closed, part.members)):
        return None
    type_ = mlir.ir.RankedTensorType(part.members[0].results[0].type)
    sizes, axes = list(type_.shape), {key: _axes_of(key[1]) for key in part.inputs}
    known = {key: each for key, each in axes.items() if each is not None}
    elements = {str(mlir.ir.RankedTensorType(v.type).element_type) for v, _ in part.inputs}
    elements.add(str(type_.element_type))
    if len(known) < len(axes) or not sizes or not elements <= BITS.keys():
        return None
    bits = max(BITS.get(str(value.type), 0) for each in inner for value in each.results)
    bits = max(bits, *(BITS[each] for each in elements))
    last, whole = len(sizes) - 1, tuple(range(len(sizes)))
    is_flat = all(_is_single(each) or each == whole for each in known.values())
    width, row = target.vector_bits // bits, prod(sizes) if is_flat else sizes[-1]
    if any(last in each[:-1] for each in known.values()) or width < 2 or row < width:
        return None
    possible = [count for count in TIMES if row >= count * width]
    best = min(possible, key=lambda count: -(-row // (count * width)) * TIMES[count])
    return Computation(part, callees, len(calls), best * width, sizes, is_flat)


def _callee(call: Operation) -> str:
    return str(mlir.ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _is_computed(operation: Operation) -> bool:
    is_one = operation.name == CALL or operation.name.startswith(_COMPUTING)
    return is_one and len(operation.results) == 1 and not len(operation.regions)


def _are_simple(callees: Iterable[Operation]) -> bool:
    """Whether functions compute one number of others, and call none themselves."""
    return all(
        is_private(each) and _is_computed(inner.operation) and inner.operation.name != CALL
        for each in callees
        for inner in list(each.regions[0].blocks[0].operations)[:-1]
    )


def _is_closed(generic: Operation) -> bool:
    """Whether a body takes nothing from outside but constants."""
    block = generic.regions[0].blocks[0]
    return all(
        _is_inside(value, block) or _is_constant(value)
        for child in block.operations
        for value in child.operation.operands
    )


def _is_inside(value: Value, block: Block) -> bool:
    owner = value.owner
    return bool(owner == block) if isinstance(owner, mlir.ir.Block) else bool(owner.operation.block == block)


def _is_constant(value: Value) -> bool:
    return not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name == _CONSTANT


def _axes_of(map_: mlir.ir.Attribute) -> tuple[int, ...] | None:
    """The loops along which an operand lies, `_NONE` for an axis of one element; None for other maps."""
    found: list[int] = []
    for place in mlir.ir.AffineMapAttr(map_).value.results:
        if isinstance(place, mlir.ir.AffineDimExpr):
            found.append(place.position)
        elif isinstance(place, mlir.ir.AffineConstantExpr) and place.value == 0:
            found.append(_NONE)
        else:
            return None
    return tuple(found)


def _is_single(axes: Sequence[int]) -> bool:
    """Whether an operand has one element for all places."""
    return set(axes) <= {_NONE}


# -- the kernel ------------------------------------------------------------------------------------


def _replace(kernels: Kernels, computation: Computation, number: int) -> None:
    """Call a kernel in the place of a part."""
    sources: list[Source] = []
    axes: list[tuple[int, ...]] = []
    generic = merge(computation.part)
    type_ = mlir.ir.RankedTensorType(generic.results[0].type)
    sizes, is_flat = computation.sizes, computation.is_flat
    with mlir.ir.InsertionPoint(generic), generic.location:
        maps = list(generic.attributes["indexing_maps"])
        for value, map_ in zip(list(generic.operands)[:-1], maps, strict=False):
            source, along = _source(value), _axes_of(map_)
            assert along is not None
            if is_flat and len(sizes) > 1 and not _is_single(along):
                source, along = Source(_flat(value)), (0,)
            sources.append(source)
            axes.append(along)
        if is_flat:
            sizes = [prod(sizes)]
        arrays = list(dict.fromkeys(source.array for source in sources if source.array is not None))
        code = _Code(computation, generic, sizes, sources, axes, arrays)
        result = mlir.ir.RankedTensorType.get(sizes, type_.element_type)
        kernel = Kernel("functions", (Result(result),), code.emit, key=number, workgroups=(code.workgroups,))
        (value,) = kernels.call(kernel, arrays)
        if result != type_:
            value = _in_shape(value, type_)
    generic.results[0].replace_all_uses_with(value)
    generic.erase()


def _flat(value: Value) -> Value:
    type_ = mlir.ir.RankedTensorType(value.type)
    flat = mlir.ir.RankedTensorType.get([prod(type_.shape)], type_.element_type)
    return mlir.tensor.collapse_shape(flat, value, [list(range(type_.rank))])


def _in_shape(value: Value, type_: mlir.ir.RankedTensorType) -> Value:
    return mlir.tensor.expand_shape(type_, value, [list(range(type_.rank))], [], list(type_.shape))


@dataclass(frozen=True)
class _Code:
    """The code of a kernel over loops of these sizes: what `generic` computes of `sources`, which lie along
    these axes, and are in `arrays`.

    The last vector of a row overlaps the one before where the row has no whole number of them.
    """

    computation: Computation
    generic: Operation
    sizes: list[int]
    sources: list[Source]
    axes: list[tuple[int, ...]]
    arrays: list[Value]
    functions: dict[str, Operation] = field(default_factory=dict)

    @property
    def _row(self) -> int:
        """The vectors of a row."""
        return -(-self.sizes[-1] // self.computation.width)

    @property
    def _vectors(self) -> int:
        return prod(self.sizes[:-1]) * self._row

    @property
    def _block(self) -> int:
        """The vectors of a workgroup."""
        return max(CALLS // self.computation.calls, 1)

    @property
    def workgroups(self) -> int:
        """How many workgroups share the vectors."""
        return -(-self._vectors // self._block)

    def emit(self, given: Sequence[Value], written: Sequence[Value]) -> None:
        """The code of a workgroup."""
        first = Number(workgroup_id()) * self._block
        arrays = [Array(memref) for memref in given]
        is_row = len(self.sizes) == 1
        with loop(first, (first + self._block).least(self._vectors)) as vector:
            at = (vector if is_row else vector % self._row) * self.computation.width
            if self.sizes[-1] % self.computation.width:
                at = at.least(self.sizes[-1] - self.computation.width)
            places = [at] if is_row else [*places_of(vector // self._row, self.sizes[:-1]), at]
            values = [
                self._loaded(source, along, arrays, places)
                for source, along in zip(self.sources, self.axes, strict=True)
            ]
            Array(written[0])[tuple(places)] = self._vector(self._computed(values))

    def _loaded(
        self, source: Source, axes: Sequence[int], arrays: Sequence[Array], places: Sequence[Number]
    ) -> Number:
        if source.array is None:
            assert source.number is not None
            return constant_of(source.number)
        array = arrays[self.arrays.index(source.array)]
        own = [places[axis] if axis != _NONE else index(0) for axis in axes]
        if axes and axes[-1] == len(self.sizes) - 1:
            return array.vector(self.computation.width, *own)
        return array[tuple(own) or source.places]

    def _computed(self, values: Sequence[Number]) -> Number:
        """What the body of the generic computes of its operands: by parts, if it is long."""
        block = self.generic.regions[0].blocks[0]
        known: dict[Value, Number] = dict(zip(block.arguments, values, strict=False))
        *body, last = [child.operation for child in block.operations]
        parts = _divided(body)
        if len(parts) == 1:
            self._emit(body, known)
        else:
            ends = {
                value: number for number, part in enumerate(parts) for each in part for value in each.operands
            }
            ends[last.operands[0]] = len(parts)
            for number, part in enumerate(parts):
                made = [each.results[0] for each in part if ends.get(each.results[0], 0) > number]
                self._call_part(part, made, known)
        return _known(last.operands[0], known)

    def _emit(self, body: Sequence[Operation], known: dict[Value, Number]) -> None:
        """The code of some operations, whose results are then known."""
        for each in body:
            operands = [_known(value, known) for value in each.operands]
            if each.name == CALL:
                known[each.results[0]] = self._called(each, operands)
            else:
                known[each.results[0]] = applied(each, operands)

    def _call_part(
        self, part: Sequence[Operation], made: Sequence[Value], known: dict[Value, Number]
    ) -> None:
        """Call a function of some operations; the numbers that it has `made` are then known."""
        inside = {each.results[0] for each in part}
        used = dict.fromkeys(value for each in part for value in each.operands if value not in inside)
        taken = [value for value in used if value in known and not _is_constant(value)]

        def emit(arguments: Sequence[Number]) -> list[Number]:
            own = dict(zip(taken, arguments, strict=True))
            self._emit(part, own)
            return [self._vector(own[value]) for value in made]

        numbers = [known[value] for value in taken]
        types = [self._vector_type(value.type) for value in made]
        name = f"part_{len(self.functions)}"
        function = _add_function(name, [number.type for number in numbers], types, emit)
        text = str(function).replace(_symbol(function), "")
        if text in self.functions:
            function.erase()
        function = self.functions.setdefault(text, function)
        known.update(zip(made, _call(function, numbers), strict=True))

    def _called(self, call: Operation, operands: Sequence[Number]) -> Number:
        """What a function computes of vectors.

        Each part has functions of its own: IREE takes one that two others call for a recursive one.
        """
        vectors, name = [self._vector(operand) for operand in operands], _callee(call)
        key = f"{_symbol(_function_around())}.{name}"
        if key not in self.functions:
            callee = self.computation.callees[name].regions[0].blocks[0]
            *body, last = [child.operation for child in callee.operations]

            def emit(arguments: Sequence[Number]) -> list[Number]:
                own: dict[Value, Number] = dict(zip(callee.arguments, arguments, strict=True))
                for each in body:
                    own[each.results[0]] = applied(each, [_known(value, own) for value in each.operands])
                return [self._vector(_known(last.operands[0], own))]

            types = [self._vector_type(last.operands[0].type)]
            self.functions[key] = _add_function(name, [v.type for v in vectors], types, emit)
        (result,) = _call(self.functions[key], vectors)
        return result

    def _vector_type(self, element: Type) -> Type:
        return mlir.ir.VectorType.get([self.computation.width], element)

    def _vector(self, number: Number) -> Number:
        if number.is_vector:
            return number
        return broadcast(number, self._vector_type(number.type))


def _divided(body: Sequence[Operation]) -> list[list[Operation]]:
    """Operations in their order, in parts of no more calls than registers are found for quickly."""
    parts: list[list[Operation]] = [[]]
    calls = 0
    for each in body:
        calls += each.name == CALL
        if calls > MOST_IN_PART:
            parts.append([])
            calls = 1
        parts[-1].append(each)
    return parts


def _add_function(
    name: str,
    taken: Sequence[Type],
    returned: Sequence[Type],
    emit: Callable[[Sequence[Number]], Sequence[Number]],
) -> Operation:
    """A function for the one whose code is emitted, which LLVM leaves where it is."""
    ir, around = mlir.ir, _function_around()
    with ir.InsertionPoint(around.block):
        function = mlir.func.FuncOp(
            f"{_symbol(around)}.{name}", (list(taken), list(returned)), visibility="private"
        )
    function.operation.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])
    block = function.add_entry_block()
    with body_of(block):
        mlir.func.ReturnOp([number.value for number in emit(list(map(Number, block.arguments)))])
    return function.operation


def _call(function: Operation, operands: Sequence[Number]) -> list[Number]:
    """What a function returns."""
    called = mlir.ir.Operation.create(
        CALL,
        results=list(mlir.ir.FunctionType(function.attributes["function_type"].value).results),
        operands=[operand.value for operand in operands],
        attributes={"callee": mlir.ir.FlatSymbolRefAttr.get(_symbol(function))},
    )
    return list(map(Number, called.results))


def _symbol(function: Operation) -> str:
    return str(function.attributes["sym_name"].value)


def _known(value: Value, known: dict[Value, Number]) -> Number:
    """A number of the code, or a constant from outside."""
    if value not in known:
        known[value] = constant_of(value.owner.operation.attributes["value"])
    return known[value]


def _function_around() -> Operation:
    """The function whose code is emitted."""
    operation = mlir.ir.InsertionPoint.current.block.owner
    while operation.operation.name != "func.func":
        operation = operation.operation.parent
    return operation.operation
