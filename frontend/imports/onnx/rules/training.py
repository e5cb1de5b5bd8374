"""Optimizers of ai.onnx.preview.training, and simple ops of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....library import numpy as xp
from ..calls import Call, Rule

Update = Callable[..., tuple[Any, ...]]


def optimizer(states: int) -> Callable[[Update], Rule]:
    """The rule of an optimizer of many arrays: `update(call, rate, step, x, gradient, *states)` is of one."""

    def decorator(update: Update) -> Rule:
        def rule(call: Call, rate: Any, step: Any, *arrays: Any) -> Any:
            count = len(arrays) // (states + 2)
            columns = [arrays[i * count : (i + 1) * count] for i in range(states + 2)]
            rows = [update(call, rate, step, *row) for row in zip(*columns, strict=True)]
            return [value for column in zip(*rows, strict=True) for value in column]

        return rule

    return decorator


@optimizer(1)
def adagrad(call: Call, rate: Any, step: Any, x: Any, gradient: Any, squares: Any) -> tuple[Any, ...]:
    """Duchi, Hazan and Singer 2011."""
    rate = rate / (1 + step * call.real("decay_factor", 0.0))
    gradient = call.real("norm_coefficient", 0.0) * x + gradient
    squares = squares + gradient * gradient
    return x - rate * gradient / (xp.sqrt(squares) + call.real("epsilon", 1e-6)), squares


@optimizer(2)
def adam(call: Call, rate: Any, step: Any, x: Any, gradient: Any, mean: Any, square: Any) -> tuple[Any, ...]:
    """Kingma and Ba 2015."""
    alpha, beta = call.real("alpha", 0.9), call.real("beta", 0.999)
    gradient = call.real("norm_coefficient", 0.0) * x + gradient
    mean = alpha * mean + (1 - alpha) * gradient
    square = beta * square + (1 - beta) * gradient * gradient
    power = step.astype(x.dtype)
    adjusted = rate * xp.sqrt(1 - beta**power) / (1 - alpha**power)
    rate = xp.where(step > 0, adjusted, rate)
    x = x - rate * mean / (xp.sqrt(square) + call.real("epsilon", 1e-6))
    return (1 - call.real("norm_coefficient_post", 0.0)) * x, mean, square


@optimizer(1)
def momentum(call: Call, rate: Any, step: Any, x: Any, gradient: Any, velocity: Any) -> tuple[Any, ...]:
    """Gradient descent with momentum, or Nesterov's."""
    gradient = call.real("norm_coefficient") * x + gradient
    alpha, beta = call.real("alpha"), call.real("beta")
    share = xp.where(step > 0, beta, 1.0).astype(x.dtype)
    velocity = alpha * velocity + share * gradient
    direction = velocity if call.text("mode") == "standard" else gradient + alpha * velocity
    return x - rate * direction, velocity


def binarizer(call: Call, x: Any) -> Any:
    return (x > call.real("threshold", 0.0)).astype(x.dtype)
