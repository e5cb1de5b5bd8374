"""How a gamma sample moves with its parameter: the implicit derivative of a quantile.

A sample `x` of Gamma(a) is the quantile of some fixed probability; holding `F(x; a)` fixed as `a` moves gives
`dx/da = -(dF/da) / p(x; a)` (Figurnov, Mohamed, Mnih: Implicit reparameterization gradients; 2018).
Up to `x = 1` by the power series of `F`, above by quadrature of `dF/da = integral of p (log t - digamma a)`
from that side of `x` on which the integrand has one sign, so that nothing cancels.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32, FLOAT64
from ...tracing.array import Array
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp

TERMS: Final = {FLOAT32: 11, FLOAT64: 18}  # of the series: x^n / n! is below the last bit at x = 1
STEP: Final = {FLOAT32: 0.15, FLOAT64: 0.1}  # of the quadrature: errors below 1e-6 and 1e-9 of the slope
LEAST, GREATEST = -3.5, 4.0


@custom_jvp
def following(log_sample: Any, a: Any) -> Any:
    """`log_sample`, whose derivative is that of the logarithm of a Gamma(a) sample."""
    del a
    return log_sample


@following.defjvp
def _following_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # The slope is taken at the sample that follows `a`, so that derivatives of the slope are right too.
    sample = following(*primals)
    return sample, log_slope(sample, primals[1]) * tangents[1]


def log_slope(log_x: Any, a: Any) -> Any:
    """`d log(x) / da` of a gamma sample whose logarithm is `log_x`; both float32 or both float64."""
    is_low = log_x <= 0
    below = _series(xp.where(is_low, log_x, 0.0), a)
    above = _quadrature(xp.where(is_low, 0.0, log_x), a)
    return xp.where(is_low, below, above)


def _series(log_x: Any, a: Any) -> Any:
    """For `x <= 1`, where `F = x^a e^-x / Gamma(a + 1) * S` and `S = sum of x^n / ((a + 1) ... (a + n))`."""
    x = xp.exp(log_x)
    total = xp.ones_like(a)
    slope = xp.zeros_like(a)
    for n in range(TERMS[a.dtype], 0, -1):  # Horner's form of S and of dS/da
        ratio = x / (a + n)
        slope = ratio * (slope - total / (a + n))
        total = 1 + ratio * total
    return -(total * (log_x - ops.digamma(a + 1)) + slope) / a


def _quadrature(log_x: Any, a: Any) -> Any:
    """For `x >= 1`: the integral over `t = x e^-s` where `log x < digamma a`, over `t = x e^s` elsewhere."""
    x = xp.exp(log_x)
    middle = ops.digamma(a)
    is_left = log_x <= middle
    sign = xp.where(is_left, -1.0, 1.0).astype(a.dtype)
    scale = 1 / (xp.maximum(sign * (x - a), 0.0) + xp.sqrt(x))
    nodes, weights = (Array(v.astype(a.dtype).reshape(-1, *(1,) * a.ndim)) for v in _rule(STEP[a.dtype]))
    s = nodes * scale
    exponent = sign * a * s - x * xp.expm1(sign * s)
    integrand = xp.exp(exponent) * (s + sign * (log_x - middle))
    return scale * xp.sum(weights * integrand, axis=0)


@functools.cache
def _rule(step: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on the half line: trapezoids in `t`, `y = exp(t - exp(-t))` (Takahasi, Mori 1974)."""
    t = np.linspace(LEAST, GREATEST, math.floor((GREATEST - LEAST) / step + 1.5))
    nodes = np.exp(t - np.exp(-t))
    return nodes, (t[1] - t[0]) * nodes * (1 + np.exp(-t))
