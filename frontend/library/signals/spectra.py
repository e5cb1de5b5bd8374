"""Short-time Fourier transforms and what is averaged over them: `stft`, `istft`, `csd`, `welch`; `detrend`.

Input: signals along one axis of static length. Output: frequencies, times and transforms as in SciPy, whose
conventions of windows, edges and scales these are (Welch 1967; Griffin and Lim 1984 for the inverse).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xp
from ..fft import numpy_names as fft
from ..linalg.leastsquares import lstsq
from ..numpy.arguments import argument_error, float_value, normalize_axis, shape_error, static_size
from ..numpy.promotion import promote, type_text
from .windows import window_of


class _Plan(NamedTuple):
    """How a signal is cut into windows."""

    window: Any
    length: int
    step: int
    points: int


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: None = None) -> Any:
    """`data` less its mean (`type` constant) or the line nearest to it in the least-squares sense (linear)
    along `axis`; with `bp`, a line for each stretch between these breakpoints."""
    del overwrite_data
    value = float_value(data)
    if type not in ("constant", "c", "linear", "l"):
        raise argument_error(f"detrend: type is {type!r}, expected 'linear' or 'constant'")
    place = normalize_axis("detrend", axis, value.ndim)
    if type in ("constant", "c"):
        return value - xp.mean(value, axis=place, keepdims=True)
    length = static_size("detrend", value.shape[place], f"the size of axis {place}")
    breaks = sorted({0, *np.atleast_1d(bp).tolist(), length})
    if breaks[0] < 0 or breaks[-1] > length:
        raise argument_error(f"detrend: breakpoints {bp} lie outside the {length} elements of the axis")
    columns = xp.moveaxis(value, place, 0)
    shape = columns.shape
    columns = xp.reshape(columns, (length, -1)) if columns.ndim > 1 else columns[:, None]
    parts = []
    for low, high in pairwise(breaks):
        n = high - low
        line = np.stack([np.arange(1, n + 1) / n, np.ones(n)], axis=1).astype(value.real.dtype)
        part = columns[low:high]
        parts.append(part - xp.matmul(line, lstsq(line, part)[0]))
    return xp.moveaxis(xp.reshape(xp.concatenate(parts, axis=0), shape), 0, place)


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the Fourier transform of each window of a signal: `[..., frequency, time]`.

    `fs` is the rate of samples; `window` a name, `(name, parameter)` or the elements; `noverlap` half a
    window where None. The signal is continued by half a window at both ends (`boundary` zeros, constant,
    even, odd or None) and padded to whole windows.
    """
    value, place = _signal("stft", x, axis)
    plan = _plan("stft", window, nperseg, noverlap, nfft, value.shape[-1], 256)
    value = _continued("stft", value, boundary, plan.length // 2)
    value = _padded(value, plan) if padded else value
    total = value.shape[-1]
    frequencies, spectrum = _transforms(value, plan, detrend, fs, return_onesided)
    scale = 1 / xp.abs(xp.sum(xp.asarray(plan.window)))
    result = spectrum * xp.astype(scale, value.real.dtype)
    starts = np.arange(0, total - plan.length + 1, plan.step) + (0 if boundary else plan.length / 2)
    times = xp.asarray(starts.astype(np.float32)) / fs
    return frequencies, times, _placed(result, place)


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies and the cross power spectral density of two signals, averaged over their windows (Welch).

    `scaling` is `density` (per frequency) or `spectrum`; `average` is `mean` or `median`, whose bias is
    divided out. The shorter signal is padded by zeros.
    """
    is_same = y is None or y is x
    left, place = _signal("csd", x, axis)
    right = left if is_same else _signal("csd", y, axis)[0]
    if not is_same:
        left, right = promote(left, right)
        longest = max(left.shape[-1], right.shape[-1])
        left, right = (_lengthened(v, longest) for v in (left, right))
    plan = _plan("csd", window, nperseg, noverlap, nfft, left.shape[-1], 256)
    onesided = return_onesided and left.dtype.kind != "c"
    frequencies, of_left = _transforms(left, plan, detrend, fs, onesided)
    of_right = of_left if is_same else _transforms(right, plan, detrend, fs, onesided)[1]
    power = xp.conj(of_left) * of_right
    power = xp.astype(xp.real(power), left.real.dtype) if is_same else power
    power = power * xp.astype(_power_scale(plan.window, fs, scaling), power.real.dtype)
    if onesided:
        doubled = np.full(power.shape[-1], 2.0)
        doubled[0] = 1.0
        doubled[-1] = 1.0 if plan.points % 2 == 0 else 2.0
        power = power * doubled.astype(power.real.dtype)
    return frequencies, _placed(power, place, keep_time=False, average=_average(average))


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies and the power spectral density of a signal: `csd` of it with itself."""
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Any, Any]:
    """Times and the signal whose `stft` is nearest to `Zxx`: windows overlapped, added and divided."""
    value = xp.asarray(Zxx)
    if value.ndim < 2:
        raise shape_error(f"istft: expected an array of at least 2 dimensions, got {type_text(value)}")
    axes = [normalize_axis("istft", a, value.ndim) for a in (freq_axis, time_axis)]
    if axes[0] == axes[1]:
        raise argument_error(f"istft: time_axis and freq_axis are both {axes[0]}")
    value = xp.moveaxis(value, axes, (-2, -1))
    rows, count = (static_size("istft", n, "the sizes of frequency and time") for n in value.shape[-2:])
    whole = 2 * (rows - 1) if input_onesided else rows
    shape, length = window_of("istft", window, nperseg, whole)
    points = nfft if nfft is not None else length if input_onesided and length == whole + 1 else whole
    overlap = length // 2 if noverlap is None else noverlap
    _require("istft", length, overlap, points)
    step = length - overlap
    inverse = fft.irfft(value, points, axis=-2) if input_onesided else fft.ifft(value, points, axis=-2)
    weights = xp.astype(xp.asarray(shape), inverse.real.dtype)
    pieces = xp.moveaxis(inverse[..., :length, :], -1, -2) * (weights * xp.sum(weights))
    total = length + (count - 1) * step
    places = np.arange(count)[:, None] * step + np.arange(length)
    signal = xp.zeros((*value.shape[:-2], total), dtype=inverse.dtype).at[..., places].add(pieces)
    norm = xp.zeros(total, dtype=weights.dtype).at[places].add(weights * weights)
    if boundary:
        half = length // 2
        signal, norm = signal[..., half : total - half], norm[half : total - half]
    signal = signal / xp.where(norm > 1e-10, norm, 1.0)
    if value.ndim > 2:
        signal = xp.moveaxis(signal, -1, axes[1] - 1 if axes[1] > axes[0] else axes[1])
    times = xp.arange(norm.shape[0], dtype=np.float32) / fs
    return times, signal


