"""Gaussian mixture model: the log posterior of points under a mixture with a Wishart prior (ADBench).

Each of the K components has a weight alpha_k, a mean mu_k, and the inverse of a covariance as Q'Q, where Q is
lower triangular with diagonal exp(q_k) and entries l_k below it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import multigammaln

from .problem import Library, Problem, logsumexp

GAMMA, FREEDOM = 0.9, 2
"""The scale of the Wishart prior, and its degrees of freedom beyond the dimension plus one."""


def log_posterior(library: Library, alphas: Any, means: Any, logs: Any, below: Any, points: Any) -> Any:
    xp = library.xp
    count, dimension = points.shape
    components = alphas.shape[0]
    rows, columns = np.tril_indices(dimension, -1)
    lower = xp.zeros((components, dimension, dimension), points.dtype).at[:, rows, columns].set(below)
    centred = points[:, None, :] - means[None]
    turned = xp.exp(logs)[None] * centred + xp.einsum("kij,nkj->nki", lower, centred)
    inner = alphas + xp.sum(logs, axis=1) - 0.5 * xp.sum(turned * turned, axis=2)
    likelihood = xp.sum(logsumexp(xp, inner, 1)) - count * logsumexp(xp, alphas, 0)
    return likelihood - 0.5 * count * dimension * math.log(2 * math.pi) + wishart(xp, logs, below)


def wishart(xp: Any, logs: Any, below: Any) -> Any:
    """The log of the prior's density."""
    components, dimension = logs.shape
    total = dimension + FREEDOM + 1
    constant = total * dimension * (math.log(GAMMA) - 0.5 * math.log(2)) - multigammaln(
        0.5 * total, dimension
    )
    squares = xp.sum(xp.exp(2 * logs)) + xp.sum(below * below)
    return 0.5 * GAMMA**2 * squares - FREEDOM * xp.sum(logs) - components * float(constant)


def problem() -> Problem:
    rng = np.random.default_rng(0)
    components, dimension, count = 4, 3, 11
    return Problem(
        "Gaussian mixture model",
        log_posterior,
        (
            rng.standard_normal(components),
            rng.standard_normal((components, dimension)),
            0.5 * rng.standard_normal((components, dimension)),
            rng.standard_normal((components, dimension * (dimension - 1) // 2)),
            2 * rng.standard_normal((count, dimension)),
        ),
        active=4,
    )
