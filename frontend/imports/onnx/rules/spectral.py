"""Fourier transforms and their windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ....library.fft import numpy_names as fft
from ..calls import Call, axis_of, computed_here, constant, elements, known_int, possible


def dft(call: Call, x: Any, length: Any = None, axis: Any = None) -> Any:
    """The discrete Fourier transform; complex numbers are pairs along the last axis."""
    place = (
        call.integer("axis", 1) if call.opset < 20 else -2 if axis is None else int(known_int(axis, "axis"))
    )
    at = axis_of(place, x.ndim)
    inverse, one_sided = call.flag("inverse"), call.flag("onesided")
    count = None if length is None else int(known_int(length, "dft_length"))
    if count is not None:
        possible([count if i == at else n for i, n in enumerate(x.shape)])
        computed_here((count,), "its factors")
    if inverse and one_sided:
        full = count if count is not None else 2 * (x.shape[at] - 1)
        return xp.expand_dims(fft.irfft(_complex(x), n=full, axis=at), -1).astype(x.dtype)
    if one_sided:
        return pairs(fft.rfft(x[..., 0], n=count, axis=at), x.dtype)
    values = x[..., 0] if x.shape[-1] == 1 else _complex(x)
    return pairs((fft.ifft if inverse else fft.fft)(values, n=count, axis=at), x.dtype)


def _complex(x: Any) -> Any:
    wide = x if x.dtype.itemsize >= 4 else x.astype(np.float32)
    return wide[..., 0] + 1j * wide[..., 1]


def pairs(values: Any, dtype: np.dtype) -> Any:
    return xp.stack([xp.real(values), xp.imag(values)], axis=-1).astype(dtype)


def stft(call: Call, signal: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    """Fourier transforms of frames of a signal."""
    size = window.shape[0] if length is None else int(known_int(length, "frame_length"))
    hop = int(known_int(step, "frame_step"))
    flat = signal if signal.ndim == 2 else signal[..., 0] if signal.shape[-1] == 1 else _complex(signal)
    starts = np.arange((flat.shape[1] - size) // hop + 1) * hop
    frames = flat[:, constant(starts[:, None] + np.arange(size)[None])]
    if window is not None:
        frames = frames * window
    one_sided = call.flag("onesided", True) and frames.dtype.kind != "c"
    return pairs((fft.rfft if one_sided else fft.fft)(frames, axis=-1), signal.dtype)


def mel_weight_matrix(call: Call, bins: Any, length: Any, rate: Any, lowest: Any, highest: Any) -> Any:
    """Triangles of equal width in mel that weigh the bins of a spectrum."""
    count, size, sampling = (
        int(known_int(v, n)) for v, n in ((bins, "bins"), (length, "length"), (rate, "rate"))
    )
    computed_here((size // 2 + 1, count), "its result")
    low, high = (elements(v, "hertz").item() for v in (lowest, highest))
    ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
    mel = ends[0] + np.arange(count + 2) * (ends[1] - ends[0]) / (count + 2)
    at = ((size + 1) * (700 * (10 ** (mel / 2595) - 1)) // sampling).astype(int)
    matrix = np.zeros((size // 2 + 1, count))
    for i in range(count):
        lower, centre, upper = at[i : i + 3]
        if centre == lower:
            matrix[centre, i] = 1
        else:
            matrix[lower : centre + 1, i] = (np.arange(lower, centre + 1) - lower) / (centre - lower)
        if upper != centre:
            matrix[centre:upper, i] = (upper - np.arange(centre, upper)) / (upper - centre)
    return constant(matrix.astype(call.dtype("output_datatype", np.dtype(np.float32))))
