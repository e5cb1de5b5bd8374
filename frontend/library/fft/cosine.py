"""Cosine transforms of types 1 to 4 under SciPy's names, each by one Fourier transform.

Input: real arrays (complex ones transform as their parts), lengths as in `fft`. Idea: type 2 permutes even
and odd elements (Makhoul 1980), types 3 and 4 take a transform of twice the length, type 1 one of the
mirrored signal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .. import numpy as xp
from ..numpy.arguments import (
    argument_error,
    float_value,
    normalize_axes,
    normalize_axis,
    shape_error,
    static_size,
)
from ..numpy.promotion import type_text
from .numpy_names import fft, ifft, rfft

_NORMS: Final = (None, "backward", "ortho", "forward")
_INVERSE: Final = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The cosine transform of `type` 1 to 4 along `axis`, cut or padded by zeros to `n` elements.

    `norm` is None or `backward` (no factor), `ortho` (an orthogonal transform) or `forward` (divided by twice
    the length). Half precision is computed in float32.
    """
    return _along("dct", x, type, n, axis, norm, is_inverse=False)


def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of `dct` of the same `type` and `norm`."""
    return _along("idct", x, type, n, axis, norm, is_inverse=True)


def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """`dct` along each of `axes` (all when None), to the sizes `s`."""
    return _many("dctn", dct, x, type, s, axes, norm)


def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """`idct` along each of `axes` (all when None), to the sizes `s`."""
    return _many("idctn", idct, x, type, s, axes, norm)


def _many(
    function: str, transform: Callable[..., Any], x: Any, type: int, s: Any, axes: Any, norm: str | None
) -> Any:
    value = float_value(x)
    if axes is None and s is not None:
        axes = tuple(range(value.ndim - len(s), value.ndim))
    places = normalize_axes(function, axes, value.ndim)
    sizes: Sequence[int | None] = (None,) * len(places) if s is None else tuple(s)
    if len(sizes) != len(places):
        raise argument_error(f"{function}: s has {len(sizes)} sizes for {len(places)} axes")
    for n, axis in zip(sizes, places, strict=True):
        value = transform(value, type, n, axis, norm)
    return value


def _along(
    function: str, x: Any, type: int, n: int | None, axis: int, norm: str | None, *, is_inverse: bool
) -> Any:
    if type not in _INVERSE:
        raise argument_error(f"{function}: type is {type!r}, expected 1, 2, 3 or 4")
    if norm not in _NORMS:
        raise argument_error(f"{function}: norm is {norm!r}, expected None, 'backward', 'ortho' or 'forward'")
    value = float_value(x)
    if value.dtype.kind == "c":
        parts = [
            _along(function, p, type, n, axis, norm, is_inverse=is_inverse) for p in (value.real, value.imag)
        ]
        return parts[0] + 1j * parts[1]
    place = normalize_axis(function, axis, value.ndim)
    value = xp.moveaxis(value, place, -1)
    value = _resized(value, static_size(function, value.shape[-1], "the length"), n)
    length = value.shape[-1]
    if length < (2 if type == 1 else 1):
        raise shape_error(f"{function}: {type_text(value)} is too short for type {type}")
    dtype = value.dtype
    carried = value if dtype.itemsize >= 4 else value.astype(np.float32)
    result = _scaled(carried, type, norm, is_inverse=is_inverse).astype(dtype)
    return xp.moveaxis(result, -1, place)


def _resized(x: Any, have: int, n: int | None) -> Any:
    if n is None or n == have:
        return x
    if n < 1:
        raise argument_error(f"dct: n is {n}, expected a length above 0")
    if n < have:
        return x[..., :n]
    return xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - have)])


def _scaled(x: Any, type: int, norm: str | None, *, is_inverse: bool) -> Any:
    kind = _INVERSE[type] if is_inverse else type
    n = x.shape[-1]
    total = 2 * (n - 1) if type == 1 else 2 * n
    if norm == "ortho":
        return _orthogonal(x, kind, total)
    result = _TRANSFORMS[kind](x)
    is_divided = (norm == "forward") != is_inverse
    return result / total if is_divided else result


def _orthogonal(x: Any, kind: int, total: int) -> Any:
    n = x.shape[-1]
    ends = np.ones(n)
    ends[0] = math.sqrt(2)
    if kind == 1:
        ends[-1] = math.sqrt(2)
    ends = ends.astype(x.dtype)
    x = x * ends if kind in (1, 3) else x
    result = _TRANSFORMS[kind](x) / math.sqrt(total)
    return result / ends if kind in (1, 2) else result


def _rotation(angles: np.ndarray, x: Any) -> np.ndarray:
    return np.exp(1j * angles).astype(np.complex128 if x.dtype == np.float64 else np.complex64)


def _first(x: Any) -> Any:
    mirrored = xp.concatenate([x, x[..., -2:0:-1]], axis=-1)
    return xp.real(rfft(mirrored))


def _second(x: Any) -> Any:
    n = x.shape[-1]
    permuted = xp.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], axis=-1)
    return 2 * xp.real(fft(permuted) * _rotation(-np.pi * np.arange(n) / (2 * n), x))


def _third(x: Any) -> Any:
    n = x.shape[-1]
    turned = x * _rotation(np.pi * np.arange(n) / (2 * n), x)
    return 4 * n * xp.real(ifft(turned, 2 * n)[..., :n]) - x[..., :1]


def _fourth(x: Any) -> Any:
    n = x.shape[-1]
    turned = fft(x * _rotation(-np.pi * np.arange(n) / (2 * n), x), 2 * n)[..., :n]
    return 2 * xp.real(turned * _rotation(-np.pi * (2 * np.arange(n) + 1) / (4 * n), x))


_TRANSFORMS: Final[dict[int, Callable[[Any], Any]]] = {1: _first, 2: _second, 3: _third, 4: _fourth}
