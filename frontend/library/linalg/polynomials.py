"""Polynomials as vectors of coefficients, the highest power first, under NumPy's names.

They have static lengths. Leading zeros are kept where NumPy would trim them, since shapes cannot depend
on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import INEXACT
from ...tracing.default_dtypes import floating_of
from ...tracing.jax_rules import follows_jax
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import promote, type_text
from .leastsquares import lstsq
from .lu import inv


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    left, right = _aligned("polyadd", a1, a2)
    return left + right


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    left, right = _aligned("polysub", a1, a2)
    return left - right


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """The product of two polynomials: as many coefficients as both have together, less one.

    `trim_leading_zeros` leaves zeros at their front out, which have to be known while tracing.
    """
    left, right = (_vector("polymul", v) for v in promote(a1, a2))
    if trim_leading_zeros:
        left, right = (xp.trim_zeros(v, "f") for v in (left, right))
    return xp.convolve(*(v if v.shape[0] else xp.zeros(1, dtype=v.dtype) for v in (left, right)))


def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of a polynomial, of order `m`."""
    coefficients = _vector("polyder", xp.asarray(p))
    if coefficients.dtype not in INEXACT and follows_jax():
        coefficients = xp.astype(coefficients, floating_of(coefficients.dtype))
    for _ in range(_order("polyder", m)):
        n = coefficients.shape[0]
        powers = np.arange(n - 1, 0, -1)
        coefficients = coefficients[: max(n - 1, 0)] * xp.astype(powers, coefficients.dtype)
    return coefficients


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The integral of a polynomial, of order `m`, with the constants `k` (one for each order; 0 if None)."""
    coefficients = _vector("polyint", xp.asarray(p))
    order = _order("polyint", m)
    constants = xp.ravel(xp.asarray(0.0 if k is None else k))
    if constants.shape[0] not in (1, order):
        raise shape_error(f"polyint: expected 1 or {order} constants, got {type_text(constants)}")
    dtype = xp.result_type(coefficients, constants, 0.0)
    coefficients, constants = xp.astype(coefficients, dtype), xp.astype(constants, dtype)
    for step in range(order):
        powers = np.arange(coefficients.shape[0], 0, -1)
        constant = constants[step : step + 1] if constants.shape[0] > 1 else constants
        coefficients = xp.concatenate([coefficients / xp.astype(powers, dtype), constant])
    return coefficients


def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with the given roots, the first one 1."""
    roots = _vector("poly", xp.asarray(seq_of_zeros))
    if roots.dtype.kind in "biu":
        roots = xp.astype(roots, floating_of(roots.dtype))
    coefficients = xp.ones(1, dtype=roots.dtype)
    for i in range(roots.shape[0]):
        beside = xp.zeros(1, dtype=roots.dtype)
        coefficients = xp.concatenate([coefficients, beside]) - roots[i] * xp.concatenate(
            [beside, coefficients]
        )
    return coefficients


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """The polynomial of degree `deg` that is nearest to the points in the least-squares sense.

    `y` may be a matrix of several sets of values as columns; `w` are weights of the residuals before they are
    squared. With `full` a tuple: the coefficients, the squared residuals, the rank and the singular values of
    the scaled matrix, and `rcond`. With `cov` a pair: the coefficients and their covariance, which is scaled
    by the variance of the residuals unless `cov` is 'unscaled'.
    """
    places, values = promote(x, y)
    if places.dtype.kind in "biu":
        places, values = (xp.astype(v, floating_of(v.dtype)) for v in (places, values))
    places = _vector("polyfit", places)
    if values.ndim not in (1, 2) or values.shape[0] != places.shape[0]:
        raise shape_error(f"polyfit: {type_text(places)} and {type_text(values)} are not as many points")
    columns = xp.vander(places, _order("polyfit", deg) + 1)
    if w is not None:
        weights = xp.astype(_vector("polyfit", xp.asarray(w)), places.dtype)
        columns = columns * weights[:, None]
        values = values * (weights if values.ndim == 1 else weights[:, None])
    scale = xp.sqrt(xp.sum(columns * columns, axis=0))
    limit = places.shape[0] * float(np.finfo(places.dtype).eps) if rcond is None else rcond
    scaled, residuals, rank, singular = lstsq(columns / scale, values, limit)
    fitted = scaled / (scale if values.ndim == 1 else scale[:, None])
    if full:
        return fitted, residuals, rank, singular, xp.asarray(limit)
    return (fitted, _covariance(columns / scale, scale, values, scaled, cov)) if cov else fitted


def _covariance(columns: Any, scale: Any, values: Any, fitted: Any, cov: bool | str) -> Any:
    """The covariance of coefficients that were fitted to scaled columns; a third axis for several fits."""
    base = inv(xp.matmul(columns.T, columns)) / xp.outer(scale, scale)
    base = base if values.ndim == 1 else base[:, :, None]
    if cov == "unscaled":
        return base
    count, order = columns.shape
    if count <= order:
        raise argument_error(
            f"polyfit: {count} points do not say how much {order} coefficients vary",
            "pass cov='unscaled', or more points than coefficients",
        )
    rest = values - xp.matmul(columns, fitted)
    return base * (xp.sum(rest * rest, axis=0) / (count - order))


def _vector(function: str, value: Any) -> Any:
    if value.ndim != 1 or not isinstance(value.shape[0], int):
        raise shape_error(f"{function}: expected a vector of static length, got {type_text(value)}")
    return value


def _order(function: str, m: Any) -> int:
    if not isinstance(m, (int, np.integer)) or m < 0:
        raise argument_error(f"{function}: the order is {m!r}, expected an integer that is not negative")
    return int(m)


def _aligned(function: str, first: Any, second: Any) -> list[Any]:
    values = [_vector(function, v) for v in promote(first, second)]
    length = max(v.shape[0] for v in values)
    return [xp.pad(v, (length - v.shape[0], 0)) for v in values]
