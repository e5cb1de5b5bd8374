"""The Fourier transform over trailing axes, by the kind of transform."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ...errors import ArgumentError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from . import numpy_names as transforms


class FftType(enum.Enum):
    """Forward or inverse, of complex or of real values."""

    FFT = "fft"
    IFFT = "ifft"
    RFFT = "rfft"
    IRFFT = "irfft"


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """The transform over the last `len(fft_lengths)` axes, which have these sizes (IRFFT: the result has)."""
    kind = _kind(fft_type)
    value, lengths = as_value(x), tuple(fft_lengths)
    axes = tuple(range(value.ndim - len(lengths), value.ndim))
    expected = (*lengths[:-1], lengths[-1] // 2 + 1) if kind is FftType.IRFFT and lengths else lengths
    if len(lengths) > value.ndim or tuple(value.shape[a] for a in axes) != expected:
        raise ShapeError(
            f"fft: the last axes of {ops.type_of(value)} must have the sizes {expected} for {kind.name} of "
            f"fft_lengths {lengths}",
            where=user_location_text(),
        )
    if not lengths:
        return value
    names = {FftType.FFT: "fftn", FftType.IFFT: "ifftn", FftType.RFFT: "rfftn", FftType.IRFFT: "irfftn"}
    return getattr(transforms, names[kind])(value, s=lengths, axes=axes)


def _kind(fft_type: FftType | str) -> FftType:
    name = getattr(fft_type, "name", fft_type)
    if not isinstance(name, str) or name.upper() not in FftType.__members__:
        raise ArgumentError(
            f"fft_type is {fft_type!r}, expected one of {', '.join(FftType.__members__)}",
            where=user_location_text(),
        )
    return FftType[name.upper()]
