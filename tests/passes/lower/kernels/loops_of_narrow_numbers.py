"""Loops whose steps reduce arrays of bools and of numbers of one or two bytes, along rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from adze import lax
from adze import numpy as xp

RANDOM: Final = np.random.default_rng(11)

SIZES: Final = ((1, 70), (5, 3), (7, 133), (33, 64), (9, 1700))
"""Rows and columns: fewer than a vector has, several vectors and some elements, more than registers hold."""


def reached(links: Any, from_: Any) -> Any:
    """Which columns are linked to a row, and rows to a column, again and again."""

    def step(i: Any, state: Any) -> Any:
        rows, columns = state
        columns = columns ^ (links & rows[:, None]).any(0)
        return rows ^ (links | columns).all(1) ^ (links & columns).any(1), columns

    return lax.fori_loop(0, 3, step, (from_, links[0]))


def counted(links: Any, from_: Any) -> Any:
    """How many bools are true, in 64 bits."""

    def step(i: Any, state: Any) -> Any:
        rows, columns = state
        return (links & (columns > 1)).sum(1), (links & (rows > i)[:, None]).sum(0)

    return lax.fori_loop(0, 3, step, (from_.astype("int64"), links.sum(0)))


def extrema(x: Any, rows: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        rows, columns = state
        columns = xp.maximum((x ^ rows[:, None]).max(0), columns) + 1
        return (x & columns).min(1), columns

    return lax.fori_loop(0, 3, step, (rows, x[0]))


def sums(x: Any, rows: Any) -> Any:
    """Of halves, which are added in 32 bits."""

    def step(i: Any, state: Any) -> Any:
        rows, columns = state
        columns = (x * rows[:, None]).sum(0) / 4
        return (x * columns).max(1) / 4, columns

    return lax.fori_loop(0, 3, step, (rows, x[0]))


def _pairs(dtype: Any) -> Iterator[list[np.ndarray]]:
    for size in SIZES:
        drawn = RANDOM.integers(-100, 100, size), RANDOM.integers(-100, 100, size[0])
        if np.dtype(dtype).kind == "f":
            yield [(x / 100).astype(dtype) for x in drawn]
        else:
            yield [(x > 40 if dtype is np.bool_ else x.astype(dtype)) for x in drawn]


NARROW: Final = [
    *((reached, pair) for pair in _pairs(np.bool_)),
    *((counted, pair) for pair in _pairs(np.bool_)),
    *((extrema, pair) for dtype in (np.int8, np.uint8, np.int16, np.uint16) for pair in _pairs(dtype)),
    *((sums, pair) for pair in _pairs(np.float16)),
]
