"""`numpy.fft`'s functions: lengths, axes and norms around the transform of the last axis.

float32 and complex64 stay narrow, as in NumPy 2; integers and booleans are taken as float64, half precision
as float32. Sizes along the transformed axes are static, others may be dynamic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.types import BFLOAT16, COMPLEX, FLOAT16, FLOAT32
from ...tracing.default_dtypes import floating
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .. import numpy as xp
from ..numpy.arguments import (
    argument_error,
    dtype_error,
    dtype_of,
    float_value,
    integer,
    normalize_axes,
    normalize_axis,
    refuse_out,
    shape_error,
    static_size,
)
from ..numpy.promotion import type_text
from .last_axis import (
    column_spectrum,
    has_column_kernel,
    real_signal,
    real_spectrum,
    resized,
    spectrum,
    whole,
)

_NORMS = (None, "backward", "ortho", "forward")


def _value(x: Any) -> Any:
    value = float_value(x)
    return ops.convert(value, dtype=FLOAT32) if value.dtype in (FLOAT16, BFLOAT16) else value


def _complex(x: Any) -> Any:
    return x if x.dtype in COMPLEX else whole((x, None))


def _scaled(function: str, x: Any, n: int, norm: str | None, *, is_inverse: bool) -> Any:
    """`x` divided by what `norm` says: nothing, ``sqrt(n)`` or `n`."""
    if norm not in _NORMS:
        raise argument_error(f"{function}: norm is {norm!r}, expected 'backward', 'ortho' or 'forward'")
    divides = norm == "forward" if not is_inverse else norm in (None, "backward")
    if norm == "ortho":
        factor = 1 / np.sqrt(n)
    elif divides:
        factor = 1 / n
    else:
        return x
    return x * xp.asarray(np.asarray(factor, x.dtype))


def _is_nothing(x: Any, n: Any) -> bool:
    """Whether the transform is of no points: empty in programs written for JAX, as there; NumPy refuses."""
    return n is None and isinstance(x.shape[-1], int) and x.shape[-1] == 0 and follows_jax()


def _length(function: str, x: Any, n: Any, place: int) -> int:
    """The length of the transform: as given, or that of the last axis of `x`, which was axis `place`."""
    if n is None:
        size = static_size(function, x.shape[-1], f"the size of axis {place}")
    else:
        size = integer(function, n, "n")
    if size < 1:
        raise shape_error(f"{function}: the number of points must be positive, got {size} for {type_text(x)}")
    return size


def _along(
    function: str, a: Any, n: Any, axis: Any, norm: str | None, out: Any, run: Callable[[Any, int], Any]
) -> Any:
    """Move `axis` last, apply ``run(x, n)``, move it back."""
    refuse_out(function, out)
    value = _value(a)
    if value.ndim == 0:
        raise shape_error(f"{function}: expected an array of at least 1 dimension, got {type_text(value)}")
    place = normalize_axis(function, axis, value.ndim)
    if norm not in _NORMS:
        raise argument_error(f"{function}: norm is {norm!r}, expected 'backward', 'ortho' or 'forward'")
    return xp.moveaxis(run(xp.moveaxis(value, place, -1), place), -1, place)


def _columns(
    function: str, a: Any, n: Any, axis: Any, norm: str | None, out: Any, *, is_inverse: bool
) -> Any | None:
    """The transform along an axis before the last one, as it lies; None if that cannot be done."""
    refuse_out(function, out)
    value = _value(a)
    if n is not None or norm not in _NORMS or value.ndim < 2:
        return None
    place = normalize_axis(function, axis, value.ndim)
    shape = value.shape
    if place == value.ndim - 1 or not all(isinstance(size, int) for size in shape[place:]):
        return None
    count = prod(shape[place + 1 :])
    is_empty = any(isinstance(size, int) and size == 0 for size in shape)
    if is_empty or not has_column_kernel(shape[place], count):
        return None
    columns = ops.reshape(_complex(value), shape=(*shape[: place + 1], count))
    points = column_spectrum(columns, shape[place], is_inverse=is_inverse)
    return ops.reshape(_scaled(function, points, shape[place], norm, is_inverse=is_inverse), shape=shape)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The discrete Fourier transform along `axis`, of `n` points (cut or padded with zeros)."""

    def run(x: Any, place: int) -> Any:
        if _is_nothing(x, n):
            return _complex(x)
        size = _length("fft", x, n, place)
        points = spectrum(_complex(resized(x, size)), size)
        return _scaled("fft", points, size, norm, is_inverse=False)

    columns = _columns("fft", a, n, axis, norm, out, is_inverse=False)
    return _along("fft", a, n, axis, norm, out, run) if columns is None else columns


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `fft`."""

    def run(x: Any, place: int) -> Any:
        if _is_nothing(x, n):
            return _complex(x)
        size = _length("ifft", x, n, place)
        points = spectrum(_complex(resized(x, size)), size, is_inverse=True)
        return _scaled("ifft", points, size, norm, is_inverse=True)

    columns = _columns("ifft", a, n, axis, norm, out, is_inverse=True)
    return _along("ifft", a, n, axis, norm, out, run) if columns is None else columns


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The first ``n // 2 + 1`` points of the transform of a real array; the others are their conjugates."""

    def run(x: Any, place: int) -> Any:
        size = _length("rfft", x, n, place)
        points = real_spectrum(resized(x, size), size)
        return _scaled("rfft", points, size, norm, is_inverse=False)

    _refuse_complex("rfft", a)
    return _along("rfft", a, n, axis, norm, out, run)


