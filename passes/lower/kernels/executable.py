"""How a kernel of our own stands in the module that IREE compiles: a `stream.executable` and its dispatches.

Input: a `Kernel` (its results, its count of workgroups, and a function that emits its code) and the tensors
and scalars that it is called with. Output: the values of its results; the module has the executable.
Idea: IREE lowers the memref, vector and scf code of such a function as it is, for any CPU. A result is a new
buffer, undefined at first (scratch is a result that its caller drops), or the buffer of an operand (`tied`).
Every dynamic size is one more operand, of type `index`. Calls of equal kernels share one executable; symbols
depend on the order of calls alone, so that the same program has the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import field
from math import prod
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Operation, Type, Value
from ...ir.functions import EXECUTABLE
from .builder import body_of
from .reduction_programs import Parameter

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"
Emit: TypeAlias = "Callable[[Sequence[ir.Value], Sequence[ir.Value]], None]"
Sizes: TypeAlias = "Callable[[ir.Value], Sequence[Size]]"

DISPATCH: Final = "flow.dispatch"
_THREADS: Final = (
    "#iree_codegen.translation_info<pipeline = #iree_codegen.no_pipeline "
    "workgroup_size = [{count}, 1, 1]{subgroup}>"
)
"""IREE leaves the code of such a kernel as it is."""
_WARP: Final = " subgroup_size = 32"  # of CUDA; devices of Vulkan and Metal have subgroups of their own


@dataclass(frozen=True, slots=True)
class Result:
    """A result of a kernel: its tensor type, and the sizes of its dynamic axes in order.

    `tied`: the position of the operand, of the same type, in whose buffer the result is written. Its caller
    sees to it that nothing else uses the operand (`iree/overwritten_arguments.py`).
    """

    type: Type
    sizes: tuple[Value, ...] = ()
    tied: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: what its symbol starts with, its results, and `emit`, which emits its code.

    `emit(operands, results)` gets a memref for each tensor and a scalar for each other operand, and a memref
    for each result; the one of a tied result is its operand's. The code must depend only on the types and on
    `key`: calls with the same name, key, types and counts share it. `workgroups` has up to three counts; a
    count that is known when the program runs is a value of type `index`.
    `constants`: arrays of numbers, which follow the operands; the types and `key` determine them.
    `has_parts`: a complex array `[..., n]` is passed as an array `[..., 2 n]` of its parts.
    `has_bits`: an operand of floats is passed as an array of integers, their bits.
    `threads` run each workgroup, on a GPU; None on a CPU. `is_spirv`: IREE makes its code of SPIR-V.
    """

    name: str
    results: tuple[Result, ...]
    emit: Emit
    key: Hashable = ()
    workgroups: tuple[Size, ...] = (1,)
    constants: tuple[np.ndarray, ...] = field(default=(), compare=False)
    has_parts: bool = False
    has_bits: bool = False
    threads: int | None = None
    is_spirv: bool = False


def tensor_sizes(value: Value) -> list[Size]:
    """The size of each axis of a tensor, by `tensor.dim` where it is dynamic."""
    type_ = mlir.ir.RankedTensorType(value.type)
    index = mlir.ir.IndexType.get(value.context)
    return [
        mlir.tensor.dim(value, mlir.arith.constant(index, axis)) if type_.is_dynamic_dim(axis) else n
        for axis, n in enumerate(type_.shape)
    ]


def workgroup_id(dimension: int = 0) -> Value:
    """Inside a kernel: which workgroup runs, along one of the three dimensions."""
    return _of_workgroup("id", dimension)


_COUNTS: Final[ContextVar[Sequence[Size]]] = ContextVar("_COUNTS", default=())
"""The counts of workgroups of the kernel whose code is emitted."""


def workgroup_count(dimension: int = 0) -> Value:
    """Inside a kernel: how many workgroups there are along one of the three dimensions."""
    counts = _COUNTS.get()
    if dimension < len(counts) and isinstance(counts[dimension], int):
        return mlir.arith.constant(mlir.ir.IndexType.get(), counts[dimension])
    return _of_workgroup("count", dimension)


