"""Windows of signals by name, as SciPy's `get_window` has them: periodic, so that their transforms are even.

Input: a name, a pair of a name and its parameter, or the elements. Output: a NumPy vector, or the array that
was passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import asarray_of, type_text


def _cosines(*weights: float) -> Callable[[int], np.ndarray]:
    def window(n: int) -> np.ndarray:
        angle = 2 * np.pi * np.arange(n) / max(n - 1, 1)
        return np.sum([(-1) ** k * w * np.cos(k * angle) for k, w in enumerate(weights)], axis=0)

    return window


def _triangle(n: int) -> np.ndarray:
    middle = (n + 1) // 2
    rising = np.arange(1, middle + 1)
    half = (2 * rising - 1) / n if n % 2 == 0 else 2 * rising / (n + 1)
    return np.concatenate([half, half[::-1] if n % 2 == 0 else half[-2::-1]])


def _tukey(n: int, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(n)
    alpha = min(alpha, 1.0)
    edge = np.minimum(np.arange(n), np.arange(n)[::-1]) / (alpha * (n - 1) / 2)
    return np.where(edge < 1, 0.5 * (1 - np.cos(np.pi * np.minimum(edge, 1))), 1.0)


def _gaussian(n: int, std: float) -> np.ndarray:
    return np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / std) ** 2)


def _cosine(n: int) -> np.ndarray:
    return np.sin(np.pi / n * (np.arange(n) + 0.5))


_WINDOWS: Final[dict[str, Callable[..., np.ndarray]]] = {
    "boxcar": np.ones,
    "hann": _cosines(0.5, 0.5),
    "hamming": _cosines(0.54, 0.46),
    "blackman": _cosines(0.42, 0.5, 0.08),
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": _cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "bartlett": np.bartlett,
    "triang": _triangle,
    "cosine": _cosine,
    "tukey": _tukey,
    "gaussian": _gaussian,
    "kaiser": np.kaiser,
}
_OTHER_NAMES: Final = {"hanning": "hann", "box": "boxcar", "ones": "boxcar", "rectangular": "boxcar"}
_WITH_PARAMETER: Final = ("gaussian", "kaiser")


def window_of(function: str, window: Any, length: int | None, default_length: int) -> tuple[Any, int]:
    """The window and its length, `default_length` where `length` is None and the window is a name."""
    if isinstance(window, (str, tuple)):
        n = default_length if length is None else length
        return _named(function, window, n), n
    value = asarray_of(window)
    if value.ndim != 1 or (length is not None and length != value.shape[0]):
        wanted = "a vector" if length is None else f"a vector of nperseg = {length} elements"
        raise shape_error(f"{function}: expected the window as {wanted}, got {type_text(value)}")
    return value, int(value.shape[0])


def _named(function: str, window: Any, n: int) -> np.ndarray:
    name, *parameters = (window,) if isinstance(window, str) else window
    name = _OTHER_NAMES.get(name, name)
    if name not in _WINDOWS:
        raise argument_error(
            f"{function}: window {name!r} is not known, expected one of {', '.join(_WINDOWS)}",
            "pass the elements of the window as an array",
        )
    if name in _WITH_PARAMETER and not parameters:
        raise argument_error(f"{function}: window {name!r} needs its parameter: ({name!r}, value)")
    if len(parameters) > (name in (*_WITH_PARAMETER, "tukey")):
        raise argument_error(f"{function}: window {name!r} has not the parameters {tuple(parameters)}")
    return _WINDOWS[name](n + 1, *parameters)[:n] if n > 1 else np.ones(n)
