"""Elementwise rounding, splitting of floats into parts, and the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import BFLOAT16, BOOL, COMPLEX, FLOAT16, FLOAT32, FLOATS, INEXACT, INTEGERS
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import default_float_value, dtype_error, float_value, full_like, integer, refuse_out
from .arithmetic import clip, divide, moving_with, multiply, subtract, with_sign_of
from .dtypes import finfo
from .elementwise_decorator import elementwise
from .promotion import asarray_of, stays_weak
from .transcendental import atan2, rad2deg
from .ufuncs import as_ufunc


def _is_whole(x: Any) -> bool:
    return x.dtype in INTEGERS or x.dtype == BOOL


@elementwise(np.floor)
def floor(x: Any) -> Any:
    """The greatest integer that is at most `x`, in the dtype of `x`."""
    return x if _is_whole(x) else ops.floor(x)


@elementwise(np.ceil)
def ceil(x: Any) -> Any:
    """The least integer that is at least `x`, in the dtype of `x`."""
    return x if _is_whole(x) else ops.ceil(x)


@elementwise(np.trunc)
def trunc(x: Any) -> Any:
    """`x` rounded toward zero, in the dtype of `x`."""
    return x if _is_whole(x) else _truncated(x)


def _truncated(x: Any) -> Any:
    """`x` rounded toward zero; the sign of `x` stays, on zeros too."""
    return with_sign_of(ops.floor(ops.abs(x)), x)


@elementwise(np.rint)
def _rint(x: Any) -> Any:
    return _rounded(x)


@as_ufunc(np.rint)
def rint(x: Any) -> Any:
    """The nearest integer, of two the even one."""
    return _rint(default_float_value(x) if follows_jax() else x)


def _rounded(x: Any) -> Any:
    if x.dtype in COMPLEX:
        return ops.complex(ops.round(ops.real(x)), ops.round(ops.imag(x)))
    return ops.round(x)


def fix(x: Any) -> Any:
    """`x` rounded toward zero."""
    return trunc(x)


@stays_weak
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`a` rounded to `decimals` digits after the point, halves to even; integers stay as they are."""
    refuse_out("round", out)
    value, decimals = asarray_of(a), integer("round", decimals, "decimals")
    if value.dtype == BOOL:
        value = ops.convert(value, dtype=FLOAT32)
    if value.dtype not in INEXACT:
        if decimals >= 0:
            return value
        scale = 10**-decimals
        scaled = divide(ops.convert(value, dtype=np.dtype(np.float64)), scale)
        return ops.convert(multiply(_rounded(scaled), scale), dtype=value.dtype)
    if decimals == 0:
        result = _rounded(value)
    elif decimals > 0:
        result = divide(_rounded(multiply(value, 10**decimals)), 10**decimals)
    else:
        result = multiply(_rounded(divide(value, 10**-decimals)), 10**-decimals)
    return result


around = round


@elementwise(np.modf)
def modf(x: Any) -> tuple[Any, Any]:
    """Fractional and integral part of `x`, both with its sign."""
    whole = _truncated(x)
    infinite = ops.compare(ops.abs(x), full_like(x, np.inf), direction="EQ")
    fraction = ops.select(infinite, full_like(x, 0), ops.sub(x, whole))
    return moving_with(with_sign_of(fraction, x), fraction), whole


@elementwise(np.frexp)
def frexp(x: Any) -> tuple[Any, Any]:
    """Mantissa in [0.5, 1) (with the sign of `x`) and int32 exponent of 2."""
    if x.dtype in (FLOAT16, BFLOAT16):
        mantissa, exponent = frexp(ops.convert(x, dtype=FLOAT32))
        return ops.convert(mantissa, dtype=x.dtype), exponent
    digits, bias = (23, 127) if x.dtype == FLOAT32 else (52, 1023)
    integer = np.dtype(f"i{x.dtype.itemsize}")
    zero = full_like(x, 0)
    # A subnormal number has no exponent of its own until it is scaled into the normal range.
    small = ops.compare(ops.abs(x), full_like(x, 2.0 ** (1 - bias)), direction="LT")
    scaled = ops.select(small, ops.mul(x, full_like(x, 2.0 ** (digits + 1))), x)
    bits = ops.bitcast_convert(scaled, dtype=integer)
    field = full_like(bits, 2 * bias + 1)
    biased = ops.and_(ops.shift_right_logical(bits, full_like(bits, digits)), field)
    exponent = ops.sub(biased, full_like(bits, bias - 1))
    exponent = ops.select(small, ops.sub(exponent, full_like(bits, digits + 1)), exponent)
    cleared = ops.and_(bits, full_like(bits, int(~np.int64((2 * bias + 1) << digits))))
    halved = ops.or_(cleared, full_like(bits, (bias - 1) << digits))
    mantissa = ops.bitcast_convert(halved, dtype=x.dtype)
    plain = ops.or_(
        ops.compare(x, zero, direction="EQ"), ops.compare(biased, field, direction="EQ")
    )  # zeros, infinities and NaNs are their own mantissa
    exponent = ops.select(plain, full_like(bits, 0), exponent)
    mantissa = moving_with(mantissa, _scaled_down(x, exponent, limit=bias - 1))
    return ops.select(plain, x, mantissa), ops.convert(exponent, dtype=np.dtype(np.int32))


