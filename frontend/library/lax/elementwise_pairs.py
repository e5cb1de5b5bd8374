"""Elementwise primitives of two operands of one dtype; Python scalars fit in, and stay weak alone.

Axes of size 1 are repeated.
"""

from __future__ import annotations

from typing import Any

from ....dialects.types import BOOL, INEXACT, as_dtype
from ...tracing.interpreter import as_value, ops
from ..numpy.masks_as_factors import may_select, selected
from ..numpy.promotion import stays_weak
from ..special import zeta
from .scalar_operands import repeated


@stays_weak
def add(x: Any, y: Any) -> Any:
    """The primitive `add`, elementwise."""
    return ops.add(*repeated(x, y))


@stays_weak
def sub(x: Any, y: Any) -> Any:
    """The primitive `sub`, elementwise."""
    return ops.sub(*repeated(x, y))


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """The primitive `mul`, elementwise; with `out_dtype`, the product of `x` and `y` in that dtype."""
    if out_dtype is None:
        return _product(x, y)
    dtype = as_dtype(out_dtype)
    return ops.mul(*repeated(as_value(x, dtype), as_value(y, dtype)))


@stays_weak
def _product(x: Any, y: Any) -> Any:
    values = repeated(x, y)
    product = selected(x, y, values) if may_select(x, y) else None
    return ops.mul(*values) if product is None else product


@stays_weak
def div(x: Any, y: Any) -> Any:
    """The primitive `div`, elementwise."""
    return ops.div(*repeated(x, y))


@stays_weak
def rem(x: Any, y: Any) -> Any:
    """The primitive `rem`, elementwise."""
    return ops.rem(*repeated(x, y))


@stays_weak
def pow(x: Any, y: Any) -> Any:
    """The primitive `pow`, elementwise; exponents of floats, Python's too, may be integers."""
    base, exponent = as_value(x), as_value(y)
    if base.dtype in INEXACT and exponent.dtype not in INEXACT:
        return ops.pow(*repeated(x, ops.convert(exponent, dtype=base.dtype)))
    return ops.pow(*repeated(x, y))


@stays_weak
def atan2(x: Any, y: Any) -> Any:
    """The primitive `atan2`, elementwise."""
    return ops.atan2(*repeated(x, y))


@stays_weak
def max(x: Any, y: Any) -> Any:
    """The primitive `max`, elementwise; of booleans `or`."""
    left, right = repeated(x, y)
    return ops.or_(left, right) if left.dtype == right.dtype == BOOL else ops.max(left, right)


@stays_weak
def min(x: Any, y: Any) -> Any:
    """The primitive `min`, elementwise; of booleans `and`."""
    left, right = repeated(x, y)
    return ops.and_(left, right) if left.dtype == right.dtype == BOOL else ops.min(left, right)


@stays_weak
def bitwise_and(x: Any, y: Any) -> Any:
    """The primitive `and`, elementwise."""
    return ops.and_(*repeated(x, y))


@stays_weak
def bitwise_or(x: Any, y: Any) -> Any:
    """The primitive `or`, elementwise."""
    return ops.or_(*repeated(x, y))


@stays_weak
def bitwise_xor(x: Any, y: Any) -> Any:
    """The primitive `xor`, elementwise."""
    return ops.xor(*repeated(x, y))


@stays_weak
def shift_left(x: Any, y: Any) -> Any:
    """The primitive `shift_left`, elementwise."""
    return ops.shift_left(*repeated(x, y))


@stays_weak
def shift_right_logical(x: Any, y: Any) -> Any:
    """The primitive `shift_right_logical`, elementwise."""
    return ops.shift_right_logical(*repeated(x, y))


@stays_weak
def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """The primitive `shift_right_arithmetic`, elementwise."""
    return ops.shift_right_arithmetic(*repeated(x, y))


@stays_weak
def nextafter(x1: Any, x2: Any) -> Any:
    """The primitive `nextafter`, elementwise."""
    return ops.nextafter(*repeated(x1, x2))


@stays_weak
def complex(x: Any, y: Any) -> Any:
    """The primitive `complex`, elementwise."""
    return ops.complex(*repeated(x, y))


@stays_weak
def eq(x: Any, y: Any) -> Any:
    """`x == y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="EQ")


@stays_weak
def ne(x: Any, y: Any) -> Any:
    """`x != y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="NE")


@stays_weak
def lt(x: Any, y: Any) -> Any:
    """`x < y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="LT")


@stays_weak
def le(x: Any, y: Any) -> Any:
    """`x <= y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="LE")


@stays_weak
def gt(x: Any, y: Any) -> Any:
    """`x > y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="GT")


@stays_weak
def ge(x: Any, y: Any) -> Any:
    """`x >= y`, elementwise."""
    return ops.compare(*repeated(x, y), direction="GE")


@stays_weak
def polygamma(m: Any, x: Any) -> Any:
    """Derivative number `m` of `digamma`, for `x > 0` (for any `x` where `m` is 0)."""
    return zeta.polygamma(m, x)
