"""Intel's matrix tiles (AMX): registers of 16 rows of 64 bytes, and the products of two of them.

Input: arrays of a kernel, places of their elements. Output: LLVM's intrinsics at the ambient insertion point.
Idea: a tile of a left operand has 16 rows of 64 bytes along `k`; one of a right operand has for each of 16
groups of elements along `k` (two of bf16, four of int8) the groups of 16 columns, side by side. Their product
is added to a tile of 16 by 16 sums. (Intel, Architecture Instruction Set Extensions Programming Reference,
chapter 3.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Type, Value
from .builder import Array, Number, Place, constant, index

ROWS: Final = 16  # of a tile
BYTES: Final = 64  # of a row of a tile


def allow_tiles() -> None:
    """Ask Linux for the registers: `arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)`.

    Once is enough, and asking again costs a tenth of a microsecond; but whoever runs an artifact may not know
    that it has to be asked for.
    """
    word = mlir.ir.IntegerType.get_signless(64)
    mlir.load_dialect("llvm")
    mlir.ir.Operation.create(
        "llvm.inline_asm",
        results=[word],
        operands=[constant(word, number).value for number in (158, 0x1023, 18)],
        attributes={
            "asm_string": mlir.ir.StringAttr.get("syscall"),
            "constraints": mlir.ir.StringAttr.get("={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}"),
            "has_side_effects": mlir.ir.UnitAttr.get(),
        },
    )


def release_tiles() -> None:
    """Tell the processor that the tiles are free, so that nobody has to keep them."""
    call_intrinsic("llvm.x86.tilerelease", [], None)


def zero_tile(rows: int = ROWS) -> Number:
    """A tile of zeros."""
    return Number(call_intrinsic("llvm.x86.tilezero.internal", [_short(rows), _short(BYTES)], _tile()))


def load_tile(array: Array, *places: Place, rows: int = ROWS) -> Number:
    """The tile whose first element is at the place, its rows as far apart as those of the last two axes."""
    operands = [_short(rows), _short(BYTES), address(array, places), _stride(array)]
    return Number(call_intrinsic("llvm.x86.tileloadd64.internal", operands, _tile()))


def store_tile(tile: Number, array: Array, *places: Place, rows: int = ROWS) -> None:
    """Write a tile to where its first element belongs."""
    operands = [_short(rows), _short(BYTES), address(array, places), _stride(array), tile.value]
    call_intrinsic("llvm.x86.tilestored64.internal", operands, None)


def multiply_tiles(total: Number, left: Number, right: Number, instruction: str, rows: int = ROWS) -> Number:
    """`total + left @ right`; the instruction is `tdpbf16ps`, or `tdpbssd` and its like for integers.

    `rows`: those of the left one and of the sums; the right one has 16.
    """
    shape = [_short(rows), _short(BYTES), _short(BYTES)]
    return Number(
        call_intrinsic(
            f"llvm.x86.{instruction}.internal", [*shape, total.value, left.value, right.value], _tile()
        )
    )


def address(array: Array, places: Sequence[Place]) -> Value:
    """The address of an element, as a pointer of LLVM's."""
    place: Number = index(0)
    for axis, each in enumerate(places):
        place = place * index(array.size(axis)) + index(each)
    word = mlir.ir.IntegerType.get_signless(64)
    base = mlir.ir.Operation.create(
        "memref.extract_aligned_pointer_as_index", results=[mlir.ir.IndexType.get()], operands=[array.memref]
    ).result
    at = Number(base) + place * _bytes(array.element)
    mlir.load_dialect("llvm")
    return mlir.ir.Operation.create(
        "llvm.inttoptr",
        results=[mlir.ir.Type.parse("!llvm.ptr")],
        operands=[mlir.arith.index_cast(word, at.value)],
    ).result


def _stride(array: Array) -> Value:
    """The bytes from a row to the next one."""
    word = mlir.ir.IntegerType.get_signless(64)
    size = index(array.size(array.type.rank - 1)) * _bytes(array.element)
    return mlir.arith.index_cast(word, size.value)


def _bytes(element: Type) -> int:
    return max(element.width, 8) // 8


def _short(number: int) -> Value:
    return constant(mlir.ir.IntegerType.get_signless(16), number).value


def _tile() -> Type:
    mlir.load_dialect("llvm")
    return mlir.ir.Type.parse("!llvm.x86_amx")


def call_intrinsic(name: str, operands: Sequence[Value], result: Type | None) -> Value | None:
    """What an intrinsic of LLVM's returns, if anything."""
    mlir.load_dialect("llvm")
    call = mlir.ir.Operation.create(
        "llvm.call_intrinsic",
        results=[] if result is None else [result],
        operands=list(operands),
        attributes={
            "intrin": mlir.ir.StringAttr.get(name),
            "op_bundle_sizes": mlir.ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([len(operands), 0]),
        },
    )
    return None if result is None else call.result