def _signal(function: str, x: Any, axis: int) -> tuple[Any, int]:
    """The signal with its axis last, and where that was, counted from the end."""
    value = float_value(x)
    place = normalize_axis(function, axis, value.ndim)
    if static_size(function, value.shape[place], "the length of the signal") == 0:
        raise shape_error(f"{function}: axis {place} of {type_text(value)} is empty")
    return xp.moveaxis(value, place, -1), place - value.ndim


def _plan(
    function: str, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None, n: int, most: int
) -> _Plan:
    if isinstance(window, (str, tuple)):
        nperseg = min(most if nperseg is None else nperseg, n)
    shape, length = window_of(function, window, nperseg, n)
    if length > n:
        raise argument_error(f"{function}: the window has {length} elements, the signal {n}")
    overlap = length // 2 if noverlap is None else noverlap
    points = length if nfft is None else nfft
    _require(function, length, overlap, points)
    return _Plan(shape, length, length - overlap, points)


def _require(function: str, length: int, overlap: int, points: int) -> None:
    if length < 1:
        raise argument_error(f"{function}: nperseg is {length}, expected a positive number")
    if not 0 <= overlap < length:
        raise argument_error(f"{function}: noverlap is {overlap}, expected less than nperseg = {length}")
    if points < length:
        raise argument_error(f"{function}: nfft is {points}, expected at least nperseg = {length}")


def _continued(function: str, x: Any, boundary: str | None, width: int) -> Any:
    modes = {"zeros": "constant", "constant": "edge", "even": "reflect", "odd": "reflect"}
    if boundary is None:
        return x
    if boundary not in modes:
        raise argument_error(f"{function}: boundary is {boundary!r}, expected None or {', '.join(modes)}")
    kind = {"reflect_type": "odd"} if boundary == "odd" else {}
    return xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(width, width)], modes[boundary], **kind)


def _padded(x: Any, plan: _Plan) -> Any:
    return _lengthened(x, x.shape[-1] + (plan.length - x.shape[-1]) % plan.step % plan.length)


def _lengthened(x: Any, length: int) -> Any:
    missing = length - x.shape[-1]
    return xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)]) if missing else x


def _transforms(x: Any, plan: _Plan, trend: Any, fs: Any, onesided: bool) -> tuple[Any, Any]:
    """Frequencies, and the transform of each window: `[..., window, frequency]`."""
    count = (x.shape[-1] - plan.length) // plan.step + 1
    places = np.arange(count)[:, None] * plan.step + np.arange(plan.length)
    pieces = _without_trend(trend)(x[..., places])
    pieces = pieces * xp.astype(xp.asarray(plan.window), x.real.dtype)
    if onesided and x.dtype.kind != "c":
        numbers, spectrum = np.fft.rfftfreq(plan.points), fft.rfft(pieces, plan.points)
    else:
        numbers, spectrum = np.fft.fftfreq(plan.points), fft.fft(pieces, plan.points)
    return xp.asarray(numbers.astype(np.float32)) * fs, spectrum


def _without_trend(trend: Any) -> Callable[[Any], Any]:
    if trend is False or trend is None:
        return lambda x: x
    if callable(trend):
        return lambda x: trend(x)
    return lambda x: detrend(x, type=trend)


def _power_scale(window: Any, fs: Any, scaling: str) -> Any:
    weights = xp.asarray(window)
    if scaling == "density":
        return 1 / (fs * xp.sum(weights * weights))
    if scaling == "spectrum":
        return 1 / xp.sum(weights) ** 2
    raise argument_error(f"csd: scaling is {scaling!r}, expected 'density' or 'spectrum'")


def _average(average: str) -> Callable[[Any], Any]:
    if average == "mean":
        return lambda x: xp.mean(x, axis=-1)
    if average != "median":
        raise argument_error(f"csd: average is {average!r}, expected 'mean' or 'median'")

    def median(x: Any) -> Any:
        even = 2 * np.arange(1, (x.shape[-1] - 1) // 2 + 1)
        bias = 1 + float(np.sum(1.0 / (even + 1) - 1.0 / even))
        if x.dtype.kind == "c":
            return (xp.median(xp.real(x), axis=-1) + 1j * xp.median(xp.imag(x), axis=-1)) / bias
        return xp.median(x, axis=-1) / bias

    return median


def _placed(
    x: Any, place: int, *, keep_time: bool = True, average: Callable[[Any], Any] | None = None
) -> Any:
    """`[..., window, frequency]` with windows last (or averaged) and frequencies where the signal was."""
    x = xp.moveaxis(x, -1, -2)
    if average is not None and not keep_time:
        x = average(x)
        return xp.moveaxis(x, -1, place)
    return xp.moveaxis(x, -2, place - 1)
