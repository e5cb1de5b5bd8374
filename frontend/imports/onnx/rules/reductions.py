"""Reductions, positions of extrema, cumulative sums and products, sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....library import nn
from ....library import numpy as xp
from ...errors import ModelError
from ..calls import Call, Rule, axes_of, axis_of, known, known_int


def reduction(function: Callable[[Any, tuple[int, ...], bool], Any]) -> Rule:
    """The rule of `Reduce...`: axes are an attribute, and an operand in newer op sets."""

    def rule(call: Call, x: Any, axes: Any = None) -> Any:
        chosen = call.get("axes") if axes is None else known(axes, "axes")
        keeps = call.flag("keepdims", True)
        if chosen is not None and len(chosen) == 0:
            chosen = None
            if call.flag("noop_with_empty_axes"):
                return function(x, (), keeps)
        if chosen is None and call.flag("noop_with_empty_axes"):
            return function(x, (), keeps)
        return function(x, tuple(range(x.ndim)) if chosen is None else axes_of(chosen, x.ndim), keeps)

    return rule


def total(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return xp.sum(x, axis=axes, keepdims=keeps, dtype=x.dtype) if axes else x


def product(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return xp.prod(x, axis=axes, keepdims=keeps, dtype=x.dtype) if axes else x


def mean(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    if x.dtype.kind in "iu":
        return xp.mean(x.astype(np.float64), axis=axes, keepdims=keeps).astype(x.dtype)
    return xp.mean(x, axis=axes, keepdims=keeps) if axes else x


def largest(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return _extreme(xp.max, x, axes, keeps, smallest=True)


def smallest(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return _extreme(xp.min, x, axes, keeps, smallest=False)


def _extreme(function: Any, x: Any, axes: tuple[int, ...], keeps: bool, smallest: bool) -> Any:
    if not axes:
        return x
    if x.dtype == np.dtype(bool):
        return (xp.any if smallest else xp.all)(x, axis=axes, keepdims=keeps)
    if any(isinstance(x.shape[a], int) and x.shape[a] == 0 for a in axes):  # as for an empty maximum of sets
        if x.dtype.kind in "iu":
            info = np.iinfo(x.dtype)
            edge: Any = info.min if smallest else info.max
        else:
            edge = -np.inf if smallest else np.inf
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
        kept = [n for i, n in enumerate(shape) if keeps or i not in axes]
        return xp.full(tuple(kept), edge, dtype=x.dtype)
    return function(x, axis=axes, keepdims=keeps)


def norm1(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return total(xp.abs(x), axes, keeps)


def norm2(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    if x.dtype.kind in "iu":
        return xp.sqrt(total((x * x).astype(np.float64), axes, keeps)).astype(x.dtype)
    return xp.sqrt(total(x * x, axes, keeps))


def square_sum(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return total(x * x, axes, keeps)


def log_sum(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return _in_float64(lambda y: xp.log(total(y, axes, keeps)), x)


def log_sum_exp(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    return _in_float64(lambda y: _log_sum_exp(y, axes, keeps), x)


def _log_sum_exp(x: Any, axes: tuple[int, ...], keeps: bool) -> Any:
    if any(isinstance(x.shape[a], int) and x.shape[a] == 0 for a in axes):
        return xp.log(total(x, axes, keeps))
    return nn.logsumexp(x, axis=axes, keepdims=keeps) if axes else x


def _in_float64(function: Callable[[Any], Any], x: Any) -> Any:
    """A function of floats; integers become float64 and back."""
    return function(x.astype(np.float64)).astype(x.dtype) if x.dtype.kind in "iu" else function(x)


def position(function: Callable[..., Any]) -> Rule:
    """The rule of ArgMax and ArgMin."""

    def rule(call: Call, x: Any) -> Any:
        axis, keeps = axis_of(call.integer("axis", 0), x.ndim), call.flag("keepdims", True)
        if not call.flag("select_last_index"):
            return function(x, axis=axis, keepdims=keeps).astype(np.int64)
        last = function(xp.flip(x, axis=axis), axis=axis, keepdims=keeps)
        return (x.shape[axis] - 1 - last).astype(np.int64)

    return rule


def cumulative(function: Callable[..., Any], first: int) -> Rule:
    """The rule of CumSum and CumProd; `first` is what an exclusive one begins with."""

    def rule(call: Call, x: Any, axis: Any) -> Any:
        at = axis_of(known_int(axis, "axis"), x.ndim)
        values = xp.flip(x, axis=at) if call.flag("reverse") else x
        result = function(values, axis=at, dtype=x.dtype)
        if call.flag("exclusive"):
            shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
            body = tuple(slice(0, n - 1) if i == at else slice(None) for i, n in enumerate(x.shape))
            result = xp.concat([xp.full(shape, first, dtype=x.dtype), result[body]], axis=at)
        return xp.flip(result, axis=at) if call.flag("reverse") else result

    return rule


def top_k(call: Call, x: Any, k: Any = None) -> Any:
    """The largest (or smallest) elements of an axis, the first of equal ones first, and their positions."""
    axis = axis_of(call.integer("axis", -1), x.ndim)
    count = call.integer("k") if k is None else known_int(k, "K")
    if isinstance(x.shape[axis], int) and count > x.shape[axis]:
        raise ModelError(f"K is {count}, and the axis {axis} has {x.shape[axis]} elements")
    order = xp.argsort(x, axis=axis, stable=True, descending=call.flag("largest", True))
    chosen = order[tuple(slice(0, count) if i == axis else slice(None) for i in range(x.ndim))]
    return [xp.take_along_axis(x, chosen, axis=axis), chosen.astype(np.int64)]
