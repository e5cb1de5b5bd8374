"""The state of a random composition while it is traced: which arrays there are, and how others are drawn.

Input: a library (`adze` or `jax`), arrays of it and a seed. Output: new arrays from tables of steps, and the
arrays that steps need: any array in another shape and dtype. The same seed draws the same steps for arrays of
the same shapes and kinds, whatever the library and the width of floats.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .array_values import kind_of, number

MOST_ELEMENTS: Final = 100_000
Step = Callable[["Drawing", Any], Any]
"""A function of what is drawn so far and of one of its arrays."""


@dataclass(frozen=True)
class Scope:
    """What all parts of a program share: `places` are 64 indices, `integers` an array of several axes.

    `steps` are those of inner functions.
    """

    library: Any
    dtype: np.dtype
    places: Any
    integers: Any
    steps: Mapping[str, Step]
    is_differentiated: bool


class Drawing:
    """The arrays of a program or of a loop's body, and what draws more of them."""

    def __init__(self, scope: Scope, seed: int, arrays: Sequence[Any], steps: Mapping[str, Step]) -> None:
        self.scope = scope
        self.rng = random.Random(seed)
        self.library = scope.library
        self.np = scope.library.numpy
        self.pool = list(arrays)
        self.steps = steps
        self.log: list[str] = []

    def run(self, count: int) -> Any:
        """The array after some steps."""
        for _ in range(count):
            self.step()
        return self.pool[-1]

    def step(self) -> None:
        """One more array: of the latest one mostly."""
        x = self.pool[-1] if self.rng.random() < 0.75 else self.rng.choice(self.pool)
        if kind_of(x) == "i" and self.scope.dtype.kind != "i" and self.rng.random() < 0.6:
            x = self.cast(x, self.scope.dtype)
        name = self.rng.choice(sorted(self.steps))
        y = self.steps[name](self, x)
        if not 0 < y.size <= MOST_ELEMENTS:
            name, y = "none", x
        self.log.append(f"{name}: {x.shape} {x.dtype} -> {y.shape} {y.dtype}")
        self.pool.append(y)

    def inner(self, seed: int, arrays: Sequence[Any]) -> Drawing:
        """A drawing over arrays of an inner function: the same each time that the function is traced."""
        return Drawing(self.scope, seed, arrays, self.scope.steps)

    def seed(self) -> int:
        return self.rng.randrange(1 << 30)

    def axis(self, x: Any) -> int:
        return self.rng.randrange(len(x.shape))

    def other(self, shape: Sequence[int], dtype: Any) -> Any:
        """Any array, in this shape and dtype."""
        return self.np.broadcast_to(self.fitted(self.rng.choice(self.pool), shape, dtype), tuple(shape))

    # -- conversions

    def cast(self, x: Any, dtype: Any) -> Any:
        """`x` in another dtype, by a conversion that is continuous."""
        if x.dtype == dtype:
            return x
        if kind_of(x) == "c" and dtype.kind != "c":
            x = self.np.real(x)
        if kind_of(x) == "f" and dtype.kind in "biu":
            x = self.np.zeros(x.shape, dtype)
        elif kind_of(x) in "iu" and dtype.kind not in "iu":
            x = x % number(5, x) - number(1, x) if kind_of(x) == "i" else x % number(2, x)
        return x.astype(dtype)

    def fitted(self, y: Any, shape: Sequence[int], dtype: Any) -> Any:
        """`y` in a shape that broadcasts to `shape`: by slices, pads, repeats and sums of its axes."""
        y = self.cast(y, dtype)
        while len(y.shape) > len(shape):
            axis = self.axis(y)
            is_cut = self.rng.random() < 0.5
            y = self.np.take(y, y.shape[axis] - 1, axis=axis) if is_cut else self.summed(y, (axis,))
        y = y.reshape((1,) * (len(shape) - len(y.shape)) + tuple(y.shape))
        if self.rng.random() < 0.3:
            y = self.np.transpose(y, self.rng.sample(range(len(shape)), len(shape)))
        for axis, size in enumerate(shape):
            if y.shape[axis] > size:
                y = self._cut(y, axis, size)
            elif 1 < y.shape[axis] < size:
                y = self._widened(y, axis, size)
        return y

    def _cut(self, y: Any, axis: int, size: int) -> Any:
        start = self.rng.randint(0, y.shape[axis] - size)
        if self.rng.random() < 0.3:
            y = self.np.flip(y, axis)
        return y[(slice(None),) * axis + (slice(start, start + size),)]

    def _widened(self, y: Any, axis: int, size: int) -> Any:
        have, way = y.shape[axis], self.rng.randrange(3)
        if way == 0:
            return self.summed(y, (axis,), keepdims=True)
        if way == 1:
            before = self.rng.randint(0, size - have)
            widths = [(before, size - have - before) if a == axis else (0, 0) for a in range(len(y.shape))]
            return self.np.pad(y, widths)
        return self.np.take(y, np.arange(size) % have, axis=axis)

    def summed(self, x: Any, axes: Sequence[int], keepdims: bool = False) -> Any:
        """A sum whose values are as great as those of `x`."""
        axes = tuple(axes)
        if kind_of(x) == "b":
            return self.np.any(x, axis=axes, keepdims=keepdims)
        if kind_of(x) in "iu":
            return self.np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
        count = np.prod([x.shape[a] for a in axes])
        return self.np.sum(x * number(root(count), x), axis=axes, keepdims=keepdims)


def root(count: float) -> float:
    """The power of two next to ``1 / sqrt(count)``: what keeps sums of `count` values as great as these."""
    return float(2.0 ** -round(np.log2(max(count, 1)) / 2))


def scale(x: Any, count: float) -> Any:
    """A factor that keeps sums of `count` elements of `x` small, 1 for integers."""
    return number(root(count) if kind_of(x) in "fc" else 1, x)


def mean(x: Any, y: Any) -> Any:
    """An elementwise function of two arrays that is no greater than both."""
    if kind_of(x) == "b":
        return x ^ y
    return x - y if kind_of(x) in "iu" else x * number(0.5, x) + y * number(0.25, x)
