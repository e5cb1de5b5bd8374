"""Random differentiable functions of one array: a list of steps from one table.

Input: a seed. Output: a function of an array module, `adze.numpy` or `jax.numpy`, and of an array. All values
have one shape, and each step is smooth where the values are, so that differences measure derivatives.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

SHAPE: Final = (2, 3)
MASK: Final = np.array([[True, False, True], [False, False, True]])
UNARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "sin(v)": lambda m, v: m.sin(v),
    "cos(2 v)": lambda m, v: m.cos(2.0 * v),
    "tanh(v)": lambda m, v: m.tanh(v),
    "exp(sin(v))": lambda m, v: m.exp(m.sin(v)),
    "log1p(v v)": lambda m, v: m.log1p(v * v),
    "sqrt(1 + v v)": lambda m, v: m.sqrt(1.0 + v * v),
    "v / (1 + v v)": lambda m, v: v / (1.0 + v * v),
    "sin(v) ** 3": lambda m, v: m.sin(v) ** 3,
    "(2 + cos(v)) ** 1.5": lambda m, v: (2.0 + m.cos(v)) ** 1.5,
    "v turned around": lambda m, v: m.flip(v, axis=1),
    "v transposed": lambda m, v: m.reshape(m.transpose(v), SHAPE),
    "v rolled": lambda m, v: m.concatenate([v[:, 1:], v[:, :1]], axis=1),
    "v shifted": lambda m, v: m.pad(v, ((0, 0), (1, 0)))[:, :3],
    "v minus its mean": lambda m, v: v - m.mean(v, axis=0, keepdims=True),
    "softmax(v)": lambda m, v: m.exp(v) / m.sum(m.exp(v), axis=1, keepdims=True),
    "cumsum(v)": lambda m, v: m.cumsum(v, axis=1),
    "v v.T v": lambda m, v: m.matmul(m.matmul(v, m.transpose(v)), m.sin(v)),
    "rows of v": lambda m, v: m.take(v, np.array([1, 1]), axis=0),
}
BINARY: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "v + w": lambda m, v, w: v + w,
    "v - w": lambda m, v, w: v - w,
    "sin(v) w": lambda m, v, w: m.sin(v) * w,
    "v / (1.5 + sin(w))": lambda m, v, w: v / (1.5 + m.sin(w)),
    "arctan2(v, 2 + cos(w))": lambda m, v, w: m.arctan2(v, 2.0 + m.cos(w)),
    "where(mask, v, w)": lambda m, v, w: m.where(MASK, v, w),
    "(2 + cos(v)) ** sin(w)": lambda m, v, w: (2.0 + m.cos(v)) ** m.sin(w),
}


@dataclass(frozen=True)
class Smooth:
    """Steps by name, each with the numbers of the values that it takes; value 0 is the argument."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, m: Any, x: Any) -> Any:
        values = [x]
        for name, operands in self.steps:
            function: Any = UNARY.get(name) or BINARY[name]
            values.append(function(m, *(values[i] for i in operands)))
        return m.sum(m.tanh(values[-1]) * WEIGHTS + 0.1 * m.sin(values[len(values) // 2]))

    def __str__(self) -> str:
        return "\n".join(f"v{i + 1} = {name} of v{list(on)}" for i, (name, on) in enumerate(self.steps))

    __repr__ = __str__


WEIGHTS: Final = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5]])


def smooth(seed: int) -> Smooth:
    """The program of this seed."""
    rng = random.Random(seed)
    steps: list[tuple[str, tuple[int, ...]]] = []
    for position in range(rng.randint(2, 6)):
        first, second = (rng.randint(max(0, position - 2), position) for _ in range(2))
        if rng.random() < 0.5:
            steps.append((rng.choice(sorted(UNARY)), (first,)))
        else:
            steps.append((rng.choice(sorted(BINARY)), (first, second)))
    return Smooth(tuple(steps))
