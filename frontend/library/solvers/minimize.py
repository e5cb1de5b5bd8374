"""`minimize` under SciPy's name: minimization by BFGS, or by `lbfgs.py`, for functions of one vector.

Input: a function that returns a number, a start. Output: `OptimizeResults`.

Idea: steps satisfy the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 6.1, 3.5 and 3.6, whose
zoom interpolates by cubics and falls back to bisection). All of it is loops of the program, so that it can be
jitted and mapped; results are not meant to be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ....dialects.types import INEXACT
from ...control.while_loops import while_loop
from ...tracing.default_dtypes import floating_of
from ...tracing.interpreter import ops
from ...transforms.differentiation import value_and_grad
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error, type_error
from ..numpy.promotion import asarray_of, type_text
from .lbfgs import lbfgs

_LBFGS: Final = "l-bfgs-experimental-do-not-rely-on-this"
"""JAX's name of the method, which `l-bfgs` means too."""
_OPTIONS: Final = {
    "bfgs": ("gtol", "norm", "maxiter", "line_search_maxiter"),
    "l-bfgs": ("gtol", "norm", "maxiter", "maxcor", "ftol", "maxfun", "maxgrad", "maxls"),
}
_DECREASE, _CURVATURE = 1e-4, 0.9


class OptimizeResults(NamedTuple):
    """The result of `minimize`."""

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _State(NamedTuple):
    k: Any
    x: Any
    f: Any
    g: Any
    h: Any
    calls: Any
    status: Any


