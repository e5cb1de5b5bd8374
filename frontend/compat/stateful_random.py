"""Names of `jax.experimental.random`: a generator that counts its draws in a mutable array.

Input: a seed. Output: samples, each of the key that `fold_in` makes of the base key and the count of draws.
Source: `jax/_src/random/stateful_rng.py`.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects.dataclass import dataclass
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.frames import current_frame
from ..tracing.locations import user_location_text
from ..tracing.references import addupdate, new_ref
from .modules import ADZE


@tree.register_dataclass
@dataclass(frozen=True)
class StatefulPRNG:
    """A generator: a typed key, and a reference to the int32 count of the keys drawn from it.

    `stateful_rng` makes it. A transformed function takes it as an argument or captures it, and does not
    return it.
    """

    _base_key: Any
    _counter: Any

    def key(self, shape: int | Sequence[int] = ()) -> Any:
        """A new key, or an array of keys of `shape`; `ArgumentError` for a generator that was split."""
        if self._base_key.shape:
            raise ArgumentError(
                f"StatefulPRNG.key: the generator was split into {self._base_key.shape}",
                where=user_location_text(),
                hint="pass it to vmap, whose function sees one of them",
            )
        key = _of("random").fold_in(self._base_key, self._counter[...])
        addupdate(self._counter, ..., 1)
        sizes = _sizes(shape)
        return _of("random").split(key, sizes) if sizes else key

    def random(self, size: int | Sequence[int] | None = None, dtype: Any = float) -> Any:
        """Samples of [0, 1) in the shape `size`."""
        return _of("random").uniform(self.key(), _sizes(size), dtype=dtype)

    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None, *, dtype: Any = float) -> Any:
        """Samples of [low, high), in the shape of both bounds where `size` is None."""
        sizes = _sizes(size, low, high)
        return _of("random").uniform(self.key(), sizes, minval=low, maxval=high, dtype=dtype)

    def normal(self, loc: Any = 0, scale: Any = 1, size: Any = None, *, dtype: Any = float) -> Any:
        """Samples of the normal distribution of mean `loc` and deviation `scale`."""
        asarray = _of("numpy").asarray
        standard = _of("random").normal(self.key(), _sizes(size, loc, scale), dtype)
        return (asarray(loc) + asarray(scale) * standard).astype(dtype)

    def integers(self, low: Any, high: Any = None, size: Any = None, *, dtype: Any = int) -> Any:
        """Integers of [low, high), of [0, low) where `high` is None."""
        low, high = (0, low) if high is None else (low, high)
        sizes = _sizes(size, low, high)
        return _of("random").randint(self.key(), sizes, minval=low, maxval=high, dtype=dtype)

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """Generators in an array of shape `num`, for `vmap`."""
        return StatefulPRNG(self.key(num), new_ref(_of("numpy").zeros(num, dtype=int)))

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """A list of `n_children` generators."""
        return [StatefulPRNG(key, new_ref(0)) for key in self.key(n_children)]


def stateful_rng(seed: Any = None, *, impl: Any = None) -> StatefulPRNG:
    """A generator of the key of `seed`, an integer; outside transforms it may be left to chance.

    Raises `ArgumentTypeError` inside a transform without a seed.
    """
    if seed is None:
        if current_frame() is not None:
            raise ArgumentTypeError(
                "stateful_rng: no seed in a function that is traced",
                where=user_location_text(),
                hint="pass one, stateful_rng(seed): chance would be drawn once, while tracing",
            )
        seed = np.int64(int(np.random.SeedSequence().entropy) & np.iinfo(np.int64).max)  # type: ignore[arg-type]
    return StatefulPRNG(_of("random").key(seed, impl=impl), new_ref(0))


def _of(module: str) -> Any:
    """The module of JAX's name, whose functions have JAX's dtypes."""
    return importlib.import_module(f"{ADZE}.compat.jax.{module}")


def _sizes(size: int | Sequence[int] | None, *parameters: Any) -> tuple[int, ...]:
    """A shape as a tuple: that of the parameters together where `size` is None."""
    if size is None:
        return np.broadcast_shapes(*(np.shape(parameter) for parameter in parameters))
    if isinstance(size, (int, np.number)):
        return (operator.index(size),)
    return tuple(map(operator.index, size))


__all__ = ["StatefulPRNG", "stateful_rng"]
