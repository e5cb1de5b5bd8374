"""Tiles of whole kernels, once IREE has decided what becomes one.

Input: the sizes of the loops of a kernel's root op, the bits of the widest value of its body, and how many
operations that body has. Output: the text of a `compilation_info` attribute, or None for IREE's own choice.
Idea: tiles divide the sizes. A tile that does not has a bound that is known at run time only, and so masks,
which AVX2 does not have (on Zen 3 a store with a mask takes ten times as long as one without). Where nothing
divides, the loop is split into whole steps and a rest; AVX-512 does the end of a row with a mask. The numbers
are measured (`docs/kernels.md`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Final

from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from .texts import divisor, has_many_registers, tiles_text, whole_row

SMALL: Final = 1 << 12  # below so many elements IREE's own tiles are as good
REGISTERS: Final = (4, 3, 2, 5, 6, 7)  # registers a step, the best first: enough to hide the latency of one
WORKGROUPS: Final = 32  # so many at least, that eight threads have four each to share
COMPLEX: Final = 64  # complex numbers of a loop
UNKNOWN_COUNT: Final = 1 << 20  # elements of a kernel, where their number shows at the call
GATHERED: Final = 8  # elements at once that are read one by one
LEAST: Final = 1 << 10  # elements that repay a workgroup of their own
MOST: Final = 1 << 14  # elements of a workgroup, which its core's cache holds
MOST_OF_LONG: Final = 1 << 12  # the same where the body is long
LONG: Final = 32  # operations of a body that is long
WAITING: Final = 1 << 21  # bytes of a result from which on memory is waited for, whatever is computed

MOST_ROWS: Final = 32  # rows that a workgroup reduces
COUNTED_ROWS: Final = 8  # the same where it shows only at the call how many there are
ROW_BYTES: Final = 16384  # how much of a row is reduced at once
BLOCK: Final = 8  # rows and columns of a block that IREE transposes
TRANSPOSED: Final = 4  # the same of ours, with rows and columns that are left
BLOCK_OF_WORKGROUP: Final = 64
MASKED: Final = 512  # bits of vectors of which IREE does what is left under masks


@dataclass(frozen=True, slots=True)
class KernelBody:
    """What is computed in a step: how many operations, and the bits of the widest value among them."""

    bits: int
    operations: int


def elementwise_tiles(target: Target, sizes: Sequence[int], body: KernelBody) -> str | None:
    """Tiles of loops without a reduction, the last of which runs along memory in every operand."""
    count = prod(sizes)
    width = max(target.vector_bits // body.bits, 1)
    if count < SMALL or sizes[-1] < 2 * width:
        return None
    has_masks = target.vector_bits >= 512
    is_flat = len(sizes) == 1
    step = _step(sizes[-1], width)
    is_short = has_many_registers(target) and body.operations < LONG and (is_flat or not has_masks)
    if is_short and (step is None or count * body.bits < 8 * WAITING):
        return None  # with nothing to wait for, IREE's tiles are as good
    if step and step % width and has_many_registers(target):
        step = None  # these have masks
    # A row whose end has a mask is faster than one whose end is done one by one.
    is_masked = step is None and has_masks and not is_flat
    is_peeled = step is None and not is_masked
    # Each register has a mask of its own, and nothing to wait for in a short body.
    registers = 1 if is_masked and body.operations < LONG else REGISTERS[0]
    step = step or min(registers, sizes[-1] // width) * width
    budget = _workgroup(count, body)
    if is_masked and sizes[-1] <= budget:
        last = sizes[-1]
    elif is_masked or is_peeled:
        last = max(budget // step, 1) * step
    else:
        last = divisor(sizes[-1], max(budget, step), step) or step
    return tiles_text(
        distribution=_distribution(sizes, last, budget),
        vector_common_parallel=[1] * (len(sizes) - 1) + [step],
        is_peeled=is_peeled,
    )


def transposed_tiles(target: Target, sizes: Sequence[int], last: Collection[int]) -> str | None:
    """Tiles of loops without a reduction of which operands have two different ones, `last`, along memory.

    `sizes` that show at the call are not positive. Measured (Zen 3): the transpose of 513 x 401 `float32`
    takes 69 us, not 195, of `uint8` 53, not 284. Where blocks of 8 x 8 divide the loops, IREE's tiles are as
    good.
    """
    known = [sizes[loop] for loop in last if sizes[loop] > 0]
    is_whole = len(known) == len(last) and not any(size % BLOCK for size in known)
    is_counted = any(size <= 0 for size in sizes)
    if target.vector_bits >= MASKED or is_whole or any(size < BLOCK for size in known):
        return None
    if not is_counted and prod(sizes) < SMALL:
        return None
    return tiles_text(
        distribution=[BLOCK_OF_WORKGROUP if loop in last else 1 for loop in range(len(sizes))],
        vector_common_parallel=[TRANSPOSED if loop in last else 1 for loop in range(len(sizes))],
        is_peeled=any(size % TRANSPOSED for size in known) or len(known) < len(last),
    )


def complex_tiles(sizes: Sequence[int], body: KernelBody) -> str | None:
    """Tiles of loops over complex numbers, of which IREE makes no vectors: loops of a known length, of which
    LLVM does.

    Measured (Intel Xeon with AVX-512), `z * 2` of 100,003 complex64: 257 -> 26 us; 16 at once are slower.
    """
    count = prod(sizes)
    if count < SMALL:
        return None
    step = min(COMPLEX, sizes[-1])
    budget = _workgroup(count, body)
    last = min(sizes[-1], max(budget // step, 1) * step)
    return tiles_text(
        distribution=_distribution(sizes, last, budget),
        vector_common_parallel=[1] * (len(sizes) - 1) + [step],
        is_peeled=sizes[-1] % step != 0 or sizes[-1] % last != 0,
    )


def counted_complex_tiles(body: KernelBody) -> str:
    """The same of one loop whose length shows at the call."""
    budget = _workgroup(UNKNOWN_COUNT, body) // COMPLEX * COMPLEX
    return tiles_text(distribution=[budget], vector_common_parallel=[COMPLEX], is_peeled=True)


def gathered_element_tiles(sizes: Sequence[int], body: KernelBody) -> str | None:
    """Tiles of loops whose elements are read one by one, a few of the last loop at once.

    The places of the next ones are computed while memory is waited for.
    """
    count = prod(sizes)
    if count < SMALL or sizes[-1] < GATHERED:
        return None
    budget = _workgroup(count, body) // GATHERED * GATHERED
    return tiles_text(
        distribution=_distribution(sizes, min(budget, sizes[-1]), budget),
        vector_common_parallel=[1] * (len(sizes) - 1) + [GATHERED],
        is_peeled=True,
    )


def _distribution(sizes: Sequence[int], last: int, budget: int) -> list[int]:
    """What a workgroup does: `last` of the last loop, and as much of the others as its budget allows."""
    distribution, left = [last], budget // last
    for size in reversed(sizes[:-1]):
        rows = divisor(size, max(left, 1), 1) or 1
        distribution.insert(0, rows)
        left //= rows
    return distribution


def row_reduction_tiles(
    target: Target, sizes: Sequence[int], kept: int, body: KernelBody, *, is_whole: bool
) -> str | None:
    """Tiles of a reduction along memory, over loops of which the first `kept` are not summed over.

    A long body does a few registers of a row at once, since a whole row of it would be long code; `is_whole`
    asks for whole rows, which another op of the kernel goes over again.
    """
    size = sizes[-1]
    width = max(target.vector_bits // body.bits, 1)
    if prod(sizes) < SMALL or size < width:
        return None
    is_row = size * body.bits <= 8 * ROW_BYTES
    step = None if is_whole else _step(size, width)
    if is_row and (step is None or body.operations < LONG):
        step = size
    if step is None:
        return None
    return _row_tiles(sizes, kept, whole_row(size) if step == size else step)


def counted_row_tiles(target: Target, size: int, kept: int, body: KernelBody) -> str | None:
    """Tiles of a reduction of rows of a known size, of which nobody knows how many there are.

    A row at once, where IREE takes parts of several rows. A long body is left to it.
    """
    width = max(target.vector_bits // body.bits, 1)
    if size < width or size * body.bits > 8 * ROW_BYTES or body.operations >= LONG:
        return None
    return tiles_text(
        distribution=[1] * (kept - 1) + [COUNTED_ROWS, 0],
        vector_common_parallel=[1] * kept + [0],
        vector_reduction=[0] * kept + [whole_row(size)],
    )


def gathered_row_tiles(target: Target, sizes: Sequence[int], kept: int, body: KernelBody) -> str | None:
    """Tiles of a reduction of rows whose elements are read one by one: one or two registers at once.

    A whole row of 1000 such elements is 1000 loads in a row, which take LLVM 5 s on x86-64 and minutes on
    AArch64. A step that divides the row may be as well: IREE splits the reduction then, and the loads stay
    outside of the step.
    """
    size = sizes[-1]
    width = max(target.vector_bits // body.bits, 1)
    if size <= 4 * width or width < 2:
        return None
    step = next(n for n in (width, 2 * width, *range(width + 1, 2 * size)) if size % n)
    return _row_tiles(sizes, kept, step)


def _row_tiles(sizes: Sequence[int], kept: int, step: int) -> str:
    """Tiles of some rows a workgroup, each of which is reduced in steps."""
    summed = len(sizes) - kept
    most = max(min(prod(sizes[:kept]) // WORKGROUPS, MOST_ROWS), 1)
    return tiles_text(
        distribution=[1] * (kept - 1) + [divisor(sizes[kept - 1], most, 1) or 1] + [0] * summed,
        vector_common_parallel=[1] * kept + [0] * summed,
        vector_reduction=[0] * kept + [1] * (summed - 1) + [step],
    )


def _step(size: int, width: int) -> int | None:
    """How many elements are done at once: a few registers that divide `size`, None where none do."""
    if size <= REGISTERS[0] * width:
        return size  # a whole row: LLVM cuts it into registers, and no step needs a mask
    return next((n * width for n in REGISTERS if size % (n * width) == 0), None)


def _workgroup(count: int, body: KernelBody) -> int:
    """About how many of `count` elements one workgroup does."""
    most = MOST_OF_LONG if body.operations >= LONG else MOST
    return min(max(count // WORKGROUPS, LEAST), most)
