"""Functions with loops or branches over arrays of dynamic sizes, whose sizes IREE is told to be bounded.

Input: a lowered function. Output: the same with a largest value for each dynamic size of its arguments,
checked when it runs, and for the sizes that are computed by a difference. IREE packs what a loop carries into
one buffer and carries the offsets within it. Its integer optimizer finds the ranges of those; `util.align`
tells it nothing of a result whose operand may be almost 2**64 (a product of two unbounded sizes, a
difference), what it is told nothing of counts as never computed, and an offset that is a constant at the
start or after an iteration is taken for that constant always.

Symptom: a loop over arrays of dynamic sizes reads and writes at wrong offsets: wrong sums, silently.
Seen in: IREE 3.13.
Smallest: `while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2, s[2] + 1), (0, x, x[0]))`, `x` of two
    dynamic sizes; in IREE's terms `%a = util.align %d, %c64` with `%d = arith.subi`, `iter_args(%x = %a)`,
    `scf.yield %c64`.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_offsets_are_still_folded` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Block, Operation, Type, Value, ValueMap
from ...ir.functions import functions
from ..equal_sizes import Axis, check_first, checks_of, leaders

_STRUCTURED: Final = ("scf.for", "scf.while", "scf.if")
_ARITHMETIC: Final = ("arith.addi", "arith.subi", "arith.maxsi", "arith.minsi", "arith.floordivsi")
_BITS: Final = 60  # of the bytes of one array; several of them have to stay below 2**64
_MOST: Final = 53  # bits of one size: what IREE says of the sizes of arguments
_SPARE: Final = 2  # bits by which a size that is computed may be larger than those of arguments


@dataclass(frozen=True)
class BoundSizes(Pass):
    """State the largest dynamic sizes of functions with loops or branches, and check them at run time."""

    name = "bound-sizes"
    needs = _STRUCTURED
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            bound_sizes(module)


def bound_sizes(module: mlir.ir.Module) -> None:
    """Bound the dynamic sizes of every function that has a loop or a branch."""
    for function in functions(module).values():
        block = function.operation.regions[0].blocks[0]
        if any(_dynamic(argument) for argument in block.arguments) and any(
            o.operation.name in _STRUCTURED for o in block.operations
        ):
            _bound(block)


def _bound(block: Block) -> None:
    operations = list(_inside(block))
    values = [*block.arguments, *(v for o in operations for v in o.results)]
    bits = min([_MOST, *(_room(v.type) for v in values)])
    with block.owner.location:
        known: ValueMap = {}
        for operation in operations:
            for position in _sizes(operation):
                size = operation.operands[position]
                if _is_difference(size):
                    if size not in known:
                        with mlir.ir.InsertionPoint.after(size.owner):
                            known[size] = _assumed(size, bits)
                    operation.operands[position] = known[size]
        with mlir.ir.InsertionPoint.at_block_begin(block):
            _tie(block, bits - _SPARE)


def _tie(block: Block, bits: int) -> None:
    """Let arguments have sizes of at most `bits` bits wherever they are used, equal ones one value."""
    index = mlir.ir.IndexType.get(block.owner.context)
    checks = checks_of(block)
    asked: dict[Axis, Value] = {}
    for number, argument in enumerate(block.arguments):
        for axis in _dynamic(argument):
            size = mlir.tensor.dim(argument, mlir.arith.constant(index, axis))
            asked[number, axis] = size
            if bits < _MOST - _SPARE:
                fits = mlir.arith.cmpi(
                    mlir.arith.CmpIPredicate.ule, size, mlir.arith.constant(index, 2**bits)
                )
                mlir.cf.assert_(
                    fits,
                    f"adze: a dynamic size is above {2**bits}, the most for loops over arrays like these",
                )
    check_first(checks, asked)
    same = leaders(checks)
    known = {axis: _assumed(size, bits) for axis, size in asked.items() if same.get(axis, axis) == axis}
    users = [size.owner.operation for size in asked.values()]
    for number, argument in enumerate(block.arguments):
        sizes = [known[same.get(axis, axis)] for axis in asked if axis[0] == number]
        if sizes:
            tied = mlir.ir.Operation.create(
                "flow.tensor.tie_shape", results=[argument.type], operands=[argument, *sizes]
            )
            argument.replace_all_uses_except(tied.results[0], [*users, tied])


def _assumed(value: Value, bits: int) -> Value:
    said = mlir.ir.Attribute.parse(f"[[#util.int.assumption<umin = 0, umax = {2**bits}>]]")
    return mlir.util.AssumeIntOp([value.type], [value], said).results[0]


def _sizes(operation: Operation) -> range:
    """The positions of the operands that are sizes of the result."""
    count = len(operation.operands)
    if operation.name in ("tensor.empty", "flow.tensor.alloca"):
        return range(count)
    if operation.name in ("tensor.expand_shape", "flow.tensor.tie_shape"):
        return range(1, count)
    if operation.name == "tensor.extract_slice":
        source, offsets, sizes, _ = operation.attributes["operandSegmentSizes"]
        return range(source + offsets, source + offsets + sizes)
    return range(0)


def _is_difference(size: Value) -> bool:
    """Whether a size is computed by a subtraction, so that IREE cannot know that it is not negative."""
    owner = size.owner
    if isinstance(owner, mlir.ir.Block) or owner.name not in _ARITHMETIC:
        return False
    return owner.name == "arith.subi" or any(_is_difference(v) for v in owner.operation.operands)


def _room(kind: Type) -> int:
    """The most bits that each dynamic size of a tensor may have."""
    if not isinstance(kind, mlir.ir.RankedTensorType):
        return _MOST
    sizes = [None if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)]
    count = sizes.count(None)
    if not count:
        return _MOST
    elements = 1
    for n in sizes:
        elements *= n or 1
    return (_BITS - (16 * elements - 1).bit_length()) // count  # 16 bytes: the widest element


def _dynamic(argument: Value) -> list[int]:
    """The dynamic axes of a tensor."""
    kind = argument.type
    if not isinstance(kind, mlir.ir.RankedTensorType):
        return []
    return [i for i in range(kind.rank) if kind.is_dynamic_dim(i)]


def _inside(block: Block) -> Iterator[Operation]:
    """The operations of a function, those in its loops and branches too."""
    for operation in block.operations:
        yield operation.operation
        if operation.operation.name in _STRUCTURED:
            for region in operation.operation.regions:
                for inner in region.blocks:
                    yield from _inside(inner)