class _Search(NamedTuple):
    """A line search: the bracket (lower end is the better one), what was tried last, and what is chosen."""

    i: Any
    is_zooming: Any
    is_done: Any
    low: Any
    f_low: Any
    slope_low: Any
    high: Any
    f_high: Any
    slope_high: Any
    a: Any
    chosen: Any
    f: Any
    g: Any
    calls: Any


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of `fun(x, *args)` near `x0`, a vector; `fun` returns a real number.

    `method` is `BFGS` or `L-BFGS`. `options`: `gtol` (1e-5, or `tol`: stop when the gradient's norm is
    below), `norm` of it (inf), `maxiter` (200 a variable), `line_search_maxiter` (10); `lbfgs.py` has those
    of L-BFGS, and its `status`. Of BFGS `status` is 0 when converged, 1 at the iteration limit, 3 when no
    acceptable step was found, 4 when values ceased to be finite. Raises `ArgumentError` for other methods and
    options, `ShapeError` unless `x0` is a vector.
    """
    name = method.lower() if isinstance(method, str) else None
    name = "l-bfgs" if name == _LBFGS else name
    if name not in _OPTIONS:
        raise argument_error(
            f"minimize: method is {method!r}, expected 'BFGS' or 'L-BFGS'",
            "adze.optim has first-order optimizers",
        )
    settings = dict(options or {})
    unknown = sorted(set(settings) - set(_OPTIONS[name]))
    if unknown:
        raise argument_error(
            f"minimize: options {', '.join(unknown)} are not known, expected some of "
            f"{', '.join(_OPTIONS[name])}"
        )
    if not isinstance(args, tuple):
        raise type_error(f"minimize: args must be a tuple, got {args!r}")
    x = asarray_of(x0)
    if x.ndim != 1:
        raise shape_error(f"minimize: expected x0 as a vector, got {type_text(x)}")
    x = xp.astype(x, x.dtype if x.dtype in INEXACT else floating_of(x.dtype))
    steps = settings.get("line_search_maxiter", 10)
    slope = value_and_grad(lambda x: fun(x, *args))
    x = xp.astype(x, xp.result_type(x, slope(x)[0].dtype))
    slope = value_and_grad(lambda x: xp.astype(fun(x, *args), x.dtype))
    gtol, norm = settings.get("gtol", 1e-5 if tol is None else tol), settings.get("norm", np.inf)
    if name == "l-bfgs":
        found = lbfgs(slope, x, lambda g: _size(g, norm), _line_search, settings, gtol)
        return OptimizeResults(**found, hess_inv=None)
    limit = 200 * x.shape[0] if settings.get("maxiter") is None else settings["maxiter"]
    return _bfgs(slope, x, gtol, norm, limit, steps)


def _size(g: Any, norm: Any) -> Any:
    if norm == np.inf:
        return xp.max(xp.abs(g), initial=0)
    if norm == -np.inf:
        return xp.min(xp.abs(g)) if g.size else xp.zeros((), dtype=g.dtype)
    return xp.sum(xp.abs(g) ** norm) ** (1 / norm)


def _bfgs(slope: Any, x: Any, gtol: Any, norm: Any, limit: Any, steps: int) -> OptimizeResults:
    f, g = slope(x)
    one = xp.eye(x.shape[0], dtype=x.dtype)

    def is_left(s: _State) -> Any:
        return (s.status == 0) & (_size(s.g, norm) > gtol) & (s.k < limit)

    def step(s: _State) -> _State:
        direction = -xp.matmul(s.h, s.g)
        is_descent = xp.vdot(direction, s.g) < 0
        direction = xp.where(is_descent, direction, -s.g)
        found = _line_search(slope, s.x, direction, s.f, s.g, steps)
        dx = found.chosen * direction
        dg = found.g - s.g
        curvature = xp.vdot(dg, dx)
        rho = 1 / xp.where(curvature > 0, curvature, 1)
        left = one - rho * dx[:, None] * dg[None, :]
        h = xp.matmul(xp.matmul(left, s.h), xp.matrix_transpose(left)) + rho * dx[:, None] * dx[None, :]
        h = xp.where(curvature > 0, h, s.h)
        is_finite = xp.isfinite(found.f) & xp.all(xp.isfinite(found.g))
        is_found = found.chosen > 0
        status = xp.where(is_finite, xp.where(is_found, 0, 3), 4).astype(np.int32)
        return _State(s.k + 1, s.x + dx, found.f, found.g, h, s.calls + found.calls, status)

    start = _State(np.int32(0), x, f, g, one, np.int32(1), np.int32(0))
    s: _State = while_loop(is_left, step, start)
    is_converged = _size(s.g, norm) <= gtol
    status = xp.where(is_converged, 0, xp.where(s.status != 0, s.status, 1))
    status = xp.where(xp.isfinite(s.f), status, 4)
    return OptimizeResults(s.x, is_converged & xp.isfinite(s.f), status, s.f, s.g, s.h, s.calls, s.calls, s.k)


def _line_search(slope: Any, x: Any, direction: Any, f0: Any, g0: Any, steps: int) -> _Search:
    """A step along `direction` that satisfies the strong Wolfe conditions, 0 when `steps` trials have none
    that decreases."""
    slope0 = xp.vdot(g0, direction)
    zero = ops.zeros_like(f0)
    one = xp.ones_like(f0)

    def is_left(s: _Search) -> Any:
        return ~s.is_done & (s.i < steps)

    def trial(s: _Search) -> _Search:
        a = xp.where(s.is_zooming, _between(s), s.a)
        f, g = slope(x + a * direction)
        slope_a = xp.vdot(g, direction)
        is_high = ~(f <= f0 + _DECREASE * a * slope0) | (f >= s.f_low) & (s.is_zooming | (s.i > 0))
        is_flat = ~is_high & (xp.abs(slope_a) <= -_CURVATURE * slope0)
        # A bracket is there when the trial is too high, or ascends; in zoom its ends move.
        crosses = slope_a * xp.where(s.is_zooming, s.high - s.low, one) >= 0
        to_low = ~is_high
        high = xp.where(is_high, a, xp.where(crosses, s.low, s.high))
        f_high = xp.where(is_high, f, xp.where(crosses, s.f_low, s.f_high))
        slope_high = xp.where(is_high, slope_a, xp.where(crosses, s.slope_low, s.slope_high))
        # What has decreased most so far is kept, in case that no trial satisfies both conditions.
        is_better = is_flat | (to_low & (f < s.f) & xp.isfinite(f))
        return _Search(
            s.i + 1,
            s.is_zooming | is_high | crosses,
            is_flat,
            xp.where(to_low, a, s.low),
            xp.where(to_low, f, s.f_low),
            xp.where(to_low, slope_a, s.slope_low),
            high,
            f_high,
            slope_high,
            2 * a,
            xp.where(is_better, a, s.chosen),
            xp.where(is_better, f, s.f),
            xp.where(is_better, g, s.g),
            s.calls + 1,
        )

    start = _Search(
        np.int32(0),
        np.bool_(False),
        np.bool_(False),
        *(zero, f0, slope0),
        *(zero, f0, slope0),
        one,
        zero,
        f0,
        g0,
        np.int32(0),
    )
    found: _Search = while_loop(is_left, trial, start)
    return found


def _between(s: _Search) -> Any:
    """The minimum of the cubic through both ends (Nocedal and Wright 3.59), or the middle where that is not
    well inside."""
    width = s.high - s.low
    safe = xp.where(width == 0, 1, width)
    d1 = s.slope_low + s.slope_high - 3 * (s.f_high - s.f_low) / safe
    square = d1 * d1 - s.slope_low * s.slope_high
    d2 = xp.sign(safe) * xp.sqrt(xp.maximum(square, 0))
    below = s.slope_high - s.slope_low + 2 * d2
    cubic = s.high - width * (s.slope_high + d2 - d1) / xp.where(below == 0, 1, below)
    middle = s.low + 0.5 * width
    share = (cubic - s.low) / safe
    is_inside = (square >= 0) & (below != 0) & (share > 0.1) & (share < 0.9)
    return xp.where(is_inside, cubic, middle)
