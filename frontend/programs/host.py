"""Argument leaves on their way to the runtime."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...runtime.array import DeviceArray
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.interpreter import wide_of
from ..tracing.locations import user_location_text

_KINDS: Final = {bool: "biufVc", int: "iufVc", float: "fVc", complex: "c"}


def runtime_argument(leaf: Any, dtype: np.dtype) -> DeviceArray | np.ndarray:
    """One argument leaf as the runtime takes it."""
    if type(leaf) is np.ndarray:
        return leaf
    if isinstance(leaf, Array):
        leaf = wide_of(leaf)
        return leaf.buffer if leaf.buffer is not None else leaf.numpy()
    if isinstance(leaf, np.generic):
        return np.asarray(leaf)
    if isinstance(leaf, (bool, int, float, complex)):
        return _python_scalar(leaf, dtype)
    if hasattr(leaf, "__dlpack__") and not isinstance(leaf, np.ndarray):
        return np.from_dlpack(leaf)
    if isinstance(leaf, (str, bytes)) or leaf is None or callable(leaf):
        raise ArgumentTypeError(
            f"expected an array or a number, got {type(leaf).__name__}: {str(leaf)[:60]!r}",
            where=user_location_text(),
        )
    return np.asarray(leaf)


def _python_scalar(leaf: bool | int | float | complex, dtype: np.dtype) -> np.ndarray:
    """A Python number in the dtype of its parameter, when that holds it."""
    kind = type(leaf) if type(leaf) in _KINDS else next(k for k in _KINDS if isinstance(leaf, k))
    try:
        if dtype.kind in _KINDS[kind]:
            return np.asarray(leaf, dtype=dtype)
    except OverflowError:
        pass
    raise ArgumentError(
        f"an argument of dtype {dtype.name} was given the Python {kind.__name__} {leaf!r}",
        where=user_location_text(),
        hint=f"give a value that {dtype.name} holds, or trace the function again at this one",
    )
