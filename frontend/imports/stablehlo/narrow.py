"""Integers of 2 and 4 bits and floats of 8 bits and less: held in int8, uint8 or float32.

Input: the results of ops on arrays that hold such elements. Output: arrays that hold what the narrow type
has: integers modulo a power of two, floats rounded to the nearest, ties to even.

Idea: adze has no such dtypes. The values of a narrow type are values of a wider one, and an op on narrow
operands is the wider op, rounded; the few integer ops that see the bits themselves are given here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ...library import numpy as xp
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .application import Application, Rule, as_array

_BITS: Final = {"i2": 2, "i4": 4, "ui2": 2, "ui4": 4}
_FLOATS: Final = {
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}
_KEEP: Final = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("and", "broadcast", "broadcast_in_dim", "case", "clamp", "compare", "concatenate", "constant"),
        *("dynamic_slice", "dynamic_update_slice", "gather", "get_tuple_element", "if", "maximum", "minimum"),
        *("optimization_barrier", "or", "pad", "reshape", "reverse", "select", "slice", "sort", "transpose"),
        *("tuple", "while", "xor"),
    )
)
"""Ops whose results have no values but those of their operands, or whose regions are rounded themselves."""


@dataclass(frozen=True, slots=True)
class NarrowTensor(TensorType):
    """Arrays of `element`, a narrow type; `dtype` holds it."""

    element: str

    def __str__(self) -> str:
        return f"{self.element}[{','.join('?' if n is None else str(n) for n in self.shape)}]"

    @property
    def numbers(self) -> np.dtype:
        """The dtype of NumPy that constants of it are written in."""
        return self.dtype if self.element in _BITS else _float_type(self.element)

    @property
    def narrow_dtype(self) -> np.dtype:
        """The dtype that ml_dtypes has for the element."""
        if self.element in _FLOATS:
            return _float_type(self.element)
        return np.dtype(getattr(ml_dtypes, f"{'u' * (self.element[0] == 'u')}int{_BITS[self.element]}"))


def narrow_type(shape: tuple[int | None, ...], element: str) -> NarrowTensor | None:
    """The type of arrays of a narrow element, None for any other."""
    if element in _BITS:
        return NarrowTensor(shape, np.dtype(np.uint8 if element[0] == "u" else np.int8), element)
    if element in _FLOATS:
        return NarrowTensor(shape, np.dtype(np.float32), element)
    return None


def held(array: np.ndarray, type_: NarrowTensor) -> np.ndarray:
    """Numbers of a constant as the narrow type holds them; one number that fills an array remains one."""
    if array.size > 1 and not any(array.strides):
        return np.broadcast_to(held(array[(0,) * array.ndim], type_), array.shape)
    if type_.element in _BITS:
        count = 1 << _BITS[type_.element]
        low = array.astype(np.int16) % count
        signed = np.where(low >= count // 2, low - count, low) if type_.dtype == np.int8 else low
        return np.asarray(signed.astype(type_.dtype))
    return np.asarray(array.astype(_float_type(type_.element)).astype(np.float32))


def rounded(value: Any, type_: NarrowTensor) -> Any:
    """An array of the holding dtype with values of the narrow type alone."""
    x = as_array(value)
    if type_.element in _FLOATS:
        return _to_float(type_.element)(x)
    bits = _BITS[type_.element]
    if type_.dtype == np.uint8:
        return ops.and_(x, ops.full_like(x, (1 << bits) - 1))
    away = ops.full_like(x, 8 - bits)
    return ops.shift_right_arithmetic(ops.shift_left(x, away), away)


def applied(rule: Rule, app: Application) -> list[Any]:
    """The results of an op, those of narrow types rounded."""
    if not any(isinstance(t, NarrowTensor) for t in (*app.op.operand_types, *app.op.result_types)):
        results = rule(app)
        return list(results) if isinstance(results, (list, tuple)) else [results]
    special = _SPECIAL.get(app.op.name)
    results = special(rule, app) if special else rule(app)
    listed = list(results) if isinstance(results, (list, tuple)) else [results]
    if app.op.name in _KEEP:
        return listed
    return [
        rounded(value, type_) if isinstance(type_, NarrowTensor) else value
        for value, type_ in zip(listed, app.op.result_types, strict=True)
    ]


def _float_type(element: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, _FLOATS[element]))


@cache
def _to_float(element: str) -> Callable[[Any], Any]:
    """Rounds to a narrow float; the derivative is that of the identity, as of a `convert`."""
    dtype = _float_type(element)
    if element == "f8E8M0FNU":
        return _keeping_tangents(_nearest_power)
    limits: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]

    def number(x: float) -> float:
        return float(np.float32(x).astype(dtype))

    above, nan, most = number(np.inf), number(np.nan), float(limits.max)
    has_negative_zero = bool(np.signbit(number(-0.0)))

    def nearest(x: Any) -> Any:
        size = ops.abs(x)
        power = xp.clip(_power_below(size), float(limits.smallest_normal), most)
        unit = power * 2.0 ** -int(limits.nmant)
        size = ops.mul(ops.round(ops.div(size, unit)), unit)
        size = xp.where(size > most, above, size)
        is_negative = xp.signbit(x) if has_negative_zero else (x < 0) & (size != 0)
        signed = xp.where(is_negative, -size, size).astype(x.dtype)
        return xp.where(xp.isnan(x), nan, signed).astype(x.dtype)

    return _keeping_tangents(nearest)


def _keeping_tangents(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    rounds = custom_jvp(function)
    rounds.defjvp(lambda primals, tangents: (rounds(*primals), tangents[0]))
    return rounds


def _nearest_power(x: Any) -> Any:
    """The nearest of the powers of two from -127 to 127, the larger of two; NaN for all but positive numbers.

    Between the two smallest ones, subnormal numbers in float32, the larger is taken, as XLA does.
    """
    x = ops.convert(x, dtype=np.dtype(np.float32)) if x.dtype != np.float32 else x
    word = ops.bitcast_convert(x, dtype=np.dtype(np.uint32))
    exponent = ops.shift_right_logical(word, ops.full_like(word, 23))
    rest = ops.and_(word, ops.full_like(word, (1 << 23) - 1))
    limit = ops.select(exponent == 0, ops.full_like(word, (1 << 22) + 1), ops.full_like(word, 1 << 22))
    exponent = ops.add(exponent, ops.convert(rest >= limit, dtype=word.dtype))
    smallest = ops.full_like(word, 1 << 22)
    power = ops.select(exponent == 0, smallest, ops.shift_left(exponent, ops.full_like(word, 23)))
    is_number = (word - 1 < 0x7F800000 - 1) & (exponent < 255)  # `x > 0` ignores subnormal numbers on CPUs
    return ops.select(is_number, ops.bitcast_convert(power, dtype=x.dtype), ops.full_like(x, np.nan))


def _power_below(size: Any) -> Any:
    """The largest power of two that is not above each number: its bits without the mantissa."""
    info = np.finfo(size.dtype)
    bits = np.dtype(f"uint{info.bits}")
    word = ops.bitcast_convert(size, dtype=bits)
    exponent = ops.and_(word, ops.full_like(word, ((1 << info.iexp) - 1) << info.nmant))
    return ops.bitcast_convert(exponent, dtype=size.dtype)


def _element_of(app: Application, index: int = 0) -> str | None:
    type_ = app.op.operand_types[index]
    return type_.element if isinstance(type_, NarrowTensor) and type_.element in _BITS else None


def _bits_of(x: Any, element: str) -> Any:
    """The bits of integers, those above them zero."""
    return ops.and_(x, ops.full_like(x, (1 << _BITS[element]) - 1))


def _on_bits(rule: Rule, app: Application) -> Any:
    """An op that sees the bits: those of the narrow integers alone."""
    elements = [_element_of(app, i) for i in range(len(app.inputs))]
    inputs = tuple(_bits_of(x, e) if e else x for x, e in zip(app.arrays, elements, strict=True))
    return rule(replace(app, inputs=inputs))


def _leading_zeros(rule: Rule, app: Application) -> Any:
    element = _element_of(app)
    zeros = _on_bits(rule, app)
    return ops.sub(zeros, ops.full_like(zeros, 8 - _BITS[element])) if element else zeros


def _arithmetic_shift(rule: Rule, app: Application) -> Any:
    """The highest bit of an integer without a sign fills too."""
    element = _element_of(app)
    x = app.array()
    if element and x.dtype == np.uint8:
        sign = ops.full_like(x, 1 << (_BITS[element] - 1))
        x = ops.sub(ops.xor(x, sign), sign)
    return rule(replace(app, inputs=(x, app.inputs[1])))


def _convert(rule: Rule, app: Application) -> Any:
    """Floats beyond an integer's limits become these, as in XLA; a float64 is rounded once."""
    to, x = app.op.result_types[0], app.array()
    if not isinstance(to, NarrowTensor) or x.dtype.kind not in "fV":
        return rule(app)
    if to.element in _FLOATS:
        return rule(replace(app, inputs=(_to_float(to.element)(x),))) if x.dtype == np.float64 else rule(app)
    bits = _BITS[to.element] - (to.dtype == np.int8)
    low, high = (-(1 << bits) if to.dtype == np.int8 else 0), (1 << bits) - 1
    within = ops.clamp(ops.full_like(x, low), x, ops.full_like(x, high))
    number = ops.select(ops.compare(x, x, direction="EQ"), within, ops.full_like(x, 0))
    return rule(replace(app, inputs=(number,)))


