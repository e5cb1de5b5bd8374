"""The one place that decides speed: forms and tiles of single ops.

Input: what is known of the target, the sizes of an op's loops and its dtype. Output: the text of a
`compilation_info` attribute or None, the stages of a reduction, the form of a product.
Idea: nothing here changes what is computed. Sizes that are not known get no configuration: IREE's own choice
is better there. The numbers are measured; the benchmarks show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ....dialects.types import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    INTEGERS,
    UINT32,
    UINT64,
)
from ....runtime.targets import Target, TargetKind
from . import gpu_products, gpu_rows
from .texts import (
    divisor,
    divisors,
    gpu_copy_text,
    has_many_registers,
    lanes,
    rounded_up,
    tiles_text,
    whole_row,
)

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"

LARGE: Final = 1 << 16  # arrays from this size on are rather computed again than written and read
SPLIT_FROM: Final = 1 << 14  # a reduction of more elements than this is done in two stages
WOVEN: Final = 8  # columns that are joined element by element
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
RANKED: Final = 2048  # the longest row whose elements are compared each with each
KERNEL_SORTED: Final = 64  # the longest row that no kernel of our own sorts
FEW_SELECTED: Final = 2  # up to so many greatest elements are searched for one by one
MOVED_ROW: Final = 16  # rows of at least so many elements are copied one by one
ROUNDED_FROM: Final = 1 << 18  # multiplications that repay copies of the operands to sizes that tiles divide


GPU_VECTOR: Final = 4  # elements that a thread copies at once
GPU_COPYING: Final = 256  # threads of a workgroup that copies
MOST_FOLDED_ROWS: Final = 1 << 15  # of a scatter on GPUs, through which each element takes its own updates
WINDOWS: Final = 1 << 28  # bytes of windows that a convolution copies at once
MOST_PARTS: Final = 64  # of a batch whose windows are copied one after the other


def has_kernels(target: Target) -> bool:
    """Whether the target runs kernels of our own (`kernels/`): every CPU does."""
    return target.kind is TargetKind.CPU


@dataclass(frozen=True, slots=True)
class Packing:
    """From which size and for how many rows a right operand is packed, and steps of k in a row then.

    One for targets with 32 vector registers, one for those with 16.
    """

    from_bytes: int
    from_rows: int
    step: int


# The stride of the right operand stalls the tiles: sooner with few registers.
PACKING_32: Final = Packing(1 << 18, 64, 4)
PACKING_16: Final = Packing(1 << 14, 32, 4)


# -- reductions --------------------------------------------------------------------------------


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


def weaves(target: Target, shape: Sequence[Size], axis: int) -> bool:
    """Whether arrays of few columns are joined along the last axis by choosing each element, where single
    elements would be copied. `shape` is that of the result.

    Measured (Intel Xeon with AVX-512), three columns of 33,333: 464 -> 60 us; 3 and 1 of 100,000: 169 -> 107.
    """
    columns = shape[-1]
    is_last = axis == len(shape) - 1 > 0
    return target.kind is TargetKind.CPU and is_last and isinstance(columns, int) and columns <= WOVEN


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
    return _reduction_tiles(target, ordered, len(kept), len(shape) - 1 in axes, dtype)


def _reduction_tiles(
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


def sort_blocks(size: Size) -> int:
    """Into how many blocks (a power of two) rows of `size` elements are cut to be sorted."""
    pieces = 1
    while isinstance(size, int) and size > RANKED * pieces:
        pieces *= 2
    return pieces


def sorts_by_kernel(target: Target, count: Size, size: Size) -> bool:
    """Whether `count` rows of `size` elements are sorted by kernels of our own, on CUDA where both are known.

    On CPUs ranking does four comparisons in the time that a kernel needs for one, and is as fast up to about
    64.
    """
    if searches_by_kernel(target, (count, size)):
        return True
    return has_kernels(target) and (not isinstance(size, int) or size > KERNEL_SORTED)


def selects_by_kernel(target: Target, count: Size, size: Size, k: int) -> bool:
    """Whether the `k` greatest of rows are selected by a kernel of our own."""
    if searches_by_kernel(target, (count, size)):
        return True
    return sorts_by_kernel(target, count, size) and k > FEW_SELECTED


def searches_by_kernel(target: Target, shape: Sequence[Size]) -> bool:
    """Whether elements of rows are searched for, sorted or summed up by kernels for GPUs of our own."""
    return target.kind is TargetKind.CUDA and all(isinstance(n, int) and 0 < n < 1 << 31 for n in shape)


def selects(size: Size, k: int) -> bool:
    """Whether the `k` greatest are searched for one by one instead of taken from the sorted row."""
    return k <= 32 and (not isinstance(size, int) or 8 * k < size)


def searches(size: Size, k: int) -> bool:
    """As `selects`, of rows of known sizes on CUDA, where a search is cheap beside sorting."""
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


# -- products ----------------------------------------------------------------------------------


def vector_product(
    target: Target, sizes: Mapping[str, Size], orders: tuple[str, str], loops: Sequence[str], dtype: np.dtype
) -> str | None:
    """Tiles of a product of a matrix and a vector whose loops are `loops`; the orders are the operands'."""
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    free = next((letter for letter in loops if letter in "mn"), None)
    matrix = orders[0] if free == "m" else orders[1]
    if free is None or "k" not in loops or prod(sizes[letter] for letter in matrix) < SMALL:
        return None
    return _reduction_tiles(target, [sizes[c] for c in loops], len(loops) - 1, matrix.endswith("k"), dtype)


