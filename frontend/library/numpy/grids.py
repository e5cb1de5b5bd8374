"""What NumPy writes with brackets: grids of numbers, and indices to keep."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...tracing.array import Array
from ...tracing.default_dtypes import floating, integral
from .arguments import argument_error
from .creation import asarray
from .joining import concatenate
from .promotion import asarray_of
from .reshaping import atleast_1d, reshape


class _Grid:
    """`mgrid[0:3, 0:1:5j]` and its open form; floats are float32 as in `arange`."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, key: Any) -> Any:
        grid = self._grid[key]
        if isinstance(grid, tuple):
            return tuple(map(_filled, grid))
        return _filled(grid)


def _filled(grid: np.ndarray) -> Array:
    filled: Array = asarray(grid.astype(floating() if grid.dtype.kind == "f" else integral()))
    return filled


class _Concatenator:
    """`r_[1:4, 0, x]` and `c_[x, y]`: slices become ranges, and everything is joined along an axis."""

    def __init__(self, axis: int, least: int, start: int) -> None:
        self._axis, self._least, self._start = axis, least, start

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, least, start, as_column = self._axis, self._least, self._start, None
        if items and isinstance(items[0], str):
            directive = items.pop(0)
            if directive in ("r", "c"):
                as_column, axis, least, start = directive == "c", -1, 0, -1
            else:
                axis, least, start = _numbers(directive, (axis, least, start))
        parts = [_placed(_part(item), least, start) for item in items]
        joined = concatenate([atleast_1d(p) for p in parts], axis=axis)
        if as_column is not None and joined.ndim == 1:
            joined = joined[:, None] if as_column else joined[None, :]
        return joined


def _numbers(directive: str, defaults: tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        given = [int(n) for n in directive.split(",")]
        axis, least, start = (*given, *defaults[len(given) :])
    except ValueError:
        raise argument_error(
            f"r_: {directive!r} is not a directive, expected 'r', 'c' or up to three integers such as '0,2'"
        ) from None
    return axis, least, start


def _part(item: Any) -> Any:
    """A range for a slice, whose step `5j` counts its elements; anything else as it is."""
    if not isinstance(item, slice):
        return item
    numbers = np.r_[item]
    return _filled(numbers)


def _placed(value: Any, least: int, start: int) -> Any:
    """`value` with unit axes up to `least` ones; its own begin at `start`."""
    if isinstance(value, (bool, int, float, complex)):
        return asarray_of(value) if least == 0 else reshape(asarray_of(value), (1,) * least)
    array = asarray(value)
    missing = least - array.ndim
    if missing <= 0:
        return array
    first = missing + 1 + start if start < 0 else start
    first = min(max(first, 0), missing)
    return reshape(array, (*[1] * first, *array.shape, *[1] * (missing - first)))


r_: Final = _Concatenator(0, 0, -1)
c_: Final = _Concatenator(-1, 2, 0)
mgrid: Final = _Grid(np.mgrid)
ogrid: Final = _Grid(np.ogrid)
s_: Final = np.s_
index_exp: Final = np.index_exp
