"""Images of other sizes: `resize` and `scale_and_translate`, under the names of `jax.image`.

Input: an array whose chosen axes have static sizes. Output: the array with these axes resampled.

Idea: resampling is linear and separable, so that each axis is one product with a matrix of weights: the
kernel around each sample, widened by the reduction where `antialias` is set, and normalized (Keys 1981 for
the cubic one, Duchon 1979 for Lanczos'). Sizes are known, so the weights of `resize` are constants.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT64, INEXACT, INT64
from ...tracing.default_dtypes import floating_of
from .. import numpy as xp
from ..numpy.arguments import argument_error, normalize_axes, shape_error, shape_of, static_size
from ..numpy.promotion import asarray_of, same_size, type_text


class ResizeMethod(enum.Enum):
    """The kernel that samples an image."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name such as `bilinear`; `ArgumentError` for other names."""
        if s not in _NAMES:
            raise argument_error(f"method is {s!r}, expected one of {', '.join(_NAMES)}")
        return _NAMES[s]


_NAMES: Final = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
}


def _triangle(x: Any) -> Any:
    return xp.maximum(0.0, 1.0 - x)


def _cubic(x: Any) -> Any:
    inner = ((1.5 * x - 2.5) * x) * x + 1.0
    outer = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return xp.where(x >= 2.0, 0.0, xp.where(x >= 1.0, outer, inner))


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        is_near = x <= 1e-3
        safe = xp.where(is_near, 1.0, x)
        wave = radius * xp.sin(np.pi * safe) * xp.sin(np.pi * safe / radius) / (np.pi**2 * safe**2)
        return xp.where(x > radius, 0.0, xp.where(is_near, 1.0, wave))

    return kernel


_KERNELS: Final[dict[ResizeMethod, Callable[[Any], Any]]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _cubic,
    ResizeMethod.LANCZOS3: _lanczos(3.0),
    ResizeMethod.LANCZOS5: _lanczos(5.0),
}


def resize(
    image: Any, shape: Any, method: str | ResizeMethod, antialias: bool = True, precision: Any = None
) -> Any:
    """`image` resampled to `shape`, of the same rank: `nearest`, `linear`, `cubic`, `lanczos3` or `lanczos5`.

    With `antialias` the kernel is widened where the image shrinks. Integers become float32, except for
    `nearest`, which keeps the dtype. `precision` has no effect: nothing is narrowed.
    """
    del precision
    value, sizes = asarray_of(image), shape_of("resize", shape)
    if len(sizes) != value.ndim:
        raise shape_error(f"resize: shape {sizes} has not the rank of {type_text(value)}")
    kind = _method(method)
    if kind is ResizeMethod.NEAREST:
        return _nearest(value, sizes)
    value = value if value.dtype in INEXACT else value.astype(floating_of(value.dtype))
    for axis, n, m in _resized_axes(value, sizes):
        scale = np.float64(m / n) if n else np.float64(1)
        weights = _weights(n, m, scale, np.float64(0), _KERNELS[kind], antialias)
        value = _along(value, axis, weights)
    return value


def scale_and_translate(
    image: Any,
    shape: Any,
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """`image` scaled and then moved along `spatial_dims`, as an array of `shape`: output position
    `x * scale + translation` shows what was at `x`; what comes from outside is 0.

    `scale` and `translation` hold a number for each of `spatial_dims`, and may be traced and differentiated.
    """
    del precision
    value, sizes = asarray_of(image), shape_of("scale_and_translate", shape)
    if len(sizes) != value.ndim:
        raise shape_error(f"scale_and_translate: shape {sizes} has not the rank of {type_text(value)}")
    kind = _method(method)
    if kind is ResizeMethod.NEAREST:
        raise argument_error(
            "scale_and_translate: method nearest is not supported", "call resize, or method 'linear'"
        )
    value = value if value.dtype in INEXACT else value.astype(floating_of(value.dtype))
    axes = normalize_axes("scale_and_translate", tuple(spatial_dims), value.ndim)
    scales, moves = asarray_of(scale), asarray_of(translation)
    for name, numbers in (("scale", scales), ("translation", moves)):
        if numbers.shape != (len(axes),):
            raise shape_error(
                f"scale_and_translate: expected {len(axes)} numbers as {name}, got {type_text(numbers)}"
            )
    for k, axis in enumerate(axes):
        n = static_size("scale_and_translate", value.shape[axis], f"axis {axis}")
        weights = _weights(n, int(sizes[axis]), scales[k], moves[k], _KERNELS[kind], antialias)
        value = _along(value, axis, weights)
    return value


def _method(method: str | ResizeMethod) -> ResizeMethod:
    if isinstance(method, ResizeMethod):
        return method
    return ResizeMethod.from_string(method)


def _nearest(value: Any, sizes: Sequence[Any]) -> Any:
    for axis, n, m in _resized_axes(value, sizes):
        places = np.floor((np.arange(m, dtype=np.float64) + 0.5) * n / m).astype(INT64)
        value = xp.take(value, places, axis=axis)
    return value


def _resized_axes(value: Any, sizes: Sequence[Any]) -> Iterator[tuple[int, int, int]]:
    """Axes whose size changes, with both sizes, which are known; others keep one that may be named."""
    for axis, (n, m) in enumerate(zip(value.shape, sizes, strict=True)):
        if not same_size(n, m):
            old = static_size("resize", n, f"axis {axis}, which is resized,")
            yield axis, old, static_size("resize", m, f"the new size of axis {axis}")


def _along(value: Any, axis: int, weights: Any) -> Any:
    moved = xp.moveaxis(value, axis, -1)
    return xp.moveaxis(xp.matmul(moved, xp.astype(weights, value.dtype)), -1, axis)


def _weights(n: int, m: int, scale: Any, move: Any, kernel: Callable[[Any], Any], antialias: bool) -> Any:
    """`[n, m]`: how much each of `n` elements counts in each of `m` samples."""
    scale, move = xp.asarray(scale), xp.asarray(move)
    dtype = FLOAT64 if FLOAT64 in (scale.dtype, move.dtype) else np.dtype(np.float32)
    inverse = 1 / xp.astype(scale, dtype)
    width = xp.maximum(inverse, xp.ones_like(inverse)) if antialias else xp.ones_like(inverse)
    samples = (np.arange(m) + 0.5).astype(dtype) * inverse - xp.astype(move, dtype) * inverse - 0.5
    distance = xp.abs(samples[None, :] - np.arange(n).astype(dtype)[:, None]) / width
    weights = kernel(distance)
    total = xp.sum(weights, axis=0, keepdims=True)
    is_large = xp.abs(total) > 1000 * float(np.finfo(np.float32).eps)
    weights = xp.where(is_large, weights / xp.where(is_large, total, 1.0), 0.0)
    is_inside = (samples >= -0.5) & (samples <= n - 0.5)
    return xp.where(is_inside[None, :], weights, 0.0)
