"""A density from samples: the mean of normal densities around them, as `scipy.stats.gaussian_kde` has it.

Input: samples, one a column, with weights. Output: an object whose methods evaluate, integrate and sample the
density; it is a tree of arrays, so that jit, grad and vmap take and return it.
Idea: everything is a sum over pairs of one normal density (D. W. Scott 1992, Multivariate Density Estimation,
section 6.2), so that one function, `_log_normals`, makes all of them with one Cholesky factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NoReturn

from ... import tree
from ...errors import UnsupportedError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..linalg.cholesky import cholesky
from ..linalg.lu import inv
from ..linalg.triangular import solve_lower
from ..numpy.arguments import argument_error, float_value, shape_error
from ..numpy.promotion import promote, type_text
from ..random.choice import choice
from ..random.keys import split
from ..random.multivariate import multivariate_normal
from ..softmax import logsumexp
from ..special.scipy_names import ndtr

RULES = ("scott", "silverman")


class gaussian_kde:
    """The density of samples, `dataset` of shape `(n,)` or `(d, n)`, smoothed by normal densities.

    `bw_method` is 'scott' (the default), 'silverman', a number by which the deviations are multiplied, or a
    function of this object that returns one. `weights`, of shape `(n,)`, are positive; their sum may be any.
    Raises `ShapeError` for shapes that do not fit and `ArgumentError` for another `bw_method`.
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        samples = xp.atleast_2d(float_value(dataset))
        if samples.ndim != 2 or (isinstance(samples.shape[1], int) and samples.shape[1] < 2):
            raise shape_error(
                f"gaussian_kde: expected two samples or more, (n,) or (d, n), got {type_text(samples)}"
            )
        count = samples.shape[1]
        if weights is None:
            shares = xp.full((count,), 1, samples.dtype) / xp.asarray(count, samples.dtype)
        else:
            samples, shares = promote(samples, float_value(weights))
            if tuple(shares.shape) != (count,):
                raise shape_error(
                    f"gaussian_kde: weights {type_text(shares)} do not fit samples {type_text(samples)}"
                )
            shares = shares / xp.sum(shares)
        self.dataset, self.weights = samples, shares
        self.neff = 1 / xp.sum(shares**2)
        factor = self._bandwidth(bw_method)
        spread = xp.atleast_2d(xp.cov(samples, rowvar=True, bias=False, aweights=shares))
        self.covariance = xp.astype(spread * factor**2, samples.dtype)
        self.inv_cov = inv(self.covariance)

    def _bandwidth(self, method: Any) -> Any:
        if method is None or method == "scott":
            return self.neff ** (-1.0 / (self.d + 4))
        if method == "silverman":
            return (self.neff * (self.d + 2) / 4.0) ** (-1.0 / (self.d + 4))
        if isinstance(method, str):
            raise argument_error(
                f"gaussian_kde: bw_method is {method!r}, expected one of {', '.join(map(repr, RULES))}, "
                "a number or a function"
            )
        if callable(method):
            method = method(self)
        return xp.reshape(float_value(method), ())

    @property
    def d(self) -> int:
        """How many entries a sample has."""
        return int(self.dataset.shape[0])

    @property
    def n(self) -> Any:
        """How many samples there are."""
        return self.dataset.shape[1]

    def evaluate(self, points: Any) -> Any:
        """The density at points, `(m,)` or `(d, m)`, or one point of `d` entries; shape `(m,)`."""
        return xp.exp(self.logpdf(points))

    def pdf(self, x: Any) -> Any:
        """The density at points, as `evaluate`."""
        return self.evaluate(x)

    def __call__(self, points: Any) -> Any:
        """The density at points, as `evaluate`."""
        return self.evaluate(points)

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points; finite far away too, where the density is 0 by rounding."""
        points, samples = promote(self._points(x), self.dataset)
        logs = _log_normals(points, samples, self.covariance)
        return logsumexp(logs + xp.log(self.weights)[:, None], axis=0)

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """The integral of the density times a normal density of a mean `(d,)` and covariance `(d, d)`."""
        centre = xp.atleast_1d(xp.squeeze(float_value(mean)))
        spread = xp.atleast_2d(float_value(cov))
        if tuple(centre.shape) != (self.d,) or tuple(spread.shape) != (self.d, self.d):
            raise shape_error(
                f"gaussian_kde: mean {type_text(centre)} and cov {type_text(spread)} do not fit "
                f"{self.d} variables"
            )
        logs = _log_normals(centre[:, None], self.dataset, self.covariance + spread)
        return xp.sum(xp.exp(logs[:, 0]) * self.weights)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The integral of a density of one variable from `low` to `high`, numbers."""
        if self.d != 1:
            raise shape_error(f"gaussian_kde: integrate_box_1d expects one variable, got {self.d}")
        lower, upper = float_value(low), float_value(high)
        if lower.ndim or upper.ndim:
            raise shape_error(
                f"gaussian_kde: the bounds are {type_text(lower)} and {type_text(upper)}, expected numbers"
            )
        deviation = xp.sqrt(self.covariance[0, 0])
        below, above = ((bound - self.dataset[0]) / deviation for bound in (lower, upper))
        return xp.sum(self.weights * (ndtr(above) - ndtr(below)))

    def integrate_kde(self, other: Any) -> Any:
        """The integral of the product of this density and another `gaussian_kde`."""
        if not isinstance(other, gaussian_kde) or other.d != self.d:
            seen = f"one of {other.d}" if isinstance(other, gaussian_kde) else type(other).__name__
            raise argument_error(f"gaussian_kde: expected a gaussian_kde of {self.d} variables, got {seen}")
        logs = _log_normals(other.dataset, self.dataset, self.covariance + other.covariance)
        return xp.sum(xp.exp(logs) * self.weights[:, None] * other.weights)

    def resample(self, key: Any, shape: tuple[int, ...] = ()) -> Any:
        """Samples of the density, `(d, *shape)`; `key` is split between the choice and the noise."""
        first, second = split(key)
        places = choice(first, self.n, shape, p=self.weights)
        noise = multivariate_normal(second, xp.zeros(self.d, self.dataset.dtype), self.covariance, shape)
        return self.dataset[:, places] + xp.moveaxis(xp.astype(noise, self.dataset.dtype), -1, 0)

    def set_bandwidth(self, bw_method: Any = None) -> NoReturn:
        """Not there, since the object is a value: make another `gaussian_kde` of another `bw_method`."""
        raise UnsupportedError(
            "gaussian_kde.set_bandwidth would change the object, which is a value",
            where=user_location_text(),
            hint="write gaussian_kde(dataset, bw_method, weights)",
        )

    def _points(self, x: Any) -> Any:
        points = xp.atleast_2d(float_value(x))
        if points.ndim == 2 and tuple(points.shape) == (1, self.d):
            points = xp.reshape(points, (self.d, 1))
        if points.ndim != 2 or points.shape[0] != self.d:
            raise shape_error(f"gaussian_kde: points {type_text(points)} do not fit {self.d} variables")
        return points


def _log_normals(points: Any, centres: Any, covariance: Any) -> Any:
    """The logarithms of normal densities, of centres `(d, n)` at points `(d, m)`; shape `(n, m)`."""
    factor = cholesky(covariance)
    middle = xp.mean(centres, axis=1, keepdims=True)  # so that far samples keep their digits
    here, there = (solve_lower(factor, value - middle, False) for value in (points, centres))
    squares = xp.sum((there[:, :, None] - here[:, None, :]) ** 2, axis=0)
    log_root = xp.sum(xp.log(xp.diagonal(factor)))
    return -0.5 * squares - 0.5 * points.shape[0] * math.log(2 * math.pi) - log_root


PARTS = ("neff", "dataset", "weights", "covariance", "inv_cov")


def _restored(_: None, parts: Iterable[Any]) -> gaussian_kde:
    density = object.__new__(gaussian_kde)
    for name, part in zip(PARTS, parts, strict=True):
        setattr(density, name, part)
    return density


tree.register(gaussian_kde, lambda x: (tuple(getattr(x, name) for name in PARTS), None), _restored)
