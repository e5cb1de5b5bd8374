"""Elementwise ops of adze in StableHLO; what StableHLO lacks is CHLO's, as in exports of JAX.

Input: a writer, an application. Output: its results.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....dialects.types import BOOL, COMPLEX, from_storage
from .rules import Application, Rule
from .writer import Ref, Writer

_SAME: Final = {
    **{name: name for name in ("and", "cbrt", "ceil", "clamp", "complex", "floor", "imag", "is_finite")},
    **{name: name for name in ("logistic", "not", "or", "real", "rsqrt", "select", "shift_left", "sqrt")},
    **{name: name for name in ("shift_right_arithmetic", "shift_right_logical", "tan", "tanh", "xor")},
    "add": "add",
    "atan2": "atan2",
    "clz": "count_leading_zeros",
    "cos": "cosine",
    "div": "divide",
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "log": "log",
    "log1p": "log_plus_one",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "neg": "negate",
    "popcount": "popcnt",
    "rem": "remainder",
    "round": "round_nearest_even",
    "sin": "sine",
    "sub": "subtract",
    **{name: f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh")},
    **{name: f"chlo.{name}" for name in ("digamma", "erf", "erf_inv", "erfc", "lgamma")},
    "nextafter": "chlo.next_after",
}


def _named(name: str) -> Rule:
    return lambda w, app: w.op(name, app.operands, app.results)


def _abs(w: Writer, app: Application) -> list[Ref]:
    return [app.operands[0]] if app.operands[0].dtype.kind == "u" else w.op("abs", app.operands, app.results)


def _sign(w: Writer, app: Application) -> list[Ref]:
    x = app.operands[0]
    if x.dtype.kind != "u":
        return w.op("sign", app.operands, app.results)
    return [w.convert(w.compare("NE", x, w.filled(0, x)), x.dtype)]


def _pow(w: Writer, app: Application) -> list[Ref]:
    """`power`; of unsigned integers by squares, since XLA takes large exponents for negative ones."""
    x, y = app.operands
    if x.dtype.kind != "u":
        return w.op("power", app.operands, app.results)
    result, square, zero = w.filled(1, x), x, w.filled(0, x)
    for bit in range(8 * x.dtype.itemsize):
        is_set = w.compare("NE", w.like("and", y, w.filled(1 << bit, y)), zero)
        result = w.select(is_set, w.like("multiply", result, square), result)
        square = w.like("multiply", square, square)
    return [result]


def _exp2(w: Writer, app: Application) -> list[Ref]:
    x = app.operands[0]
    return [w.like("power", w.filled(2, x), x)]


def _log2(w: Writer, app: Application) -> list[Ref]:
    x = app.operands[0]
    return [w.like("divide", w.like("log", x), w.filled(np.log(2.0), x))]


def _conj(w: Writer, app: Application) -> list[Ref]:
    x = app.operands[0]
    if x.dtype not in COMPLEX:
        return [x]
    part = x.type.with_dtype(np.dtype(np.float32 if x.dtype == np.complex64 else np.float64))
    imaginary = w.like("negate", w.one("imag", (x,), part))
    return [w.one("complex", (w.one("real", (x,), part), imaginary), x.type)]


def _compare(w: Writer, app: Application) -> list[Ref]:
    return [w.compare(app.attributes["direction"], *app.operands)]


def _convert(w: Writer, app: Application) -> list[Ref]:
    x, dtype = app.operands[0], np.dtype(app.attributes["dtype"])
    if x.dtype in COMPLEX and dtype == BOOL:
        return [w.compare("NE", x, w.filled(0, x))]
    return [w.convert(x, dtype)]


def _identity(w: Writer, app: Application) -> list[Ref]:
    return list(app.operands)


def _constant(w: Writer, app: Application) -> list[Ref]:
    value = from_storage(np.asarray(app.attributes["value"]), np.dtype(app.attributes["dtype"]))
    return [w.constant(value)]


RULES: Final[dict[str, Rule]] = {
    **{name: _named(target) for name, target in _SAME.items()},
    "abs": _abs,
    "bitcast_convert": _named("bitcast_convert"),
    "checkpoint_name": _identity,
    "sharding_constraint": _identity,
    "compare": _compare,
    "conj": _conj,
    "constant": _constant,
    "convert": _convert,
    "exp2": _exp2,
    "log2": _log2,
    "optimization_barrier": _named("optimization_barrier"),
    "pow": _pow,
    "sign": _sign,
    "stop_gradient": _identity,
}
