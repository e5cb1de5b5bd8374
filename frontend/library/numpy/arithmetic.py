"""Elementwise arithmetic: sums, products, quotients, remainders, powers, extrema.

Result dtypes, wrap-around, signs of remainders and what zero divisors give are NumPy's; integer division
by zero yields 0 without a warning, since a compiled program cannot warn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import BOOL, COMPLEX, FLOATS, INEXACT, INT32, INTEGERS, SIGNED
from ...tracing.default_dtypes import floating_of
from ...tracing.frames import Tracer
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import argument_error, dtype_error, full_like, refuse_out
from .elementwise_decorator import binary, elementwise, in_float32, prepared, unary, weakened
from .masks_as_factors import may_select, selected
from .plain_operands import quick, quick_by_numpy
from .promotion import PYTHON_SCALARS, asarray_of, coerce, key_of
from .ufuncs import as_ufunc


@elementwise(np.add, quick(np.add, "add"))
def add(x: Any, y: Any) -> Any:
    """`x + y`; on booleans the logical or."""
    return ops.or_(x, y) if x.dtype == BOOL else ops.add(x, y)


_multiplied = quick(np.multiply, "mul")


@as_ufunc(np.multiply)
def multiply(x: Any, y: Any) -> Any:
    """`x * y`; on booleans the logical and. In programs written for JAX a mask of the product's shape
    selects: what it leaves out is 0, of NaN and infinities too."""
    product = None if follows_jax() else _multiplied(x, y)
    if product is not None:
        return product
    values, weak = prepared("multiply", np.multiply, (x, y))
    product = selected(x, y, values) if may_select(x, y) else None
    if product is None:
        product = ops.and_(*values) if values[0].dtype == BOOL else ops.mul(*values)
    return weakened(product) if weak else product


subtract = binary(np.subtract, "sub", "`x - y`; booleans are an error, as in NumPy.")
divide = binary(np.true_divide, "div", "`x / y`, the true quotient: integers give float64.", "divide")
true_divide = divide
negative = unary(np.negative, "neg", "`-x`; integers wrap around.")


@elementwise(np.positive)
def _positive(x: Any) -> Any:
    return x


@as_ufunc(np.positive)
def positive(x: Any) -> Any:
    """`x` itself; booleans are an error, as in NumPy, except in programs written for JAX."""
    value = asarray_of(x)
    return value if value.dtype == BOOL and follows_jax() else _positive(x)


@elementwise(np.absolute)
def absolute(x: Any) -> Any:
    """`|x|`; of a complex number its modulus, which is real."""
    return x if x.dtype == BOOL else absolute_value(x)


def absolute_value(x: Any) -> Any:
    """`|x|` of a number. In programs written for JAX its slope at 0 is 1, as there, elsewhere 0: the second
    derivative of `|x| ** 2` is 2 at 0 for a slope of -1 or 1 alone."""
    if not isinstance(x, Tracer) or x.dtype not in FLOATS or not follows_jax():
        return ops.abs(x)
    zero = full_like(x, 0)
    is_positive = ops.compare(x, zero, direction="GE")
    return ops.select(is_positive, ops.add(x, zero), ops.neg(x))  # the sum makes -0 positive


abs = absolute


@elementwise(np.fabs)
def fabs(x: Any) -> Any:
    """`|x|` as a float."""
    return absolute_value(x)


@elementwise(np.sign)
def sign(x: Any) -> Any:
    """-1, 0 or 1 by the sign of `x`; of a complex number `x / |x|`."""
    return ops.sign(x)


@elementwise(np.square)
def square(x: Any) -> Any:
    """`x * x`."""
    return ops.mul(x, x)


@elementwise(np.reciprocal)
def reciprocal(x: Any) -> Any:
    """`1 / x`; integers are divided as integers, in programs written for JAX as floats."""
    if x.dtype in INTEGERS and follows_jax():
        x = ops.convert(x, dtype=floating_of(x.dtype))
    return ops.div(full_like(x, 1), x)


# -- division ----------------------------------------------------------------------------------


@elementwise(np.floor_divide, quick_by_numpy(np.floor_divide))
def floor_divide(x: Any, y: Any) -> Any:
    """`floor(x / y)`; an integer divided by zero is 0."""
    if x.dtype in INTEGERS:
        return _divide_integers(x, y)[0]
    return in_float32(_floor_quotient, x, y)


@elementwise(np.remainder, quick_by_numpy(np.remainder))
def remainder(x: Any, y: Any) -> Any:
    """`x - y * floor(x / y)`, with the sign of `y`; an integer modulo zero is 0."""
    if x.dtype in INTEGERS:
        return _divide_integers(x, y)[1]
    return in_float32(_floor_remainder, x, y)


mod = remainder


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """`(x // y, x % y)`."""
    return floor_divide(x, y), remainder(x, y)


@elementwise(np.fmod, quick_by_numpy(np.fmod))
def fmod(x: Any, y: Any) -> Any:
    """`x - y * trunc(x / y)`, with the sign of `x`; an integer modulo zero is 0."""
    result = ops.rem(x, y)
    if x.dtype not in INTEGERS:
        return result
    zero = full_like(x, 0)
    return ops.select(ops.compare(y, zero, direction="EQ"), zero, result)


def _divide_integers(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient rounded down and remainder with the divisor's sign; both 0 where the divisor is 0."""
    zero = full_like(x, 0)
    by_zero = ops.compare(y, zero, direction="EQ")
    quotient, rest = ops.div(x, y), ops.rem(x, y)
    if x.dtype in SIGNED:
        adjust = _signs_differ(rest, y)
        quotient = ops.select(adjust, ops.sub(quotient, full_like(x, 1)), quotient)
        rest = ops.select(adjust, ops.add(rest, y), rest)
    return ops.select(by_zero, zero, quotient), ops.select(by_zero, zero, rest)


