"""What NumPy writes with brackets: grids of numbers, and indices to keep."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...tracing.array import Array
from .creation import asarray


class _Grid:
    """`mgrid[0:3, 0:1:5j]` and its open form; floats are float32 as in `arange`."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, key: Any) -> Any:
        found = self._grid[key]
        if isinstance(found, tuple):
            return tuple(map(_filled, found))
        return _filled(found)


def _filled(found: np.ndarray) -> Array:
    filled: Array = asarray(found.astype(np.float32 if found.dtype.kind == "f" else np.int64))
    return filled


mgrid: Final = _Grid(np.mgrid)
ogrid: Final = _Grid(np.ogrid)
s_: Final = np.s_
index_exp: Final = np.index_exp
