"""The kernel of a loop that computes each element for itself, put in the loop's place.

Input: a loop and its kernel of one element (`single.py`). Output: a dispatch of several workgroups, each of
which takes vectors of elements in order and runs the whole loop on each, in registers. Arrays go in and out
as rows of their elements, complex ones as rows of their parts. The last vector overlaps the one before it
where the elements are no multiple of the lanes: it computes the same again. Where it shows at the call how
many elements there are, fewer than a vector has run one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil, prod
from typing import Final

from ......dialects import mlir
from ......dialects.builder.emitter import Reader
from ......dialects.dataclass import dataclass
from ......runtime.targets import Target, TargetKind
from .....ir.aliases import Operation, Type, Value
from .....ir.marks import LOOP
from ....tuning.texts import has_many_registers
from ...builder import Array, Number, Place, ceil_divided, index, product, when
from ...builder import loop as loop_over
from ...executable import (
    Kernel,
    Kernels,
    Result,
    Size,
    Sizes,
    stored_element,
    tensor_sizes,
    thread_id,
    workgroup_count,
    workgroup_id,
)
from .. import allocations
from ..build import entry, lower_to_tensors, simplify_tensors
from ..embed import emit_copy
from ..iterations import require_few_iterations
from ..walk import operations_inside, operations_named
from .errors import NotPointwise
from .single import Kind, Single, single_element
from .widen import HIDDEN, Memory, Wide, widen

NAME: Final = "loop_of_elements"
VECTORS: Final = "vectors"
REGISTERS: Final = 4  # of each value of a body: while one waits for a division, the others go on
LONG: Final = 200  # scalar ops from which on a vector is one register
MOST_OPS: Final = 3000  # scalar ops of a kernel: more take long to compile
LEAST_WORK: Final = 50_000.0  # nanoseconds of a workgroup
MOST_WORKGROUPS: Final = 64
UNKNOWN_STEPS: Final = 32  # the steps that a loop of unknown length is taken to have
THREADS: Final = 64  # of a workgroup of a GPU: few, so that many multiprocessors have some
MOST_ON_GPUS: Final = 65535  # workgroups: Vulkan's devices need not have more along an axis
OPERATION: Final = 0.5  # nanoseconds of one op on a vector register


@dataclass(frozen=True)
class Code:
    """The code of a kernel: a function of the memrefs of operands and results.

    `workgroups`: at most so many, each of which has `share` elements or more.
    """

    single: Single
    function: Operation
    workgroups: int
    share: int
    threads: int | None
    is_spirv: bool


@dataclass(frozen=True)
class Plan:
    """The scalar code of one element, how many elements are done at once, and by how many workgroups.

    On a GPU each of the `threads` of a workgroup has one element, or every so many.
    """

    single: Single
    scalar: Operation
    lanes: int
    workgroups: int
    share: int = 1
    threads: int | None = None


def code_of(loop: Operation, by_symbol: Mapping[str, Operation], reader: Reader, target: Target) -> Code:
    """The code of a loop; `NotPointwise` or another `KernelError` where it has none."""
    single = single_element(loop, by_symbol, reader, has_dynamic=target.kind is TargetKind.CPU)
    arrays = len(single.operands) + len(single.results)
    most = allocations.MOST_ARGUMENTS if target.kind is TargetKind.CPU else allocations.MOST_ON_GPUS
    if arrays > most:
        raise NotPointwise(f"it works on {arrays} arrays: a dispatch has {most} at most")
    with single.module.context, mlir.ir.Location.unknown():
        lower_to_tensors(single.module, target)
        hide_conditions(single.module)
        simplify_tensors(single.module)
    count = sum(1 for _ in operations_inside(single.module))
    if count > MOST_OPS:
        raise NotPointwise(f"its body has {count} scalar ops, more than {MOST_OPS}")
    plan = _plan(single, count, target)
    with single.module.context, mlir.ir.Location.unknown():
        function = _vector_function(plan, loop)
        require_few_iterations(function, target)
    return Code(single, function, plan.workgroups, plan.share, plan.threads, target.is_spirv)


def _plan(single: Single, count: int, target: Target) -> Plan:
    """How the elements are divided, of `count` scalar ops each."""
    code = entry(single.module)
    if target.kind is not TargetKind.CPU:
        assert single.count is not None
        workgroups = min(-(-single.count // THREADS), MOST_ON_GPUS)
        return Plan(single, code, 1, workgroups, threads=THREADS)
    lanes = _lanes(single, count, target)
    of_vector = (single.steps or UNKNOWN_STEPS) * count * OPERATION
    if single.count is None:
        return Plan(single, code, lanes, MOST_WORKGROUPS, lanes * ceil(LEAST_WORK / max(of_vector, 1)))
    vectors = -(-single.count // lanes)
    workgroups = max(1, min(MOST_WORKGROUPS, vectors, int(vectors * of_vector / LEAST_WORK)))
    return Plan(single, code, lanes, workgroups)


def hide_conditions(module: mlir.ir.Module) -> None:
    """Let nobody conclude from the condition of a while what holds in its body: not all lanes go on."""
    for operation in operations_named(module, "scf.condition"):
        condition = operation.operands[0]
        with mlir.ir.InsertionPoint(operation):
            operation.operands[0] = mlir.ir.Operation.create(
                HIDDEN, results=[condition.type], operands=[condition]
            ).results[0]


def _lanes(single: Single, count: int, target: Target) -> int:
    """The elements of a vector: some registers of the widest type in the code, at most all elements."""
    widest = 32
    for operation in operations_inside(single.module):
        for value in operation.results:
            widest = max(widest, _bits(value.type))
    registers = REGISTERS if count < LONG or (has_many_registers(target) and count < 2 * LONG) else 1
    lanes = max(target.vector_bits // widest * registers, 2)
    while single.count is not None and lanes > single.count:
        lanes //= 2
    return lanes


def _bits(type_: Type) -> int:
    if isinstance(type_, mlir.ir.ComplexType):
        return _bits(type_.element_type)
    if isinstance(type_, mlir.ir.IntegerType):
        return int(type_.width)
    return 64 if isinstance(type_, mlir.ir.F64Type) else 32


# -- the dispatch ------------------------------------------------------------------------------------


def replace_with_elements(kernels: Kernels, loop: Operation, code: Code) -> None:
    """Call the kernel of `loop` in its place."""
    single = code.single
    types = [loop.results[k].type for k in single.results]
    with mlir.ir.InsertionPoint(loop), loop.location:
        shape = _sizes_at_call(loop) if single.count is None else []
        count = _count_at_call(single, shape) if shape else None
        sizes = () if count is None else (count.value,)
        results = tuple(
            Result(_stored(type_, kind), sizes if kind is Kind.ELEMENT else ())
            for type_, kind in zip(types, single.result_kinds, strict=True)
        )

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            emit_copy(code.function, [*operands, *written])

        key = str(code.function)
        workgroups: Size = code.workgroups
        if count is not None:
            workgroups = ((count // code.share).most(1)).least(code.workgroups).value
        kernel = Kernel(
            NAME,
            results,
            emit,
            key=key,
            workgroups=(workgroups,),
            threads=code.threads,
            is_spirv=code.is_spirv,
        )
        for value, kind in zip(single.operands, single.operand_kinds, strict=True):
            if kind is Kind.ELEMENT and shape:
                _require_sizes(value, shape)
        operands = [
            _reinterpreted(value, _stored(value.type, kind), count)
            for value, kind in zip(single.operands, single.operand_kinds, strict=True)
        ]
        of_arrays: Sizes = (lambda _: sizes) if sizes else tensor_sizes
        values = kernels.call(kernel, operands, sizes=of_arrays)
        values[0].owner.attributes[LOOP] = loop.attributes[LOOP]
        for position, value, type_ in zip(single.results, values, types, strict=True):
            again = _reinterpreted(value, type_, count, shape)
            loop.results[position].replace_all_uses_with(again)
    loop.erase()


def _sizes_at_call(loop: Operation) -> list[Value]:
    """The sizes of the arrays of a loop that show at the call, of which all have one shape."""
    tensors = (v for v in loop.operands if isinstance(v.type, mlir.ir.RankedTensorType))
    arrays = (v for v in tensors if not v.type.has_static_shape)
    return [n for n in tensor_sizes(next(arrays)) if not isinstance(n, int)]


def _require_sizes(array: Value, sizes: Sequence[Value]) -> None:
    """Check at the call that an array has these sizes."""
    for size, wanted in zip((n for n in tensor_sizes(array) if not isinstance(n, int)), sizes, strict=True):
        is_equal = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, size, wanted)
        mlir.cf.assert_(is_equal, "adze: arrays in a loop differ in their sizes")


def _count_at_call(single: Single, sizes: Sequence[Value]) -> Number:
    """How many elements there are."""
    known = prod(n for n in single.shape if n is not None)
    found = product([known, *map(Number, sizes)])
    assert isinstance(found, Number)
    return found


def _stored(type_: Type, kind: Kind) -> Type:
    """The type of an array as the kernel has it: elements or rows of elements, complex ones by parts."""
    tensor = mlir.ir.RankedTensorType(type_)
    if kind in (Kind.NUMBER, Kind.NUMBERS):
        return type_
    shape, element = list(tensor.shape), tensor.element_type
    if not tensor.has_static_shape:
        return mlir.ir.RankedTensorType.get([mlir.ir.ShapedType.get_dynamic_size()], element)
    rows = shape[:1] if kind is Kind.ROWS else []
    size = prod(shape[len(rows) :])
    if isinstance(element, mlir.ir.ComplexType):
        size, element = 2 * size, element.element_type
    return mlir.ir.RankedTensorType.get([*rows, size], element)


def _reinterpreted(
    value: Value, type_: Type, count: Number | None, shape: Sequence[Value] | None = None
) -> Value:
    """An array with the same elements in memory.

    `count`: how many there are where that shows at the call; `shape`: the sizes of the result that do.
    """
    if value.type == type_:
        return value
    before, after = mlir.ir.RankedTensorType(value.type), mlir.ir.RankedTensorType(type_)
    sizes: list[Value] = []
    if not before.has_static_shape:
        assert count is not None
        given = [n for n in tensor_sizes(value) if not isinstance(n, int)] if shape is None else [count.value]
        sizes = [*given, *(shape or [count.value])]
    return mlir.ir.Operation.create(
        "flow.tensor.reshape" if before.element_type == after.element_type else "flow.tensor.bitcast",
        results=[type_],
        operands=[value, *sizes],
        attributes={
            "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get(
                [1, _dynamic_axes(before), _dynamic_axes(after)]
            )
        },
    ).results[0]


def _dynamic_axes(type_: Type) -> int:
    return sum(type_.is_dynamic_dim(axis) for axis in range(type_.rank))


# -- the code ----------------------------------------------------------------------------------------


def _vector_function(plan: Plan, loop: Operation) -> Operation:
    """The function of the kernel, in the module of one element: what has no form on vectors fails here."""
    single = plan.single
    given = zip(single.operands, single.operand_kinds, strict=True)
    written = zip(single.results, single.result_kinds, strict=True)
    types = [_memref(_stored(value.type, kind)) for value, kind in given]
    types += [_memref(_stored(loop.results[k].type, kind)) for k, kind in written]
    with mlir.ir.InsertionPoint(single.module.body):
        function = mlir.func.FuncOp(VECTORS, mlir.ir.FunctionType.get(types, []))
    with mlir.ir.InsertionPoint(function.add_entry_block()):
        arguments = list(function.arguments)
        _emit(plan, arguments[: len(single.operands)], arguments[len(single.operands) :])
        mlir.func.ReturnOp([])
    function.operation.verify()
    return function.operation


def _memref(type_: Type) -> Type:
    tensor = mlir.ir.RankedTensorType(type_)
    return mlir.ir.MemRefType.get(tensor.shape, stored_element(tensor.element_type))


def _emit(code: Plan, operands: Sequence[Value], written: Sequence[Value]) -> None:
    sources = [Array(memref) for memref in operands]
    targets = [Array(memref) for memref in written]
    if code.single.count is not None:
        _emit_vectors(code, sources, targets, code.single.count)
        return
    count = index(targets[0].size(0))
    has_vectors = count >= code.lanes
    with when(has_vectors):
        _emit_vectors(code, sources, targets, count)
    with when(has_vectors ^ 1):
        _emit_vectors(replace(code, lanes=1), sources, targets, count)


def _emit_vectors(code: Plan, sources: Sequence[Array], targets: Sequence[Array], count: Place) -> None:
    """The code for as many elements as a vector has, or more."""
    single, lanes = code.single, code.lanes
    with _numbers(code, ceil_divided(count, lanes)) as number:
        first = (number * lanes).least(count - lanes)
        lane = Lanes(code, sources, targets, first)
        varying = (k for k, kind in enumerate(single.operand_kinds) if kind in _OF_ELEMENTS)
        values = widen(code.scalar, lanes, Memory(lane.load, lane.store), frozenset(varying))
        for target, kind, value in zip(targets, single.result_kinds, values, strict=True):
            if value is None:
                continue  # stored row by row
            if kind is Kind.ELEMENT:
                lane.write(target, value, [])
            else:
                with when(number.equals(0)):
                    _write_number(target, value)


@contextmanager
def _numbers(code: Plan, vectors: Place) -> Iterator[Number]:
    """The numbers of the vectors that a workgroup has, or those of the thread."""
    if code.threads is not None:
        first = Number(workgroup_id()) * code.threads + Number(thread_id())
        together = code.threads * code.workgroups
        if isinstance(vectors, int) and vectors <= together:
            yield first
            return
        with loop_over(first, vectors, together) as number:
            yield number
        return
    workgroups: Place = code.workgroups if isinstance(vectors, int) else Number(workgroup_count())
    with loop_over(Number(workgroup_id()), vectors, workgroups) as number:
        yield number


_OF_ELEMENTS: Final = frozenset({Kind.ELEMENT, Kind.ROWS})


class Lanes:
    """The elements from `first` on, of the arrays of a kernel."""

    def __init__(self, code: Plan, sources: Sequence[Array], targets: Sequence[Array], first: Number) -> None:
        self._lanes = code.lanes
        self._first = first
        self._targets = targets
        arguments = code.scalar.regions[0].blocks[0].arguments
        kinds = code.single.operand_kinds
        types = [a.type.element_type for a in arguments]
        self._sources = dict(zip(arguments, zip(sources, kinds, types, strict=True), strict=True))
        self._loaded = {
            argument: self._load(argument, [])
            for argument, kind in zip(arguments, kinds, strict=True)
            if kind in (Kind.ELEMENT, Kind.NUMBER)
        }

    def load(self, argument: Value, indices: Sequence[Value]) -> Wide | None:
        """The parts of an element of an argument: of lanes, or a number."""
        if argument in self._loaded:
            return self._loaded[argument]
        return self._load(argument, indices) if argument in self._sources else None

    def _load(self, argument: Value, indices: Sequence[Value]) -> Wide:
        source, kind, type_ = self._sources[argument]
        at = [Number(v) for v in indices]
        if kind not in _OF_ELEMENTS:
            return _parts(Number(mlir.memref.load(source.memref, list(indices))), type_)
        if not isinstance(type_, mlir.ir.ComplexType):
            return _parts(source.vector(self._lanes, *at, self._first), type_)
        both = source.vector(2 * self._lanes, *at, self._first * 2).value
        half = mlir.ir.VectorType.get([self._lanes], type_.element_type)
        return tuple(
            mlir.ir.Operation.create("vector.deinterleave", results=[half, half], operands=[both]).results
        )

    def store(self, result: int, value: Wide, indices: Sequence[Value]) -> None:
        """Write a row of the stack of a result."""
        self.write(self._targets[result], value, [Number(v) for v in indices])

    def write(self, target: Array, value: Wide, at: Sequence[Number]) -> None:
        """Write vectors to the elements of an array, or of a row of it."""
        parts = [
            part
            if isinstance(part.type, mlir.ir.VectorType)
            else mlir.vector.broadcast(mlir.ir.VectorType.get([self._lanes], part.type), part)
            for part in value
        ]
        if len(parts) == 1:
            target[(*at, self._first)] = Number(_as_stored(parts[0], target.element))
            return
        pair = mlir.ir.VectorType.get([2 * self._lanes], target.element)
        both = mlir.ir.Operation.create("vector.interleave", results=[pair], operands=parts).results[0]
        target[(*at, self._first * 2)] = Number(both)


def _parts(loaded: Number, type_: Type) -> Wide:
    """What is loaded as values of the code: bools of bytes, complex numbers by parts."""
    if isinstance(type_, mlir.ir.ComplexType):
        return mlir.complex.ReOp(loaded.value).result, mlir.complex.ImOp(loaded.value).result
    if isinstance(type_, mlir.ir.IntegerType) and type_.width == 1:
        return (loaded.differs(0).value,)
    return (loaded.value,)


def _as_stored(value: Value, element: Type) -> Value:
    """A value as it is in memory: bools as bytes."""
    type_ = value.type
    is_vector = isinstance(type_, mlir.ir.VectorType)
    kind = mlir.ir.VectorType(type_).element_type if is_vector else type_
    if kind == element:
        return value
    return mlir.arith.extui(
        mlir.ir.VectorType.get(mlir.ir.VectorType(type_).shape, element) if is_vector else element, value
    )


def _write_number(target: Array, value: Wide) -> None:
    if len(value) == 2:
        kind = mlir.ir.ComplexType.get(value[0].type)
        number = mlir.complex.CreateOp(kind, *value).result
    else:
        number = _as_stored(value[0], target.element)
    mlir.memref.store(number, target.memref, [])
