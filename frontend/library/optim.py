"""Gradient descent as pure functions of pytrees, in the style of optax.

An optimizer is a pair of functions: `init(params) -> state` and `update(gradients, state, params) ->
(updates, state)`; `apply_updates(params, updates)` adds. All of it can be traced, so that a training step
compiles as one function. Learning rates are numbers, or functions of the step (an int32 array).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..tracing.interpreter import as_value, ops
from . import numpy as xp

Rate = float | Callable[[Any], Any]


class Optimizer(NamedTuple):
    """An optimizer, or one stage of one: see the module docstring."""

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class MomentumState(NamedTuple):
    """State of `sgd`: the step, and the running sum of gradients."""

    step: Any
    trace: Any


class AdamState(NamedTuple):
    """State of `adam`: the step, and running means of gradients and of their squares."""

    step: Any
    mean: Any
    square: Any


def sgd(learning_rate: Rate, momentum: float = 0.0, nesterov: bool = False) -> Optimizer:
    """Gradient descent, with momentum (Polyak 1964) or Nesterov's form of it (Sutskever et al. 2013)."""

    def init(params: Any) -> MomentumState:
        return MomentumState(_zero_step(), tree.map(_zeros, params) if momentum else None)

    def update(gradients: Any, state: MomentumState, params: Any = None) -> tuple[Any, MomentumState]:
        rate = _rate(learning_rate, state.step)
        trace, direction = None, gradients
        if momentum:
            trace = tree.map(lambda t, g: momentum * t + g, state.trace, gradients)
            direction = tree.map(lambda t, g: momentum * t + g, trace, gradients) if nesterov else trace
        return tree.map(lambda d: -_scaled(rate, d), direction), MomentumState(state.step + 1, trace)

    return Optimizer(init, update)


def adam(learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Optimizer:
    """Adam (Kingma and Ba 2015), with bias correction."""

    def init(params: Any) -> AdamState:
        return AdamState(_zero_step(), tree.map(_zeros, params), tree.map(_zeros, params))

    def update(gradients: Any, state: AdamState, params: Any = None) -> tuple[Any, AdamState]:
        step = state.step + 1
        mean = tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mean, gradients)
        square = tree.map(lambda s, g: b2 * s + (1 - b2) * (g * g), state.square, gradients)
        rate = _rate(learning_rate, state.step)

        def direction(m: Any, s: Any) -> Any:
            corrected = _scaled(1 / _bias(b1, step, m.dtype), m)
            return -_scaled(rate, corrected / (xp.sqrt(_scaled(1 / _bias(b2, step, s.dtype), s)) + eps))

        return tree.map(direction, mean, square), AdamState(step, mean, square)

    return Optimizer(init, update)


def adamw(
    learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, weight_decay: float = 1e-4
) -> Optimizer:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019); `update` needs the parameters."""
    inner = adam(learning_rate, b1, b2, eps)

    def update(gradients: Any, state: AdamState, params: Any) -> tuple[Any, AdamState]:
        rate = _rate(learning_rate, state.step)
        updates, new_state = inner.update(gradients, state, params)
        decayed = tree.map(lambda u, p: u - _scaled(rate, weight_decay * xp.asarray(p)), updates, params)
        return decayed, new_state

    return Optimizer(inner.init, update)


def clip_by_global_norm(max_norm: float) -> Optimizer:
    """Scale all gradients together so that their norm is at most `max_norm`."""

    def update(gradients: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        norm = global_norm(gradients)
        factor = xp.minimum(1.0, max_norm / xp.maximum(norm, 1e-16))
        return tree.map(lambda g: _scaled(factor, g), gradients), state

    return Optimizer(lambda params: (), update)


def chain(*stages: Optimizer) -> Optimizer:
    """One optimizer of several stages: each gets the updates of the one before."""

    def init(params: Any) -> tuple[Any, ...]:
        return tuple(stage.init(params) for stage in stages)

    def update(gradients: Any, state: tuple[Any, ...], params: Any = None) -> tuple[Any, tuple[Any, ...]]:
        states = []
        for stage, part in zip(stages, state, strict=True):
            gradients, new = stage.update(gradients, part, params)
            states.append(new)
        return gradients, tuple(states)

    return Optimizer(init, update)


def apply_updates(params: Any, updates: Any) -> Any:
    """`params + updates`, leaf by leaf, in the dtypes of the parameters."""
    return tree.map(lambda p, u: (xp.asarray(p) + u).astype(xp.asarray(p).dtype), params, updates)


def global_norm(values: Any) -> Any:
    """The Euclidean norm of all leaves together."""
    squares = [xp.sum(xp.real(leaf * xp.conj(leaf))) for leaf in map(xp.asarray, tree.leaves(values))]
    return xp.sqrt(sum(squares[1:], squares[0]))


def cosine_decay(initial: float, steps: int, final_fraction: float = 0.0) -> Callable[[Any], Any]:
    """A learning rate that falls along half a cosine from `initial` to its `final_fraction` in `steps`."""

    def schedule(step: Any) -> Any:
        progress = xp.clip(xp.asarray(step).astype(np.float32) / steps, 0.0, 1.0)
        fall = 0.5 * (1 + xp.cos(np.pi * progress))
        return initial * ((1 - final_fraction) * fall + final_fraction)

    return schedule


def _zero_step() -> Any:
    return as_value(0, np.int32)


def _zeros(param: Any) -> Any:
    return ops.zeros_like(as_value(param))


def _rate(learning_rate: Rate, step: Any) -> Any:
    return learning_rate(step) if callable(learning_rate) else learning_rate


def _bias(decay: float, step: Any, dtype: np.dtype) -> Any:
    """`1 - decay**step` without cancellation, in float32 or, for parameters of 64 bits, float64."""
    wide = dtype in (np.dtype(np.float64), np.dtype(np.complex128))
    exponent = math.log(decay) if decay else -math.inf
    return -xp.expm1(step.astype(np.float64 if wide else np.float32) * exponent)


def _scaled(factor: Any, value: Any) -> Any:
    """`factor * value` in the dtype of `value`."""
    return xp.asarray(factor).astype(value.dtype) * value if hasattr(factor, "dtype") else factor * value
