"""Classics whose gradients can be written by hand, and a neural differential equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Library, Problem


def rosenbrock(library: Library, x: Any) -> Any:
    """``sum 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2``: Rosenbrock's valley."""
    return library.xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x: np.ndarray) -> tuple[np.ndarray, ...]:
    gradient = np.zeros_like(x)
    gradient[:-1] = -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    gradient[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return (gradient,)


def rosenbrock_hessian(x: np.ndarray) -> np.ndarray:
    """Tridiagonal."""
    diagonal = np.full(x.shape, 200.0)
    diagonal[-1] = 0
    inner = np.concatenate([1200 * x[:-1] ** 2 - 400 * x[1:] + 2, [0]])
    shifted = np.concatenate([[0], np.full(x.size - 1, 200.0)])
    return np.diag(inner + shifted) + np.diag(-400 * x[:-1], 1) + np.diag(-400 * x[:-1], -1)


def logistic_regression(library: Library, weights: Any, bias: Any, points: Any, labels: Any) -> Any:
    """The mean negative log likelihood of labels 0 and 1, with a quadratic penalty."""
    xp = library.xp
    scores = points @ weights + bias
    likelihood = xp.mean(xp.logaddexp(0.0, scores) - labels * scores)
    return likelihood + 0.05 * xp.sum(weights * weights)


def logistic_gradient(
    weights: np.ndarray, bias: np.ndarray, points: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, ...]:
    errors = (1 / (1 + np.exp(-(points @ weights + bias))) - labels) / labels.size
    return points.T @ errors + 0.1 * weights, np.sum(errors)


def factorisation(library: Library, left: Any, right: Any, rows: Any, columns: Any, values: Any) -> Any:
    """Squared errors of a product of two thin matrices at the entries that are known, and a penalty."""
    xp = library.xp
    errors = xp.sum(left[rows] * right[columns], axis=1) - values
    return xp.sum(errors**2) + 0.1 * (xp.sum(left**2) + xp.sum(right**2))


def factorisation_gradient(
    left: np.ndarray, right: np.ndarray, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, ...]:
    errors = np.zeros((left.shape[0], right.shape[0]))
    np.add.at(errors, (rows, columns), np.sum(left[rows] * right[columns], axis=1) - values)
    return 2 * errors @ right + 0.2 * left, 2 * errors.T @ left + 0.2 * right


def neural_ode(library: Library, inner: Any, outer: Any, start: Any, target: Any) -> Any:
    """Four steps of Runge and Kutta's method of ``y' = outer tanh(inner y)``, and the distance at the end."""
    xp = library.xp
    size = 0.25

    def slope(y: Any) -> Any:
        return xp.tanh(y @ inner) @ outer

    y = start
    for _ in range(4):
        first = slope(y)
        second = slope(y + 0.5 * size * first)
        third = slope(y + 0.5 * size * second)
        fourth = slope(y + size * third)
        y = y + size / 6 * (first + 2 * second + 2 * third + fourth)
    return xp.mean((y - target) ** 2)


def call_price(library: Library, spot: Any, volatility: Any, years: Any, rate: Any, strike: Any) -> Any:
    """Black and Scholes' price of a European call."""
    xp = library.xp

    def normal(x: Any) -> Any:
        return 0.5 * (1 + library.special.erf(x / np.sqrt(2.0)))

    deviation = volatility * xp.sqrt(years)
    first = (xp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    return spot * normal(first) - strike * xp.exp(-rate * years) * normal(first - deviation)


def portfolio(library: Library, *inputs: Any) -> Any:
    return library.xp.sum(call_price(library, *inputs))


def greeks(
    spot: np.ndarray, volatility: np.ndarray, years: np.ndarray, rate: np.ndarray, strike: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Delta, vega, minus theta and rho of a call, in closed form."""
    first, density, normal = _normals(spot, volatility, years, rate, strike)
    second = first - volatility * np.sqrt(years)
    discounted = strike * np.exp(-rate * years) * normal(second)
    decay = spot * density * volatility / (2 * np.sqrt(years)) + rate * discounted
    return normal(first), spot * density * np.sqrt(years), decay, years * discounted


def gamma(
    spot: np.ndarray, volatility: np.ndarray, years: np.ndarray, rate: np.ndarray, strike: np.ndarray
) -> np.ndarray:
    """The second derivative in the spot price."""
    _, density, _ = _normals(spot, volatility, years, rate, strike)
    return density / (spot * volatility * np.sqrt(years))


def _normals(
    spot: np.ndarray, volatility: np.ndarray, years: np.ndarray, rate: np.ndarray, strike: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Any]:
    from scipy.stats import norm

    first = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    return first, norm.pdf(first), norm.cdf


def problems() -> tuple[Problem, ...]:
    rng = np.random.default_rng(4)
    normal, uniform = rng.standard_normal, rng.uniform
    return (
        Problem("Rosenbrock", rosenbrock, (normal(7),), 1, rosenbrock_gradient),
        Problem(
            "logistic regression",
            logistic_regression,
            (normal(4), normal(()), normal((20, 4)), rng.integers(0, 2, 20).astype(np.float64)),
            2,
            logistic_gradient,
        ),
        Problem(
            "matrix factorisation",
            factorisation,
            (normal((6, 2)), normal((5, 2)), rng.integers(0, 6, 14), rng.integers(0, 5, 14), normal(14)),
            2,
            factorisation_gradient,
        ),
        Problem(
            "neural ODE",
            neural_ode,
            (normal((3, 8)), 0.5 * normal((8, 3)), normal((6, 3)), normal((6, 3))),
            3,
        ),
        Problem(
            "Black-Scholes",
            portfolio,
            (
                uniform(80, 120, 9),
                uniform(0.1, 0.5, 9),
                uniform(0.2, 3, 9),
                uniform(0, 0.05, 9),
                uniform(80, 120, 9),
            ),
            4,
            greeks,
        ),
    )
