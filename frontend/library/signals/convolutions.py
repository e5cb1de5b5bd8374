"""Convolution and correlation of arrays of any rank, directly or by Fourier transforms, under SciPy's names.

Input: two arrays of one rank with static sizes. Output: their sums of products, cut to `full`, `same` (the
size of the first one) or `valid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.types import BOOL, INEXACT, INT32
from ...tracing.jax_rules import follows_jax
from ...tracing.sizes import Dim
from .. import numpy as xp
from ..fft import numpy_names as fft
from ..lax.contractions import conv_general_dilated
from ..numpy.arguments import argument_error, float_value, normalize_axes, shape_error
from ..numpy.promotion import promote, type_text

MODES = ("full", "same", "valid")


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Any:
    """The convolution of two arrays of one rank.

    `mode` is `full` (all overlaps, `n + m - 1` an axis), `same` (the size of `in1`, the middle of those) or
    `valid` (no padding). `method` is `direct` (also for `auto`) or `fft`. `precision` has no effect: nothing
    is narrowed. Raises `ShapeError` for two ranks or dynamic sizes.
    """
    del precision
    x, y = _operands("convolve", in1, in2, mode)
    if _method("convolve", method) == "fft":
        return fftconvolve(x, y, mode)
    return _direct("convolve", x, y, mode)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Any:
    """The cross-correlation: `convolve` of `in1` and `in2`, which is reversed and conjugated."""
    _, y = _operands("correlate", in1, in2, mode)
    return convolve(in1, xp.flip(_conjugated(y)), mode, method, precision)


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Any:
    """The convolution of two matrices. Beyond its edges `in1` is `fillvalue` (`boundary` fill), or repeated
    (`wrap`), or mirrored (`symm`)."""
    del precision
    x, y = _operands("convolve2d", in1, in2, mode)
    if x.ndim != 2:
        raise shape_error(f"convolve2d: expected matrices, got {type_text(x)} and {type_text(y)}")
    modes = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
    if boundary not in modes:
        raise argument_error(f"convolve2d: boundary is {boundary!r}, expected one of {', '.join(modes)}")
    if mode == "valid" or (boundary == "fill" and fillvalue == 0):
        return _direct("convolve2d", x, y, mode)
    widths = _padding(mode, y.shape)
    filled = {"constant_values": fillvalue} if boundary == "fill" else {}
    return _direct("convolve2d", xp.pad(x, widths, modes[boundary], **filled), y, "valid", is_padded=True)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Any:
    """The cross-correlation of two matrices, with the boundaries of `convolve2d`.

    As in SciPy, `same` of an even size is centred one element away from that of a convolution.
    """
    x, y = _operands("correlate2d", in1, in2, mode)
    reversed_y = xp.flip(_conjugated(y))
    if mode != "same":
        return convolve2d(x, reversed_y, mode, boundary, fillvalue, precision)
    full = convolve2d(x, reversed_y, "full", boundary, fillvalue, precision)
    return full[tuple(slice(m // 2, m // 2 + n) for n, m in zip(x.shape, y.shape, strict=True))]


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution along `axes` (all when None) by Fourier transforms; other axes broadcast.

    Integers are computed as float32.
    """
    x, y = _operands("fftconvolve", in1, in2, mode)
    places = sorted(normalize_axes("fftconvolve", axes, x.ndim))
    if mode == "valid":
        _require_nested("fftconvolve", x, y, places)
    for axis in set(range(x.ndim)) - set(places):
        if x.shape[axis] != y.shape[axis] and 1 not in (x.shape[axis], y.shape[axis]):
            raise shape_error(
                f"fftconvolve: {type_text(x)} and {type_text(y)} do not broadcast along axis {axis}"
            )
    if not places:
        return x * y
    lengths = [x.shape[a] + y.shape[a] - 1 for a in places]
    if x.dtype.kind == "c":
        full = fft.ifftn(fft.fftn(x, lengths, places) * fft.fftn(y, lengths, places), lengths, places)
    else:
        product = fft.rfftn(x, lengths, places) * fft.rfftn(y, lengths, places)
        full = fft.irfftn(product, lengths, places)
    cuts = [slice(None)] * x.ndim
    for axis in places:
        n, m = x.shape[axis], y.shape[axis]
        if mode == "same":
            cuts[axis] = slice((m - 1) // 2, (m - 1) // 2 + n)
        if mode == "valid":
            cuts[axis] = slice(min(n, m) - 1, max(n, m))
    return full[tuple(cuts)]


def _conjugated(y: Any) -> Any:
    return xp.conj(y) if y.dtype.kind == "c" else y


def _method(function: str, method: str) -> str:
    if method not in ("auto", "direct", "fft"):
        raise argument_error(f"{function}: method is {method!r}, expected one of auto, direct, fft")
    return method


def _operands(function: str, in1: Any, in2: Any, mode: str) -> tuple[Any, Any]:
    x, y = promote(in1, in2)
    if follows_jax() and x.dtype not in INEXACT:
        x, y = float_value(x), float_value(y)
    if mode not in MODES:
        raise argument_error(f"{function}: mode is {mode!r}, expected one of {', '.join(MODES)}")
    if x.ndim != y.ndim:
        raise shape_error(f"{function}: {type_text(x)} and {type_text(y)} have not the same rank")
    for value in (x, y):
        if any(isinstance(n, Dim) or n == 0 for n in value.shape):
            raise shape_error(f"{function}: expected static sizes above 0, got {type_text(value)}")
    return x, y


def _require_nested(function: str, x: Any, y: Any, axes: Sequence[int]) -> bool:
    """Whether `y` is the larger one; an error where neither is in all `axes`."""
    if all(x.shape[a] >= y.shape[a] for a in axes):
        return False
    if all(x.shape[a] <= y.shape[a] for a in axes):
        return True
    raise shape_error(
        f"{function}: mode valid needs one array that is as large as the other in every axis, "
        f"got {type_text(x)} and {type_text(y)}"
    )


def _padding(mode: str, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Zeros before and after, for a reversed window of `shape`."""
    if mode == "full":
        return [(m - 1, m - 1) for m in shape]
    if mode == "same":
        return [(m - 1 - (m - 1) // 2, (m - 1) // 2) for m in shape]
    return [(0, 0)] * len(shape)


def _direct(function: str, x: Any, y: Any, mode: str, *, is_padded: bool = False) -> Any:
    if x.ndim == 0:
        return x * y
    if mode == "valid" and not is_padded and _require_nested(function, x, y, range(x.ndim)):
        x, y = y, x
    if mode == "full" and x.size < y.size:
        x, y = y, x
    dtype = x.dtype
    if dtype == BOOL:
        x, y = x.astype(INT32), y.astype(INT32)
    result = conv_general_dilated(
        x[None, None], xp.flip(y)[None, None], (1,) * x.ndim, _padding(mode, y.shape)
    )
    return result[0, 0].astype(dtype)