def _bitcast(rule: Rule, app: Application) -> Any:
    """Between integers of 2, 4 and 8 bits: the first element has the lowest bits."""
    x, element, to = app.array(), _element_of(app), app.op.result_types[0]
    target = to.element if isinstance(to, NarrowTensor) else None
    narrow = (element or str(8 * x.dtype.itemsize), target or str(8 * app.dtype.itemsize))
    widths = [_BITS.get(name) or (int(name) if name.isdigit() else 0) for name in narrow]
    if x.dtype.itemsize != 1 or app.dtype.itemsize != 1 or not all(widths):
        raise app.error("bits of narrow types are supported as integers of 2, 4 and 8 bits only")
    word = x if x.dtype == np.uint8 else ops.bitcast_convert(x, dtype=np.dtype(np.uint8))
    word = _bits_of(word, element) if element else word
    if widths[0] > widths[1]:
        pieces = [
            ops.shift_right_logical(word, ops.full_like(word, n)) for n in range(0, widths[0], widths[1])
        ]
        word = xp.stack(pieces, axis=-1)
    elif widths[0] < widths[1]:
        pieces = [word[..., i] for i in range(widths[1] // widths[0])]
        word = pieces[0]
        for i, piece in enumerate(pieces[1:], 1):
            word = ops.or_(word, ops.shift_left(piece, ops.full_like(piece, i * widths[0])))
    return word if app.dtype == np.uint8 else ops.bitcast_convert(word, dtype=app.dtype)


_SPECIAL: Final[dict[str, Callable[[Rule, Application], Any]]] = {
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.convert": _convert,
    "stablehlo.count_leading_zeros": _leading_zeros,
    "stablehlo.popcnt": _on_bits,
    "stablehlo.shift_right_arithmetic": _arithmetic_shift,
    "stablehlo.shift_right_logical": _on_bits,
}
