"""`x.at[index]`: functional updates of an immutable array, with the keywords of JAX.

Where an index array names an element several times, each method does what NumPy's `ufunc.at` does: the
element is updated once for each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

import numpy as np

from ....dialects.types import INEXACT, INT32
from ...errors import IndexingError, MissingMethodError
from ...tracing.array import Array
from ...tracing.default_dtypes import floating_of
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import user_location_text
from ...tracing.operators import library_function
from .arguments import scalar
from .arithmetic import divide, power
from .index_expressions import Item, OutOfBounds, out_of_bounds, parse
from .index_updates import update_index, values_for
from .indexing import get_index
from .promotion import asarray_of, broadcast, convert
from .reductions import max as max_of
from .searching import where

_lying_as = library_function("lying_as")
_METHODS: Final = "get, set, add, subtract, mul, multiply, divide, power, min, max and apply"


class Indexer:
    """`x.at`; index it."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> At:
        return At(self.array, index)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise IndexingError(
            "x.at is indexed, not called", where=user_location_text(), hint="write x.at[index].set(y)"
        )


class At:
    """`x.at[index].set(y)` and its kin; each returns a new array.

    `mode` says what an index out of bounds does: by default it is dropped, and read from the nearest end;
    "clip" writes at the nearest end, "wrap" counts on from the other end, "drop" and "fill" leave it out and
    read `fill_value`. A negative index counts from the end unless `wrap_negative_indices` is false.
    `unique_indices` promises that no element is named twice; `indices_are_sorted` is accepted as a promise
    that changes nothing.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any) -> None:
        self.array = array
        self.index = index

    def __getattr__(self, name: str) -> NoReturn:
        message = f"x.at[index] has no method {name!r}"
        if name.startswith("_"):
            raise AttributeError(message)
        raise MissingMethodError(message, where=user_location_text(), hint=f"the methods are {_METHODS}")

    def get(
        self,
        *,
        mode: Any = None,
        fill_value: Any = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """`x[index]`, with a choice of what an index out of bounds reads, and of how the result lies."""
        outside = out_of_bounds(mode, wrap_negative_indices)
        if out_sharding is None:
            return get_index(self.array, self.index, outside, fill_value)
        return _lying_as(out_sharding, lambda: get_index(self.array, self.index, outside, fill_value))

    def set(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] = values`."""
        return self._update("set", values, *_promises(**keywords))

    def add(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] += values`."""
        return self._update("add", values, *_promises(**keywords))

    def subtract(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] -= values`."""
        return self._update("add", -values_for(self.array, values), *_promises(**keywords))

    def mul(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] *= values`."""
        return self._update("mul", values, *_promises(**keywords))

    multiply = mul

    def divide(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] /= values`, in the dtype of `x`; in programs written for JAX integers become
        floats, as there."""
        x = asarray_of(self.array)
        if x.dtype not in INEXACT and follows_jax():
            return At(convert(x, floating_of(x.dtype)), self.index).divide(values, **keywords)
        return self._by_products(divide, values, *_promises(**keywords))

    def power(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] **= values`."""
        return self._by_products(power, values, *_promises(**keywords))

    def min(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] = minimum(x[index], values)`."""
        return self._update("min", values, *_promises(**keywords))

    def max(self, values: Any, **keywords: Any) -> Any:
        """`x` with `x[index] = maximum(x[index], values)`."""
        return self._update("max", values, *_promises(**keywords))

    def apply(self, function: Any, **keywords: Any) -> Any:
        """`x` with `x[index] = function(x[index])` for an elementwise function: applied as often as the
        element is named."""
        outside, is_unique = _promises(**keywords)
        x = asarray_of(self.array)
        most = 1 if is_unique else _most_times(x, parse(x, self.index, outside), outside)
        once = function(get_index(x, self.index, outside))
        if most == 1:
            return self._update("set", once, outside, is_unique)
        zeros = broadcast(scalar(0, INT32), x.shape)
        times = get_index(update_index(zeros, self.index, np.int32(1), "add", outside), self.index, outside)
        return self._update("set", _repeated(function, once, times, most), outside)

    def _update(self, kind: str, values: Any, outside: OutOfBounds, is_unique: bool = False) -> Any:
        return update_index(self.array, self.index, values, kind, outside, is_unique)

    def _by_products(self, function: Any, values: Any, outside: OutOfBounds, is_unique: bool) -> Any:
        """Quotients and powers of the products of all values for an element: `(x / a) / b = x / (a * b)`."""
        x = asarray_of(self.array)
        if is_unique or not any(i.kind in ("array", "scalar") for i in parse(x, self.index, outside)):
            changed = function(get_index(x, self.index, outside), values)
            return self._update("set", changed.astype(x.dtype), outside, is_unique)
        factor = asarray_of(values)
        ones = broadcast(scalar(1, factor.dtype), x.shape)
        factors = update_index(ones, self.index, values, "mul", outside)
        return convert(function(x, factors), x.dtype)


def _promises(
    *,
    mode: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    wrap_negative_indices: bool = True,
) -> tuple[OutOfBounds, bool]:
    """The keywords of an update: what is out of bounds, and whether no element is named twice."""
    return out_of_bounds(mode, wrap_negative_indices), unique_indices


def _most_times(x: Any, items: Sequence[Item], outside: OutOfBounds) -> int | None:
    """How often an index names an element at most; None for a traced index array."""
    arrays = [i for i in items if i.kind in ("array", "scalar") and i.axis is not None]
    if all(i.kind == "scalar" for i in arrays):
        return 1
    known = [outside.positions(i.value, x.shape[i.axis]) for i in arrays]
    if not all(isinstance(k, Array) for k in known):
        return None
    clipped = [
        np.clip(k.numpy(), 0, x.shape[i.axis] - 1) if outside.mode == "clip" else k.numpy()
        for i, k in zip(arrays, known, strict=True)
    ]
    rows = np.stack([np.ravel(p) for p in np.broadcast_arrays(*clipped)])
    return int(np.unique(rows, axis=1, return_counts=True)[1].max(initial=1))


def _repeated(function: Any, once: Any, times: Any, most: int | None) -> Any:
    """`function` applied `times` times in all, elementwise, to what it was applied to once."""
    from ...control.while_loops import fori_loop  # loads the engines, which indexing does not need

    if most is None:
        return fori_loop(
            1, max_of(times, initial=1), lambda k, v: where(times > k, function(v), v), once, saved_states=16
        )
    return fori_loop(1, most, lambda k, v: where(times > k, function(v), v), once)
