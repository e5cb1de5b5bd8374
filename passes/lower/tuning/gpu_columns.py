"""Reductions of columns on GPUs: in how many parts of their rows, so that more threads share them.

Input: a target, the sizes of an array and the axes that are reduced. Output: a number of parts, or the axes
that are reduced first. Counted in kernels and run as C, never timed.
Idea: IREE gives each column a thread, and each row of several axes a warp. Of 64 columns of 8192 elements
those are two warps, which wait for memory 8192 times one after the other; and where it fuses two such
reductions, of a variance, its compiler does not end for minutes, for every kind of GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from typing import TYPE_CHECKING, Final, TypeAlias

from ....runtime.targets import Target, TargetKind, lanes_of_lavapipe
from .gpu_facts import BUSY, WARP, is_tiled
from .texts import divisor

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"
LEAST_HIDDEN: Final = 512  # elements of a row that repay a workgroup of their own
LONGEST_SHARED: Final = 4096  # elements that a workgroup takes in one step

WIDEST: Final = 256  # columns as which rows without lanes are reduced first
FEWEST: Final = 8
LOADED: Final = 128  # bits that a thread loads at once
LEAST: Final = 256  # elements of a column that repay a second kernel


def together(columns: int, bits: int) -> int:
    """How many columns a thread reads at once: 16 bytes, or fewer where those of a warp do not divide all."""
    wide = max(LOADED // bits, 1)
    while wide > 1 and columns % (WARP * wide):
        wide //= 2
    return wide


def column_parts(target: Target, batches: int, rows: int, columns: int, bits: int) -> int | None:
    """Into how many equal parts `rows` are cut before `columns` of them are reduced, None where they are not.

    So many that threads hide how long memory takes, but no more than a part has rows: a thread of the second
    kernel goes through all parts. `bits`: those of an element.
    """
    count = batches * columns
    if target.kind is TargetKind.CPU or count <= 0 or rows < LEAST:
        return None
    if is_tiled(target):  # `tile-columns`
        count //= together(columns, bits)
    if count >= BUSY:
        return None
    parts = divisor(rows, min(-(-BUSY // count), isqrt(rows)), 1)
    return parts if parts is not None and parts > 1 else None


def reduced_first(target: Target, shape: Sequence[Size], axes: Sequence[int]) -> tuple[int, ...]:
    """Which of `axes` are reduced before the others: the last ones, where axes between them are kept.

    None of them where there are results enough for warps to occupy a GPU, or rows are short.
    """
    sizes = [n for n in shape if isinstance(n, int)]
    if target.kind is TargetKind.CPU or len(sizes) < len(shape) or len(axes) == len(shape):
        return ()
    last = len(shape)
    while last - 1 in axes:
        last -= 1
    behind = tuple(range(last, len(shape)))
    before = [a for a in axes if a < last]
    results = prod(sizes) // max(prod(sizes[a] for a in axes), 1)
    is_worth = prod(sizes[a] for a in before) > 1 and prod(sizes[last:]) >= LEAST
    return behind if behind and is_worth and 0 < results * WARP < BUSY else ()


def columns_of_rows(target: Target, kept: Sequence[Size], size: Size) -> int | None:
    """As how many columns rows without lanes are reduced first, None where a thread has each row.

    A multiple of a warp where one divides the rows, so that its threads read what lies beside each other.
    """
    if not is_tiled(target) or not isinstance(size, int) or size < 2 * WARP:
        return None
    if not all(isinstance(n, int) for n in kept) or not 0 < prod(kept) < BUSY:
        return None
    most = min(WIDEST, isqrt(size))
    columns = divisor(size, max(most, WARP), WARP) or divisor(size, most, 1)
    return columns if columns is not None and columns >= FEWEST else None


def hides_length(target: Target, shape: Sequence[Size], axes: Sequence[int]) -> bool:
    """Whether IREE is not to know the length of rows that are reduced.

    It gives each row of an unknown length a workgroup, and of a known one a thread unless lanes of full
    vectors divide it: 64 threads sum up f32[64,50257], and one sums up f32[10007].
    """
    *kept, size = shape
    if target.kind is TargetKind.CPU or tuple(axes) != (len(kept),):
        return False
    if not isinstance(size, int) or size < (LEAST_HIDDEN if kept else 2 * WARP):
        return False
    rows = prod(n for n in kept if isinstance(n, int))
    lanes = lanes_of_lavapipe(target) or (2 * WARP if size <= LONGEST_SHARED else 8 * WARP)
    return size % lanes != 0 and rows < BUSY
