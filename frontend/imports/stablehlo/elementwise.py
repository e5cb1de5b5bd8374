"""Elementwise ops of StableHLO and CHLO: arithmetic, logic, comparisons, conversions.

Input: an application. Output: its result. StableHLO's `add`, `multiply`, `maximum`, `minimum` of booleans are
logical, its comparisons have a total order of floats, its `clamp` and `select` take scalars beside arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ....dialects.types import BFLOAT16, BOOL, COMPLEX
from ...library import numpy as xp
from ...library.lax.reduce_window import reduce_precision as _reduce_precision
from ...library.special.scipy_names import i1e
from ...library.special.zeta import polygamma, zeta
from ...tracing.interpreter import as_value, ops
from .application import Application, Rule

_UNARY: Final = {
    "stablehlo.abs": "abs",
    "stablehlo.ceil": "ceil",
    "stablehlo.cosine": "cos",
    "stablehlo.count_leading_zeros": "clz",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.floor": "floor",
    "stablehlo.is_finite": "is_finite",
    "stablehlo.log": "log",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.logistic": "logistic",
    "stablehlo.negate": "neg",
    "stablehlo.not": "not_",
    "stablehlo.popcnt": "popcount",
    "stablehlo.round_nearest_even": "round",
    "stablehlo.rsqrt": "rsqrt",
    "stablehlo.sign": "sign",
    "stablehlo.sine": "sin",
    "stablehlo.sqrt": "sqrt",
    "stablehlo.tan": "tan",
    "stablehlo.tanh": "tanh",
    "chlo.acos": "acos",
    "chlo.acosh": "acosh",
    "chlo.asin": "asin",
    "chlo.asinh": "asinh",
    "chlo.atan": "atan",
    "chlo.atanh": "atanh",
    "chlo.conj": "conj",
    "chlo.cosh": "cosh",
    "chlo.digamma": "digamma",
    "chlo.erf": "erf",
    "chlo.erf_inv": "erf_inv",
    "chlo.erfc": "erfc",
    "chlo.lgamma": "lgamma",
    "chlo.sinh": "sinh",
    "chlo.tan": "tan",
}

_BINARY: Final = {
    "stablehlo.and": "and_",
    "stablehlo.complex": "complex",
    "stablehlo.divide": "div",
    "stablehlo.or": "or_",
    "stablehlo.power": "pow",
    "stablehlo.remainder": "rem",
    "stablehlo.subtract": "sub",
    "stablehlo.xor": "xor",
    "chlo.next_after": "nextafter",
}

_OR_LOGICAL: Final = {
    "stablehlo.add": ("add", "or_"),
    "stablehlo.multiply": ("mul", "and_"),
    "stablehlo.maximum": ("max", "or_"),
    "stablehlo.minimum": ("min", "and_"),
}


def _unary(name: str) -> Rule:
    return lambda app: getattr(ops, name)(app.array())


def _binary(name: str) -> Rule:
    return lambda app: getattr(ops, name)(*app.arrays)


def _or_logical(op: str, name: str, logical: str) -> Rule:
    def rule(app: Application) -> Any:
        x, y = app.arrays
        if x.dtype in COMPLEX and name in ("max", "min"):
            return _complex_extremum(x, y, "GT" if name == "max" else "LT")
        return getattr(ops, logical if x.dtype == BOOL else name)(x, y)

    return rule


def _complex_extremum(x: Any, y: Any, direction: str) -> Any:
    """By the real parts, then by the imaginary ones."""
    real = ops.compare(ops.real(x), ops.real(y), direction=direction)
    imaginary = ops.compare(ops.imag(x), ops.imag(y), direction=direction)
    equal = ops.compare(ops.real(x), ops.real(y), direction="EQ")
    return ops.select(ops.or_(real, ops.and_(equal, imaginary)), x, y)


def _shift(name: str) -> Rule:
    """Shifts; by as many bits as there are, or more, nothing is left of the number but its sign."""

    def rule(app: Application) -> Any:
        x, count = app.arrays
        bits = 8 * x.dtype.itemsize
        unsigned = np.dtype(f"uint{bits}")
        amount = count if count.dtype.kind == "u" else ops.bitcast_convert(count, dtype=unsigned)
        most = ops.full_like(amount, bits - 1)
        is_far = ops.compare(amount, most, direction="GT")
        near = ops.select(is_far, most, amount)
        near = near if count.dtype.kind == "u" else ops.bitcast_convert(near, dtype=count.dtype)
        shifted = getattr(ops, name)(x, near)
        return shifted if name.endswith("arithmetic") else ops.select(is_far, ops.full_like(x, 0), shifted)

    return rule


def _round_away(app: Application) -> Any:
    """To the nearest integer, halves away from zero."""
    x = app.array()
    size = ops.abs(x)
    whole = ops.floor(size)
    half = ops.full_like(x, 0.5)
    up = ops.compare(ops.sub(size, whole), half, direction="GE")
    return ops.mul(ops.sign(x), ops.select(up, ops.add(whole, ops.full_like(x, 1)), whole))


def _real(app: Application) -> Any:
    x = app.array()
    return ops.real(x) if x.dtype in COMPLEX else x


def _imag(app: Application) -> Any:
    x = app.array()
    return ops.imag(x) if x.dtype in COMPLEX else ops.full_like(x, 0)


def compare(app: Application) -> Any:
    """`stablehlo.compare`; booleans count as 0 and 1."""
    x, y = app.arrays
    direction = app.attribute("comparison_direction")
    if app.attribute("compare_type") == "TOTALORDER" and x.dtype.kind in "fV":
        x, y = total_order(x), total_order(y)
    elif x.dtype == BOOL:
        x, y = (ops.convert(v, dtype=np.dtype(np.int8)) for v in (x, y))
    return ops.compare(x, y, direction=direction)


def total_order(x: Any) -> Any:
    """Integers in the order that IEEE 754 gives all floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    integer = np.dtype(f"int{8 * x.dtype.itemsize}")
    bits = ops.bitcast_convert(x, dtype=integer)
    is_negative = ops.compare(bits, ops.full_like(bits, 0), direction="LT")
    flipped = ops.xor(bits, ops.full_like(bits, np.iinfo(integer).max))
    return ops.select(is_negative, flipped, bits)


