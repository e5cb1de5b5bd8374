"""Conversions between element types, each rounded once.

Float to integer saturates and takes NaN to 0; anything to bool asks whether it differs from 0; f64 to a
16-bit float goes through f32 rounded to odd, which makes the second rounding right; complex to real drops
the imaginary part. bfloat16 is rounded by integer arithmetic, since not every target rounds it to even.
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ....dialects.types import BFLOAT16, BOOL, FLOAT16
from .terms import Term, choose, constant


def integer_type(width: int) -> mlir.ir.Type:
    return mlir.ir.IntegerType.get_signless(width)


def widen(x: Term) -> Term:
    """f16 or bf16 to f32, exactly."""
    return Term(mlir.arith.extf(mlir.ir.F32Type.get(), x.value))


def narrow(x: Term, target: np.dtype) -> Term:
    """f32 or f64 to f16 or bf16, rounded to nearest even."""
    single = x if x.width == 32 else _to_odd_single(x)
    if target == FLOAT16:
        return Term(mlir.arith.truncf(mlir.ir.F16Type.get(), single.value))
    bits = single.bits()
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    upper = choose(single.is_nan(), (bits >> 16) | 0x40, rounded >> 16)
    return Term(
        mlir.arith.bitcast(
            mlir.ir.BF16Type.get(), Term(mlir.arith.trunci(integer_type(16), upper.value)).value
        )
    )


def _to_odd_single(x: Term) -> Term:
    """f64 to f32, truncated, with the last bit set where that lost anything."""
    single = Term(mlir.arith.truncf(mlir.ir.F32Type.get(), x.value))
    back = Term(mlir.arith.extf(mlir.ir.F64Type.get(), single.value))
    bits = single.bits()
    above = back.absolute() > x.absolute()
    truncated = choose(above, bits - 1, bits)
    inexact = back.differs(x) & ~x.is_nan()
    return choose(inexact, truncated | 1, bits).as_float()


def float_to_integer(x: Term, width: int, signed: bool) -> Term:
    """Saturating; NaN is 0. f32 and f64 only."""
    kind = integer_type(width)
    low = -(2 ** (width - 1)) if signed else 0
    high = 2 ** (width - 1) - 1 if signed else 2**width - 1
    if width < 32:  # floats hold both ends, and vectors of 32 bits both numbers
        above = choose(x >= float(low), x, float(low))
        clamped = choose(above <= float(high), above, float(high))
        wide = Term(mlir.arith.fptosi(integer_type(32), clamped.value))
        return Term(mlir.arith.trunci(kind, choose(x.is_nan(), constant(integer_type(32), 0), wide).value))
    limit = 2.0 ** (width - 1 if signed else width)
    inside = (x >= float(low)) & (x < limit)
    if not signed:
        inside = (x > -1.0) & (x < limit)
    safe = choose(inside, x, 0.0)
    build = mlir.arith.fptosi if signed else mlir.arith.fptoui
    converted = Term(build(kind, safe.value))
    top, bottom = constant(kind, high), constant(kind, low)
    return choose(inside, converted, choose(x >= limit, top, choose(x < 0.0, bottom, 0)))


def integer_to_float(x: Term, signed: bool, bits: int) -> Term:
    kind = mlir.ir.F64Type.get() if bits == 64 else mlir.ir.F32Type.get()
    build = mlir.arith.sitofp if signed else mlir.arith.uitofp
    return Term(build(kind, x.value))


def resize_integer(x: Term, width: int, signed: bool) -> Term:
    """Wraps when it shrinks, extends by the source's signedness when it grows."""
    if width == x.width:
        return x
    kind = integer_type(width)
    if width < x.width:
        return Term(mlir.arith.trunci(kind, x.value))
    build = mlir.arith.extsi if signed else mlir.arith.extui
    return Term(build(kind, x.value))


def convert_real(x: Term, source: np.dtype, target: np.dtype) -> Term:
    """Between bool, integer and float dtypes."""
    if source == target:
        return x
    if source in (FLOAT16, BFLOAT16):
        return convert_real(widen(x), np.dtype(np.float32), target)
    source_float, target_float = _is_float(source), _is_float(target)
    if target == BOOL:
        return x.differs(0)
    signed = source.kind == "i"
    if not source_float and not target_float:
        return resize_integer(x, target.itemsize * 8, signed)
    if not source_float:
        if target.itemsize == 2:
            return narrow(_integer_to_wide(x, signed), target)
        return integer_to_float(x, signed, target.itemsize * 8)
    if not target_float:
        return float_to_integer(x, target.itemsize * 8, target.kind == "i")
    if target.itemsize == 2:
        return narrow(x, target)
    if target.itemsize > source.itemsize:
        return Term(mlir.arith.extf(mlir.ir.F64Type.get(), x.value))
    return Term(mlir.arith.truncf(mlir.ir.F32Type.get(), x.value))


def _integer_to_wide(x: Term, signed: bool) -> Term:
    """An integer on its way to 16 bits, in f32, whose last bit says whether it was too short."""
    if x.width <= 16:
        return integer_to_float(x, signed, 32)
    negative = x < 0
    magnitude = choose(negative, -x, x) if signed else x
    for top in range(24, x.width, 8):
        low = (1 << (top - 16)) - 1
        lost = choose((magnitude & low).equals(0), magnitude.lift(0), low + 1)
        shortened = (magnitude & ~low) | lost
        magnitude = choose(magnitude.below(1 << top), magnitude, shortened)
    result = integer_to_float(magnitude, False, 32)
    return choose(negative, -result, result) if signed else result


def compare(direction: str, dtype: np.dtype, x: Term, y: Term) -> Term:
    """x `direction` y of real operands (16-bit floats already widened); only NE holds on NaN."""
    if direction in ("EQ", "NE"):
        return x.equals(y) if direction == "EQ" else x.differs(y)
    signed = dtype.kind not in "ub"
    if not signed and direction in ("LT", "GE"):
        return x.below(y) if direction == "LT" else ~x.below(y)
    if not signed:
        return y.below(x) if direction == "GT" else ~y.below(x)
    return {"LT": Term.__lt__, "LE": Term.__le__, "GT": Term.__gt__, "GE": Term.__ge__}[direction](x, y)


def _is_float(dtype: np.dtype) -> bool:
    return dtype == BFLOAT16 or dtype.kind == "f"
