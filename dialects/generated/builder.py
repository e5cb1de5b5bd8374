"""Typed builder methods, one an op. Generated from the declarations; do not edit.

Regenerate with `python -m adze.dialects.generate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..builder.core import BuilderCore, V
from ..types import ValueType


class Builder(BuilderCore[V]):
    """Makes values by applying ops: `b.mul(x, b.cos(x))`."""

    def constant(self, *, value: np.ndarray, dtype: np.dtype) -> V:
        """``y = value``, an array known at compile time."""
        (result,) = self.apply(self.dialect["constant"], (), {"value": value, "dtype": dtype})
        return result

    def iota(self, *, shape: Sequence[int | V], axis: int, dtype: np.dtype) -> V:
        """``y[i] = i[axis]``: counts along one axis."""
        (result,) = self.apply(self.dialect["iota"], (), {"shape": tuple(shape), "axis": axis, "dtype": dtype})
        return result

    def dim(self, x: V, *, axis: int) -> V:
        """``n = x.shape[axis]``, as a size."""
        (result,) = self.apply(self.dialect["dim"], (x, ), {"axis": axis})
        return result

    def size_constant(self, *, value: int) -> V:
        """``n = value``, a size known at compile time."""
        (result,) = self.apply(self.dialect["size_constant"], (), {"value": value})
        return result

    def size_add(self, m: V, n: V) -> V:
        """``k = m + n``"""
        (result,) = self.apply(self.dialect["size_add"], (m, n, ), {})
        return result

    def size_sub(self, m: V, n: V) -> V:
        """``k = m - n``"""
        (result,) = self.apply(self.dialect["size_sub"], (m, n, ), {})
        return result

    def size_mul(self, m: V, n: V) -> V:
        """``k = m * n``"""
        (result,) = self.apply(self.dialect["size_mul"], (m, n, ), {})
        return result

    def size_div(self, m: V, n: V) -> V:
        """``k = floor(m / n)``"""
        (result,) = self.apply(self.dialect["size_div"], (m, n, ), {})
        return result

    def size_max(self, m: V, n: V) -> V:
        """``k = max(m, n)``"""
        (result,) = self.apply(self.dialect["size_max"], (m, n, ), {})
        return result

    def size_min(self, m: V, n: V) -> V:
        """``k = min(m, n)``"""
        (result,) = self.apply(self.dialect["size_min"], (m, n, ), {})
        return result

    def size_to_array(self, n: V, *, dtype: np.dtype) -> V:
        """``y = n``, a size as a 0-d array of an integer or float dtype."""
        (result,) = self.apply(self.dialect["size_to_array"], (n, ), {"dtype": dtype})
        return result

    def size_check(self, m: V, n: V, *, message: str) -> None:
        """Fails when the program runs unless ``m == n``; afterwards the two are known to be equal."""
        self.apply(self.dialect["size_check"], (m, n, ), {"message": message})

    def neg(self, x: V) -> V:
        """``y = -x; dy = -dx``. Integers wrap around: the most negative one is its own negative."""
        (result,) = self.apply(self.dialect["neg"], (x, ), {})
        return result

    def abs(self, x: V) -> V:
        """``y = |x|; dy = sign(x) * dx``; of a complex number its modulus, which is real."""
        (result,) = self.apply(self.dialect["abs"], (x, ), {})
        return result

    def sign(self, x: V) -> V:
        """``y = x / |x|``, zeros kept as they are (`-0` too); ``dy = 0`` for real `x`."""
        (result,) = self.apply(self.dialect["sign"], (x, ), {})
        return result

    def floor(self, x: V) -> V:
        """``y = max {n integer: n <= x}; dy = 0``."""
        (result,) = self.apply(self.dialect["floor"], (x, ), {})
        return result

    def ceil(self, x: V) -> V:
        """``y = min {n integer: n >= x}; dy = 0``."""
        (result,) = self.apply(self.dialect["ceil"], (x, ), {})
        return result

    def round(self, x: V) -> V:
        """``y`` = the integer nearest to `x`, of two the even one; ``dy = 0``."""
        (result,) = self.apply(self.dialect["round"], (x, ), {})
        return result

    def add(self, x: V, y: V) -> V:
        """``z = x + y; dz = dx + dy``."""
        (result,) = self.apply(self.dialect["add"], (x, y, ), {})
        return result

    def sub(self, x: V, y: V) -> V:
        """``z = x - y; dz = dx - dy``."""
        (result,) = self.apply(self.dialect["sub"], (x, y, ), {})
        return result

    def mul(self, x: V, y: V) -> V:
        """``z = x * y; dz = dx * y + x * dy``."""
        (result,) = self.apply(self.dialect["mul"], (x, y, ), {})
        return result

    def div(self, x: V, y: V) -> V:
        """``z = x / y; dz = (dx - z * dy) / y``. Integers: the quotient truncated toward zero."""
        (result,) = self.apply(self.dialect["div"], (x, y, ), {})
        return result

    def rem(self, x: V, y: V) -> V:
        """``z = x - y * trunc(x / y); dz = dx - trunc(x / y) * dy``: exact, with the sign of `x`."""
        (result,) = self.apply(self.dialect["rem"], (x, y, ), {})
        return result

    def pow(self, x: V, y: V) -> V:
        """``z = x ** y; dz = y * x ** (y - 1) * dx + log(x) * z * dy``."""
        (result,) = self.apply(self.dialect["pow"], (x, y, ), {})
        return result

    def max(self, x: V, y: V) -> V:
        """``z = max(x, y)``; the tangent of the larger one, at a tie half of both."""
        (result,) = self.apply(self.dialect["max"], (x, y, ), {})
        return result

    def min(self, x: V, y: V) -> V:
        """``z = min(x, y)``; the tangent of the smaller one, at a tie half of both."""
        (result,) = self.apply(self.dialect["min"], (x, y, ), {})
        return result

    def sqrt(self, x: V) -> V:
        """``y = sqrt x; dy = dx / (2 y)``."""
        (result,) = self.apply(self.dialect["sqrt"], (x, ), {})
        return result

    def rsqrt(self, x: V) -> V:
        """``y = 1 / sqrt x; dy = -y^3 / 2 * dx``."""
        (result,) = self.apply(self.dialect["rsqrt"], (x, ), {})
        return result

    def cbrt(self, x: V) -> V:
        """``y = x ** (1/3), real also for negative x; dy = dx / (3 y^2)``."""
        (result,) = self.apply(self.dialect["cbrt"], (x, ), {})
        return result

    def exp(self, x: V) -> V:
        """``y = e ** x; dy = y * dx``."""
        (result,) = self.apply(self.dialect["exp"], (x, ), {})
        return result

    def exp2(self, x: V) -> V:
        """``y = 2 ** x; dy = log(2) * y * dx``."""
        (result,) = self.apply(self.dialect["exp2"], (x, ), {})
        return result

    def expm1(self, x: V) -> V:
        """``y = e ** x - 1, accurate near 0; dy = (y + 1) * dx``."""
        (result,) = self.apply(self.dialect["expm1"], (x, ), {})
        return result

    def log(self, x: V) -> V:
        """``y = log x; dy = dx / x``."""
        (result,) = self.apply(self.dialect["log"], (x, ), {})
        return result

    def log2(self, x: V) -> V:
        """``y = log2 x; dy = dx / (x log 2)``."""
        (result,) = self.apply(self.dialect["log2"], (x, ), {})
        return result

    def log1p(self, x: V) -> V:
        """``y = log(1 + x), accurate near 0; dy = dx / (1 + x)``."""
        (result,) = self.apply(self.dialect["log1p"], (x, ), {})
        return result

    def sin(self, x: V) -> V:
        """``y = sin x; dy = cos x * dx``."""
        (result,) = self.apply(self.dialect["sin"], (x, ), {})
        return result

    def cos(self, x: V) -> V:
        """``y = cos x; dy = -sin x * dx``."""
        (result,) = self.apply(self.dialect["cos"], (x, ), {})
        return result

    def tan(self, x: V) -> V:
        """``y = tan x; dy = (1 + y^2) * dx``."""
        (result,) = self.apply(self.dialect["tan"], (x, ), {})
        return result

    def asin(self, x: V) -> V:
        """``y = arcsin x; dy = dx / sqrt(1 - x^2)``."""
        (result,) = self.apply(self.dialect["asin"], (x, ), {})
        return result

    def acos(self, x: V) -> V:
        """``y = arccos x; dy = -dx / sqrt(1 - x^2)``."""
        (result,) = self.apply(self.dialect["acos"], (x, ), {})
        return result

    def atan(self, x: V) -> V:
        """``y = arctan x; dy = dx / (1 + x^2)``."""
        (result,) = self.apply(self.dialect["atan"], (x, ), {})
        return result

    def atan2(self, x: V, y: V) -> V:
        """``z = arg(y + i x)``, the angle of the point `(y, x)`; ``dz = (y * dx - x * dy) / (x^2 + y^2)``."""
        (result,) = self.apply(self.dialect["atan2"], (x, y, ), {})
        return result

    def sinh(self, x: V) -> V:
        """``y = sinh x; dy = cosh x * dx``."""
        (result,) = self.apply(self.dialect["sinh"], (x, ), {})
        return result

    def cosh(self, x: V) -> V:
        """``y = cosh x; dy = sinh x * dx``."""
        (result,) = self.apply(self.dialect["cosh"], (x, ), {})
        return result

    def tanh(self, x: V) -> V:
        """``y = tanh x; dy = (1 - y^2) * dx``."""
        (result,) = self.apply(self.dialect["tanh"], (x, ), {})
        return result

    def asinh(self, x: V) -> V:
        """``y = arsinh x; dy = dx / sqrt(x^2 + 1)``."""
        (result,) = self.apply(self.dialect["asinh"], (x, ), {})
        return result

    def acosh(self, x: V) -> V:
        """``y = arcosh x; dy = dx / (sqrt(x - 1) sqrt(x + 1))``."""
        (result,) = self.apply(self.dialect["acosh"], (x, ), {})
        return result

    def atanh(self, x: V) -> V:
        """``y = artanh x; dy = dx / (1 - x^2)``."""
        (result,) = self.apply(self.dialect["atanh"], (x, ), {})
        return result

    def logistic(self, x: V) -> V:
        """``y = 1 / (1 + e ** -x); dy = y * (1 - y) * dx``."""
        (result,) = self.apply(self.dialect["logistic"], (x, ), {})
        return result

    def erf(self, x: V) -> V:
        """``y = 2 / sqrt(pi) * integral of e ** -t^2 over [0, x]; dy = 2 / sqrt(pi) * e ** -x^2 * dx``."""
        (result,) = self.apply(self.dialect["erf"], (x, ), {})
        return result

    def erfc(self, x: V) -> V:
        """``y = 1 - erf x``, accurate for large `x`; ``dy = -2 / sqrt(pi) * e ** -x^2 * dx``."""
        (result,) = self.apply(self.dialect["erfc"], (x, ), {})
        return result

    def erf_inv(self, x: V) -> V:
        """``erf y = x; dy = sqrt(pi) / 2 * e ** y^2 * dx``; `NaN` outside [-1, 1]."""
        (result,) = self.apply(self.dialect["erf_inv"], (x, ), {})
        return result

    def lgamma(self, x: V) -> V:
        """``y = log |gamma(x)|; dy = digamma(x) * dx``; infinite at 0, -1, -2, ..."""
        (result,) = self.apply(self.dialect["lgamma"], (x, ), {})
        return result

    def digamma(self, x: V) -> V:
        """``y = gamma'(x) / gamma(x)``, whose derivative is the trigamma function; `NaN` at -1, -2, ..."""
        (result,) = self.apply(self.dialect["digamma"], (x, ), {})
        return result

    def not_(self, x: V) -> V:
        """``y = not x``, bit by bit."""
        (result,) = self.apply(self.dialect["not"], (x, ), {})
        return result

    def popcount(self, x: V) -> V:
        """``y`` = how many bits of `x` are set."""
        (result,) = self.apply(self.dialect["popcount"], (x, ), {})
        return result

    def clz(self, x: V) -> V:
        """``y`` = how many bits of `x` are zero above its highest one; the width for 0."""
        (result,) = self.apply(self.dialect["clz"], (x, ), {})
        return result

    def and_(self, x: V, y: V) -> V:
        """``z = x and y``, bit by bit."""
        (result,) = self.apply(self.dialect["and"], (x, y, ), {})
        return result

    def or_(self, x: V, y: V) -> V:
        """``z = x or y``, bit by bit."""
        (result,) = self.apply(self.dialect["or"], (x, y, ), {})
        return result

    def xor(self, x: V, y: V) -> V:
        """``z = x xor y``, bit by bit."""
        (result,) = self.apply(self.dialect["xor"], (x, y, ), {})
        return result

    def shift_left(self, x: V, y: V) -> V:
        """``z = x * 2 ** y``, bits above the width lost."""
        (result,) = self.apply(self.dialect["shift_left"], (x, y, ), {})
        return result

    def shift_right_logical(self, x: V, y: V) -> V:
        """``z`` = the bits of `x` moved down by `y`, zeros from above."""
        (result,) = self.apply(self.dialect["shift_right_logical"], (x, y, ), {})
        return result

    def shift_right_arithmetic(self, x: V, y: V) -> V:
        """``z`` = the bits of `x` moved down by `y`, copies of the highest bit from above."""
        (result,) = self.apply(self.dialect["shift_right_arithmetic"], (x, y, ), {})
        return result

    def is_finite(self, x: V) -> V:
        """``y`` = whether `x` is neither infinite nor NaN."""
        (result,) = self.apply(self.dialect["is_finite"], (x, ), {})
        return result

    def compare(self, x: V, y: V, *, direction: str) -> V:
        """``z = x <direction> y``; false where an operand is NaN, except `NE`, which is true there."""
        (result,) = self.apply(self.dialect["compare"], (x, y, ), {"direction": direction})
        return result

    def select(self, predicate: V, on_true: V, on_false: V) -> V:
        """``y = on_true where predicate, else on_false``; ``dy`` selects the tangents in the same way."""
        (result,) = self.apply(self.dialect["select"], (predicate, on_true, on_false, ), {})
        return result

    def clamp(self, low: V, x: V, high: V) -> V:
        """``y = min(max(x, low), high)``; the tangent of whichever is chosen (a bound that `x` equals)."""
        (result,) = self.apply(self.dialect["clamp"], (low, x, high, ), {})
        return result

    def convert(self, x: V, *, dtype: np.dtype) -> V:
        """``y`` = the number of type `dtype` nearest to `x`; ``dy`` = the converted ``dx`` between floats."""
        (result,) = self.apply(self.dialect["convert"], (x, ), {"dtype": dtype})
        return result

    def bitcast_convert(self, x: V, *, dtype: np.dtype) -> V:
        """``y`` = the bits of `x` read as a number of type `dtype`, which has the same width."""
        (result,) = self.apply(self.dialect["bitcast_convert"], (x, ), {"dtype": dtype})
        return result

    def real(self, x: V) -> V:
        """``y = Re x; dy = Re dx``."""
        (result,) = self.apply(self.dialect["real"], (x, ), {})
        return result

    def imag(self, x: V) -> V:
        """``y = Im x; dy = Im dx``."""
        (result,) = self.apply(self.dialect["imag"], (x, ), {})
        return result

    def conj(self, x: V) -> V:
        """``y = Re x - i Im x; dy = conj(dx)``."""
        (result,) = self.apply(self.dialect["conj"], (x, ), {})
        return result

    def complex(self, x: V, y: V) -> V:
        """``z = x + i y; dz = dx + i dy``, from real and imaginary parts."""
        (result,) = self.apply(self.dialect["complex"], (x, y, ), {})
        return result

    def nextafter(self, x: V, y: V) -> V:
        """``z`` = the number of the dtype that comes after `x` on the way to `y`; `y` where they are equal."""
        (result,) = self.apply(self.dialect["nextafter"], (x, y, ), {})
        return result

    def broadcast_in_dim(self, x: V, *, shape: Sequence[int | V], dimensions: Sequence[int]) -> V:
        """``y[i] = x[i[dimensions]]``: axis `k` of `x` becomes axis `dimensions[k]` of `y`."""
        (result,) = self.apply(self.dialect["broadcast_in_dim"], (x, ), {"shape": tuple(shape), "dimensions": tuple(dimensions)})
        return result

    def reshape(self, x: V, *, shape: Sequence[int | V]) -> V:
        """``y.flat[k] = x.flat[k]``: the same elements in row-major order under another shape."""
        (result,) = self.apply(self.dialect["reshape"], (x, ), {"shape": tuple(shape)})
        return result

    def transpose(self, x: V, *, permutation: Sequence[int]) -> V:
        """``y[i] = x[j]`` with ``i[k] = j[permutation[k]]``: axis `permutation[k]` of `x` becomes axis `k`."""
        (result,) = self.apply(self.dialect["transpose"], (x, ), {"permutation": tuple(permutation)})
        return result

    def slice(self, x: V, *, start: Sequence[int | V], limit: Sequence[int | V], strides: Sequence[int]) -> V:
        """``y[i] = x[start + strides * i]`` for ``start <= start + strides * i < limit``, axis by axis."""
        (result,) = self.apply(self.dialect["slice"], (x, ), {"start": tuple(start), "limit": tuple(limit), "strides": tuple(strides)})
        return result

    def pad(self, x: V, padding_value: V, *, low: Sequence[int | V], high: Sequence[int | V], interior: Sequence[int]) -> V:
        """``y[low + (interior + 1) * i] = x[i]``, and `padding_value` everywhere else."""
        (result,) = self.apply(self.dialect["pad"], (x, padding_value, ), {"low": tuple(low), "high": tuple(high), "interior": tuple(interior)})
        return result

    def concatenate(self, *xs: V, axis: int) -> V:
        """``y = x0, x1, ...`` one after the other along `axis`."""
        (result,) = self.apply(self.dialect["concatenate"], (*xs, ), {"axis": axis})
        return result

    def reverse(self, x: V, *, axes: Sequence[int]) -> V:
        """``y[..., i, ...] = x[..., n - 1 - i, ...]`` along each of `axes`."""
        (result,) = self.apply(self.dialect["reverse"], (x, ), {"axes": tuple(axes)})
        return result

    def dynamic_slice(self, x: V, *start_indices: V, slice_sizes: Sequence[int | V]) -> V:
        """``y[i] = x[start + i]`` with each start clamped so that the window lies inside `x`."""
        (result,) = self.apply(self.dialect["dynamic_slice"], (x, *start_indices, ), {"slice_sizes": tuple(slice_sizes)})
        return result

    def dynamic_update_slice(self, x: V, update: V, *start_indices: V) -> V:
        """``y = x`` except ``y[start + i] = update[i]``, starts clamped so that the window lies inside `x`."""
        (result,) = self.apply(self.dialect["dynamic_update_slice"], (x, update, *start_indices, ), {})
        return result

    def gather(self, x: V, start_indices: V, *, offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], start_index_map: Sequence[int], operand_batching_dims: Sequence[int], start_indices_batching_dims: Sequence[int], slice_sizes: Sequence[int | V], mode: str, fill_value: np.ndarray) -> V:
        """``y[batch, offset] = x[indices[batch] + offset]``: one window of `x` for each index vector."""
        (result,) = self.apply(self.dialect["gather"], (x, start_indices, ), {"offset_dims": tuple(offset_dims), "collapsed_slice_dims": tuple(collapsed_slice_dims), "start_index_map": tuple(start_index_map), "operand_batching_dims": tuple(operand_batching_dims), "start_indices_batching_dims": tuple(start_indices_batching_dims), "slice_sizes": tuple(slice_sizes), "mode": mode, "fill_value": fill_value})
        return result

    def scatter(self, x: V, indices: V, updates: V, *, kind: str, update_window_dims: Sequence[int], inserted_window_dims: Sequence[int], scatter_dims_to_operand_dims: Sequence[int], operand_batching_dims: Sequence[int], scatter_indices_batching_dims: Sequence[int], mode: str, unique_indices: bool, indices_are_sorted: bool) -> V:
        """``y = x``, then ``y[indices[batch] + offset] = f(y[...], updates[batch, offset])`` for each update."""
        (result,) = self.apply(self.dialect["scatter"], (x, indices, updates, ), {"kind": kind, "update_window_dims": tuple(update_window_dims), "inserted_window_dims": tuple(inserted_window_dims), "scatter_dims_to_operand_dims": tuple(scatter_dims_to_operand_dims), "operand_batching_dims": tuple(operand_batching_dims), "scatter_indices_batching_dims": tuple(scatter_indices_batching_dims), "mode": mode, "unique_indices": unique_indices, "indices_are_sorted": indices_are_sorted})
        return result

    def reduce_sum(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = sum_i x[i]`` along `axes`."""
        (result,) = self.apply(self.dialect["reduce_sum"], (x, ), {"axes": tuple(axes)})
        return result

    def reduce_prod(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = prod_i x[i]`` along `axes`."""
        (result,) = self.apply(self.dialect["reduce_prod"], (x, ), {"axes": tuple(axes)})
        return result

    def reduce_max(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = max_i x[i]`` along `axes`; NaN if any element is. ``dy``: mean of ``dx`` over the greatest."""
        (result,) = self.apply(self.dialect["reduce_max"], (x, ), {"axes": tuple(axes)})
        return result

    def reduce_min(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = min_i x[i]`` along `axes`; NaN if any element is. ``dy`` is the mean of ``dx`` over the least."""
        (result,) = self.apply(self.dialect["reduce_min"], (x, ), {"axes": tuple(axes)})
        return result

    def reduce_and(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = x[0] & x[1] & ...`` along `axes`; bit by bit for integers."""
        (result,) = self.apply(self.dialect["reduce_and"], (x, ), {"axes": tuple(axes)})
        return result

    def reduce_or(self, x: V, *, axes: Sequence[int]) -> V:
        """``y = x[0] | x[1] | ...`` along `axes`; bit by bit for integers."""
        (result,) = self.apply(self.dialect["reduce_or"], (x, ), {"axes": tuple(axes)})
        return result

    def argmax(self, x: V, *, axis: int, index_dtype: np.dtype) -> V:
        """``y = the least i with x[i] = max(x)`` along `axis`."""
        (result,) = self.apply(self.dialect["argmax"], (x, ), {"axis": axis, "index_dtype": index_dtype})
        return result

    def argmin(self, x: V, *, axis: int, index_dtype: np.dtype) -> V:
        """``y = the least i with x[i] = min(x)`` along `axis`."""
        (result,) = self.apply(self.dialect["argmin"], (x, ), {"axis": axis, "index_dtype": index_dtype})
        return result

    def cumsum(self, x: V, *, axis: int, reverse: bool) -> V:
        """``y[i] = x[0] + ... + x[i]`` along `axis`."""
        (result,) = self.apply(self.dialect["cumsum"], (x, ), {"axis": axis, "reverse": reverse})
        return result

    def cumprod(self, x: V, *, axis: int, reverse: bool) -> V:
        """``y[i] = x[0] * ... * x[i]`` along `axis`."""
        (result,) = self.apply(self.dialect["cumprod"], (x, ), {"axis": axis, "reverse": reverse})
        return result

    def cummax(self, x: V, *, axis: int, reverse: bool) -> V:
        """``y[i] = max(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on."""
        (result,) = self.apply(self.dialect["cummax"], (x, ), {"axis": axis, "reverse": reverse})
        return result

    def cummin(self, x: V, *, axis: int, reverse: bool) -> V:
        """``y[i] = min(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on."""
        (result,) = self.apply(self.dialect["cummin"], (x, ), {"axis": axis, "reverse": reverse})
        return result

    def dot_general(self, x: V, y: V, *, contracting: Sequence[Sequence[int]], batch: Sequence[Sequence[int]], dtype: np.dtype) -> V:
        """``z[b, i, j] = sum_k x[b, i, k] * y[b, j, k]``: batch axes, then the free axes of `x`, then of `y`."""
        (result,) = self.apply(self.dialect["dot_general"], (x, y, ), {"contracting": tuple(tuple(row) for row in contracting), "batch": tuple(tuple(row) for row in batch), "dtype": dtype})
        return result

    def conv_general(self, lhs: V, rhs: V, *, window_strides: Sequence[int], padding: Sequence[Sequence[int]], lhs_dilation: Sequence[int], rhs_dilation: Sequence[int], lhs_spec: Sequence[int], rhs_spec: Sequence[int], out_spec: Sequence[int], feature_group_count: int, batch_group_count: int) -> V:
        """``z[n, f, p] = sum_{c, w} x[n, c, p * stride + w * dilation - padding] * k[f, c, w]``."""
        (result,) = self.apply(self.dialect["conv_general"], (lhs, rhs, ), {"window_strides": tuple(window_strides), "padding": tuple(tuple(row) for row in padding), "lhs_dilation": tuple(lhs_dilation), "rhs_dilation": tuple(rhs_dilation), "lhs_spec": tuple(lhs_spec), "rhs_spec": tuple(rhs_spec), "out_spec": tuple(out_spec), "feature_group_count": feature_group_count, "batch_group_count": batch_group_count})
        return result

    def sort(self, *operands: V, axis: int, num_keys: int, is_stable: bool) -> tuple[V, ...]:
        """Sorts equally shaped arrays together along `axis`, by the first `num_keys` of them in turn."""
        return self.apply(self.dialect["sort"], (*operands, ), {"axis": axis, "num_keys": num_keys, "is_stable": is_stable})

    def top_k(self, x: V, *, k: int) -> tuple[V, ...]:
        """The `k` greatest elements of each row (last axis) in falling order, and where they are (int32)."""
        return self.apply(self.dialect["top_k"], (x, ), {"k": k})

    def random_bits(self, key: V, *, shape: Sequence[int | V], width: int) -> V:
        """``y[k, i] = threefry2x32(key[k], counter = position of i)``: uniform unsigned integers of `width` bits."""
        (result,) = self.apply(self.dialect["random_bits"], (key, ), {"shape": tuple(shape), "width": width})
        return result

    def threefry(self, k0: V, k1: V, x0: V, x1: V, *, word: int) -> V:
        """``z`` = one word of threefry2x32(key = (k0, k1), counter = (x0, x1)), of each element's own block."""
        (result,) = self.apply(self.dialect["threefry"], (k0, k1, x0, x1, ), {"word": word})
        return result

    def call(self, *xs: V, callee: str, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...)``, the results of another function of the module."""
        return self.apply(self.dialect["call"], (*xs, ), {"callee": callee, "results": tuple(results)})

    def cond(self, index: V, *xs: V, branches: Sequence[str], results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = branches[index](x...)``, with `index` clamped to the branches there are."""
        return self.apply(self.dialect["cond"], (index, *xs, ), {"branches": tuple(branches), "results": tuple(results)})

    def platform_index(self, *, platforms: str) -> V:
        """``i``: the place of the target's platform in a list, the length of the list where it is not there."""
        (result,) = self.apply(self.dialect["platform_index"], (), {"platforms": platforms})
        return result

    def loop_preference(self, *, label: str) -> V:
        """``i``: 1 where the loops of the branches at 1 become kernels of the target, else 0."""
        (result,) = self.apply(self.dialect["loop_preference"], (), {"label": label})
        return result

    def while_(self, *xs: V, condition: str, body: str, condition_constants: int, body_constants: int, saved_states: int) -> tuple[V, ...]:
        """``while condition(c..., state...): state = body(d..., state...)``; the final state."""
        return self.apply(self.dialect["while"], (*xs, ), {"condition": condition, "body": body, "condition_constants": condition_constants, "body_constants": body_constants, "saved_states": saved_states})

    def scan(self, *xs: V, body: str, constant_count: int, carry_count: int, length: Sequence[int | V], reverse: bool, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``carry, y[t] = body(constants, carry, x[t])`` for ``t = 0, 1, ..., length - 1``; carry, then ``y``."""
        return self.apply(self.dialect["scan"], (*xs, ), {"body": body, "constant_count": constant_count, "carry_count": carry_count, "length": tuple(length), "reverse": reverse, "results": tuple(results)})

    def axis_sum(self, x: V, index: V, *, axis_name: str, length: Sequence[int | V]) -> V:
        """``y = sum over the axis of x``, one for all elements; ``dy = sum of dx``; ``x' = sum of y'``."""
        (result,) = self.apply(self.dialect["axis_sum"], (x, index, ), {"axis_name": axis_name, "length": tuple(length)})
        return result

    def axis_gather(self, x: V, index: V, *, axis_name: str, length: Sequence[int | V]) -> V:
        """``y[i] = x of element i`` along a new leading axis, the same for every element."""
        (result,) = self.apply(self.dialect["axis_gather"], (x, index, ), {"axis_name": axis_name, "length": tuple(length)})
        return result

    def all_reduce(self, x: V, index: V, *, kind: str, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = sum, max or min over the axis of x``; a varying operand, an invariant result."""
        (result,) = self.apply(self.dialect["all_reduce"], (x, index, ), {"kind": kind, "axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def vary(self, x: V, index: V, *, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = x``, where x is invariant over the axis and y need not be; ``x' = all_reduce y'``. No code."""
        (result,) = self.apply(self.dialect["vary"], (x, index, ), {"axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def unvary(self, x: V, index: V, *, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = x``, where x may vary over the axis as far as is known, and is the same in all ranks."""
        (result,) = self.apply(self.dialect["unvary"], (x, index, ), {"axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def sharding_constraint(self, x: V, *, mesh: Sequence[int], axis_names: str, spec: str) -> V:
        """``y = x``, which lies on the ranks of a mesh as `spec` says; ``dy`` and ``x'`` do so too."""
        (result,) = self.apply(self.dialect["sharding_constraint"], (x, ), {"mesh": tuple(mesh), "axis_names": axis_names, "spec": spec})
        return result

    def all_gather(self, x: V, index: V, *, dim: int, is_invariant: bool, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = the x of all ranks, one after the other along axis dim``; ``x' = reduce_scatter y'``."""
        (result,) = self.apply(self.dialect["all_gather"], (x, index, ), {"dim": dim, "is_invariant": is_invariant, "axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def reduce_scatter(self, x: V, index: V, *, dim: int, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = this rank's part of the sum over the axis of x``, along axis dim; ``x' = all_gather y'``."""
        (result,) = self.apply(self.dialect["reduce_scatter"], (x, index, ), {"dim": dim, "axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def all_to_all(self, x: V, index: V, *, split: int, concat: int, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = part i of axis split of each rank's x``, at rank i, one after the other along axis concat; ``x' = all_to_all y'`` with the axes exchanged."""
        (result,) = self.apply(self.dialect["all_to_all"], (x, index, ), {"split": split, "concat": concat, "axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def ppermute(self, x: V, index: V, *, perm: Sequence[Sequence[int]], axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = the x of the rank that sends to this one``, zeros where none does."""
        (result,) = self.apply(self.dialect["ppermute"], (x, index, ), {"perm": tuple(tuple(row) for row in perm), "axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def mesh_index(self, *, axis_name: str, mesh: Sequence[int], axis: int) -> V:
        """``y = the position of this rank along an axis of the mesh``; known only where the program runs."""
        (result,) = self.apply(self.dialect["mesh_index"], (), {"axis_name": axis_name, "mesh": tuple(mesh), "axis": axis})
        return result

    def stop_gradient(self, x: V) -> V:
        """``y = x; dy = 0``."""
        (result,) = self.apply(self.dialect["stop_gradient"], (x, ), {})
        return result

    def checkpoint_name(self, x: V, *, label: str) -> V:
        """``y = x``, under a name that checkpoint policies can refer to; ``dy = dx``."""
        (result,) = self.apply(self.dialect["checkpoint_name"], (x, ), {"label": label})
        return result

    def optimization_barrier(self, *xs: V) -> tuple[V, ...]:
        """``y... = x...``, which hides the values: equal computations before and behind it are not merged."""
        return self.apply(self.dialect["optimization_barrier"], (*xs, ), {})

    def undefined_value(self, *xs: V, message: str, results: Sequence[ValueType]) -> tuple[V, ...]:
        """Values that no rule can compute; evaluating or lowering them is the error `message`."""
        return self.apply(self.dialect["undefined_value"], (*xs, ), {"message": message, "results": tuple(results)})

    def checkpoint_call(self, *xs: V, callee: str, policy: str, labels: str, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...)``, of which only what `policy` allows is kept for the backward pass."""
        return self.apply(self.dialect["checkpoint_call"], (*xs, ), {"callee": callee, "policy": policy, "labels": labels, "results": tuple(results)})

    def custom_jvp_call(self, *xs: V, callee: str, rule: str, closed_over: int, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...); dy... = `` the second half of ``rule(x..., dx...)``, a user's function."""
        return self.apply(self.dialect["custom_jvp_call"], (*xs, ), {"callee": callee, "rule": rule, "closed_over": closed_over, "results": tuple(results)})

    def custom_vjp_call(self, *xs: V, callee: str, fwd: str, bwd: str, closed_over: int, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...)``, whose pullback is a user's: ``bwd(residuals..., dy...)``."""
        return self.apply(self.dialect["custom_vjp_call"], (*xs, ), {"callee": callee, "fwd": fwd, "bwd": bwd, "closed_over": closed_over, "results": tuple(results)})

    def custom_vjp_linear(self, *xs: V, callee: str, bwd: str, residual_count: int, shape_operand_count: int, results: Sequence[ValueType]) -> tuple[V, ...]:
        """The linear part of a `custom_vjp_call`: ``dy... = transpose of bwd(residuals, .) at dx...``."""
        return self.apply(self.dialect["custom_vjp_linear"], (*xs, ), {"callee": callee, "bwd": bwd, "residual_count": residual_count, "shape_operand_count": shape_operand_count, "results": tuple(results)})

    def while_pullback(self, steps: V, *xs: V, callee: str, body: str, body_constants: int, state_count: int, saved_states: int, active: Sequence[int], results: Sequence[ValueType]) -> tuple[V, ...]:
        """``cotangents of (d..., state...) = pullback of `steps` iterations of state = body(d..., state...)``."""
        return self.apply(self.dialect["while_pullback"], (steps, *xs, ), {"callee": callee, "body": body, "body_constants": body_constants, "state_count": state_count, "saved_states": saved_states, "active": tuple(active), "results": tuple(results)})

    def custom_batch_call(self, *xs: V, callee: str, rule: str, derivation: Sequence[Sequence[int]], results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...)``, which the batch engine maps by `rule` in place of mapping `callee`."""
        return self.apply(self.dialect["custom_batch_call"], (*xs, ), {"callee": callee, "rule": rule, "derivation": tuple(tuple(row) for row in derivation), "results": tuple(results)})

    def routine(self, *xs: V, callee: str, kernel: str, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y... = callee(x...)``, which a target may compute by its kernel of the name `kernel`."""
        return self.apply(self.dialect["routine"], (*xs, ), {"callee": callee, "kernel": kernel, "results": tuple(results)})

    def linear_routine(self, *xs: V, callee: str, kernel: str, transposed: str, transposed_kernel: str, results: Sequence[ValueType]) -> tuple[V, ...]:
        """``y = callee(x..., z)``, linear in `z`, a routine whose transpose is a routine."""
        return self.apply(self.dialect["linear_routine"], (*xs, ), {"callee": callee, "kernel": kernel, "transposed": transposed, "transposed_kernel": transposed_kernel, "results": tuple(results)})

    def print(self, *xs: V, format: str) -> None:
        """Show the operands when the program reaches this point, under the text `format`."""
        self.apply(self.dialect["print"], (*xs, ), {"format": format})

    def check(self, predicate: V, *, message: str) -> None:
        """Stop the program with the error `message` unless `predicate` holds; it survives into the artifact."""
        self.apply(self.dialect["check"], (predicate, ), {"message": message})

    def host_call(self, *xs: V, callback: str, result_types: Sequence[ValueType], mapping: str, batches: Sequence[Sequence[int]]) -> tuple[V, ...]:
        """``y... = callback(x...)``, by a Python function without effects: it may run more than once, or never."""
        return self.apply(self.dialect["host_call"], (*xs, ), {"callback": callback, "result_types": tuple(result_types), "mapping": mapping, "batches": tuple(tuple(row) for row in batches)})

    def host_effect(self, *xs: V, callback: str, result_types: Sequence[ValueType], mapping: str, batches: Sequence[Sequence[int]], ignores_tangents: bool) -> tuple[V, ...]:
        """``y... = callback(x...)``, by a Python function that does something: it runs once, in program order."""
        return self.apply(self.dialect["host_effect"], (*xs, ), {"callback": callback, "result_types": tuple(result_types), "mapping": mapping, "batches": tuple(tuple(row) for row in batches), "ignores_tangents": ignores_tangents})
