"""Where the temporaries of a kernel lie: small ones on its stack, from its entry on; large ones in scratch.

Input: the code of a kernel on buffers. Output: the same without allocations: `memref.alloca` at the entry,
and arguments behind the others, whose sizes that show at the call `@sizes` returns. A temporary is one place
for all iterations, so no buffer may be carried from one to the next: where a loop would, `KernelError`. A
dispatch has few arguments: where large temporaries are too many for an argument each, they are parts of one
array, and two that are never needed at once may be the same part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Block, Operation, Type, Value
from ....ir.functions import functions
from .errors import KernelError
from .outline import KERNEL
from .parameters import declare_arguments
from .sizes import state_sizes
from .walk import nested, operations_named, terminator

STACK: Final = 16384  # bytes of one temporary that may lie on the stack
WHOLE_STACK: Final = 4 * STACK  # bytes of all of them; IREE's limit is 64 KiB
MOST_ARGUMENTS: Final = 32  # IREE 3.13 loads no program with a dispatch of more: "binding count 33 > 32"
MOST_ON_GPUS: Final = 16  # for CUDA: "binding_flags count 20 exceeds maximum of 16"
WORKGROUP: Final = 32768  # bytes of temporaries in the memory of a workgroup, which has 48 KiB
WORKGROUP_OF_SPIRV: Final = 16384  # bytes that every device of Vulkan and Metal has
_ALIGNMENT: Final = 64
_DYNAMIC: Final = -(2**63)


@dataclass(frozen=True)
class _Temporary:
    """An allocation, and how many bytes it takes."""

    allocation: Operation
    size: int

    @property
    def type(self) -> mlir.ir.MemRefType:
        return mlir.ir.MemRefType(self.allocation.results[0].type)

    @property
    def is_complex(self) -> bool:
        return isinstance(self.type.element_type, mlir.ir.ComplexType)


@dataclass(frozen=True)
class Scratch:
    """An array that a kernel works on: its tensor type, and which results of `@sizes` its sizes are."""

    type: Type
    sizes: tuple[int, ...] = ()


def settle_allocations(module: mlir.ir.Module) -> list[Scratch]:
    """Place every temporary; the scratch that is passed as arguments now."""
    _refuse_carried_buffers(module)
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    large: list[_Temporary] = []
    used = 0
    for operation in operations_named(module, "memref.alloc"):
        if len(operation.operands):
            large.append(_Temporary(operation, 0))
            continue
        temporary = _Temporary(operation, _aligned_bytes(operation))
        if temporary.size <= STACK and used + temporary.size <= WHOLE_STACK:
            used += temporary.size
            with mlir.ir.InsertionPoint.at_block_begin(block):
                place = _alloca(temporary.type)
            _replace(operation, place)
        else:
            large.append(temporary)
    scratch = (
        _as_arguments(module, large)
        if len(block.arguments) + len(large) <= MOST_ARGUMENTS
        else _as_parts(block, large)
    )
    declare_arguments(function, block)
    return scratch


def settle_for_threads(module: mlir.ir.Module, threads: int, *, is_spirv: bool = False) -> list[Scratch]:
    """As `settle_allocations`, on a GPU: what threads share is in their workgroup's memory, or scratch.

    For Vulkan and Metal (`is_spirv`) threads share no scratch (`kept_results.py`): `KernelError` where they
    would.
    Observed: for CUDA the compiler ends (segmentation fault) where a workgroup's memory has complex numbers.
    """
    _refuse_carried_buffers(module)
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    large: list[_Temporary] = []
    used, room = 0, WORKGROUP_OF_SPIRV if is_spirv else WORKGROUP
    for operation in operations_named(module, "memref.alloc"):
        temporary = _Temporary(operation, _aligned_bytes(operation))
        if used + temporary.size <= room and (threads == 1 or is_spirv or not temporary.is_complex):
            used += temporary.size
            with mlir.ir.InsertionPoint.at_block_begin(block):
                place = _alloca(temporary.type) if threads == 1 else _of_workgroup(temporary.type)
            _replace(operation, place)
        else:
            large.append(temporary)
    if is_spirv and threads > 1 and large:
        total = used + sum(each.size for each in large)
        raise KernelError(f"threads would share {total} bytes: a workgroup has {room}")
    if len(block.arguments) + len(large) > MOST_ON_GPUS:
        count = len(block.arguments) + len(large)
        raise KernelError(f"it works on {count} arrays: a dispatch on a GPU has {MOST_ON_GPUS} at most")
    scratch = _as_arguments(module, large)
    declare_arguments(function, block)
    return scratch


def _of_workgroup(type_: mlir.ir.MemRefType) -> Value:
    """A temporary that all threads of a workgroup have."""
    space = mlir.ir.Attribute.parse("#gpu.address_space<workgroup>")
    shared = mlir.ir.MemRefType.get(type_.shape, type_.element_type, memory_space=space)
    none = mlir.ir.DenseI32ArrayAttr.get([0, 0])
    attributes = {"operandSegmentSizes": none}
    return mlir.ir.Operation.create("memref.alloc", results=[shared], attributes=attributes).results[0]


def _as_arguments(module: mlir.ir.Module, temporaries: Sequence[_Temporary]) -> list[Scratch]:
    """Pass each temporary as an argument of its own."""
    sizes = list(dict.fromkeys(n for t in temporaries for n in t.allocation.operands))
    if sizes:
        state_sizes(module, sizes)
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    scratch = []
    for temporary in temporaries:
        type_ = mlir.ir.RankedTensorType.get(temporary.type.shape, temporary.type.element_type)
        scratch.append(Scratch(type_, tuple(sizes.index(n) for n in temporary.allocation.operands)))
        place = block.add_argument(temporary.type, mlir.ir.Location.unknown())
        _replace(temporary.allocation, place)
    return scratch


def _as_parts(block: Block, temporaries: Sequence[_Temporary]) -> list[Scratch]:
    """Pass one array of bytes, of which each temporary is a part; its tensor type."""
    if len(block.arguments) >= MOST_ARGUMENTS:
        count = len(block.arguments)
        raise KernelError(f"it works on {count} arrays: a dispatch has {MOST_ARGUMENTS} at most")
    if any(len(t.allocation.operands) for t in temporaries):
        raise KernelError("too many temporaries have sizes that show at the call")
    places = {child.operation: k for k, child in enumerate(block.operations)}
    offsets = _offsets([(t.size, *_needed(t.allocation, places)) for t in temporaries])
    total = max(at + t.size for at, t in zip(offsets, temporaries, strict=True))
    byte = mlir.ir.IntegerType.get_signless(8)
    bytes_ = block.add_argument(mlir.ir.MemRefType.get([total], byte), mlir.ir.Location.unknown())
    for at, temporary in zip(offsets, temporaries, strict=True):
        with mlir.ir.InsertionPoint.at_block_begin(block):
            offset = mlir.arith.constant(mlir.ir.IndexType.get(), at)
            part = mlir.memref.view(temporary.type, bytes_, offset, [])
        _replace(temporary.allocation, part)
    return [Scratch(mlir.ir.RankedTensorType.get([total], byte))]


def _offsets(needs: Sequence[tuple[int, int, int]]) -> list[int]:
    """Where parts of these sizes lie, each needed from one op to another: the first that is free then."""
    offsets: list[int] = []
    for size, start, end in needs:
        meanwhile = sorted(
            (at, at + other)
            for at, (other, first, last) in zip(offsets, needs, strict=False)
            if first <= end and start <= last
        )
        place = 0
        for begin, behind in meanwhile:
            if place + size <= begin:
                break
            place = max(place, behind)
        offsets.append(place)
    return offsets


def _needed(allocation: Operation, places: Mapping[Operation, int]) -> tuple[int, int]:
    """The first and the last of the ops at `places` that use an allocation, or have such ops inside."""
    used: list[int] = []
    pending = [allocation.results[0]]
    while pending:
        for use in pending.pop().uses:
            user = use.owner.operation
            pending += [result for result in user.results if _is_buffer(result)]
            while user not in places:
                user = user.parent.operation
            used.append(places[user])
    return min(used), max(used)


def _aligned_bytes(allocation: Operation) -> int:
    type_ = mlir.ir.MemRefType(allocation.results[0].type)
    if allocation.operands or _DYNAMIC in type_.shape:
        raise KernelError(f"a temporary has a size that is not known: {type_}")
    return -(-prod(type_.shape) * bytes_of(type_.element_type) // _ALIGNMENT) * _ALIGNMENT


def _alloca(type_: Type) -> Value:
    alignment = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), _ALIGNMENT)
    none = mlir.ir.DenseI32ArrayAttr.get([0, 0])
    return mlir.ir.Operation.create(
        "memref.alloca", results=[type_], attributes={"alignment": alignment, "operandSegmentSizes": none}
    ).results[0]


def _replace(allocation: Operation, place: Value) -> None:
    old = allocation.results[0]
    for use in list(old.uses):
        if use.owner.operation.name == "memref.dealloc":
            use.owner.operation.erase()
    old.replace_all_uses_with(place)
    allocation.erase()


def _refuse_carried_buffers(module: mlir.ir.Module) -> None:
    """Raise where a loop carries a buffer that may be another one in the next iteration."""
    for function in module.body.operations:
        for operation in nested(function.operation):
            if operation.name == "scf.for" and any(map(_is_buffer, operation.results)):
                raise KernelError("an iteration hands over another buffer than it was given")
            if operation.name == "scf.while":
                _refuse_carried_by_while(operation)


def _refuse_carried_by_while(loop: Operation) -> None:
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    passed = list(terminator(before).operands)[1:]
    for argument, new in zip(before.arguments, terminator(after).operands, strict=True):
        if not _is_buffer(argument):
            continue
        if argument not in passed or new != after.arguments[passed.index(argument)]:
            raise KernelError("an iteration hands over another buffer than it was given")


def _is_buffer(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.MemRefType)


def bytes_of(element: Type) -> int:
    """The bytes of an element; a bool is one."""
    if isinstance(element, mlir.ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    return 8 if isinstance(element, mlir.ir.IndexType) else max(int(element.width) // 8, 1)