def _scaled_down(x: Any, exponent: Any, limit: int) -> Any:
    """`x * 2 ** -exponent` in two steps, of which neither leaves the range of the dtype."""
    most = full_like(exponent, limit)
    first = ops.min(ops.max(exponent, ops.neg(most)), most)
    for step in (first, ops.sub(exponent, first)):
        x = ops.mul(x, ops.exp2(ops.convert(ops.neg(step), dtype=x.dtype)))
    return x


def _as_signed(power: Any, most: int) -> Any:
    """An exponent, at most `most`, in a signed dtype that holds `most`."""
    if power.dtype.kind == "u" and power.dtype.itemsize >= 4:
        power = clip(power, None, most)
    is_signed = power.dtype.kind == "i" and power.dtype.itemsize >= 4
    return power if is_signed else ops.convert(power, dtype=np.dtype("int32"))


@as_ufunc(np.ldexp)
def ldexp(x: Any, exponent: Any) -> Any:
    """`x * 2 ** exponent` for an integer (or bool) exponent."""
    value, power = float_value(x), asarray_of(exponent)
    if power.dtype not in INTEGERS and power.dtype != BOOL:
        raise dtype_error(f"ldexp: the exponent must be an integer, got {power.dtype.name}")
    work = FLOAT32 if value.dtype in (FLOAT16, BFLOAT16) else value.dtype
    limit = 126 if work == FLOAT32 else 1022
    power = _as_signed(power, 4 * limit)
    result = ops.convert(value, dtype=work) if value.dtype != work else value
    for _ in range(3):  # each factor stays a normal number; three of them reach from end to end
        step = clip(power, -limit, limit)
        result = multiply(result, ops.exp2(ops.convert(step, dtype=work)))
        power = subtract(power, step)
    return ops.convert(result, dtype=value.dtype) if value.dtype != work else result


def real(x: Any) -> Any:
    """The real part; a real array is its own."""
    value = asarray_of(x)
    return ops.real(value) if value.dtype in COMPLEX else value


@stays_weak
def imag(x: Any) -> Any:
    """The imaginary part; zeros for a real array."""
    value = asarray_of(x)
    return ops.imag(value) if value.dtype in COMPLEX else full_like(value, 0)


@as_ufunc(np.conjugate)
def conj(x: Any) -> Any:
    """The complex conjugate; a real array is its own."""
    value = asarray_of(x)
    if value.dtype == BOOL and not follows_jax():  # as NumPy, which has no loop for booleans
        return ops.convert(value, dtype=np.dtype(np.int8))
    return ops.conj(value) if value.dtype in COMPLEX else value


conjugate = conj


@stays_weak
def angle(z: Any, deg: bool = False) -> Any:
    """The argument of a complex number, in radians or degrees."""
    value = default_float_value(z)
    # Of a real number its sign alone, which has no slope, at 0 neither.
    parts = (imag(value), real(value)) if value.dtype in COMPLEX else (0, ops.stop_gradient(value))
    result = atan2(*parts)
    return rad2deg(result) if deg else result


@stays_weak
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`x` with NaN and infinities replaced; without replacements infinities become the extreme floats."""
    value = asarray_of(x)
    if value.dtype in COMPLEX:
        parts = (nan_to_num(p, copy, nan, posinf, neginf) for p in (real(value), imag(value)))
        return ops.complex(*parts)
    if value.dtype not in FLOATS:
        return value
    greatest = finfo(value.dtype).max
    high = greatest if posinf is None else posinf
    low = -float(greatest) if neginf is None else neginf
    result = ops.select(ops.compare(value, value, direction="NE"), full_like(value, nan), value)
    is_high = ops.compare(value, full_like(value, np.inf), direction="EQ")
    is_low = ops.compare(value, full_like(value, -np.inf), direction="EQ")
    return ops.select(is_low, full_like(value, low), ops.select(is_high, full_like(value, high), result))
