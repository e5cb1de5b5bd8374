"""How rows are sorted, searched and selected from.

Input: what is known of the target, how many rows there are, their size, how many elements are selected.
Output: whether a kernel of adze's own does it, into how many blocks rows are cut, the tiles of ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects.types import FLOAT32, FLOATS, INTEGERS
from ....runtime.targets import Target, TargetKind
from . import gpu_rows
from .configuration import SMALL, Size, has_kernels
from .texts import divisor, lanes, tiles_text

RANKED: Final = 2048  # the longest row whose elements are compared each with each
KERNEL_SORTED: Final = 64  # the longest row that no kernel of our own sorts
MOST_EXCHANGED: Final = 1 << 16  # elements of a row, times those that are kept, times words of an element
EXCHANGE_BYTES: Final = 16 << 10  # of a block of such rows, on the stack
LEAST_LANES: Final = 4
BLOCK_SIZE: Final = 512  # elements of a row, times blocks, that a workgroup is worth
MOST_RUNNING: Final = 16  # elements of a vector whose running values are computed
FEW_SELECTED: Final = 2  # up to so many greatest elements are searched for one by one


def sort_blocks(size: Size) -> int:
    """Into how many blocks (a power of two) rows of `size` elements are cut to be sorted."""
    pieces = 1
    while isinstance(size, int) and size > RANKED * pieces:
        pieces *= 2
    return pieces


def sorts_by_kernel(target: Target, count: Size, size: Size) -> bool:
    """Whether `count` rows of `size` elements are sorted by kernels of our own.

    On CPUs ranking does four comparisons in the time that these need for one, and is as fast up to about 64.
    """
    if target.kind is TargetKind.CUDA:
        return all(not isinstance(n, int) or 0 < n < 1 << 31 for n in (count, size))
    return has_kernels(target) and (not isinstance(size, int) or size > KERNEL_SORTED)


def exchanged_lanes(
    target: Target, word: np.dtype, count: Size, size: int, words: int, kept: int
) -> int | None:
    """How many of `count` rows of `size` elements, of so many words each, are sorted at once by exchanges.

    None where they are sorted otherwise: the time grows with the product of `size` and of how many elements
    are kept. Vectors of few rows are not full.
    """
    if not has_kernels(target) or size < 2:
        return None
    width = lanes(target, word)
    while width > LEAST_LANES and words * size * width * word.itemsize > EXCHANGE_BYTES:
        width //= 2
    unused = max(width / max(count, 1), 1) if isinstance(count, int) else 1
    is_cheap = size * kept * words * unused <= MOST_EXCHANGED
    return width if is_cheap and words * size * width * word.itemsize <= EXCHANGE_BYTES else None


def exchanged_blocks(size: int) -> int:
    """How many blocks of such rows a workgroup has, at least."""
    return max(BLOCK_SIZE // size, 1)


def selects_by_kernel(target: Target, count: Size, size: Size, k: int) -> bool:
    """Whether the `k` greatest of rows are selected by a kernel of our own."""
    if searches_by_kernel(target, (count, size)):
        return True
    return sorts_by_kernel(target, count, size) and k > FEW_SELECTED


def searches_by_kernel(target: Target, shape: Sequence[Size]) -> bool:
    """Whether elements of rows are searched for, sorted or summed up by kernels for GPUs of our own."""
    return target.kind is TargetKind.CUDA and all(isinstance(n, int) and 0 < n < 1 << 31 for n in shape)


def runs_by_vectors(target: Target, shape: Sequence[Size], axis: int, dtype: np.dtype) -> bool:
    """Whether the running values along an axis are computed by the kernel of CPUs."""
    is_real = dtype in FLOATS | INTEGERS
    return has_kernels(target) and is_real and all(isinstance(n, int) and n for n in shape[axis + 1 :])


def running_lanes(target: Target, dtype: np.dtype) -> int:
    """How many elements each vector of that kernel has; more take more shuffles."""
    return min(lanes(target, dtype), MOST_RUNNING)


def selects(size: Size, k: int) -> bool:
    """Whether the `k` greatest are searched for one by one instead of taken from the sorted row."""
    return k <= 32 and (not isinstance(size, int) or 8 * k < size)


def searches(target: Target, sizes: Sequence[Size], k: int) -> bool:
    """As `selects`, by kernels for CUDA, of rows of known sizes: a search is cheap beside sorting."""
    size = sizes[-1]
    if not searches_by_kernel(target, sizes):
        return False
    return k <= (gpu_rows.SELECTED if isinstance(size, int) and size > gpu_rows.SHORT else gpu_rows.FEW)


def ranking(target: Target, count: Size, size: Size) -> str | None:
    """Tiles of counting, for each element of a row, those before it."""
    width = lanes(target, FLOAT32)
    if target.kind is not TargetKind.CPU or not isinstance(size, int) or not isinstance(count, int):
        return None
    tile = divisor(size, 8 * width, width)
    if tile is None or size * size < SMALL:
        return None
    rows = divisor(size, 16 * tile, tile) or tile
    return tiles_text(
        distribution=[1, rows, 0], vector_common_parallel=[1, tile, 0], vector_reduction=[0, 0, 1]
    )