def thread_id() -> Value:
    """Inside a kernel for a GPU: which thread of the workgroup runs."""
    mlir.load_dialect("gpu")
    axis = {"dimension": mlir.ir.Attribute.parse("#gpu<dim<x>>")}
    return mlir.ir.Operation.create("gpu.thread_id", [mlir.ir.IndexType.get()], attributes=axis).result


def barrier() -> None:
    """Inside a kernel for a GPU: no thread goes on before all of the workgroup are here."""
    mlir.load_dialect("gpu")
    mlir.ir.Operation.create("gpu.barrier")


def _of_workgroup(what: str, dimension: int) -> Value:
    index = mlir.ir.IndexType.get()
    attributes = {"dimension": mlir.ir.IntegerAttr.get(index, dimension)}
    name = f"hal.interface.workgroup.{what}"
    return mlir.ir.Operation.create(name, results=[index], attributes=attributes).result


class Calls(Protocol):
    """What calls kernels: those of a module, or of each item of a batch (`batched_kernels.py`)."""

    def call(self, kernel: Kernel, operands: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a kernel."""


@dataclass
class Kernels:
    """The kernels of one module; `call` adds one where no earlier call has an equal one."""

    module: mlir.ir.Module
    _symbols: dict[Hashable, str] = field(default_factory=dict)

    def call(
        self, kernel: Kernel, operands: Sequence[Value], *, sizes: Sizes = tensor_sizes
    ) -> tuple[Value, ...]:
        """The results of `kernel`, dispatched at the ambient insertion point.

        `operands` are tensors and scalars of `index`, integer or float types; the memref of an array of
        bool is of bytes, since a memref of i1 has another layout than a tensor of i1.
        `sizes` returns those of a tensor's axes.
        """
        constants = [_constant(array) for array in kernel.constants]
        call = _Call(kernel, (*operands, *constants), sizes)
        key = call.key
        if key not in self._symbols:
            self._symbols[key] = self._free_symbol(f"kernel_{kernel.name}")
            _define(self.module, self._symbols[key], call)
        return _dispatch(self._symbols[key], call)

    def _free_symbol(self, wanted: str) -> str:
        named = (o.attributes for o in self.module.body.operations if "sym_name" in o.attributes)
        taken = {
            attributes["sym_name"].value for attributes in named
        }  # IREE's `util.initializer` has no name
        numbered = (f"{wanted}_{count}" for count in range(1, len(taken) + 1))
        return next(name for name in (wanted, *numbered) if name not in taken)


class _Call:
    """A kernel and its operands, with what follows: the dynamic sizes and the counts that go along."""

    def __init__(self, kernel: Kernel, operands: tuple[Value, ...], sizes: Sizes) -> None:
        self.kernel = kernel
        self.operands = operands
        self.sizes = [_dynamic(v, sizes) if _is_tensor(v.type) else [] for v in operands]
        every = [*self.sizes, *(r.sizes for r in kernel.results)]
        self.scalars = list(dict.fromkeys(n for each in every for n in each))
        self.workload = [n for n in kernel.workgroups if not isinstance(n, int)]

    @property
    def key(self) -> Hashable:
        """What calls that share an executable have in common."""
        kernel = self.kernel
        numbers = {size: position for position, size in enumerate(self.scalars)}
        return (
            kernel.name,
            kernel.key,
            tuple(v.type for v in self.operands),
            tuple((r.type, r.tied, tuple(numbers[n] for n in r.sizes)) for r in kernel.results),
            tuple(tuple(numbers[n] for n in each) for each in self.sizes),
            tuple(n if isinstance(n, int) else None for n in kernel.workgroups),
            kernel.threads,
        )

    def fresh(self) -> Iterator[Result]:
        """The results that have a buffer of their own."""
        return (r for r in self.kernel.results if r.tied is None)


def _dispatch(symbol: str, call: _Call) -> tuple[Value, ...]:
    ir = mlir.ir
    index = ir.IndexType.get()
    arguments = [*call.operands, *call.scalars]
    operand_sizes = [n for each in call.sizes for n in each]
    result_sizes = [n for r in call.kernel.results for n in r.sizes]
    tied = []
    for result in call.kernel.results:
        if result.tied is None:
            # Observed: IREE orders unused results of concurrent dispatches by their addresses, and the bytes
            # of an artifact with them; a result in a buffer that it is given is not one of those.
            # Nor a `tensor.empty`: equal ones are shared, and two results would be one.
            empty = ir.Operation.create("flow.tensor.alloca", results=[result.type], operands=result.sizes)
            arguments.append(empty.result)
            operand_sizes += result.sizes
            tied.append(len(arguments) - 1)
        else:
            tied.append(result.tied)
    segments = [len(call.workload), len(arguments), len(operand_sizes), len(result_sizes)]
    dispatch = ir.Operation.create(
        DISPATCH,
        results=[r.type for r in call.kernel.results],
        operands=[*call.workload, *arguments, *operand_sizes, *result_sizes],
        attributes={
            "entry_points": ir.ArrayAttr.get([ir.SymbolRefAttr.get([symbol, symbol])]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
            "tied_operands": ir.ArrayAttr.get([ir.IntegerAttr.get(index, n) for n in tied]),
        },
    )
    return tuple(dispatch.results)


def add_beside(
    old: Operation,
    parameters: Sequence[Parameter],
    workgroups: Callable[[Sequence[Value]], Sequence[Size]],
    emit: Callable[[Sequence[Value], Sequence[Value]], None],
) -> None:
    """A kernel of our own with the names of an executable of IREE's, whose dispatches stay as they are.

    The caller erases the old one, when nothing of Python refers to what is in it: an object that does would
    be taken for what is made at the same address next. `parameters` are what it is passed, results at the
    end; `workgroups` gets the numbers of the workload, `emit` the memrefs of the arrays and these numbers.
    """
    ir = mlir.ir
    symbol = ir.StringAttr(old.attributes["sym_name"]).value
    inner = [each.operation for each in old.regions[0].blocks[0].operations]
    (export,) = (o for o in inner if o.name == "flow.executable.export")
    entry = ir.StringAttr(export.attributes["sym_name"]).value
    count = len(export.regions[0].blocks[0].arguments) if len(export.regions[0].blocks) else 0
    # Made apart from the program, so that nothing half made is left in it where `emit` raises.
    with ir.Location.name(symbol):
        apart = ir.Module.create()
    with ir.Location.name(symbol), ir.InsertionPoint(apart.body):
        exported, functions = _executable(symbol, entry)
        index = ir.IndexType.get()
        block = exported.blocks.append(*[index] * count, arg_locs=[ir.Location.current] * count)
        with ir.InsertionPoint(block):
            _return_counts(workgroups(list(block.arguments)))
        with ir.InsertionPoint(functions.blocks.append()):
            binding = ir.Type.parse("!stream.binding")
            types = [(each.scalar or index) if each.type is None else binding for each in parameters]
            function = mlir.func.FuncOp(entry, ir.FunctionType.get(types, []))
            with body_of(function.add_entry_block([ir.Location.current] * len(types))):
                _bind(list(function.arguments), parameters, emit)
                mlir.func.ReturnOp([])
    apart.operation.verify()
    made = apart.body.operations[0].operation
    made.detach_from_parent()
    ir.InsertionPoint(old).insert(made)


def _bind(
    passed: Sequence[Value],
    parameters: Sequence[Parameter],
    emit: Callable[[Sequence[Value], Sequence[Value]], None],
) -> None:
    """The code of a function, which gets what it is passed."""
    index = mlir.ir.IndexType.get()
    zero = mlir.arith.constant(index, 0)
    told = {
        each.sizes[0].number: value
        for value, each in zip(passed, parameters, strict=True)
        if each.type is None
    }
    numbers = [told.get(number, zero) for number in range(max(told, default=-1) + 1)]
    arrays = [
        _view(value, zero, each.type, [told[size.number] for size in each.sizes])
        for value, each in zip(passed, parameters, strict=True)
        if each.type is not None
    ]
    emit(arrays, numbers)


def _define(module: mlir.ir.Module, symbol: str, call: _Call) -> None:
    ir = mlir.ir
    with ir.Location.name(symbol), ir.InsertionPoint.at_block_begin(module.body):
        exported, functions = _executable(symbol, symbol)
        _define_counts(exported, call)
        with ir.InsertionPoint(functions.blocks.append()):
            _define_function(symbol, call)


def _executable(symbol: str, entry: str) -> tuple[mlir.ir.Region, mlir.ir.Region]:
    """A new executable with one entry: the regions of its count of workgroups and of its functions."""
    ir = mlir.ir
    visibility = {visible: ir.StringAttr.get(visible) for visible in ("private", "public")}
    executable = ir.Operation.create(
        EXECUTABLE,
        attributes={"sym_name": ir.StringAttr.get(symbol), "sym_visibility": visibility["private"]},
        regions=1,
    )
    with ir.InsertionPoint(executable.regions[0].blocks.append()):
        export = ir.Operation.create(
            "stream.executable.export",
            attributes={
                "sym_name": ir.StringAttr.get(entry),
                "sym_visibility": visibility["public"],
                "function_ref": ir.FlatSymbolRefAttr.get(entry),
            },
            regions=1,
        )
        inner = ir.Operation.create("builtin.module", regions=1)
        ir.Operation.create("stream.executable.end")
    return export.regions[0], inner.regions[0]


def _define_counts(region: mlir.ir.Region, call: _Call) -> None:
    """The function of the workload that counts workgroups."""
    ir = mlir.ir
    index = ir.IndexType.get()
    count = len(call.workload)
    block = region.blocks.append(*[index] * count, arg_locs=[ir.Location.current] * count)
    with ir.InsertionPoint(block):
        computed = iter(block.arguments)
        _return_counts([n if isinstance(n, int) else next(computed) for n in call.kernel.workgroups])


def _return_counts(counts: Sequence[Size]) -> None:
    """End the function that counts workgroups with up to three counts."""
    index = mlir.ir.IndexType.get()
    values = [mlir.arith.constant(index, n) if isinstance(n, int) else n for n in (*counts, 1, 1, 1)[:3]]
    mlir.ir.Operation.create("stream.return", operands=values)


def _define_function(symbol: str, call: _Call) -> None:
    ir = mlir.ir
    binding = ir.Type.parse("!stream.binding")
    index = ir.IndexType.get()
    passed = [binding if _is_tensor(v.type) else v.type for v in call.operands]
    types = [*passed, *[index] * len(call.scalars), *[binding for _ in call.fresh()]]
    function = mlir.func.FuncOp(symbol, ir.FunctionType.get(types, []))
    if call.kernel.threads is not None:
        function.operation.attributes["translation_info"] = ir.Attribute.parse(
            _THREADS.format(count=call.kernel.threads, subgroup="" if call.kernel.is_spirv else _WARP)
        )
    with body_of(function.add_entry_block([ir.Location.current] * len(types))):
        arguments = list(function.arguments)
        zero = mlir.arith.constant(index, 0)
        first = len(call.operands)
        scalars = dict(zip(call.scalars, arguments[first:], strict=False))
        written = iter(arguments[first + len(scalars) :])
        is_cuda = call.kernel.threads is not None and not call.kernel.is_spirv

        def view(source: Value, type_: Type, sizes: Sequence[Value]) -> Value:
            seen, passed = type_, [scalars[n] for n in sizes]
            if call.kernel.has_parts:
                seen, passed = _of_parts(type_, passed)
            if call.kernel.has_bits:
                seen = _of_bits(seen)
            return _view(source, zero, seen, passed, is_cuda)

        operands = [
            view(argument, v.type, sizes) if _is_tensor(v.type) else argument
            for argument, v, sizes in zip(arguments, call.operands, call.sizes, strict=False)
        ]
        results = [
            view(next(written), r.type, r.sizes) if r.tied is None else operands[r.tied]
            for r in call.kernel.results
        ]
        if is_cuda and call.kernel.threads != 1:
            for array in dict.fromkeys(results):
                _share(array)
        token = _COUNTS.set(call.kernel.workgroups)
        try:
            call.kernel.emit(operands, results)
        finally:
            _COUNTS.reset(token)
        mlir.func.ReturnOp([])


def _share(array: Value) -> None:
    """Tell the compiler that other threads of a GPU write an array, whose address an empty assembly gets.

    IREE says of each array that nothing else refers to it, and LLVM concludes that it is the same behind a
    barrier: a thread went on with the number that it had stored itself, **silently** (sums of complex numbers
    in a loop, IREE 3.13; `tests/gpu/test_loops.py` sees it).
    """
    word = mlir.ir.IntegerType.get_signless(64)
    address = mlir.ir.Operation.create(
        "memref.extract_aligned_pointer_as_index", results=[mlir.ir.IndexType.get()], operands=[array]
    ).result
    mlir.load_dialect("llvm")
    mlir.ir.Operation.create(
        "llvm.inline_asm",
        operands=[mlir.arith.index_cast(word, address)],
        attributes={
            "asm_string": mlir.ir.StringAttr.get(""),
            "constraints": mlir.ir.StringAttr.get("l,~{memory}"),
            "has_side_effects": mlir.ir.UnitAttr.get(),
        },
    )


def _view(
    binding: Value, zero: Value, type_: Type, sizes: Sequence[Value], has_offset: bool = False
) -> Value:
    """The memref of a tensor that a binding holds.

    Two results may be parts of one array. IREE's code for CUDA takes the offset of such a part from the type
    of the memref alone, and needs one that has an offset: without, all parts were the first, **silently**.
    """
    tensor = mlir.ir.RankedTensorType(type_)
    layout = _with_offset(tensor.shape) if has_offset else None
    memref = mlir.ir.MemRefType.get(tensor.shape, stored_element(tensor.element_type), layout)
    subspan = mlir.ir.Operation.create(
        "stream.binding.subspan", results=[memref], operands=[binding, zero, *sizes]
    )
    return subspan.result


def _with_offset(shape: Sequence[int]) -> mlir.ir.Attribute:
    """The layout of an array of static sizes, row by row from an offset on that is not known."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return mlir.ir.StridedLayoutAttr.get(mlir.ir.ShapedType.get_dynamic_stride_or_offset(), strides)


def _of_parts(type_: Type, sizes: list[Value]) -> tuple[Type, list[Value]]:
    """The type of the parts of a complex array, side by side along the last axis; of others, as it is.

    `sizes` are those of the dynamic axes.
    """
    tensor = mlir.ir.RankedTensorType(type_)
    if not isinstance(tensor.element_type, mlir.ir.ComplexType):
        return type_, sizes
    *lead, last = tensor.shape
    if tensor.is_dynamic_dim(len(lead)):
        two = mlir.arith.constant(mlir.ir.IndexType.get(), 2)
        sizes = [*sizes[:-1], mlir.arith.muli(sizes[-1], two)]
    else:
        last *= 2
    return mlir.ir.RankedTensorType.get([*lead, last], tensor.element_type.element_type), sizes


def _of_bits(type_: Type) -> Type:
    """The type of an array of the bits of floats; of others, as it is."""
    tensor = mlir.ir.RankedTensorType(type_)
    if isinstance(tensor.element_type, mlir.ir.IntegerType):
        return type_
    return mlir.ir.RankedTensorType.get(
        tensor.shape, mlir.ir.IntegerType.get_signless(tensor.element_type.width)
    )


def _constant(array: np.ndarray) -> Value:
    elements = mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(array))
    return mlir.arith.constant(elements.type, elements)


def _dynamic(value: Value, sizes: Sizes) -> list[Value]:
    """The sizes of the dynamic axes of a tensor."""
    type_ = mlir.ir.RankedTensorType(value.type)
    if type_.has_static_shape:
        return []
    known = sizes(value)
    index = mlir.ir.IndexType.get()
    return [
        mlir.arith.constant(index, n) if isinstance(n, int) else n
        for axis, n in enumerate(known)
        if type_.is_dynamic_dim(axis)
    ]


def _is_tensor(type_: Type) -> bool:
    return isinstance(type_, mlir.ir.RankedTensorType)


def stored_element(element: Type) -> Type:
    """The type of an element in memory: a bool is a byte there, an unsigned integer signless."""
    if isinstance(element, mlir.ir.IntegerType):
        return mlir.ir.IntegerType.get_signless(max(element.width, 8))
    return element
