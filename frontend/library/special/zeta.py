"""The Hurwitz zeta function by the summation formula of Euler and Maclaurin, and what is made of it.

Nine terms are added one by one, the rest is an integral and twelve corrections with Bernoulli numbers
(Abramowitz and Stegun 23.1.30, as in Cephes): no loops, full accuracy for positive arguments. At negative
arguments a whole order has a value too: the terms before 0 are a difference of two such sums.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from ...transforms.differentiation import jvp
from ...transforms.symbolic_zeros import SymbolicZero
from .. import numpy as xp
from ..numpy.promotion import stays_weak
from .incomplete import constant, of_reals, undefined_part

# (2 k)! over the Bernoulli number B_2k.
_CORRECTIONS: Final = (
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1307674368000 / 691,
    74724249600.0,
    -10670622842880000 / 3617,
    5109094217170944000 / 43867,
    -802857662698291200000 / 174611,
    14101100039391805440000 / 77683,
    -1693824136731743669452800000 / 236364091,
)
_TERMS: Final = 9


@stays_weak
def zeta(x: Any, q: Any = 1.0) -> Any:
    """The Hurwitz zeta function, the sum of `(k + q)^-x` over `k = 0, 1, ...`; Riemann's without `q`.

    For `x > 1` and `q > 0`, or any `q` where `x` is whole: infinite at `x = 1` and where `-q` is whole, else
    NaN. The derivative in `x` is that of positive `q`.
    """
    return of_reals("zeta", _zeta, x, q)


@stays_weak
def polygamma(n: Any, x: Any) -> Any:
    """Derivative number `n` of `digamma`, infinite or NaN at its poles 0, -1, -2 and so on."""
    return of_reals("polygamma", lambda n, x: _polygamma(constant(n, "polygamma", "n"), x), n, x)


@custom_jvp
def _zeta(x: Any, q: Any) -> Any:
    """With `f` the part of a negative `q` behind the point, the terms before 0 are those of `-(1 - f)`,
    `-(2 - f)` up to `q`: their sum is `(-1)^x (zeta(x, 1 - f) - zeta(x, 1 - q))`."""
    is_below = (x > 1) & (x == xp.floor(x)) & (q < 0) & (q > xp.floor(q))
    is_inside = is_below | ((x > 1) & (q > 0) & (q < xp.inf))
    x_ = xp.where(is_inside, x, 2.0)
    q_ = xp.where(is_below, q - xp.floor(q), xp.where(is_inside, q, 1.0))
    before = _of_positive(x_, xp.where(is_below, xp.ceil(q) - q, 1.0))
    before = before - _of_positive(x_, xp.where(is_below, 1 - q, 1.0))
    before = xp.where(xp.remainder(x_, 2) == 0, before, -before)
    total = _of_positive(x_, q_) + xp.where(is_below, before, 0.0)
    is_pole = (q <= 0) & (q == xp.floor(q))
    edge = xp.where((x == 1) | ((x > 1) & is_pole), xp.inf, xp.where((x > 1) & (q == xp.inf), 0.0, xp.nan))
    return xp.where(is_inside, total, edge.astype(x.dtype))


def _of_positive(x: Any, q: Any) -> Any:
    """The function for `x > 1` and `q > 0`."""
    total = q**-x
    for k in range(1, _TERMS + 1):
        last = (q + k) ** -x
        total = total + last
    w = q + _TERMS
    total = total + last * w / (x - 1) - 0.5 * last
    factor, power = x, last / w
    for k, correction in enumerate(_CORRECTIONS):
        total = total + factor * power / correction
        factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2)
        power = power / (w * w)
    return total


@functools.partial(_zeta.defjvp, symbolic_zeros=True)
def _zeta_rule(primals: Any, tangents: Any) -> Any:
    x, q = primals
    dx, dq = tangents
    slopes = []
    if not isinstance(dq, SymbolicZero):
        slopes.append(-x * _zeta(x + 1, q) * dq)
    if not isinstance(dx, SymbolicZero):
        is_inside = (x > 1) & (q > 0) & (q < xp.inf)
        x_, q_ = xp.where(is_inside, x, 2.0), xp.where(is_inside, q, 1.0)
        _, slope = jvp(lambda v: _of_positive(v, q_), (x_,), (dx,))
        slopes.append(xp.where(is_inside, slope, xp.nan))
    return _zeta(x, q), sum(slopes) if slopes else SymbolicZero.from_primal_value(x)


@custom_jvp
def _polygamma(n: Any, x: Any) -> Any:
    sign = xp.where(xp.remainder(n, 2) == 0, -1.0, 1.0)
    order = xp.where(n > 0, n, 1.0)
    whole = (n == xp.floor(n)) & (n >= 0)
    values = xp.where(n == 0, ops.digamma(x), sign * xp.exp(ops.lgamma(order + 1)) * _zeta(order + 1, x))
    return xp.where(whole, values, xp.nan).astype(x.dtype)


@_polygamma.defjvp
def _polygamma_rule(primals: Any, tangents: Any) -> Any:
    n, x = primals
    dn, dx = tangents
    return _polygamma(n, x), _polygamma(n + 1, x) * dx + undefined_part([dn], primals)
