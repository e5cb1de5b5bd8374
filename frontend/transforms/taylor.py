"""`jet`: the Taylor series of a function along a curve, from that of the curve.

Input: a function, the point and the derivatives of each argument along the curve. Output: the value and the
derivatives of the result. Idea: with the curve x(t) = x0 + t (x1 + t (x2 / 2 + ...)), the derivatives of
f(x(t)) at 0 are nested `jvp`s by t. JAX has a rule for each primitive instead, which costs less at high
orders (there K^2, here 2^K ops).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import INEXACT
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from .differentiation import jvp


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[Any, Any]:
    """The value of `fun` at `primals` and its derivatives along a curve, up to the length of `series`.

    `series[i][k - 1]` is the k-th derivative of argument i (the k-th Taylor coefficient without
    `factorial_scaled`); so are those of the result: a list of them in place of each array that `fun` returns,
    as in JAX. Raises `ArgumentError` for series of different lengths, `ArgumentTypeError` for primals that
    are no floating or complex numbers.
    """
    lengths = {len(terms) for terms in series}
    if len(primals) != len(series) or len(lengths) != 1:
        raise ArgumentError(
            f"jet: {len(primals)} primals need as many series of one length, got {[len(s) for s in series]}",
            where=user_location_text(),
        )
    (order,) = lengths
    scales = [1.0 if not factorial_scaled else 1.0 / math.factorial(k) for k in range(order + 1)]
    _check_inexact(primals)
    kinds = [as_value(leaf).dtype for leaf in tree.leaves((primals, series))]
    real = np.result_type(*(np.zeros(0, k).real.dtype for k in kinds if k.kind in "fc"), np.float16)
    zero, one = np.zeros((), real), np.ones((), real)

    def along(t: Any) -> Any:
        def point(x: Any, *terms: Any) -> Any:
            total: Any = 0.0
            for k in range(order, 0, -1):
                total = (total + terms[k - 1] * scales[k]) * t
            return (x + total).astype(as_value(x).dtype)

        return fun(*(tree.map(point, x, *terms) for x, terms in zip(primals, series, strict=True)))

    derivatives = [along(zero)]
    function: Callable[[Any], Any] = along
    for _k in range(order):
        function = _derivative(function, one)
        derivatives.append(function(zero))
    divisors = [1 if factorial_scaled else math.factorial(k) for k in range(order + 1)]
    terms = [
        tree.map(lambda d, by=by: d if by == 1 else d / by, d)
        for d, by in zip(derivatives[1:], divisors[1:], strict=True)
    ]
    value = tree.map(as_value, derivatives[0])
    return value, tree.map(lambda _, *ds: list(ds), value, *terms)


def _check_inexact(primals: Sequence[Any]) -> None:
    for leaf in tree.leaves(primals):
        value = as_value(leaf)
        if value.dtype not in INEXACT:
            raise ArgumentTypeError(
                f"jet along a curve of {value.dtype}: expected floating or complex primals",
                where=user_location_text(),
                hint="convert them: x.astype(float)",
            )


def _derivative(function: Callable[[Any], Any], one: Any) -> Callable[[Any], Any]:
    return lambda t: jvp(function, (t,), (one,))[1]
