"""The transform along the last axis, for any length: ``y[k] = sum_j x[j] exp(-2 pi i j k / n)``.

The transforms are routines, for which CPUs and NVIDIA's GPUs have kernels (`passes/lower/kernels/fourier`).
In ops, in and out are pairs of real arrays, real and imaginary parts (None: zero), so that all work is real
matrix products. A length is split as ``n1 * n2`` with ``n1`` at most `DENSE` (Cooley and Tukey 1965): a dense
transform of length `n1`, a product with twiddle factors, and the transform of length `n2`; of one signal by
smaller products still (`by_lanes.py`). A length with a large prime factor becomes a convolution of a length
that is easy (Bluestein 1970). Constants are computed in float64 from exact integers modulo the length.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ....dialects.types import COMPLEX
from ...tracing.interpreter import ops
from .. import numpy as xp
from ..routines import linear_routine
from .angles import angles
from .by_lanes import has_lanes, transform_by_lanes

Parts = tuple[Any, Any]

# The length up to which one product with the matrix of the transform is used: n^2 operations at the speed
# of a matrix product beat n log n ones that wait for memory.
DENSE = 64
# A prime up to here is one dense product too; beyond, three transforms of a power of two cost less.
DENSE_PRIME = 256
# Columns are lanes of vectors as they lie, if there are enough of them and their transforms fit the caches.
FEWEST_COLUMNS = 8
LONGEST_COLUMN = 8192


def spectrum(x: Any, n: int, *, is_inverse: bool = False) -> Any:
    """The transform of length `n` of the last axis of a complex array, or `n` times its inverse."""

    def composed(x: Any) -> Any:
        return whole(_composed(parts(x), n, is_inverse))

    if n == 1:
        return x
    name = "ifft" if is_inverse else "fft"
    return linear_routine(name, composed, name, composed, x)


def column_spectrum(x: Any, n: int, *, is_inverse: bool = False) -> Any:
    """The same along the axis before the last one, as it lies; `has_column_kernel` says for which arrays."""

    def composed(x: Any) -> Any:
        return xp.matrix_transpose(spectrum(xp.matrix_transpose(x), n, is_inverse=is_inverse))

    name = "ifft_columns" if is_inverse else "fft_columns"
    return linear_routine(name, composed, name, composed, x)


def has_column_kernel(n: int, columns: Any) -> bool:
    """Whether columns of so many points, so many of them, are transformed as they lie."""
    return 2 <= n <= LONGEST_COLUMN and isinstance(columns, int) and columns >= FEWEST_COLUMNS


def parts(x: Any) -> Parts:
    """The parts of an array, which may be real."""
    return (ops.real(x), ops.imag(x)) if x.dtype in COMPLEX else (x, None)


def whole(x: Parts) -> Any:
    """The complex array of its parts."""
    re, im = x
    return ops.complex(re, ops.zeros_like(re) if im is None else im)


def transform(x: Parts, n: int) -> Parts:
    """The transform of length `n` of the last axis."""
    return parts(spectrum(whole(x), n))


def inverse(x: Parts, n: int) -> Parts:
    """`n` times the inverse transform."""
    return parts(spectrum(whole(x), n, is_inverse=True))


def _composed(x: Parts, n: int, is_inverse: bool = False) -> Parts:
    """The transform in ops; exchanging the parts before and after turns the sign of the angle."""
    if is_inverse:
        re, im = x
        im, re = _composed((ops.zeros_like(re) if im is None else im, re), n)
        return re, im
    if n == 1:
        return x
    if n <= DENSE:
        return _dense(x, n)
    if has_lanes(n) and x[0].ndim == 1:
        re, im = x
        return transform_by_lanes(re, ops.zeros_like(re) if im is None else im)
    first = _largest_factor(n)
    if first > 1:
        return _split(x, first, n // first)
    return _dense(x, n) if n <= DENSE_PRIME else _bluestein(x, n)


def real_spectrum(x: Any, n: int) -> Any:
    """The first ``n // 2 + 1`` points of the transform of a real array, as a complex array."""

    def composed(x: Any) -> Any:
        return whole(_composed_real(x, n))

    def transposed(y: Any) -> Any:
        # Of the real part of sum y[k] w[k]: the inverse counts the inner points twice.
        return _composed_inverse_real(_weighted(y, n, 0.5), n)

    if not _is_real_routine(n):
        return composed(x)
    return linear_routine("rfft", composed, "rfft_transposed", transposed, x)


