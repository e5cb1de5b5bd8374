"""Arrays of other libraries that offer DLPack.

Input: a value with `__dlpack__`. Output: an `Array` over its memory where it lies on a CUDA device, else the
NumPy array that shares its memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from .array import Array
from .locations import user_location_text

_CUDA = 2  # DLPack's number, as in runtime/execute/dlpack.py, which opens the runtime


def of_dlpack(value: Any) -> Array | np.ndarray:
    """What `value` exports, where it lies."""
    if not hasattr(value, "__dlpack__"):
        raise ArgumentTypeError(
            f"from_dlpack: expected an array that exports DLPack, got {type(value).__name__}",
            where=user_location_text(),
        )
    place = getattr(value, "__dlpack_device__", None)
    if place is None or int(place()[0]) != _CUDA:
        return np.from_dlpack(value)
    from ...runtime.execute.dlpack import import_array

    return Array(import_array(value))
