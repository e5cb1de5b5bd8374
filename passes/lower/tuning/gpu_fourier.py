"""Fourier transforms on NVIDIA's GPUs: how the threads of a workgroup share rows.

Input: the size of rows, their number and the bytes of a part. Output: a `RowShare`, None for rows that a
workgroup has no memory or threads for. Counted in PTX and run as C, never timed.
"""

from __future__ import annotations

from typing import Final

from ....dialects.dataclass import dataclass

MEMORY: Final = 1 << 15  # bytes of the numbers of all rows of a workgroup
MOST_THREADS: Final = 1024
USUAL_THREADS: Final = 128  # rows share a workgroup up to so many
LARGEST_PRIME: Final = 13  # a step of more keeps too many numbers in registers
COLUMNS: Final = 8  # neighbours that are read at once where rows lie one beside the other
_REGISTERS: Final = {4: 8, 8: 4}  # the largest radix by the bytes of a part: its numbers stay in registers


@dataclass(frozen=True, slots=True)
class RowShare:
    """A workgroup transforms `rows` rows, each by `lanes` threads, a butterfly each in a step."""

    rows: int
    lanes: int

    @property
    def threads(self) -> int:
        return self.rows * self.lanes


def largest_radix(itemsize: int) -> int:
    """The largest power of two that is one step, for parts of so many bytes."""
    return _REGISTERS[itemsize]


def row_share(
    size: int, count: int, itemsize: int, radices: tuple[int, ...], *, of_columns: bool
) -> RowShare | None:
    """How workgroups share `count` rows of `size` complex numbers, whose steps have these radices."""
    lanes = size // min(radices)
    most = min(MOST_THREADS // lanes, MEMORY // (2 * itemsize * size))
    if most < 1 or count < 1:
        return None
    if of_columns:
        # Fewer neighbours are not worth it: their sectors would be read several times.
        return RowShare(min(most, COLUMNS), lanes) if most >= COLUMNS // 2 else None
    return RowShare(min(most, max(USUAL_THREADS // lanes, 1), count), lanes)