def real_signal(x: Any, n: int) -> Any:
    """`n` times the inverse of `real_spectrum`: a real array, of ``n // 2 + 1`` points.

    The imaginary parts of the first point and, of an even length, of the middle one do not count.
    """

    def composed(x: Any) -> Any:
        return _composed_inverse_real(parts(x), n)

    def transposed(y: Any) -> Any:
        return whole(_weighted(whole(_composed_real(y, n)), n, 2.0))

    if not _is_real_routine(n) or x.dtype not in COMPLEX:
        return composed(x)
    return linear_routine("irfft", composed, "irfft_transposed", transposed, x)


def _weighted(points: Any, n: int, inner: float) -> Parts:
    """The conjugates of points, those between the ends times a number."""
    re, im = parts(points)
    weights = np.full(n // 2 + 1, inner)
    weights[[0, -1]] = 1.0
    factors = xp.asarray(weights.astype(re.dtype))
    return re * factors, -im * factors


def _is_real_routine(n: int) -> bool:
    return n % 2 == 0 and n > 2


def _composed_real(x: Any, n: int) -> Parts:
    """The first ``n // 2 + 1`` points of the transform of a real array, in ops.

    An even length above `DENSE` is the transform of half of it, of the complex numbers that the even elements
    make with the odd ones (Cooley, Lewis and Welch 1970): half the work.
    """
    half = n // 2 + 1
    if n == 1:
        return x, None
    if n <= DENSE:
        order = np.arange(n, dtype=np.int64)
        return _product((x, None), *angles(np.outer(order, order[:half]), n))
    if n % 2:
        re, im = transform((x, None), n)
        return re[..., :half], im[..., :half]
    pairs = xp.reshape(x, (*x.shape[:-1], n // 2, 2))
    re, im = transform((pairs[..., 0], pairs[..., 1]), n // 2)
    # z = even + i odd, so that even = (z[k] + conj z[-k]) / 2 and odd = (z[k] - conj z[-k]) / 2i.
    even, odd = _unmixed(_closed(re), _closed(im))
    turned = _turned(odd, *angles(np.arange(half, dtype=np.int64), n))
    return even[0] + turned[0], even[1] + turned[1]


def _composed_inverse_real(x: Parts, n: int) -> Any:
    """`n` times the inverse of `_composed_real`."""
    re, im = x
    if n == 1:
        return re
    middle = n // 2
    if im is None:
        im = ops.zeros_like(re)
    is_free = np.arange(middle + 1) == 0
    is_free[-1] |= n % 2 == 0
    im = xp.where(is_free, xp.zeros((), dtype=im.dtype), im)
    if n <= DENSE:
        order = np.arange(n, dtype=np.int64)
        cos, sin = angles(np.outer(order[: middle + 1], order), n)
        weights = np.where(is_free, 1.0, 2.0)[:, None]
        c, s = (xp.asarray((weights * part).astype(re.dtype)) for part in (cos, sin))
        return xp.matmul(re, c) + xp.matmul(im, s)
    if n % 2:
        re = xp.concatenate([re, xp.flip(re[..., 1:], -1)], axis=-1)
        im = xp.concatenate([im, -xp.flip(im[..., 1:], -1)], axis=-1)
        return inverse((re, im), n)[0]
    even, odd = _unmixed(re, im)
    cos, sin = angles(np.arange(middle + 1, dtype=np.int64), n)
    turned = _turned(odd, cos, -sin)
    points = (2 * (mine - other)[..., :middle] for mine, other in zip(even, turned, strict=True))
    real = inverse((next(points), next(points)), middle)
    return xp.reshape(xp.stack(real, axis=-1), (*re.shape[:-1], n))


def _closed(x: Any) -> Any:
    """A period of points and the first of the next."""
    return xp.concatenate([x, x[..., :1]], axis=-1)


def _unmixed(re: Any, im: Any) -> tuple[Parts, Parts]:
    """Of ``z[0 ... m]`` the halves ``(z[k] + conj z[m - k]) / 2`` and ``(z[k] - conj z[m - k]) / 2i``."""
    back_re, back_im = xp.flip(re, -1), xp.flip(im, -1)
    return ((re + back_re) / 2, (im - back_im) / 2), ((im + back_im) / 2, (back_re - re) / 2)


@lru_cache(maxsize=256)
def _largest_factor(n: int) -> int:
    """The divisor of `n` up to `DENSE` that leaves the fewest stages, with the smallest sum of factors."""
    best: dict[int, tuple[int, int, int]] = {1: (0, 0, 1)}

    def cost(m: int) -> tuple[int, int, int]:
        if m in best:
            return best[m]
        if m <= DENSE:
            best[m] = (1, m, m)
            return best[m]
        cheapest = (1 if m <= DENSE_PRIME else 4, m, 1)
        options = [d for d in range(2, DENSE + 1) if m % d == 0]
        if options:
            cheapest = min((cost(m // d)[0] + 1, cost(m // d)[1] + d, d) for d in options)
        best[m] = cheapest
        return cheapest

    return cost(n)[2]


def _dense(x: Parts, n: int) -> Parts:
    order = np.arange(n, dtype=np.int64)
    cos, sin = angles(np.outer(order, order), n)
    return _product(x, cos, sin)


def _product(x: Parts, cos: np.ndarray, sin: np.ndarray) -> Parts:
    """The last axis times the complex matrix ``cos + i sin``."""
    re, im = x
    c, s = (xp.asarray(m.astype(re.dtype)) for m in (cos, sin))
    if im is None:
        return xp.matmul(re, c), xp.matmul(re, s)
    return xp.matmul(re, c) - xp.matmul(im, s), xp.matmul(re, s) + xp.matmul(im, c)


def _turned(x: Parts, cos: np.ndarray, sin: np.ndarray) -> Parts:
    """Elementwise times ``cos + i sin``."""
    re, im = x
    c, s = (xp.asarray(m.astype(re.dtype)) for m in (cos, sin))
    if im is None:
        return re * c, re * s
    return re * c - im * s, re * s + im * c


def _each(x: Parts, function: Any) -> Parts:
    re, im = x
    return function(re), None if im is None else function(im)


def _split(x: Parts, first: int, second: int) -> Parts:
    """Input ``j1 * second + j2``, output ``k1 + first * k2``."""
    n = first * second
    batch = x[0].shape[:-1]
    # [.., j1, j2] -> [.., j2, j1]: both transforms run over the last axis.
    columns = _each(x, lambda part: xp.matrix_transpose(xp.reshape(part, (*batch, first, second))))
    columns = _composed(columns, first)
    steps = np.outer(np.arange(second, dtype=np.int64), np.arange(first, dtype=np.int64))
    columns = _turned(columns, *angles(steps, n))
    rows = _composed(_each(columns, xp.matrix_transpose), second)
    return _each(rows, lambda part: xp.reshape(xp.matrix_transpose(part), (*batch, n)))


def _bluestein(x: Parts, n: int) -> Parts:
    """``2 j k = j^2 + k^2 - (k - j)^2`` makes the transform a convolution with a chirp."""
    length = _convolution_length(2 * n - 1)
    order = np.arange(n, dtype=np.int64)
    cos, sin = angles(order * order, 2 * n)
    chirp = np.zeros(length, np.complex128)
    chirp[:n] = cos - 1j * sin
    chirp[length - n + 1 :] = chirp[1:n][::-1]
    response = np.fft.fft(chirp) / length
    turned = _each(_turned(x, cos, sin), lambda part: _padded(part, length))
    spectrum = _turned(_composed(turned, length), response.real, response.imag)
    convolved = _each(_composed(spectrum, length, True), lambda part: part[..., :n])
    return _turned(convolved, cos, sin)


@lru_cache(maxsize=256)
def _convolution_length(least: int) -> int:
    """The first length from `least` on that has small factors, 2 often among them."""
    step = 256 if least > 2048 else 64 if least > 256 else 16
    length = -(-least // step) * step
    while _smooth_rest(length) > 1:
        length += step
    return length


def _smooth_rest(n: int) -> int:
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            n //= prime
    return n


def _padded(x: Any, length: int) -> Any:
    zero = xp.zeros((), dtype=x.dtype)
    high = (*(0 for _ in x.shape[:-1]), length - x.shape[-1])
    return ops.pad(x, zero, low=(0,) * x.ndim, high=high, interior=(0,) * x.ndim)


def resized(x: Any, n: int) -> Any:
    """The last axis cut or padded with zeros to `n`."""
    size = x.shape[-1]
    return x if size == n else x[..., :n] if size > n else _padded(x, n)
