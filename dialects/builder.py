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
