"""Reference values of scalar functions in extended precision, and the grids that they are taken on.

NumPy's 80-bit longdouble where it has the function, mpmath where not (erf, erfc, erf_inv, lgamma, digamma).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
import scipy.special

LONG = np.longdouble
Function = Callable[..., np.ndarray]


def _long(function: Function) -> Function:
    return lambda *arrays: function(*(a.astype(LONG) for a in arrays))


def _logistic(x: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, LONG(1), e) / (1 + e)


def _multiprecision(function: Callable[[mpmath.mpf], mpmath.mpf], fallback: Function) -> Function:
    """`function` at 100 bits for finite arguments; `fallback` (f64) at poles, infinities and NaN."""

    def one(x: float) -> np.longdouble:
        try:
            value = mpmath.re(function(mpmath.mpf(x)))
            return LONG(mpmath.nstr(value, 25)) if abs(value) > 1e-300 else LONG(float(value))
        except (ValueError, ZeroDivisionError, OverflowError):
            return LONG(fallback(x))

    def reference(x: np.ndarray) -> np.ndarray:
        with mpmath.workprec(100):
            values = [one(float(v)) if np.isfinite(v) and v != 0 else LONG(fallback(float(v))) for v in x]
        return np.array(values, LONG)

    return reference


def _erf_inv(x: mpmath.mpf) -> mpmath.mpf:
    if abs(x) >= 1:
        raise ValueError("outside")
    y = mpmath.mpf(float(scipy.special.erfinv(float(x))))
    for _ in range(2):
        step = (mpmath.erf(y) - x) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
        y -= step / (1 + step * y)
    return y


def _lgamma_fallback(x: float) -> float:
    return abs(x) if np.isnan(x) or np.isinf(x) else np.inf


UNARY: dict[str, Function] = {
    "sqrt": _long(np.sqrt),
    "rsqrt": _long(lambda x: 1 / np.sqrt(x)),
    "floor": _long(np.floor),
    "ceil": _long(np.ceil),
    "round": _long(np.rint),
    "sign": _long(lambda x: np.where(x == 0, x, np.sign(x))),
    "cbrt": _long(np.cbrt),
    "exp": _long(np.exp),
    "exp2": _long(np.exp2),
    "expm1": _long(np.expm1),
    "log": _long(np.log),
    "log2": _long(np.log2),
    "log1p": _long(np.log1p),
    "sin": _long(np.sin),
    "cos": _long(np.cos),
    "tan": _long(np.tan),
    "asin": _long(np.arcsin),
    "acos": _long(np.arccos),
    "atan": _long(np.arctan),
    "sinh": _long(np.sinh),
    "cosh": _long(np.cosh),
    "tanh": _long(np.tanh),
    "asinh": _long(np.arcsinh),
    "acosh": _long(np.arccosh),
    "atanh": _long(np.arctanh),
    "logistic": _long(_logistic),
    "erf": _multiprecision(mpmath.erf, scipy.special.erf),
    "erfc": _multiprecision(mpmath.erfc, scipy.special.erfc),
    "erf_inv": _multiprecision(_erf_inv, scipy.special.erfinv),
    "lgamma": _multiprecision(mpmath.loggamma, _lgamma_fallback),
    "digamma": _multiprecision(mpmath.digamma, scipy.special.digamma),
}
BINARY: dict[str, Function] = {
    "div": _long(np.divide),
    "pow": _long(np.power),
    "rem": _long(np.fmod),
    "atan2": _long(np.arctan2),
    "max": _long(np.maximum),
    "min": _long(np.minimum),
}
SLOW = frozenset({"erf", "erfc", "erf_inv", "lgamma", "digamma"})


def specials(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    values = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1,
        -1,
        info.tiny,
        -info.tiny,
        info.max,
        -info.max,
        0.5,
        -0.5,
        2,
        -2,
    ]
    values += [
        1 + info.eps,
        1 - info.eps / 2,
        np.pi / 4,
        np.pi / 2,
        np.pi,
        -3 * np.pi / 4,
        3,
        7,
        8,
        -3,
        -1.5,
        1e5 * np.pi,
    ]
    return np.array(values, dtype)


@cache
def grid(dtype: np.dtype, size: int) -> np.ndarray:
    """Specials, neighbourhoods of 1, 2, 0 and multiples of pi/4, the ranges of functions, random bits."""
    rng = np.random.default_rng(7)
    part = size // 10
    decades = 10.0 ** rng.uniform(-15, -1, part) * rng.choice([-1, 1], part)
    bits = rng.integers(
        0, 2 ** (8 * dtype.itemsize), 3 * part, dtype=f"u{dtype.itemsize}", endpoint=False
    ).view(dtype)
    pieces = [
        1 + decades,
        2 + decades,
        rng.integers(-2000, 2000, part) * (np.pi / 4),
        rng.uniform(-1, 1, part) * 10.0 ** rng.uniform(-30, 0, part),
        rng.uniform(-1, 1, part),
        rng.uniform(-10, 10, part),
        rng.uniform(-110, 110, part),
        rng.uniform(-750, 750, part),
    ]
    values = np.concatenate([specials(dtype), *(piece.astype(dtype) for piece in pieces), bits])
    return values[(values == 0) | ~(np.abs(values) < np.finfo(dtype).tiny)]


@cache
def pairs(dtype: np.dtype, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs from the grid, every pair of specials, and powers whose result is in range."""
    rng = np.random.default_rng(8)
    values, few = grid(dtype, size), specials(dtype)
    first, second = (v.ravel() for v in np.meshgrid(few, few))
    base = np.exp(rng.uniform(-5, 5, size))
    limit = 88 if dtype.itemsize == 4 else 709
    exponent = rng.uniform(-limit, limit, size) / np.log(base)
    near_one = 1 + rng.uniform(-1e-6, 1e-6, size // 4)
    whole = rng.integers(-20, 20, size // 4)
    x = np.concatenate(
        [values, first, base.astype(dtype), near_one.astype(dtype), -base[: size // 4].astype(dtype)]
    )
    y = [rng.permutation(values), second, exponent, rng.uniform(-1e8, 1e8, size // 4), whole]
    return x, np.concatenate([piece.astype(dtype) for piece in y])


@cache
def arguments(op: str, dtype: np.dtype, thorough: bool = True) -> tuple[np.ndarray, ...]:
    """The operands; of a slow reference the special ones and a fifth of the others, unless `thorough`."""
    operands = _arguments(op, dtype)
    if thorough or op not in SLOW:
        return operands
    few = len(specials(dtype))
    return tuple(np.concatenate([x[:few], x[few:-few:5], x[-few:]]) for x in operands)


def _arguments(op: str, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    if op in BINARY:
        return pairs(dtype, 10000)
    if op != "erf_inv":
        return (grid(dtype, 10000 if op in SLOW else 20000),)
    rng = np.random.default_rng(9)
    y = np.concatenate([np.linspace(-6, 6, 3000), 10.0 ** rng.uniform(-30, -1, 500)])
    near = 1 - 2.0 ** -np.arange(1, 54)
    inside = np.concatenate([scipy.special.erf(y), near, -near, rng.uniform(-1, 1, 6500)]).astype(dtype)
    return (np.concatenate([inside, specials(dtype)]),)


@cache
def reference(op: str, dtype: np.dtype, thorough: bool = True) -> np.ndarray:
    with np.errstate(all="ignore"):
        return (BINARY.get(op) or UNARY[op])(*arguments(op, dtype, thorough))
