"""Instructions that multiply two vectors of groups and add up the products of each group.

Input: vectors of groups, four bytes each: bytes, or integers of 16 bits. Output: LLVM's intrinsics at the
ambient insertion point.
Idea: `vpdpbusd` multiplies bytes without a sign by bytes with one. Integers whose upper bit is flipped are
greater or smaller by 128, so that the sums are too great or small by 128 sums of the other factor. Modulo
2^32 all of that is exact; and the instruction does not saturate. (Intel, Architectures Software Developer's
Manual, volume 2.)
"""

from __future__ import annotations

from typing import Final

from ....dialects import mlir
from ...ir.aliases import Type
from .builder import Number
from .matrix_tiles import call_intrinsic

OFFSET: Final = 128
"""What the flipped upper bit of a byte adds to an integer with a sign, and takes from one without."""
_INTRINSICS: Final = {
    ("vpdpbusd", 8): "avx512.vpdpbusd.256",
    ("vpdpbusd", 16): "avx512.vpdpbusd.512",
    ("vpmaddwd", 4): "sse2.pmadd.wd",
    ("vpmaddwd", 8): "avx2.pmadd.wd",
    ("vpmaddwd", 16): "avx512.pmaddw.d.512",
}


def multiply_bytes(total: Number, unsigned: Number, signed: Number) -> Number:
    """`total` and the products of each group's bytes: those of the first without a sign."""
    (lanes,) = mlir.ir.VectorType(total.type).shape
    factors = [_seen_as(factor, 4 * lanes, 8).value for factor in (unsigned, signed)]
    name = f"llvm.x86.{_INTRINSICS['vpdpbusd', lanes]}"
    return Number(call_intrinsic(name, [total.value, *factors], total.type))


def multiply_shorts(total: Number, left: Number, right: Number) -> Number:
    """`total` and the products of each group's two integers of 16 bits."""
    (lanes,) = mlir.ir.VectorType(total.type).shape
    factors = [_seen_as(factor, 2 * lanes, 16).value for factor in (left, right)]
    name = f"llvm.x86.{_INTRINSICS['vpmaddwd', lanes]}"
    return total + Number(call_intrinsic(name, factors, total.type))


def _seen_as(vector: Number, count: int, bits: int) -> Number:
    """The bits of a vector as so many integers."""
    type_: Type = mlir.ir.VectorType.get([count], mlir.ir.IntegerType.get_signless(bits))
    return Number(mlir.vector.bitcast(type_, vector.value))