def _refuse_complex(function: str, a: Any) -> None:
    value = xp.asarray(a)
    if value.dtype in COMPLEX:
        raise dtype_error(f"{function}: expected a real array, got {type_text(value)}", "use fft")


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `rfft`: a real array of `n` points, ``2 * (size - 1)`` by default."""

    def run(x: Any, place: int) -> Any:
        points = n
        if points is None:
            points = 2 * (static_size("irfft", x.shape[-1], f"the size of axis {place}") - 1)
        size = _length("irfft", x, points, place)
        signal = real_signal(resized(x, size // 2 + 1), size)
        return _scaled("irfft", signal, size, norm, is_inverse=True)

    return _along("irfft", a, n, axis, norm, out, run)


_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The real transform of a signal whose second half is the conjugate of its first."""
    if norm not in _NORMS:
        raise argument_error(f"hfft: norm is {norm!r}, expected 'backward', 'ortho' or 'forward'")
    return irfft(xp.conj(_value(a)), n, axis, _OPPOSITE[norm], out)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `hfft`."""
    if norm not in _NORMS:
        raise argument_error(f"ihfft: norm is {norm!r}, expected 'backward', 'ortho' or 'forward'")
    return xp.conj(rfft(a, n, axis, _OPPOSITE[norm], out))


def _shape_and_axes(
    function: str, value: Any, s: Sequence[int | None] | None, axes: Sequence[int] | None
) -> tuple[list[Any], tuple[int, ...]]:
    """One length (or None) and one axis for each transform."""
    if axes is None:
        rank = value.ndim if s is None else len(s)
        if rank > value.ndim:
            raise shape_error(f"{function}: {rank} lengths for an array of {value.ndim} dimensions")
        axes = tuple(range(-rank, 0))
    chosen = normalize_axes(function, tuple(axes), value.ndim)
    lengths = [None] * len(chosen) if s is None else [None if n in (None, -1) else n for n in s]
    if len(lengths) != len(chosen):
        raise shape_error(f"{function}: {len(lengths)} lengths for {len(chosen)} axes")
    return lengths, chosen


def _many(
    function: str,
    transform_one: Any,
    a: Any,
    s: Any,
    axes: Any,
    norm: str | None,
    out: Any,
) -> Any:
    refuse_out(function, out)
    value = _value(a)
    lengths, chosen = _shape_and_axes(function, value, s, axes)
    if not chosen:
        return _complex(value)
    for n, axis in reversed(list(zip(lengths, chosen, strict=True))):
        value = transform_one(value, n, axis, norm)
    return value


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """`fft` along several axes, all by default."""
    return _many("fftn", fft, a, s, axes, norm, out)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `fftn`."""
    return _many("ifftn", ifft, a, s, axes, norm, out)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """`rfft` along the last of the axes, `fft` along the others."""
    refuse_out("rfftn", out)
    value = _value(a)
    lengths, chosen = _some("rfftn", value, s, axes)
    result = rfft(value, lengths[-1], chosen[-1], norm)
    return _many("rfftn", fft, result, lengths[:-1], chosen[:-1], norm, None)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `rfftn`; the last length is ``2 * (size - 1)`` by default."""
    refuse_out("irfftn", out)
    value = _value(a)
    lengths, chosen = _some("irfftn", value, s, axes)
    value = _many("irfftn", ifft, value, lengths[:-1], chosen[:-1], norm, None)
    return irfft(value, lengths[-1], chosen[-1], norm)


def _some(function: str, value: Any, s: Any, axes: Any) -> tuple[list[Any], tuple[int, ...]]:
    lengths, chosen = _shape_and_axes(function, value, s, axes)
    if not chosen:
        raise argument_error(f"{function}: expected at least one axis")
    return lengths, chosen


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """`fft` along two axes."""
    return _many("fft2", fft, a, s, axes, norm, out)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `fft2`."""
    return _many("ifft2", ifft, a, s, axes, norm, out)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """`rfftn` along two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `rfft2`."""
    return irfftn(a, s, axes, norm, out)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the points of `fft`, for samples `d` apart; float32 unless `dtype` is given."""
    del device
    frequencies = np.fft.fftfreq(_count("fftfreq", n), d)
    return xp.asarray(frequencies.astype(floating() if dtype is None else dtype_of("fftfreq", dtype)))


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the points of `rfft`, for samples `d` apart; float32 unless `dtype` is given."""
    del device
    frequencies = np.fft.rfftfreq(_count("rfftfreq", n), d)
    return xp.asarray(frequencies.astype(floating() if dtype is None else dtype_of("rfftfreq", dtype)))


def _count(function: str, n: Any) -> int:
    count = integer(function, n, "n")
    if count < 1:
        raise argument_error(f"{function}: n must be positive, got {count}")
    return count


def fftshift(x: Any, axes: Any = None) -> Any:
    """The zero frequency moved to the middle of `axes`, all by default."""
    value = xp.asarray(x)
    chosen = normalize_axes("fftshift", axes, value.ndim)
    return xp.roll(value, tuple(value.shape[a] // 2 for a in chosen), chosen)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    value = xp.asarray(x)
    chosen = normalize_axes("ifftshift", axes, value.ndim)
    return xp.roll(value, tuple(-(value.shape[a] // 2) for a in chosen), chosen)


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