def _signs_differ(rest: Any, y: Any) -> Any:
    """Whether a nonzero remainder has not the sign of the divisor."""
    zero = full_like(y, 0)
    opposite = ops.xor(ops.compare(rest, zero, direction="LT"), ops.compare(y, zero, direction="LT"))
    return ops.and_(ops.compare(rest, zero, direction="NE"), opposite)


def _floor_remainder(x: Any, y: Any) -> Any:
    """The exact truncated remainder, moved to the divisor's side; a zero takes the divisor's sign."""
    zero, rest = full_like(x, 0), ops.rem(x, y)
    moved = ops.select(_signs_differ(rest, y), ops.add(rest, y), rest)
    none = moving_with(with_sign_of(zero, y), rest)
    return ops.select(ops.compare(rest, zero, direction="EQ"), none, moved)


def _floor_quotient(x: Any, y: Any) -> Any:
    """The floored quotient by way of the exact remainder, so that it is never off by one.

    Its slope is 0 everywhere, also where the quotient has none since `y` is 0.
    """
    zero, one = full_like(x, 0), full_like(x, 1)
    rest = ops.rem(x, y)
    quotient = ops.div(ops.sub(x, rest), y)
    quotient = ops.select(_signs_differ(rest, y), ops.sub(quotient, one), quotient)
    whole = ops.floor(quotient)
    rounded_up = ops.compare(ops.sub(quotient, whole), full_like(x, 0.5), direction="GT")
    whole = ops.select(rounded_up, ops.add(whole, one), whole)
    true = ops.div(x, y)
    whole = ops.select(ops.compare(quotient, zero, direction="EQ"), with_sign_of(zero, true), whole)
    return ops.stop_gradient(ops.select(ops.compare(y, zero, direction="EQ"), true, whole))


sqrt = unary(np.sqrt, "sqrt", "The square root; NaN for negative reals.")


def root_of_squares(total: Any) -> Any:
    """The root of a sum of squares: a length, whose slope at 0 is 0 like that of `|x|`."""
    zero = full_like(total, 0)
    has_length = ops.compare(total, zero, direction="NE")
    return ops.select(has_length, ops.sqrt(ops.select(has_length, total, full_like(total, 1))), zero)


# -- powers ------------------------------------------------------------------------------------


@as_ufunc(np.power)
def pow(x: Any, y: Any) -> Any:
    """`x ** y`; an integer to a negative integer power that is known is an error, as in NumPy."""
    if type(y) in PYTHON_SCALARS:
        product = _power_of_constant(x, y)
        if product is not None:
            return product
    values, weak = prepared("power", np.power, (x, y))
    if type(y) is int and y < 0 and values[0].dtype in INTEGERS:
        raise argument_error("power: integers to negative integer powers are not allowed",
                             "convert the base with .astype to a float dtype")  # fmt: skip
    result = ops.pow(*values)
    if type(y) is int and asarray_of(x).dtype == BOOL and follows_jax():
        return ops.convert(result, dtype=INT32)
    if weak and follows_jax():
        weak = _is_weak_power(result.dtype, key_of(coerce(x)), key_of(coerce(y)))
    return weakened(result) if weak else result


power = pow


def _is_weak_power(dtype: Any, base: Any, exponent: Any) -> bool:
    """Whether JAX's power is weakly typed, where the operands promote to a weak type: an array of integers as
    the exponent decides alone, and so do booleans among integers."""
    if dtype in INEXACT:
        return exponent == BOOL or not isinstance(exponent, np.dtype)
    return not isinstance(base, np.dtype) and not isinstance(exponent, np.dtype)