def _select(app: Application) -> Any:
    predicate, on_true, on_false = app.arrays
    return ops.select(_wide(predicate, on_true), on_true, on_false)


def _clamp(app: Application) -> Any:
    low, x, high = app.arrays
    return ops.clamp(_wide(low, x), x, _wide(high, x))


def _wide(scalar: Any, like: Any) -> Any:
    if scalar.ndim == like.ndim:
        return scalar
    return ops.broadcast_in_dim(scalar, shape=tuple(like.shape), dimensions=())


def _convert(app: Application) -> Any:
    x, dtype = app.array(), app.dtype
    if x.dtype in COMPLEX and dtype not in COMPLEX:
        x = ops.real(x)
    return x if x.dtype == dtype else ops.convert(x, dtype=dtype)


def _atan2(app: Application) -> Any:
    """`atan2`; of complex numbers `-i log((x + i y) / sqrt(x^2 + y^2))`."""
    y, x = app.arrays
    if y.dtype not in COMPLEX:
        return ops.atan2(y, x)
    i = ops.full_like(y, 1j)
    size = ops.sqrt(ops.add(ops.mul(x, x), ops.mul(y, y)))
    return ops.neg(ops.mul(i, ops.log(ops.div(ops.add(x, ops.mul(i, y)), size))))


def _cbrt(app: Application) -> Any:
    x = app.array()
    return ops.pow(x, ops.full_like(x, 1 / 3)) if x.dtype in COMPLEX else ops.cbrt(x)


def _high_product(app: Application) -> Any:
    """The upper half of the bits of a product of integers, in halves: none of the parts overflows."""
    x, y = app.arrays
    half = 4 * x.dtype.itemsize
    shift, mask = ops.full_like(x, half), ops.full_like(x, (1 << half) - 1)
    right = ops.shift_right_arithmetic if x.dtype.kind == "i" else ops.shift_right_logical
    x0, y0, x1, y1 = ops.and_(x, mask), ops.and_(y, mask), right(x, shift), right(y, shift)
    low = ops.shift_right_logical(ops.mul(x0, y0), shift)
    middle = ops.add(ops.mul(x1, y0), low)
    other = ops.add(ops.mul(x0, y1), ops.and_(middle, mask))
    return ops.add(ops.add(ops.mul(x1, y1), right(middle, shift)), right(other, shift))


