"""Argument leaves on their way to the runtime."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.array import DeviceArray
from .array import Array


def runtime_argument(leaf: Any, dtype: np.dtype) -> DeviceArray | np.ndarray:
    """One argument leaf as the runtime takes it."""
    if type(leaf) is np.ndarray:
        return leaf
    if isinstance(leaf, Array):
        return leaf.buffer if leaf.buffer is not None else leaf.numpy()
    if isinstance(leaf, (bool, int, float, complex)):
        return np.asarray(leaf, dtype=dtype)
    if hasattr(leaf, "__dlpack__") and not isinstance(leaf, np.ndarray):
        return np.from_dlpack(leaf)
    return np.asarray(leaf)
