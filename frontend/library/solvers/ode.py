"""`odeint`: initial value problems by the adaptive method of Dormand and Prince, of order 5 with error of
order 4.

Input: `func(y, t, *args)`, a tree `y0`, times. Output: the states at these times, stacked.

Idea: as in JAX the steps are chosen by their error (Hairer, Norsett and Wanner 1993, sections II.4 and II.5),
and states between them come from a polynomial of degree 4 (Shampine 1986). The backward pass integrates the
adjoint equations from each time to the one before (Chen and others 2018), so that it stores no steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOATS
from ... import tree
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...transforms.closure_convert import closure_convert
from ...transforms.custom_derivatives import custom_vjp
from ...transforms.differentiation import vjp
from ...transforms.vmap import vmap
from .. import numpy as xp
from ..numpy.arguments import dtype_error, float_value, shape_error
from ..numpy.promotion import asarray_of, type_text
from ..ravel_tree import ravel_pytree

Function = Callable[..., Any]

_TIMES: Final = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES: Final = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_SOLUTION: Final = (*_STAGES[-1], 0.0)
_ERROR: Final = (
    35 / 384 - 1951 / 21600,
    0,
    500 / 1113 - 22642 / 50085,
    125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400,
    11 / 84 - 649 / 6300,
    -1 / 60,
)
_MIDDLE: Final = (
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)


def odeint(
    func: Function,
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """The solution of `dy/dt = func(y, t, *args)` from `y0` on at the increasing times `t`.

    Args:
        func: returns a tree like `y0`; it may use outer values, which are differentiated too.
        y0: a tree of arrays, the state at `t[0]`.
        t: a vector of floats.
        args: trees of arrays.
        rtol: the relative error allowed in a step.
        atol: the absolute one.
        mxstep: the most steps from one time to the next.
        hmax: the longest step.

    The result is the tree of `y0` with a leading axis of the size of `t`, integers as float32; NaN where
    `mxstep` steps do not reach a time, and where times decrease. Reverse mode integrates backwards,
    to the same tolerances; there is no forward mode. Raises `DtypeError` unless `t` is of floats.
    """
    times = asarray_of(t)
    if times.dtype not in FLOATS:
        raise dtype_error(f"odeint: expected t as floats, got {type_text(times)}")
    if times.ndim != 1:
        raise shape_error(f"odeint: expected t as a vector, got {type_text(times)}")
    start = tree.map(float_value, y0)
    others = tree.map(asarray_of, args)
    converted, outer = closure_convert(func, start, times[0], *others)
    flat, unravel = ravel_pytree(start)

    def slope(y: Any, t: Any, *rest: Any) -> Any:
        return xp.astype(ravel_pytree(converted(unravel(y), t, *rest))[0], flat.dtype)

    states = _solution(slope, rtol, atol, mxstep, hmax)(flat, times, (*others, *outer))
    return vmap(unravel)(states)


def _solution(slope: Function, rtol: Any, atol: Any, mxstep: Any, hmax: Any) -> Any:
    """The states as a function of the start, the times and the arguments, with its backward pass."""

    @custom_vjp
    def states(y0: Any, times: Any, args: Any) -> Any:
        return _integrated(lambda y, t: slope(y, t, *args), y0, times, rtol, atol, mxstep, hmax)

    def forward(y0: Any, times: Any, args: Any) -> Any:
        ys = states(y0, times, args)
        return ys, (ys, times, args)

    def backward(residuals: Any, g: Any) -> Any:
        ys, times, args = residuals
        return _adjoint(slope, ys, times, args, g, (rtol, atol, mxstep, hmax))

    states.defvjp(forward, backward)
    return states


def _adjoint(slope: Function, ys: Any, times: Any, args: Any, g: Any, limits: tuple[Any, ...]) -> Any:
    """Cotangents of the start, the times and the arguments: the adjoint equations, interval by interval."""

    def augmented(state: Any, t: Any, *args: Any) -> Any:
        y, y_bar, _, _ = state
        moved, pullback = vjp(slope, y, -t, *args)  # t runs backwards, so it is negated
        y_slope, t_slope, *args_slope = pullback(y_bar)
        return -moved, y_slope, t_slope, tuple(args_slope)

    def interval(carry: Any, item: Any) -> Any:
        y_bar, t_bar, args_bar = carry
        y, now, before, g_now, g_before = item
        moved = xp.astype(xp.real(xp.sum(slope(y, now, *args) * g_now)), times.dtype)
        t_bar = t_bar - moved
        state = (y, y_bar, t_bar, args_bar)
        flat, unravel = ravel_pytree(state)

        def flat_slope(state: Any, t: Any) -> Any:
            return xp.astype(ravel_pytree(augmented(unravel(state), t, *args))[0], flat.dtype)

        ends = _integrated(flat_slope, flat, xp.stack([-now, -before]), *limits)
        _, y_bar, t_bar, args_bar = unravel(ends[1])
        return (y_bar + g_before, t_bar, args_bar), moved

    still = tree.map(xp.zeros_like, tuple(args))
    items = (ys[:0:-1], times[:0:-1], times[-2::-1], g[:0:-1], g[-2::-1])
    if ys.shape[0] == 1:
        return g[0], xp.zeros_like(times), still
    carry = (g[-1], xp.zeros((), dtype=times.dtype), still)
    (y_bar, t_bar, args_bar), moved = scan(interval, carry, items)
    return y_bar, xp.concatenate([t_bar[None], moved[::-1]]), args_bar


def _integrated(slope: Function, y0: Any, times: Any, rtol: Any, atol: Any, mxstep: Any, hmax: Any) -> Any:
    f0 = slope(y0, times[0])
    first = xp.clip(initial_step_size(slope, times[0], y0, 4, rtol, atol, f0), 0, hmax)
    first = xp.astype(first, times.dtype)

    def reach(carry: Any, target: Any) -> Any:
        def is_left(state: Any) -> Any:
            i, _, _, t, dt, _, _ = state
            return (t < target) & (i < mxstep) & (dt > 0)

        def step(state: Any) -> Any:
            i, y, f, t, dt, last, fit = state
            y_next, f_next, error, k = runge_kutta_step(slope, y, f, t, dt)
            ratio = mean_error_ratio(error, rtol, atol, y, y_next)
            fit_next = interp_fit_dopri(y, y_next, k, dt)
            size = xp.astype(xp.clip(optimal_step_size(dt, ratio), 0, hmax), dt.dtype)
            new = (y_next, f_next, t + dt, size, t, fit_next)
            kept = (y, f, t, size, last, fit)
            chosen = [xp.where(ratio <= 1, a, b) for a, b in zip(new, kept, strict=True)]
            return (i + 1, *chosen)

        _, *carry = while_loop(is_left, step, (np.int32(0), *carry))
        _, _, t, _, last, fit = carry
        is_here = (t == last) & (target == t)
        width = xp.where(t == last, 1, t - last)
        share = xp.where(is_here, 0, (target - last) / width)
        share = xp.where((target <= t) & (target >= last), share, np.nan)
        return tuple(carry), xp.polyval(fit, xp.astype(share, fit.dtype))

    fit = xp.stack([y0] * 5)
    carry = (y0, f0, times[0], first, times[0], fit)
    if times.shape[0] == 1:
        return y0[None]
    _, ys = scan(reach, carry, times[1:])
    return xp.concatenate([y0[None], ys])


def runge_kutta_step(func: Function, y0: Any, f0: Any, t0: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    """One step of Dormand and Prince from the vector `y0`: the state, its slope, the error, all slopes."""
    width = xp.astype(dt, y0.dtype)
    slopes = [f0]
    for time, row in zip(_TIMES, _STAGES, strict=True):
        y = y0 + width * _combined(row, slopes)
        slopes.append(func(y, t0 + dt * time))
    k = xp.stack(slopes)
    return (
        width * _combined(_SOLUTION, slopes) + y0,
        slopes[-1],
        width * _combined(_ERROR, slopes),
        k,
    )


def _combined(weights: tuple[float, ...], slopes: Any) -> Any:
    total: Any = None
    for weight, slope in zip(weights, slopes, strict=False):
        if weight:
            total = weight * slope if total is None else total + weight * slope
    return total


def interp_fit_dopri(y0: Any, y1: Any, k: Any, dt: Any) -> Any:
    """The polynomial between both ends of a step, `[5, n]`, the highest power first."""
    middle = y0 + xp.astype(dt, y0.dtype) * _combined(_MIDDLE, [k[i] for i in range(7)])
    return xp.stack(fit_4th_order_polynomial(y0, y1, middle, k[0], k[-1], dt))


def fit_4th_order_polynomial(
    y0: Any, y1: Any, y_mid: Any, dy0: Any, dy1: Any, dt: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """The coefficients on `[0, 1]` of degree 4 with these ends, middle, and slopes at the ends."""
    dt = xp.astype(xp.asarray(dt), y0.dtype)
    a = -2 * dt * dy0 + 2 * dt * dy1 - 8 * y0 - 8 * y1 + 16 * y_mid
    b = 5 * dt * dy0 - 3 * dt * dy1 + 18 * y0 + 14 * y1 - 32 * y_mid
    c = -4 * dt * dy0 + dt * dy1 - 11 * y0 - 5 * y1 + 16 * y_mid
    return a, b, c, dt * dy0, y0


def initial_step_size(fun: Function, t0: Any, y0: Any, order: float, rtol: Any, atol: Any, f0: Any) -> Any:
    """A first step for a method of `order`, from the sizes of the first two derivatives."""
    scale = atol + xp.abs(y0) * rtol
    d0, d1 = _length(y0 / scale), _length(f0 / scale)
    is_still = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = xp.where(is_still, 1e-6, 0.01 * d0 / xp.where(is_still, 1, d1))
    f1 = fun(y0 + xp.astype(h0, y0.dtype) * f0, t0 + xp.astype(h0, t0.dtype))
    d2 = _length((f1 - f0) / scale) / h0
    is_flat = (d1 <= 1e-15) & (d2 <= 1e-15)
    largest = xp.where(is_flat, 1, xp.maximum(d1, d2))
    h1 = xp.where(is_flat, xp.maximum(1e-6, h0 * 1e-3), (0.01 / largest) ** (1 / (order + 1)))
    return xp.minimum(100 * h0, h1)


def _length(x: Any) -> Any:
    return xp.sqrt(xp.sum(abs2(x)))


def abs2(x: Any) -> Any:
    """`|x|^2`."""
    return xp.real(x) ** 2 + xp.imag(x) ** 2 if x.dtype.kind == "c" else x**2


def mean_error_ratio(error_estimate: Any, rtol: Any, atol: Any, y0: Any, y1: Any) -> Any:
    """The root mean square of the error over what is allowed."""
    allowed = atol + rtol * xp.maximum(xp.abs(y0), xp.abs(y1))
    return xp.sqrt(xp.mean(abs2(error_estimate / allowed)))


def optimal_step_size(
    last_step: Any,
    mean_error_ratio: Any,
    safety: float = 0.9,
    ifactor: float = 10.0,
    dfactor: float = 0.2,
    order: float = 5.0,
) -> Any:
    """The next step after one whose error was `mean_error_ratio` of what is allowed."""
    is_exact = mean_error_ratio == 0
    least = xp.where(mean_error_ratio < 1, 1.0, dfactor)
    ratio = xp.where(is_exact, 1, mean_error_ratio)
    factor = xp.minimum(ifactor, xp.maximum(ratio ** (-1 / order) * safety, least))
    return last_step * xp.where(is_exact, ifactor, factor)
