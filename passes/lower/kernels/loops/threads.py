"""The code of a kernel shared by the threads of one workgroup of a GPU.

Input: the code of a kernel on buffers, with linalg ops. Output: the same as loops, and how many threads.
Idea: every thread runs all scalar code, so all take the same branches. What is done for each element of an
array is a loop over every so many elements, from the thread's own number on. A number is stored by the first
thread alone. Nobody goes on from such a place, nor comes to it, before all are there.
"""

from __future__ import annotations

from math import prod
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation, Value
from ....ir.functions import functions
from ..executable import barrier, thread_id
from .errors import KernelError
from .outline import KERNEL
from .walk import nested, operations_inside, operations_named, terminator

MOST: Final = 512
"""Threads of a workgroup: 1,024 are possible, and leave each of them few registers."""
WARP: Final = 32
LOOPS: Final = ("scf.for", "scf.while", "scf.if")
VIEWS: Final = ("memref.subview", "memref.expand_shape", "memref.collapse_shape", "memref.cast")
ELEMENTS: Final = ("memref.load", "memref.store", "memref.dealloc")
PURE: Final = ("arith.", "math.", "complex.", *VIEWS)
KNOWN: Final = (*PURE, "memref.load", "memref.alloc", "memref.dealloc", "scf.", "func.return", "gpu.")


def threads_of(module: mlir.ir.Module) -> int:
    """How many threads the parallel loops of a kernel have work for."""
    largest = max(map(_count, operations_named(module, "scf.parallel")), default=1)
    return min(-(-largest // WARP) * WARP, MOST) if largest > 1 else 1


def share_among_threads(module: mlir.ir.Module) -> int:
    """Let threads share the parallel loops of a kernel; how many threads it has."""
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    threads = threads_of(module)
    with mlir.ir.InsertionPoint.at_block_begin(block):
        own = thread_id()
    _Sharing(threads, own).block(block)
    return threads


def require_elements(module: mlir.ir.Module) -> None:
    """Raise where code takes more of an array than single elements.

    What IREE gives a kernel for a GPU begins somewhere in a larger array. Only the type of a memref tells the
    code for CUDA where, so that views of it would have other types than they have.
    """
    for operation in operations_inside(module):
        is_given = any(isinstance(value.type, mlir.ir.MemRefType) for value in operation.operands)
        if is_given and operation.name not in ELEMENTS:
            raise KernelError(f"threads cannot share {operation.name}")


def drop_repeated_barriers(module: mlir.ir.Module) -> None:
    """Drop barriers right behind others: what stood between became part of what uses it."""
    last = None
    for operation in operations_inside(module):
        if operation.name != "gpu.barrier":
            last = last if operation.name.startswith(PURE) else None
        elif last is not None and last.block == operation.block:
            operation.erase()
        else:
            last = operation


class _Sharing:
    """The rewrite of one kernel; `own` is the number of a thread."""

    def __init__(self, threads: int, own: Value) -> None:
        self._threads = threads
        self._own = own

    def block(self, block: Block) -> None:
        """Share the ops of a block that all threads run."""
        for child in list(block.operations):
            operation = child.operation
            if operation.name == "scf.parallel":
                self._distribute(operation)
            elif operation.name == "memref.store":
                self._by_one(operation)
            elif operation.name in LOOPS and _has_shared(operation):
                for region in operation.regions:
                    for inside in region.blocks:
                        self.block(inside)
            elif operation.name in LOOPS and _stores(operation):
                self._by_one(operation)
            elif not operation.name.startswith(KNOWN):
                raise KernelError(f"threads cannot share {operation.name}")

    def _distribute(self, loop: Operation) -> None:
        """A loop over elements as one over every so many, from the number of the thread on."""
        _wait_before(loop)
        rank = len(loop.regions[0].blocks[0].arguments)
        lows, steps = list(loop.operands)[:rank], list(loop.operands)[2 * rank : 3 * rank]
        sizes = _sizes(loop)
        with mlir.ir.InsertionPoint(loop), loop.location:
            end, step = _index(prod(sizes)), _index(self._threads)
            shared = mlir.scf.ForOp(self._own, end, step)
            with mlir.ir.InsertionPoint(shared.body):
                rest: Value = shared.induction_variable
                places: list[Value] = []
                for size, low, width in zip(sizes[::-1], lows[::-1], steps[::-1], strict=True):
                    number = mlir.arith.remui(rest, _index(size)) if len(places) + 1 < rank else rest
                    rest = mlir.arith.divui(rest, _index(size)) if len(places) + 1 < rank else rest
                    places.insert(0, mlir.arith.addi(low, mlir.arith.muli(number, width)))
                end_of_body = mlir.scf.YieldOp([])
        body = loop.regions[0].blocks[0]
        for argument, place in zip(body.arguments, places, strict=True):
            argument.replace_all_uses_with(place)
        last = terminator(body)
        for inside in list(body.operations):
            if inside.operation != last:
                inside.operation.move_before(end_of_body.operation)
        loop.erase()
        _wait_after(shared.operation)

    def _by_one(self, operation: Operation) -> None:
        """Let the first thread alone do what stores numbers."""
        if self._threads == 1:
            return
        if len(operation.results):
            raise KernelError("a loop that stores numbers has results")
        _wait_before(operation)
        with mlir.ir.InsertionPoint(operation), operation.location:
            first = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, self._own, _index(0))
            branch = mlir.scf.IfOp(first)
            with mlir.ir.InsertionPoint(branch.then_block):
                end = mlir.scf.YieldOp([])
        operation.move_before(end.operation)
        _wait_after(branch.operation)


def _wait_before(operation: Operation) -> None:
    """A barrier before `operation`, unless nothing that matters was done since the last one."""
    block = operation.block
    before = []
    for child in block.operations:
        if child.operation == operation:
            break
        before.append(child.operation)
    for earlier in reversed(before):
        if earlier.name == "gpu.barrier":
            return
        if not earlier.name.startswith(PURE):
            break
    with mlir.ir.InsertionPoint(operation), operation.location:
        barrier()


def _wait_after(operation: Operation) -> None:
    with mlir.ir.InsertionPoint.after(operation), operation.location:
        barrier()


def _index(n: int) -> Value:
    return mlir.arith.constant(mlir.ir.IndexType.get(), n)


def _has_shared(operation: Operation) -> bool:
    """Whether threads share a loop inside of `operation`."""
    return any(inside.name == "scf.parallel" for inside in nested(operation))


def _stores(operation: Operation) -> bool:
    return any(inside.name == "memref.store" for inside in nested(operation))


def _sizes(loop: Operation) -> list[int]:
    """How many iterations a parallel loop has along each axis."""
    rank = len(loop.regions[0].blocks[0].arguments)
    numbers = [_number(value) for value in list(loop.operands)[: 3 * rank]]
    bounds = zip(numbers[:rank], numbers[rank : 2 * rank], numbers[2 * rank :], strict=True)
    return [max(-(-(high - low) // step), 0) for low, high, step in bounds]


def _count(loop: Operation) -> int:
    return prod(_sizes(loop))


def _number(value: Value) -> int:
    """The number that a bound of a loop is."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "arith.constant":
        raise KernelError("a loop over elements has bounds that are not known")
    return int(mlir.ir.IntegerAttr(value.owner.operation.attributes["value"]).value)
