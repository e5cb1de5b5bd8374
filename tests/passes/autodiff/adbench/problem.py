"""What a problem is: a function of arrays, points to differentiate it at, and what is known of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Library:
    """A library with automatic differentiation and the namespace of NumPy."""

    module: Any
    xp: Any
    special: Any


@dataclass(frozen=True, eq=False)
class Problem:
    """`function(library, *inputs)` is differentiated in its first `active` inputs.

    `gradient` is its gradient by hand, where the literature has one.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    active: int
    gradient: Callable[..., tuple[np.ndarray, ...]] | None = None

    def of(self, library: Library) -> Callable[..., Any]:
        """The function in a library."""
        return lambda *inputs: self.function(library, *inputs)

    @property
    def argnums(self) -> tuple[int, ...]:
        return tuple(range(self.active))

    def __str__(self) -> str:
        return self.name


def logsumexp(xp: Any, x: Any, axis: int) -> Any:
    """`log(sum(exp(x)))` along an axis, without overflow."""
    largest = xp.max(x, axis=axis, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - largest), axis=axis)) + xp.squeeze(largest, axis=axis)


def sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))
