"""Which kernels of rows are loops of our own (`kernels/rows.py`), and how many elements they do at once.

Input: a target and what a kernel computes of a row. Output: `RowLoops`, or None where IREE's code is as good.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from ....runtime.targets import Target
from .kernel_sizes import LEAST, SMALL, WORKGROUPS
from .product_tiles import ARCHITECTURES

if TYPE_CHECKING:
    from ..kernels.row_programs import RowProgram

CHEAP: Final = 8  # operations of an element that are rather done again in a second loop than kept
SHORT: Final = 12  # operations of an element that leave time to wait for the last addition
GATHER: Final = 8  # operations that take as long as reading an element at any place
LONGEST: Final = 200  # operations of an element that are not too much code


@dataclass(frozen=True, slots=True)
class RowLoops:
    """Elements of a vector, vectors at once where a row is reduced and stored, and rows of a workgroup."""

    width: int
    sums: int
    stores: int
    block: int


def row_loops(target: Target, program: RowProgram) -> RowLoops | None:
    """The loops of a kernel of rows."""
    width = max(target.vector_bits // program.bits, 1)
    *outer, size = program.sizes
    rows = prod(outer)
    if target.architecture not in ARCHITECTURES or width < 2 or size < 2 * width or rows * size < SMALL:
        return None
    operations = _operations(program)
    if operations is None or operations > LONGEST:
        return None
    fit = max(size // width, 1)
    together = 4 if operations <= SHORT else 2
    block = max(min(rows // WORKGROUPS, rows), -(-LEAST // size), 1)
    return RowLoops(width, min(together, fit), min(together, fit), min(block, rows))


def _operations(program: RowProgram) -> int | None:
    """How many operations an element takes in all loops; None where long ones were to be done twice."""
    sums = [step for step in program.steps if step.sums]
    stored = [step for step, _ in program.stores if step.has_elements and not step.sums]
    loops: dict[int, list[int]] = {}
    for step in (*sums, *stored):
        depth = step.depth if step.sums else -1
        found = loops.setdefault(depth, [])
        found += [
            n for n, each in enumerate(program.steps) if each in program.in_loop(step) and n not in found
        ]
    counts = [len(step.operations) + GATHER * len(step.gathered) for step in program.steps]
    visits = [sum(n in found for found in loops.values()) for n in range(len(counts))]
    if any(visit > 1 and count > CHEAP for visit, count in zip(visits, counts, strict=True)):
        return None
    return sum(count for visit, count in zip(visits, counts, strict=True) if visit)