def _power_of_constant(x: Any, y: Any) -> Any:
    """Small constant powers as products and roots, as NumPy's `**` has them; None for the rest."""
    base = asarray_of(x)
    inexact = base.dtype in FLOATS or base.dtype in COMPLEX
    if base.dtype == BOOL or not (inexact or type(y) is int):
        return None
    if y == 1 and type(y) is int:
        return base
    if y == 2:
        return square(base)
    if y == 3:
        return multiply(square(base), base)
    if not inexact:
        return None
    if y == 0.5:
        return sqrt(base)
    return reciprocal(base) if y == -1 else None


@as_ufunc(np.float_power)
def float_power(x: Any, y: Any) -> Any:
    """`x ** y` in float64 or complex128, whatever the dtypes of the operands; in programs written for JAX in
    the inexact dtype that the operands meet in, as there."""
    if follows_jax():
        if any(asarray_of(v).dtype in INEXACT for v in (x, y)):
            return power(x, y)
        return power(x, divide(y, 1)) if isinstance(x, int) else power(divide(x, 1), y)
    values, _ = prepared("float_power", np.float_power, (x, y))
    return ops.pow(*values)


# -- extrema -----------------------------------------------------------------------------------


@elementwise(np.maximum)
def maximum(x: Any, y: Any) -> Any:
    """The larger of `x` and `y`; NaN if either is."""
    _require_order("maximum", x)
    return ops.or_(x, y) if x.dtype == BOOL else ops.max(x, y)


@elementwise(np.minimum)
def minimum(x: Any, y: Any) -> Any:
    """The smaller of `x` and `y`; NaN if either is."""
    _require_order("minimum", x)
    return ops.and_(x, y) if x.dtype == BOOL else ops.min(x, y)


@elementwise(np.fmax)
def fmax(x1: Any, x2: Any) -> Any:
    """The larger of `x1` and `x2`; a NaN yields to a number."""
    return _unless_nan(x1, x2, maximum(x1, x2))


@elementwise(np.fmin)
def fmin(x1: Any, x2: Any) -> Any:
    """The smaller of `x1` and `x2`; a NaN yields to a number."""
    return _unless_nan(x1, x2, minimum(x1, x2))


def _require_order(function: str, x: Any) -> None:
    if x.dtype in COMPLEX:
        raise dtype_error(f"{function}: complex numbers have no order", "compare .real, .imag or abs()")


def _unless_nan(x: Any, y: Any, chosen: Any) -> Any:
    if x.dtype not in FLOATS:
        return chosen
    chosen = ops.select(ops.compare(y, y, direction="NE"), x, chosen)
    return ops.select(ops.compare(x, x, direction="NE"), y, chosen)


def clip(
    x: Any, min: Any = None, max: Any = None, out: Any = None, *, a_min: Any = None, a_max: Any = None
) -> Any:
    """`x` limited to `[min, max]`; a bound of None is none. NaN stays NaN."""
    refuse_out("clip", out)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = asarray_of(x)
    if low is not None:
        result = maximum(result, low)
    return result if high is None else minimum(result, high)


# -- signs -------------------------------------------------------------------------------------


def sign_bit(x: Any) -> Any:
    """Whether the sign bit of a float is set, also for zeros and NaNs."""
    bits = ops.bitcast_convert(x, dtype=np.dtype(f"i{x.dtype.itemsize}"))
    return ops.compare(bits, full_like(bits, 0), direction="LT")


def with_sign_of(x: Any, y: Any) -> Any:
    """`|x|` with the sign bit of `y`, floats."""
    magnitude = ops.abs(x)
    return ops.select(sign_bit(y), ops.neg(magnitude), magnitude)


def moving_with(value: Any, x: Any) -> Any:
    """`value`, signs of zeros too, with the derivatives of `x`, which is finite."""
    return ops.sub(ops.stop_gradient(value), ops.sub(ops.stop_gradient(x), x))


@elementwise(np.copysign)
def copysign(x: Any, y: Any) -> Any:
    """`|x|` with the sign of `y`, zeros and NaNs included."""
    return with_sign_of(x, y)


@elementwise(np.signbit)
def signbit(x: Any) -> Any:
    """Whether the sign bit is set: true for -0.0 too."""
    return sign_bit(x)


nextafter = binary(np.nextafter, "nextafter", "The next float after `x` on the way to `y`.")


@elementwise(np.heaviside)
def heaviside(x: Any, y: Any) -> Any:
    """0 where `x` is negative, `y` where it is 0, 1 where it is positive, NaN where it is NaN."""
    zero, one = full_like(x, 0), full_like(x, 1)
    result = ops.select(ops.compare(x, zero, direction="LT"), zero, one)
    result = ops.select(ops.compare(x, zero, direction="EQ"), y, result)
    return ops.select(ops.compare(x, x, direction="NE"), x, result)