def _bitcast(app: Application) -> Any:
    """The bits as elements of another type; of wider ones, several along a new last axis."""
    x, dtype = app.array(), app.dtype
    if x.dtype == dtype:
        return x
    if BOOL in (x.dtype, dtype):
        return _bits_as_bools(x) if dtype == BOOL else _bools_as_bits(x, dtype)
    if x.dtype in COMPLEX:
        parts = [ops.reshape(p, shape=(*x.shape, 1)) for p in (ops.real(x), ops.imag(x))]
        halves = ops.concatenate(*parts, axis=x.ndim)
        if dtype in COMPLEX:  # complex128 as two complex64
            return _as_complex(_split_bits(halves, part_of(dtype)), dtype)
        if halves.dtype.itemsize < dtype.itemsize:
            return _joined_bits(halves, dtype)
        bits = _resized(halves, dtype)
        flat = bits.ndim == halves.ndim
        return bits if flat else ops.reshape(bits, shape=(*x.shape, bits.shape[-1] * 2))
    if dtype in COMPLEX:
        part = part_of(dtype)
        if x.dtype.itemsize == dtype.itemsize:
            return _as_complex(_split_bits(x, part), dtype)
        pairs = ops.reshape(x, shape=(*x.shape[:-1], 2, x.shape[-1] // 2))
        whole = _resized(pairs, part)
        return _as_complex(
            whole if whole.ndim < pairs.ndim else ops.reshape(whole, shape=whole.shape[:-1]), dtype
        )
    return _resized(x, dtype)


def part_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of complex numbers."""
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def _as_complex(pairs: Any, dtype: np.dtype) -> Any:
    return ops.complex(pairs[..., 0], pairs[..., 1])


def _resized(x: Any, dtype: np.dtype) -> Any:
    """The bits of real numbers as real numbers."""
    if x.dtype.itemsize == dtype.itemsize:
        return ops.bitcast_convert(x, dtype=dtype)
    return _split_bits(x, dtype) if x.dtype.itemsize > dtype.itemsize else _joined_bits(x, dtype)


def _bits_as_bools(x: Any) -> Any:
    """Each bit of a number, the lowest first, along a new last axis."""
    count = 8 * x.dtype.itemsize
    unsigned = np.dtype(f"uint{count}")
    word = ops.bitcast_convert(x, dtype=unsigned) if x.dtype != unsigned else x
    shape = (*x.shape, count)
    wide = ops.broadcast_in_dim(word, shape=shape, dimensions=tuple(range(x.ndim)))
    moved = ops.shift_right_logical(wide, ops.iota(shape=shape, axis=x.ndim, dtype=unsigned))
    return ops.compare(ops.and_(moved, ops.full_like(moved, 1)), ops.full_like(moved, 0), direction="NE")


def _bools_as_bits(x: Any, dtype: np.dtype) -> Any:
    """Numbers from their bits along the last axis, the lowest first."""
    count = 8 * dtype.itemsize
    unsigned = np.dtype(f"uint{count}")
    word = ops.convert(x, dtype=unsigned)
    moved = ops.shift_left(word, ops.iota(shape=tuple(x.shape), axis=x.ndim - 1, dtype=unsigned))
    total = ops.reduce_sum(moved, axes=(x.ndim - 1,))
    return total if dtype == unsigned else ops.bitcast_convert(total, dtype=dtype)


def _split_bits(x: Any, dtype: np.dtype) -> Any:
    wide, bits = np.dtype(f"uint{8 * x.dtype.itemsize}"), 8 * dtype.itemsize
    word = x if x.dtype == wide else ops.bitcast_convert(x, dtype=wide)
    part = np.dtype(f"uint{bits}")
    shape = (*x.shape, 1)
    parts = [
        ops.reshape(
            ops.convert(ops.shift_right_logical(word, ops.full_like(word, k * bits)), dtype=part), shape=shape
        )
        for k in range(x.dtype.itemsize // dtype.itemsize)
    ]
    whole = ops.concatenate(*parts, axis=len(shape) - 1)
    return whole if part == dtype else ops.bitcast_convert(whole, dtype=dtype)


def _joined_bits(x: Any, dtype: np.dtype) -> Any:
    part, bits = np.dtype(f"uint{8 * x.dtype.itemsize}"), 8 * x.dtype.itemsize
    wide = np.dtype(f"uint{8 * dtype.itemsize}")
    words = ops.convert(x if x.dtype == part else ops.bitcast_convert(x, dtype=part), dtype=wide)
    total: Any = None
    for k in range(dtype.itemsize // x.dtype.itemsize):
        place = (*(slice(None),) * (x.ndim - 1), k)
        word = words[place]
        moved = ops.shift_left(word, ops.full_like(word, k * bits))
        total = moved if total is None else ops.or_(total, moved)
    return total if wide == dtype else ops.bitcast_convert(total, dtype=dtype)


def _precision(app: Application) -> Any:
    return _reduce_precision(app.array(), app.attribute("exponent_bits"), app.attribute("mantissa_bits"))


def _infinite(value: float | None) -> Rule:
    def rule(app: Application) -> Any:
        x = app.array()
        if value is None:
            x = ops.abs(x)
        return ops.compare(x, ops.full_like(x, np.inf if value is None else value), direction="EQ")

    return rule


def _constant_like(app: Application) -> Any:
    return ops.full_like(app.array(), app.attribute("value"))


def _in_wider(function: Callable[..., Any]) -> Rule:
    """Special functions that are composed; those of short floats are computed in float32."""

    def rule(app: Application) -> Any:
        dtype = app.dtype
        is_short = dtype == BFLOAT16 or dtype == np.float16
        values = [as_value(x, np.float32) if is_short else x for x in app.arrays]
        return as_value(function(*values), dtype)

    return rule


def _broadcasting(rule: Rule) -> Rule:
    """A rule of CHLO whose operands are broadcast first, as NumPy does."""

    def apply(app: Application) -> Any:
        return rule(replace(app, inputs=tuple(xp.broadcast_arrays(*app.arrays))))

    return apply


_PLAIN: Final[dict[str, Rule]] = {
    **{name: _unary(method) for name, method in _UNARY.items()},
    **{name: _binary(method) for name, method in _BINARY.items()},
    **{name: _or_logical(name, *methods) for name, methods in _OR_LOGICAL.items()},
    "stablehlo.atan2": _atan2,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.cbrt": _cbrt,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": compare,
    "stablehlo.convert": _convert,
    "stablehlo.imag": _imag,
    "stablehlo.real": _real,
    "stablehlo.reduce_precision": _precision,
    "stablehlo.round_nearest_afz": _round_away,
    "stablehlo.select": _select,
    "stablehlo.shift_left": _shift("shift_left"),
    "stablehlo.shift_right_arithmetic": _shift("shift_right_arithmetic"),
    "stablehlo.shift_right_logical": _shift("shift_right_logical"),
    "chlo.bessel_i1e": _in_wider(i1e),
    "chlo.constant_like": _constant_like,
    "chlo.mulhi": _high_product,
    "chlo.is_inf": _infinite(None),
    "chlo.is_neg_inf": _infinite(-np.inf),
    "chlo.is_pos_inf": _infinite(np.inf),
    "chlo.polygamma": _in_wider(polygamma),
    "chlo.square": lambda app: ops.mul(app.array(), app.array()),
    "chlo.zeta": _in_wider(zeta),
}

_BROADCAST: Final = {
    **{
        f"chlo.broadcast_{name}": f"stablehlo.{name}"
        for name in (
            *("add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply"),
            *("or", "power", "remainder", "select", "shift_left", "shift_right_arithmetic"),
            *("shift_right_logical", "subtract", "xor"),
        )
    },
    **{f"chlo.broadcast_{name}": f"chlo.{name}" for name in ("next_after", "polygamma", "zeta")},
}

RULES: Final[dict[str, Rule]] = {
    **_PLAIN,
    **{name: _broadcasting(_PLAIN[plain]) for name, plain in _BROADCAST.items()},
}
