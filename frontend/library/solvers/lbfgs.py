"""L-BFGS, the quasi-Newton method of limited memory that `minimize` has under JAX's name.

Input: a function and its gradient, a start. Output: what `minimize` returns, by the names of its fields.
Idea: the last `maxcor` steps and changes of the gradient stand for the inverse Hessian (Nocedal and Wright
2006, algorithms 7.4 and 7.5). A step whose curvature is not positive is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...control.while_loops import fori_loop, while_loop
from .. import numpy as xp

MAXCOR, FTOL, MAXLS = 10, 2.220446049250313e-09, 20


class _State(NamedTuple):
    k: Any
    x: Any
    f: Any
    g: Any
    steps: Any
    changes: Any
    rhos: Any
    gamma: Any
    calls: Any
    status: Any
    is_done: Any


def lbfgs(
    slope: Callable[[Any], Any],
    x: Any,
    size: Callable[[Any], Any],
    search: Callable[..., Any],
    settings: dict[str, Any],
    gtol: Any,
) -> dict[str, Any]:
    """A minimum of the function whose value and gradient `slope` returns, near `x`.

    `size` is the norm of gradients, `search` a line search. Of `settings`: `maxcor` pairs are kept (10);
    `maxiter` iterations (200 a variable unless another limit is given), `maxfun` and `maxgrad` evaluations
    and `maxls` trials of a line search (20) are the most; a decrease below `ftol` (2.2e-9) is too small.
    `status` is 0 when converged, else 1 to 3 for a limit, 4 for too small a decrease, 5 where no step was
    found.
    """
    limits = _limits(settings, x.shape[0])
    most, ftol = settings.get("maxcor", MAXCOR), settings.get("ftol", FTOL)
    trials = settings.get("maxls", MAXLS)

    def step(s: _State) -> _State:
        direction = _direction(s, most)
        is_descent = xp.vdot(direction, s.g) < 0
        found = search(slope, s.x, xp.where(is_descent, direction, -s.g), s.f, s.g, trials)
        moved = found.chosen * xp.where(is_descent, direction, -s.g)
        change = found.g - s.g
        curvature = xp.vdot(change, moved)
        is_kept = curvature > 0
        calls = s.calls + found.calls
        is_converged = size(found.g) < gtol
        status = xp.where(is_converged, 0, _status(s, found, ftol, limits)).astype(np.int32)

        def pushed(history: Any, new: Any) -> Any:
            return xp.where(is_kept, xp.roll(history, -1, axis=0).at[-1].set(new), history)

        return _State(
            s.k + 1,
            s.x + moved,
            found.f,
            found.g,
            pushed(s.steps, moved),
            pushed(s.changes, change),
            pushed(s.rhos, 1 / xp.where(is_kept, curvature, 1)),
            xp.where(is_kept, curvature / xp.where(is_kept, xp.vdot(change, change), 1), s.gamma),
            calls,
            status,
            is_converged | (status > 0),
        )

    f, g = slope(x)
    history, one = xp.zeros((most, x.shape[0]), dtype=x.dtype), xp.ones((), dtype=x.dtype)
    rhos = xp.zeros(most, dtype=x.dtype)
    start = _State(
        *(np.int32(0), x, f, g, history, history, rhos, one),
        *(np.int32(1), np.int32(0), np.bool_(False)),
    )
    end: _State = while_loop(lambda s: ~s.is_done, step, start)
    is_success = (end.status == 0) & xp.isfinite(end.f)
    counts = {"nfev": end.calls, "njev": end.calls, "nit": end.k}
    return {"x": end.x, "success": is_success, "status": end.status, "fun": end.f, "jac": end.g, **counts}


def _limits(settings: dict[str, Any], variables: int) -> list[Any]:
    """The most iterations, values and gradients; 200 iterations a variable where none of them is limited."""
    limits = [settings.get(name) for name in ("maxiter", "maxfun", "maxgrad")]
    if all(limit is None for limit in limits):
        limits[0] = 200 * variables
    return [np.inf if limit is None else limit for limit in limits]


def _status(s: _State, found: Any, ftol: Any, limits: list[Any]) -> Any:
    """Why the iterations end behind a step that did not converge, 0 where they go on."""
    status = xp.where(s.f - found.f < ftol, 4, 0)
    counts = (s.k, s.calls, s.calls)
    for number, value, limit in reversed(list(zip((1, 2, 3), counts, limits, strict=True))):
        status = xp.where(value >= limit, number, status)
    return xp.where((found.chosen > 0) & xp.isfinite(found.f), status, 5)


def _direction(s: _State, most: int) -> Any:
    """Minus the gradient times the inverse Hessian: two passes over the pairs, the latest one first and last.
    Pairs that are not there yet are zero, and change nothing."""

    def back(j: Any, carried: Any) -> Any:
        q, shares = carried
        i = most - 1 - j
        share = s.rhos[i] * xp.vdot(s.steps[i], q)
        return q - share * s.changes[i], shares.at[i].set(share)

    def forth(i: Any, q: Any) -> Any:
        share = s.rhos[i] * xp.vdot(s.changes[i], q)
        return q + (shares[i] - share) * s.steps[i]

    q, shares = fori_loop(0, most, back, (-s.g, xp.zeros_like(s.rhos)))
    return fori_loop(0, most, forth, s.gamma * q)
