"""Distributions over vectors: Dirichlet, multinomial and multivariate normal."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import numpy as xp
from ..linalg.cholesky import cholesky
from ..linalg.triangular import solve_lower
from ..numpy.arguments import float_value, shape_error, type_error
from ..numpy.promotion import promote, type_text
from ..special.scipy_names import gammaln, xlogy


def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """The logarithm of Dirichlet's density at `x`, whose first axis has the entries, or all but the last.

    -inf off the simplex. Raises `ShapeError` unless `alpha` is a vector of as many entries.
    """
    value, weights = promote(float_value(x), float_value(alpha))
    if weights.ndim != 1 or value.ndim < 1 or weights.shape[0] - value.shape[0] not in (0, 1):
        raise shape_error(f"dirichlet: x {type_text(value)} does not fit alpha {type_text(weights)}")
    if value.shape[0] != weights.shape[0]:
        value = xp.concatenate([value, 1 - xp.sum(value, axis=0, keepdims=True)], axis=0)
    normaliser = xp.sum(gammaln(weights)) - gammaln(xp.sum(weights))
    column = xp.reshape(weights, (-1, *(1,) * (value.ndim - 1)))
    total = xp.sum(xlogy(column - 1, value), axis=0) - normaliser
    is_inside = xp.all(value > 0, axis=0) & (xp.abs(xp.sum(value, axis=0) - 1) < 1e-6)
    return xp.where(is_inside, total, -xp.inf)


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    """Dirichlet's density at `x`."""
    return xp.exp(dirichlet_logpdf(x, alpha))


def multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    """The logarithm of the probability of the counts `x` (integers, last axis) in `n` draws from `p`."""
    counts, total, chances = xp.asarray(x), xp.asarray(n), float_value(p)
    if counts.dtype.kind not in "iu":
        raise type_error(f"multinomial: x is {type_text(counts)}, expected integers")
    counts, total = xp.astype(counts, chances.dtype), xp.astype(total, chances.dtype)
    value = gammaln(total + 1) + xp.sum(xlogy(counts, chances) - gammaln(counts + 1), axis=-1)
    return xp.where(xp.sum(counts, axis=-1) == total, value, -xp.inf)


def multinomial_pmf(x: Any, n: Any, p: Any) -> Any:
    """The probability of the counts `x` in `n` draws from `p`."""
    return xp.exp(multinomial_logpmf(x, n, p))


def normal_logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Any:
    """The logarithm of the normal density at `x` (`[..., n]`); `cov` is a matrix or a variance.

    By a Cholesky factor, so `cov` must be positive definite: NaN otherwise.
    """
    if allow_singular is not None:
        raise type_error("multivariate_normal: allow_singular is not supported: the covariance has a factor")
    value, centre, spread = promote(float_value(x), float_value(mean), float_value(cov))
    difference = value - centre
    log_two_pi = math.log(2 * math.pi)
    if centre.ndim == 0:
        return -0.5 * difference**2 / spread - 0.5 * (log_two_pi + xp.log(spread))
    n = centre.shape[-1]
    if spread.ndim == 0:
        return -0.5 * xp.sum(difference**2, -1) / spread - 0.5 * n * (log_two_pi + xp.log(spread))
    if spread.ndim < 2 or tuple(spread.shape[-2:]) != (n, n):
        raise shape_error(f"multivariate_normal: cov {type_text(spread)} does not fit {n} variables")
    factor = cholesky(spread)
    whitened = _whitened(factor, difference, n)
    log_root = xp.sum(xp.log(xp.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)
    return -0.5 * xp.sum(whitened**2, -1) - 0.5 * n * log_two_pi - log_root


def _whitened(factor: Any, difference: Any, n: int) -> Any:
    if factor.ndim == 2:
        columns = xp.matrix_transpose(xp.reshape(difference, (-1, n)))
        return xp.reshape(xp.matrix_transpose(solve_lower(factor, columns, False)), difference.shape)
    batch = np.broadcast_shapes(factor.shape[:-2], difference.shape[:-1])
    left = xp.broadcast_to(factor, (*batch, n, n))
    right = xp.broadcast_to(difference, (*batch, n))
    return solve_lower(left, right[..., None], False)[..., 0]


def normal_pdf(x: Any, mean: Any, cov: Any) -> Any:
    """The normal density at `x`."""
    return xp.exp(normal_logpdf(x, mean, cov))


dirichlet = SimpleNamespace(logpdf=dirichlet_logpdf, pdf=dirichlet_pdf)
multinomial = SimpleNamespace(logpmf=multinomial_logpmf, pmf=multinomial_pmf)
multivariate_normal = SimpleNamespace(logpdf=normal_logpdf, pdf=normal_pdf)