@dataclass(frozen=True, slots=True)
class ProductForm:
    """How a static matrix product is done: register tiles, and what becomes of the right operand first.

    `panel` is the width of the panels (k, panel) that the right operand is repacked into, None for none;
    `transpose` says that it is to be copied from (n, k) to (k, n).
    """

    tiles: str
    panel: int | None = None
    transpose: bool = False


def matrix_product(
    target: Target, sizes: Mapping[str, Size], right_order: str, loops: Sequence[str], dtype: np.dtype
) -> ProductForm | None:
    """Register tiles of two vectors by as many rows as divide `m`, swept over blocks that stay in cache.

    The right operand is read along n. One too large for the cache is first cut into panels, so that it is
    read in order; one that lies along k is first transposed: both copies are cheap beside the product.
    """
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    rows = next((t for t in _row_tiles(target) if m % t == 0), None)
    if rows is None or n % width or min(m, n, k) == 0:
        return None
    if n % (2 * width) and not has_many_registers(target) and _is_rounded(m, n, k, width):
        return None  # to two registers: half a tile would take as long
    columns = 2 * width if n % (2 * width) == 0 else width
    batched = "b" in loops
    ones, zeros = ([1], [0]) if batched else ([], [])
    block_rows = divisor(m, 64 if batched else 128, rows) or rows
    packing = PACKING_32 if has_many_registers(target) else PACKING_16
    if n * k * dtype.itemsize > packing.from_bytes and m >= packing.from_rows:
        tiles = tiles_text(
            distribution=[*ones, block_rows, divisor(n // columns, 4, 1) or 1, columns, 0],
            vector_common_parallel=[*ones, rows, 1, columns, 0],
            vector_reduction=[*zeros, 0, 0, 0, packing.step if k % packing.step == 0 else 1],
        )
        return ProductForm(tiles, panel=columns)
    tiles = tiles_text(
        distribution=[*ones, block_rows, divisor(n, 64 if batched else 256, columns) or columns, 0],
        vector_common_parallel=[*ones, rows, columns, 0],
        vector_reduction=[*zeros, 0, 0, 1],
    )
    return ProductForm(tiles, transpose=right_order.endswith("nk"))


def rounded_product(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> dict[str, Size] | None:
    """Sizes a little larger that register tiles divide, where the copies to get there repay; else None."""
    if target.kind is TargetKind.CUDA and dtype in gpu_products.TILED:
        return gpu_products.rounded(sizes, loops)
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if not _repays_rounding(m, n, k, width):
        return None
    rows = _row_tiles(target)[0]
    has_rows = any(m % t == 0 for t in _row_tiles(target) if t > rows // 2)
    columns = 2 * width if n > 8 * width else width
    whole = width if has_many_registers(target) else columns
    larger = m if has_rows else -(-m // rows) * rows, n if n % whole == 0 else -(-n // columns) * columns
    return None if larger == (m, n) else {**sizes, "m": larger[0], "n": larger[1]}


def widens_factors(target: Target, dtype: np.dtype) -> bool:
    """Whether factors are converted to the dtype of the sums before a product, and sums after it.

    Observed on Vulkan: large products of bfloat16 are refused ("failed to legalize operation
    'vector.bitcast'", from four of them to two floats). On Metal those of 8-bit integers are, since IREE adds
    up four products at once ("Capability 'DotProduct' requires min version v1.6").
    """
    if dtype in (np.int8, np.uint8):
        return target.kind is TargetKind.METAL
    return target.kind in (TargetKind.VULKAN, TargetKind.METAL) and dtype == BFLOAT16


def _repays_rounding(m: int, n: int, k: int, width: int) -> bool:
    """Whether the product is large enough for copies of the operands to other sizes."""
    return min(m, n, k) >= width and m * n * k >= ROUNDED_FROM


def _is_rounded(m: int, n: int, k: int, width: int) -> bool:
    """Whether `n` is to be rounded to two registers: it is wide, and the product is large."""
    return n > 8 * width and _repays_rounding(m, n, k, width)


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


def few_positions(positions: Sequence[Size], window: Sequence[Size]) -> bool:
    """Whether a window is so large, and moves so little, that its places are best taken one by one."""
    if not all(isinstance(n, int) for n in (*positions, *window)):
        return False
    return prod(positions) <= 64 and prod(window) >= max(16, 2 * prod(positions))


def convolution(
    target: Target, sizes: Sequence[Size], window: Sequence[Size], channels: Size, dtype: np.dtype
) -> str | None:
    """Tiles of a convolution over (batch, positions, features), of a window with `channels` at each place.

    Registers hold what a matrix product's do, positions along the last axis being the rows.
    """
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(n, int) for n in (*sizes, *window, channels)):
        return None
    width = lanes(target, dtype)
    places, features = sizes[-2], sizes[-1]
    rows = next((t for t in _row_tiles(target) if places % t == 0), None)
    if rows is None or features % width or channels * prod(window) < width:
        return None
    columns = 2 * width if features % (2 * width) == 0 else width
    ones, zeros = [1] * (len(sizes) - 2), [0] * len(window)
    lines = [divisor(n, 4, 1) or 1 for n in sizes[1:-2]]
    block = divisor(places, 64, rows) or rows
    tiles = tiles_text(
        distribution=[1, *lines, block, divisor(features, 64, columns) or columns, *zeros, 0],
        vector_common_parallel=[*ones, rows, columns, *zeros, 0],
        vector_reduction=[*(0 for _ in sizes), *(1 for _ in window), 8 if channels % 8 == 0 else 1],
    )
    return tiles.replace("DoubleTilingExpert", "ConvTileAndDecomposeExpert")


def window_parts(
    target: Target, sizes: Sequence[Size], window: Sequence[Size], channels: Size, dtype: np.dtype
) -> int | None:
    """Into how many parts the batch of a convolution is cut, each a product over its copied windows.

    None for a convolution that is none: IREE's code of one on CUDA has no multiply-add in float32, and a
    quarter of the instructions of tensor cores in float16 (counted in PTX, never timed).
    """
    if dtype in INTEGERS or dtype in COMPLEX or not all(isinstance(n, int) for n in (*sizes[1:], channels)):
        return None
    parts = copied_parts(target, sizes, window, channels, dtype)
    is_batch_known = isinstance(sizes[0], int)
    if parts is None or not is_batch_known:
        return parts
    return parts if prod(sizes) * prod(window) * channels >= gpu_products.ROUNDED else None


def copied_parts(
    target: Target, sizes: Sequence[Size], window: Sequence[Size], channels: Size, dtype: np.dtype
) -> int | None:
    """Into how many parts the batch is cut, for whose windows there is room; None for no copies.

    A batch whose size is not known is not cut.
    """
    is_known = all(isinstance(n, int) for n in (*sizes[1:], *window, channels))
    if target.kind is not TargetKind.CUDA or not is_known:
        return None
    if not isinstance(sizes[0], int):
        return 1
    copied = prod(sizes[:-1]) * prod(window) * channels * dtype.itemsize
    parts = (d for d in divisors(sizes[0]) if copied <= d * WINDOWS and d <= MOST_PARTS)
    return next(parts, None)


def widens_images(target: Target, sizes: Sequence[Size]) -> bool:
    """Whether the halves of a convolution by IREE are widened before it.

    On CUDA IREE refuses those of images whose sizes are not known ("failed to distribute").
    """
    return target.kind is TargetKind.CUDA and not all(isinstance(n, int) for n in sizes)


def copied_windows(target: Target, sizes: Sequence[Size]) -> str | None:
    """Tiles of a copy of the windows of an image on CUDA, over (positions, taps, features).

    A thread copies four features. IREE's own tiles are one of them, 32 by a workgroup (NVIDIA H100: 4.7
    million elements in 91 us, a fifth of the memory's bandwidth).
    """
    if (
        target.kind is not TargetKind.CUDA
        or not all(isinstance(n, int) for n in sizes[1:])
        or sizes[-1] % GPU_VECTOR
    ):
        return None
    vectors = sizes[-1] // GPU_VECTOR
    row = vectors if vectors <= GPU_COPYING else divisor(vectors, GPU_COPYING, 1) or 1
    threads, tiles = row, [row * GPU_VECTOR]
    for n in reversed(sizes[:-1]):
        tile = (divisor(n, GPU_COPYING // threads, 1) if isinstance(n, int) else None) or 1
        threads *= tile
        tiles.insert(0, tile)
    ones = [1] * (len(sizes) - 1)
    return gpu_copy_text(workgroup=tiles, thread=[*ones, GPU_VECTOR], threads=rounded_up(threads, 32))


def shifts_rows(
    positions: Sequence[int], window: Sequence[int], image: Sequence[Size], summed: Size, features: Size
) -> bool:
    """Whether the places of a large window are taken as shifts of the whole image.

    That saves a copy of the image for each place. It costs the zeros that fill the window's rows, and a
    partial sum for each of the `summed` features, which has to be small beside the copies.
    """
    if not all(isinstance(n, int) for n in (*image, summed, features)):
        return False
    filled = window[0] * prod(image[1:])
    return 4 * filled <= 5 * prod(window) and 2 * features <= prod(window)


def places_beside(batch: Size, places: int) -> int:
    """How many of `places` neighbours of a large window become one matrix: all, where that has few rows."""
    return places if isinstance(batch, int) and batch < 8 and batch * places <= 32 else 1


def _row_tiles(target: Target) -> tuple[int, ...]:
    """Rows of a register tile, the best first: 32 vector registers hold twice as many as 16."""
    return (8, 12, 10, 9, 7, 6, 5, 4, 3, 2) if has_many_registers(target) else (4, 6, 5, 3, 2)


def folds_scatter(target: Target, rows: Size, columns: Size, count: Size, dtype: np.dtype) -> bool:
    """Whether each of `rows` x `columns` elements goes through all of `count` updates, to take its own.

    A scatter by one thread takes some 30 ns for each element of the updates (NVIDIA H100), and a fold by many
    some 0.3 ps for each pair of an element and an update: less, up to some number of rows.
    """
    if target.kind is not TargetKind.CUDA or dtype in COMPLEX or dtype == BOOL:
        return False
    is_static = isinstance(columns, int) and isinstance(count, int)
    return is_static and isinstance(rows, int) and rows <= MOST_FOLDED_ROWS
