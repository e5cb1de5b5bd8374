"""Roots and quotients of polynomials, the highest power first, under NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tracing.default_dtypes import floating_of
from .. import numpy as xp
from ..numpy.arguments import concrete, shape_error
from ..numpy.promotion import promote, type_text
from .eig import eigvals
from .schur import complex_of


def _vector(function: str, p: Any) -> Any:
    value = xp.asarray(p)
    value = value if value.dtype.kind in "fc" else xp.astype(value, floating_of(value.dtype))
    if value.ndim != 1 or not isinstance(value.shape[0], int):
        raise shape_error(f"{function}: expected a vector of static length, got {type_text(value)}")
    return value


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """The roots of a polynomial as complex numbers: the eigenvalues of its companion matrix.

    Leading zeros are no coefficients and trailing ones are roots of 0; to see them, `p` must be known while
    tracing. With `strip_zeros=False` it need not be, and its first coefficient must not be 0.
    """
    value = _vector("roots", p)
    zeros = 0
    if strip_zeros:
        (places,) = np.nonzero(
            concrete("roots", p if isinstance(p, np.ndarray) else value, "the coefficients")
        )
        if not places.size:
            return complex_of(value[:0])
        zeros = value.shape[0] - 1 - int(places[-1])
        value = value[int(places[0]) : int(places[-1]) + 1]
    n = value.shape[0] - 1
    found = complex_of(value[:0])
    if n > 0:
        first = xp.expand_dims(-value[1:] / value[0], 0)
        found = eigvals(xp.concatenate([first, xp.eye(n - 1, n, dtype=value.dtype)], axis=0))
    return xp.concatenate([found, xp.zeros(zeros, dtype=found.dtype)]) if zeros else found


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """The quotient and the remainder of two polynomials, by long division.

    The remainder has the length of `u`; with `trim_leading_zeros` it loses its leading zeros, and must be
    known while tracing.
    """
    top, bottom = promote(_vector("polydiv", u), _vector("polydiv", v))
    m, n = top.shape[0] - 1, bottom.shape[0] - 1
    if n < 0:
        raise shape_error("polydiv: the divisor has no coefficients")
    quotients = []
    rest = top
    for k in range(max(m - n + 1, 0)):
        factor = rest[k] / bottom[0]
        quotients.append(factor)
        rest = rest.at[k : k + n + 1].add(-factor * bottom)
    quotient = xp.stack(quotients) if quotients else xp.zeros(1, dtype=top.dtype)
    if not trim_leading_zeros:
        return quotient, rest
    values = concrete("polydiv", rest, "the remainder")
    (places,) = np.nonzero(~np.isclose(values, 0, rtol=1e-14))
    return quotient, rest[int(places[0]) if places.size else max(len(values) - 1, 0) :]
