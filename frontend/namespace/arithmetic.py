"""Elementwise arithmetic: sums, products, quotients, remainders, powers, rounding, extrema, parts.

Result dtypes, wrap-around, signs of remainders and what zero divisors give are NumPy's; integer division
by zero gives 0 without a warning, since a compiled program cannot warn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects.types import BOOL, COMPLEX, FLOATS, INTEGERS, SIGNED
from ..errors import DtypeError
from ..interpreter import ops
from ..locations import user_location_text
from ..promotion import PYTHON_SCALARS, asarray_of, coerce
from .axes import full_like
from .loops import elementwise, in_float32, unary

absolute_of_complex = COMPLEX


@elementwise(np.add)
def add(x: Any, y: Any) -> Any:
    """`x + y`; on booleans the logical or."""
    return ops.or_(x, y) if x.dtype == BOOL else ops.add(x, y)


@elementwise(np.subtract)
def subtract(x: Any, y: Any) -> Any:
    """`x - y`; booleans are an error, as in NumPy."""
    return ops.sub(x, y)


@elementwise(np.multiply)
def multiply(x: Any, y: Any) -> Any:
    """`x * y`; on booleans the logical and."""
    return ops.and_(x, y) if x.dtype == BOOL else ops.mul(x, y)


@elementwise(np.true_divide)
def divide(x: Any, y: Any) -> Any:
    """`x / y`, the true quotient: integers give float64."""
    return ops.div(x, y)


true_divide = divide


@elementwise(np.floor_divide)
def floor_divide(x: Any, y: Any) -> Any:
    """`floor(x / y)`; an integer divided by zero is 0."""
    return _floor_divide(x, y)


def _floor_divide(x: Any, y: Any) -> Any:
    return _divide_integers(x, y)[0] if x.dtype in INTEGERS else in_float32(_divide_floats, x, y)[0]


def _divide_integers(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient rounded down and remainder with the divisor's sign; both 0 where the divisor is 0."""
    zero = full_like(x, 0)
    by_zero = ops.compare(y, zero, direction="EQ")
    quotient, remainder = ops.div(x, y), ops.rem(x, y)
    if x.dtype in SIGNED:
        inexact = ops.compare(remainder, zero, direction="NE")
        opposite = ops.compare(ops.xor(remainder, y), zero, direction="LT")
        adjust = ops.and_(inexact, opposite)
        quotient = ops.select(adjust, ops.sub(quotient, full_like(x, 1)), quotient)
        remainder = ops.select(adjust, ops.add(remainder, y), remainder)
    return ops.select(by_zero, zero, quotient), ops.select(by_zero, zero, remainder)


def _float_remainder(x: Any, y: Any) -> Any:
    """The remainder with the divisor's sign, a zero with it too, from the exact `rem`."""
    zero = full_like(x, 0)
    remainder = ops.rem(x, y)
    negative, divisor_negative = (ops.compare(v, zero, direction="LT") for v in (remainder, y))
    nonzero = ops.compare(remainder, zero, direction="NE")
    adjust = ops.and_(nonzero, ops.xor(negative, divisor_negative))
    return ops.select(
        nonzero,
        ops.select(adjust, ops.add(remainder, y), remainder),
        ops.select(ops.compare(remainder, remainder, direction="EQ"), _copysign(zero, y), remainder),
    )


def _float_quotient(x: Any, y: Any) -> Any:
    """NumPy's `floor(x / y)` from the exact remainder: never off by one where `x / y` rounds up."""
    zero, one = full_like(x, 0), full_like(x, 1)
    remainder = ops.rem(x, y)
    signs_differ = ops.xor(
        ops.compare(remainder, zero, direction="LT"), ops.compare(y, zero, direction="LT")
    )
    adjust = ops.and_(ops.compare(remainder, zero, direction="NE"), signs_differ)
    quotient = ops.div(ops.sub(x, remainder), y)
    quotient = ops.select(adjust, ops.sub(quotient, one), quotient)
    whole = ops.floor(quotient)
    half = full_like(x, 0.5)
    whole = ops.select(
        ops.compare(ops.sub(quotient, whole), half, direction="GT"), ops.add(whole, one), whole
    )
    true = ops.div(x, y)
    small = ops.compare(quotient, zero, direction="EQ")
    result = ops.select(small, _copysign(zero, true), whole)
    return ops.select(ops.compare(y, zero, direction="EQ"), true, result)


@elementwise(np.remainder)
def remainder(x: Any, y: Any) -> Any:
    """`x - y * floor(x / y)`, with the sign of `y`; an integer modulo zero is 0."""
    if x.dtype in INTEGERS:
        return _divide_integers(x, y)[1]
    return in_float32(_float_remainder, x, y)


mod = remainder


def _divide_floats(x: Any, y: Any) -> Any:
    return _float_quotient(x, y)
