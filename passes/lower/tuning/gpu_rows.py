"""Kernels of our own for rows on NVIDIA's GPUs: how threads share them.

Input: the sizes of an array before, along and behind the axis that its rows are along. Output: a `Division`;
how many elements a workgroup sorts. Counted in kernels and run as C, never timed.
"""

from __future__ import annotations

from typing import Final

from ....dialects.dataclass import dataclass
from .gpu_facts import BUSY, GROUPS, WARP
from .texts import rounded_up

THREADS: Final = 256  # of a workgroup that shares a row
ELEMENTS: Final = 4  # of such a thread, one behind the other
ALONE: Final = 32  # the longest row that one thread runs along, where rows lie one behind the other
LEAST: Final = 1024  # elements of a row that repay a workgroup of their own
LEAST_OF_THREAD: Final = 32  # elements of a column that repay a thread of their own
MOST: Final = 128  # parts of a row: each thread of a part combines the totals of those before it
MOST_ALONE: Final = 512  # where a thread has a part
SORTED_BYTES: Final = 1 << 14  # of keys that a workgroup sorts in its memory, places of 32 bits beside them
MOST_SORTING: Final = 512  # threads that sort
SELECTED: Final = 32  # the most elements that are searched for one by one in long rows
FEW: Final = 8  # and in short ones, which are as soon sorted
SHORT: Final = 1 << 11


@dataclass(frozen=True, slots=True)
class Division:
    """Each row is cut into `parts` of `length` elements, the last one of fewer.

    A workgroup of `threads` has one part where the row `is_shared`; else each thread has one.
    """

    threads: int
    parts: int
    length: int
    is_shared: bool


def divided(before: int, size: int, behind: int, *, is_complex: bool) -> Division:
    """How the rows of an array `[before, size, behind]` are divided; no size is 0.

    Of complex numbers each thread has its part alone: with some in the memory of a workgroup IREE's compiler
    ends.
    """
    if behind == 1 and size > ALONE and not is_complex:
        return shared(before, size)
    columns = before * behind
    parts = min(-(-BUSY // columns), -(-size // LEAST_OF_THREAD), MOST_ALONE)
    return _of_parts(2 * WARP, size, parts, 1, is_shared=False)


def shared(before: int, size: int) -> Division:
    """As `divided`, of rows that workgroups share however short they are."""
    threads = min(rounded_up(-(-size // ELEMENTS), WARP), THREADS)
    parts = min(-(-2 * GROUPS // before), -(-size // LEAST), MOST) if before < GROUPS else 1
    return _of_parts(threads, size, parts, threads * ELEMENTS, is_shared=True)


def in_one_part(size: int, *, is_shared: bool) -> Division:
    """How rows of few elements are divided that are not to be cut."""
    threads = shared(GROUPS, size).threads if is_shared else 2 * WARP
    return Division(threads, 1, size, is_shared)


def sorted_at_once(size: int, key_bytes: int) -> int:
    """How many elements of a row one workgroup sorts, a power of two."""
    return min(1 << (size - 1).bit_length(), most_sorted_at_once(key_bytes))


def most_sorted_at_once(key_bytes: int) -> int:
    """How many elements of a row one workgroup sorts at most."""
    return SORTED_BYTES // key_bytes


def _of_parts(threads: int, size: int, parts: int, step: int, *, is_shared: bool) -> Division:
    length = rounded_up(-(-size // parts), step)
    return Division(threads, -(-size // length), length, is_shared)
