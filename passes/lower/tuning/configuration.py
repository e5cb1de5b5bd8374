"""What decides speed: forms and tiles of single ops, here of reductions and of ops that move elements.

Input: what is known of the target, the sizes of an op's loops and its dtype. Output: the text of a
`compilation_info` attribute or None, the stages of a reduction, the form of a movement. Those of products, of
convolutions and of sorted rows are in `product_forms.py`, `window_forms.py` and `ordering_forms.py`.
Idea: nothing here changes what is computed. Sizes that are not known get no configuration: IREE's own choice
is better there. The numbers are measured; the benchmarks show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, COMPLEX, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from ....runtime.targets import Target, TargetKind
from .texts import divisor, lanes, tiles_text, whole_row

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"

LARGE: Final = 1 << 16  # arrays from this size on are rather computed again than written and read
SPLIT_FROM: Final = 1 << 14  # a reduction of more elements than this is done in two stages
WOVEN: Final = 8  # columns that are joined element by element
MOST_WOVEN: Final = 16  # the same where each is an array of its own
LEAST_WOVEN: Final = 1 << 11  # elements of a result of more than `WOVEN` columns
LEAST_ROWS: Final = 16  # of a column that is every n-th element of all
FEW_COLUMNS: Final = 4  # the same where there are no kernels of our own
MANY_ROWS: Final = 256
LEAST_STACKED: Final = 32  # rows of what is joined, a vector of the narrowest elements
MOST_STACKED: Final = 5  # columns that are computed where they are joined, unless of columns
PARTS: Final = 4  # arrays of one size that are chosen by their number
REPEATED: Final = 8  # operations of an element that are rather done for each part than stored and read
CALLED: Final = 16  # operations of a function such as the exponential
VECTOR: Final = 1 << 20  # elements of a vector that a CPU reduces in one workgroup
ONE_VECTOR: Final = (FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64)  # the dtypes of such vectors
LONGEST_VECTOR: Final = 1 << 21  # the same where no rows of one length make the vector
LONGEST_ROW: Final = 1 << 14  # elements of rows that divide a vector
ROW: Final = 1024  # the length of the rows that a long vector is split into
ROW_BYTES: Final = 16384  # how much of a row is reduced at once
STRIP_LEAST: Final = 4  # columns at least that are reduced at once
SMALL: Final = 1 << 12  # below so many elements, no configuration: nothing to gain
SIDE_BY_SIDE: Final = 64  # rows enough to keep the vector units busy
LONGEST_BLOCK: Final = 1 << 16  # of a scan: rows of 2**32 elements are cut into as many blocks
MOVED_ROW: Final = 16  # rows of at least so many elements are copied one by one
MOST_FOLDED_ROWS: Final = 1 << 15  # of a scatter on GPUs, through which each element takes its own updates


def has_kernels(target: Target) -> bool:
    """Whether the target runs kernels of our own (`kernels/`): every CPU does."""
    return target.kind is TargetKind.CPU


@dataclass(frozen=True, slots=True)
class Stages:
    """A reduction in two stages: first along the axes `first`, or, as a vector cut into rows of `split`."""

    first: tuple[int, ...]
    split: int | None = None


def reduction_stages(
    target: Target, shape: Sequence[Size], axes: Sequence[int], dtype: np.dtype, *, is_cheap: bool
) -> Stages | None:
    """Whether a reduction of all axes of an array is to be done in two stages, and how.

    One stage would be one workgroup; on GPUs even one invocation, which some drivers stop after 65535
    iterations. On CPUs two kernels take longer than one for a vector that its cache holds, if elements of
    this `dtype` are cheap to compute: measured (AMD EPYC, Zen 4), a sum of 100,000 floats 25 -> 13 us.
    """
    if len(axes) != len(shape):
        return None
    is_static = all(isinstance(n, int) for n in shape)
    count = prod(shape) if is_static else 0
    if is_static and count < SPLIT_FROM:
        return None
    has_loops = has_kernels(target) and dtype in ONE_VECTOR
    has_rows = len(shape) > 1 and isinstance(shape[-1], int) and ROW // 4 <= shape[-1] <= SPLIT_FROM
    if not is_static and has_loops and not has_rows:
        return None  # what is left of rows would be copied, and the rows themselves
    has_loops &= is_static
    row = divisor(count, 2 * ROW, 64) if is_static else None
    if (
        has_loops and row is None
    ):  # rows of any length are better than a rest, for which IREE copies the others
        row = divisor(count, LONGEST_ROW, 1)
        row = row if row is not None and row >= ROW // 2 else None
    if len(shape) == 1 and has_loops and is_cheap and count <= (VECTOR if row else LONGEST_VECTOR):
        return None
    if has_rows:
        return Stages((len(shape) - 1,))
    return Stages((), row or ROW)


def widens_bools(target: Target) -> bool:
    """Whether bools are combined as integers.

    Measured on CPUs: LLVM takes the bits of vectors of comparisons one by one, eight times as long.
    """
    return target.kind is TargetKind.CPU


def weaves(target: Target, shape: Sequence[Size], axis: int, parts: int) -> bool:
    """Whether arrays of few columns are joined along the last axis by choosing each element, where single
    elements would be copied. `shape` is that of the result, of so many `parts`.

    Measured (Intel Xeon with AVX-512), three columns of 33,333: 464 -> 60 us; 3 and 1 of 100,000: 169 -> 107.
    Columns of 20,000 that are arrays of their own: 9 240 -> 107, 12 368 -> 195, 16 700 -> 330; but 9 and 3
    columns 119 -> 152, and 9 columns of 50 8.8 -> 10.8.
    """
    columns = shape[-1]
    is_last = axis == len(shape) - 1 > 0
    if target.kind is not TargetKind.CPU or not is_last or not isinstance(columns, int):
        return False
    known = [n for n in shape if isinstance(n, int)]
    is_large = len(known) < len(shape) or prod(known) >= LEAST_WOVEN
    return columns <= WOVEN or (parts == columns <= MOST_WOVEN and is_large)


def stacks(target: Target, shape: Sequence[Size]) -> bool:
    """Whether columns that are joined to this shape, and are cheap, are computed where they are joined.

    `stack-kernels` has a vector of each then, where IREE computes all of them for each element. Measured
    (AMD EPYC, Zen 4, AVX-512), cross products of 100,000: 75 -> 50 us, Lorenz' attractor of them 69 -> 50.
    """
    known = [n for n in shape if isinstance(n, int)]
    is_few = len(known) == len(shape) and 1 < known[-1] <= WOVEN
    return has_kernels(target) and is_few and known[-2] >= LEAST_STACKED


def takes_columns(target: Target, rows: int | None, columns: int | None) -> bool:
    """Whether a column of as many rows is taken as every n-th element of all, which kernels load as vectors.
    `rows`: None where they show at the call.

    Measured (AMD EPYC, Zen 4), us with AVX-512 and AVX2: `x[..., 0] * x[..., 1] + 1` of 50,000 x 5 92 -> 27
    and 634 -> 27, of 200 x 250 x 2 92 -> 15 and 678 -> 17, `x[..., 1].sum(-1)` of these 4,650 -> 16 and 5,220
    -> 17, of 20,000 x 100 30,000 -> 37.
    """
    if has_kernels(target):
        return rows is None or rows >= LEAST_ROWS
    return rows is not None and columns is not None and columns <= FEW_COLUMNS and rows >= MANY_ROWS


def chooses_parts(target: Target, widths: Sequence[Size]) -> bool:
    """Whether arrays that are put behind each other are chosen by their number, in one kernel with others.

    `widths`: their sizes along the axis that joins them.

    Measured (Intel Xeon with AVX-512), `relu` of two images of 8 x 64 x 64 x 32: 1.46 -> .62 ms.
    """
    is_even = isinstance(widths[0], int) and len(set(widths)) == 1 and 1 < len(widths) <= PARTS
    return target.kind is TargetKind.CPU and is_even


def recomputes_operands(target: Target) -> bool:
    """Whether a reduction of a large array computes a cheap operand itself (`reduction_fusion.py`)."""
    return target.kind is TargetKind.CPU


def takes_complex_apart(target: Target, shape: Sequence[Size]) -> bool:
    """Whether what is computed of complex numbers is stored as real ones before it is reduced.

    Measured (Intel Xeon with AVX-512), the sum of `abs(z) ** 2` of 100,000 complex64: 206 -> 57 us.
    """
    return has_kernels(target) and all(isinstance(n, int) for n in shape) and prod(shape) >= SMALL


def reduction(target: Target, shape: Sequence[Size], axes: Sequence[int], dtype: np.dtype) -> str | None:
    """Tiles of a reduction along `axes`, whose loops are those of the other axes and then its own.

    Where the last axis is reduced, one row at a time; where it is kept, a wide strip of columns at a time,
    so that each line read from memory is used whole.
    """
    if target.kind is not TargetKind.CPU or not all(isinstance(n, int) for n in shape) or prod(shape) < SMALL:
        return None
    if len(axes) == len(shape):
        return None
    kept = [a for a in range(len(shape)) if a not in axes]
    ordered = [shape[a] for a in (*kept, *(a for a in range(len(shape)) if a in axes))]
    return reduction_tiles(target, ordered, len(kept), len(shape) - 1 in axes, dtype)


def reduction_tiles(
    target: Target, sizes: Sequence[int], kept: int, along_rows: bool, dtype: np.dtype
) -> str | None:
    """Tiles of a reduction over loops of these sizes, the first `kept` of which are not summed over.

    `along_rows`: the operand's last axis is the last loop; otherwise it is the last one kept.
    """
    width = lanes(target, dtype)
    if not along_rows:
        return strip_tiles(target, sizes, kept, width)
    limit = ROW_BYTES // dtype.itemsize
    size = sizes[-1]
    # Measured: a whole row is reduced 3 to 5 times faster than in IREE's tiles, also where no register
    # divides it (rows of 1000, 1023, 250, 100, 50).
    is_one_tile = width <= size <= limit
    tile = whole_row(size) if is_one_tile else divisor(size, limit, width)
    if tile is None:
        return None
    distribution = [1] * kept + [0] * (len(sizes) - kept)
    parallel = list(distribution)
    steps = [0] * kept + [1] * (len(sizes) - kept)
    steps[-1] = tile
    distribution[kept - 1] = min(sizes[kept - 1], 32)
    return tiles_text(distribution=distribution, vector_common_parallel=parallel, vector_reduction=steps)


def strip_tiles(target: Target, sizes: Sequence[int], kept: int, width: int) -> str | None:
    """Tiles of a reduction that keeps the operand's last axis: sums of a strip of columns stay in registers.

    Only a power of two of lanes does: of 40 floats (5 registers of AVX2) LLVM keeps the sums in memory, and
    takes ten times as long. Wide strips that do not divide the columns need masks, or are split into whole
    strips and a rest; narrow ones that do are slower (and on AVX-512, strips of 8 in a kernel of two
    reductions take IREE most of a minute to compile).
    """
    chosen = column_strip(target, sizes[kept - 1], width)
    if chosen is None:
        return None
    strip, together, is_peeled = chosen
    ones, zeros = [1] * (kept - 1), [0] * (len(sizes) - kept)
    return tiles_text(
        distribution=[*ones, together, *zeros],
        vector_common_parallel=[*ones, strip, *zeros],
        vector_reduction=[0] * kept + [1] * (len(sizes) - kept),
        is_peeled=is_peeled,
    )


def column_strip(target: Target, columns: int, width: int) -> tuple[int, int, bool] | None:
    """How many of `columns` are reduced at once, how many a workgroup does, and whether there is a rest."""
    has_masks = target.vector_bits >= 512
    strips = [n for n in (8 * width, 4 * width, 2 * width, width, width // 2) if n >= STRIP_LEAST]
    strip = next((n for n in strips if columns % n == 0), None)
    if has_masks and columns > 4 * width and (strip is None or strip < 4 * width):
        return 4 * width, 4 * width, False
    if columns > 32 * width and (strip is None or strip < width):
        return 8 * width, 32 * width, True
    return None if strip is None else (strip, strip, False)


def scan_block(rows: Size, size: Size) -> int | None:
    """The length of the blocks that rows are cut into for a scan, None for whole rows."""
    if (
        not isinstance(rows, int)
        or not isinstance(size, int)
        or rows >= SIDE_BY_SIDE
        or size < 2 * SIDE_BY_SIDE
    ):
        return None
    block = divisor(size, min(int(size**0.5), LONGEST_BLOCK), 1)
    return block if block is not None and block >= 8 else None


def gathers_rows(target: Target, dtype: np.dtype) -> bool:
    """Whether IREE can gather whole rows.

    Observed: on Vulkan it cannot ("failed to get lowering configuration"); wide rows of complex numbers it
    refuses ("'vector.transfer_read' op requires valid padding vector elemental type"). For AArch64 it refuses
    rows of many sizes, such as 100, 500 and 1000 ("operations with large vector sizes (8192 bytes)").
    """
    if target.kind is TargetKind.CPU and target.architecture != "x86_64":
        return False
    return target.kind not in (TargetKind.VULKAN, TargetKind.METAL) and dtype not in COMPLEX


def fuses_taken_elements(target: Target) -> bool:
    """Whether elements that were taken from a computed array may be computed where they are used.

    Observed: on CPUs IREE's aggressive fusion overlooks what a body captures and moves users of the elements
    before what they were taken from ("operand #0 does not dominate this use"); not for CUDA, where each step
    of a search is a launch of its own otherwise.
    """
    return target.kind is TargetKind.CUDA


def moves_rows(target: Target, row: Size, dtype: np.dtype) -> bool:
    """Whether rows of so many elements are moved as a gather of rows."""
    is_long = isinstance(row, int) and row >= MOVED_ROW
    return target.kind is TargetKind.CPU and is_long and gathers_rows(target, dtype)


def chooses_places(
    target: Target, sizes: Sequence[Size], interior: Sequence[int], without_copy: bool
) -> bool:
    """Whether elements with others between them are chosen by their place, not copied into a filled array.

    `sizes` are those of padded axes and of what is around them: all known, nothing is cut. `without_copy`:
    the result needs no copy of its own, since it is whole groups of places or something is computed of it.

    Measured (Intel Xeon with AVX-512), gradients of `x[:, ::2] - x[:, 1::2]` of 1000 x 1000: 3.1 -> .44 ms,
    of windows of 2 x 2 of 8 x 64 x 64 x 32: 4.2 -> .38.
    """
    is_known = all(isinstance(n, int) and n >= 0 for n in sizes)
    return target.kind is TargetKind.CPU and is_known and any(interior) and without_copy


def folds_scatter(target: Target, rows: Size, columns: Size, count: Size, dtype: np.dtype) -> bool:
    """Whether each of `rows` x `columns` elements goes through all of `count` updates, to take its own.

    A scatter by one thread takes some 30 ns for each element of the updates (NVIDIA H100), and a fold by many
    some 0.3 ps for each pair of an element and an update: less, up to some number of rows.
    """
    if target.kind is not TargetKind.CUDA or dtype in COMPLEX or dtype == BOOL:
        return False
    is_static = isinstance(columns, int) and isinstance(count, int)
    return is_static and isinstance(rows, int) and rows <= MOST_FOLDED_ROWS
