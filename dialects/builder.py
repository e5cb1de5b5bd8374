"""Typed builder methods, one an op. Generated from the declarations; do not edit.

Regenerate with `python -m adze.dialects.generate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .building import BuilderCore, V
from .dialect import BY_NAME
from .types import ValueType


class Builder(BuilderCore[V]):
    """Makes values by applying ops: `b.mul(x, b.cos(x))`."""

    def constant(self, *, value: np.ndarray, dtype: np.dtype) -> V:
        """``y = value``, an array known at compile time."""
        result: V = self.apply(BY_NAME["constant"], (), {"value": value, "dtype": dtype})
        return result

    def iota(self, *, shape: Sequence[int | V], axis: int, dtype: np.dtype) -> V:
        """``y[i] = i[axis]``: counts along one axis."""
        result: V = self.apply(BY_NAME["iota"], (), {"shape": tuple(shape), "axis": axis, "dtype": dtype})
        return result

    def dim(self, x: V, *, axis: int) -> V:
        """``n = x.shape[axis]``, as a size."""
        result: V = self.apply(BY_NAME["dim"], (x, ), {"axis": axis})
        return result

    def size_constant(self, *, value: int) -> V:
        """``n = value``, a size known at compile time."""
        result: V = self.apply(BY_NAME["size_constant"], (), {"value": value})
        return result

    def size_add(self, m: V, n: V) -> V:
        """``k = m + n``"""
        result: V = self.apply(BY_NAME["size_add"], (m, n, ), {})
        return result

    def size_sub(self, m: V, n: V) -> V:
        """``k = m - n``"""
        result: V = self.apply(BY_NAME["size_sub"], (m, n, ), {})
        return result

    def size_mul(self, m: V, n: V) -> V:
        """``k = m * n``"""
        result: V = self.apply(BY_NAME["size_mul"], (m, n, ), {})
        return result

    def size_div(self, m: V, n: V) -> V:
        """``k = floor(m / n)``"""
        result: V = self.apply(BY_NAME["size_div"], (m, n, ), {})
        return result

    def size_max(self, m: V, n: V) -> V:
        """``k = max(m, n)``"""
        result: V = self.apply(BY_NAME["size_max"], (m, n, ), {})
        return result

    def size_min(self, m: V, n: V) -> V:
        """``k = min(m, n)``"""
        result: V = self.apply(BY_NAME["size_min"], (m, n, ), {})
        return result

    def size_to_array(self, n: V, *, dtype: np.dtype) -> V:
        """``y = n``, a size as a 0-d array of an integer or float dtype."""
        result: V = self.apply(BY_NAME["size_to_array"], (n, ), {"dtype": dtype})
        return result

    def size_check(self, m: V, n: V, *, message: str) -> None:
        """Fails when the program runs unless ``m == n``; afterwards the two are known to be equal."""
        result: None = self.apply(BY_NAME["size_check"], (m, n, ), {"message": message})
        return result

    def neg(self, x: V) -> V:
        """``y = -x``; unsigned and signed integers wrap around."""
        result: V = self.apply(BY_NAME["neg"], (x, ), {})
        return result

    def add(self, x: V, y: V) -> V:
        """``z = x + y``; integers wrap around."""
        result: V = self.apply(BY_NAME["add"], (x, y, ), {})
        return result

    def mul(self, x: V, y: V) -> V:
        """``z = x * y``; integers wrap around."""
        result: V = self.apply(BY_NAME["mul"], (x, y, ), {})
        return result

    def broadcast_in_dim(self, x: V, *, shape: Sequence[int | V], dimensions: Sequence[int]) -> V:
        """``y[i] = x[i[dimensions]]``: axis `k` of `x` becomes axis `dimensions[k]` of `y`."""
        result: V = self.apply(BY_NAME["broadcast_in_dim"], (x, ), {"shape": tuple(shape), "dimensions": tuple(dimensions)})
        return result

    def reshape(self, x: V, *, shape: Sequence[int | V]) -> V:
        """``y.flat[k] = x.flat[k]``: the same elements in row-major order under another shape."""
        result: V = self.apply(BY_NAME["reshape"], (x, ), {"shape": tuple(shape)})
        return result

    def transpose(self, x: V, *, permutation: Sequence[int]) -> V:
        """``y[i] = x[j]`` with ``i[k] = j[permutation[k]]``: axis `permutation[k]` of `x` becomes axis `k`."""
        result: V = self.apply(BY_NAME["transpose"], (x, ), {"permutation": tuple(permutation)})
        return result

    def slice(self, x: V, *, start: Sequence[int | V], limit: Sequence[int | V], strides: Sequence[int]) -> V:
        """``y[i] = x[start + strides * i]`` for ``start <= start + strides * i < limit``, axis by axis."""
        result: V = self.apply(BY_NAME["slice"], (x, ), {"start": tuple(start), "limit": tuple(limit), "strides": tuple(strides)})
        return result

    def pad(self, x: V, padding_value: V, *, low: Sequence[int | V], high: Sequence[int | V], interior: Sequence[int]) -> V:
        """``y[low + (interior + 1) * i] = x[i]``, and `padding_value` everywhere else."""
        result: V = self.apply(BY_NAME["pad"], (x, padding_value, ), {"low": tuple(low), "high": tuple(high), "interior": tuple(interior)})
        return result

    def concatenate(self, *xs: V, axis: int) -> V:
        """``y = x0, x1, ...`` one after the other along `axis`."""
        result: V = self.apply(BY_NAME["concatenate"], (*xs, ), {"axis": axis})
        return result

    def reverse(self, x: V, *, axes: Sequence[int]) -> V:
        """``y[..., i, ...] = x[..., n - 1 - i, ...]`` along each of `axes`."""
        result: V = self.apply(BY_NAME["reverse"], (x, ), {"axes": tuple(axes)})
        return result

    def dynamic_slice(self, x: V, *start_indices: V, slice_sizes: Sequence[int | V]) -> V:
        """``y[i] = x[start + i]`` with each start clamped so that the window lies inside `x`."""
        result: V = self.apply(BY_NAME["dynamic_slice"], (x, *start_indices, ), {"slice_sizes": tuple(slice_sizes)})
        return result

    def dynamic_update_slice(self, x: V, update: V, *start_indices: V) -> V:
        """``y = x`` except ``y[start + i] = update[i]``, starts clamped so that the window lies inside `x`."""
        result: V = self.apply(BY_NAME["dynamic_update_slice"], (x, update, *start_indices, ), {})
        return result

    def gather(self, x: V, start_indices: V, *, offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], start_index_map: Sequence[int], operand_batching_dims: Sequence[int], start_indices_batching_dims: Sequence[int], slice_sizes: Sequence[int | V], mode: str, fill_value: np.ndarray) -> V:
        """``y[batch, offset] = x[indices[batch] + offset]``: one window of `x` for each index vector."""
        result: V = self.apply(BY_NAME["gather"], (x, start_indices, ), {"offset_dims": tuple(offset_dims), "collapsed_slice_dims": tuple(collapsed_slice_dims), "start_index_map": tuple(start_index_map), "operand_batching_dims": tuple(operand_batching_dims), "start_indices_batching_dims": tuple(start_indices_batching_dims), "slice_sizes": tuple(slice_sizes), "mode": mode, "fill_value": fill_value})
        return result

    def scatter(self, x: V, indices: V, updates: V, *, kind: str, update_window_dims: Sequence[int], inserted_window_dims: Sequence[int], scatter_dims_to_operand_dims: Sequence[int], operand_batching_dims: Sequence[int], scatter_indices_batching_dims: Sequence[int], mode: str, unique_indices: bool, indices_are_sorted: bool) -> V:
        """``y = x``, then ``y[indices[batch] + offset] = f(y[...], updates[batch, offset])`` for each update."""
        result: V = self.apply(BY_NAME["scatter"], (x, indices, updates, ), {"kind": kind, "update_window_dims": tuple(update_window_dims), "inserted_window_dims": tuple(inserted_window_dims), "scatter_dims_to_operand_dims": tuple(scatter_dims_to_operand_dims), "operand_batching_dims": tuple(operand_batching_dims), "scatter_indices_batching_dims": tuple(scatter_indices_batching_dims), "mode": mode, "unique_indices": unique_indices, "indices_are_sorted": indices_are_sorted})
        return result

    def random_bits(self, key: V, *, shape: Sequence[int | V], width: int) -> V:
        """``y[i] = threefry2x32(key, counter = position of i)``: uniform unsigned integers of `width` bits."""
        result: V = self.apply(BY_NAME["random_bits"], (key, ), {"shape": tuple(shape), "width": width})
        return result

    def call(self, *xs: V, callee: str, results: Sequence[ValueType]) -> Any:
        """``y... = callee(x...)``, the results of another function of the module."""
        result: Any = self.apply(BY_NAME["call"], (*xs, ), {"callee": callee, "results": tuple(results)})
        return result

    def print(self, *xs: V, format: str) -> tuple[()]:
        """Show the operands when the program reaches this point, under the text `format`."""
        result: tuple[()] = self.apply(BY_NAME["print"], (*xs, ), {"format": format})
        return result

    def check(self, predicate: V, *, message: str) -> tuple[()]:
        """Stop the program with the error `message` unless `predicate` holds; it survives into the artifact."""
        result: tuple[()] = self.apply(BY_NAME["check"], (predicate, ), {"message": message})
        return result
