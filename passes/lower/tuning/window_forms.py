"""Forms and tiles of convolutions that IREE compiles.

Input: what is known of the target, the sizes of a convolution over (batch, positions, features), its window,
its dtype. Output: the text of a `compilation_info` attribute, the parts of a batch whose windows are copied,
or which form a large window takes. Those of adze's own kernels are in `convolution_plans.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ....dialects.ops.contraction.convolution_window import Window
from ....dialects.types import COMPLEX, FLOAT32, FLOAT64, FLOATS, INTEGERS
from ....runtime.targets import Target, TargetKind
from . import gpu_products
from .configuration import Size, has_kernels
from .gpu_facts import is_tiled
from .product_forms import row_tiles
from .texts import divisor, divisors, gpu_copy_text, lanes, rounded_up, tiles_text

GPU_VECTOR: Final = 4  # elements that a thread copies at once
GPU_COPYING: Final = 256  # threads of a workgroup that copies
WINDOWS: Final = 1 << 28  # bytes of windows that a convolution copies at once
MOST_PARTS: Final = 64  # of a batch whose windows are copied one after the other
MOST_SHIFTED: Final = 256  # elements of a window that images are shifted by
OF_GROUPS: Final = (32, 64)  # what divides the features and the terms of a group that is a product


def few_positions(positions: Sequence[Size], window: Sequence[Size]) -> bool:
    """Whether a window is so large, and moves so little, that its places are best taken one by one."""
    if not all(isinstance(n, int) for n in (*positions, *window)):
        return False
    return prod(positions) <= 64 and prod(window) >= max(16, 2 * prod(positions))


def is_shifted(
    target: Target,
    sizes: Sequence[Size],
    weights: Sequence[Size],
    groups: tuple[int, int],
    window: Window,
    dtype: np.dtype,
) -> bool:
    """Whether a convolution of each channel over sizes that show at the call is a sum of shifted images.

    `sizes`: of the result (batch, spatial, feature); `weights`: of the kernel (spatial, in, out); `groups`:
    of features and of the batch.
    """
    known = [n for n in weights if isinstance(n, int)]
    if not has_kernels(target) or len(known) < len(weights) or dtype not in (*FLOATS, *INTEGERS):
        return False
    is_of_each_channel = known[-2] == 1 and groups == (known[-1], 1) and sizes[-1] == known[-1]
    is_counted = any(not isinstance(n, int) for n in sizes[1:-1])
    has_all_places = set(window.window_strides) == {1}
    return is_of_each_channel and is_counted and has_all_places and prod(known[:-2]) <= MOST_SHIFTED


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
    rows = next((t for t in row_tiles(target) if places % t == 0), None)
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
    if not is_tiled(target) or not is_known:
        return None
    if not isinstance(sizes[0], int):
        return 1
    copied = prod(sizes[:-1]) * prod(window) * channels * dtype.itemsize
    parts = (d for d in divisors(sizes[0]) if copied <= d * WINDOWS and d <= MOST_PARTS)
    return next(parts, None)


def multiplies_groups(
    target: Target, sizes: Sequence[Size], window: Sequence[Size], channels: Size, dtype: np.dtype
) -> bool:
    """Whether a convolution over (batch, positions, groups, features) is a product for each group.

    Not where no tile divides its features or terms: all windows would be copied once more, to put zeros
    beside them. Counted in PTX, never timed.
    """
    batch, *positions, groups, features = sizes
    if not all(isinstance(n, int) for n in (*sizes, *window, channels)):
        return False
    if any(n % tile for n, tile in zip((features, prod(window) * channels), OF_GROUPS, strict=True)):
        return False
    return window_parts(target, (groups * batch, *positions, features), window, channels, dtype) == 1


def widens_images(target: Target, sizes: Sequence[Size]) -> bool:
    """Whether the halves of a convolution by IREE are widened before it.

    On CUDA IREE refuses those of images whose sizes are not known ("failed to distribute").
    """
    return target.kind is TargetKind.CUDA and not all(isinstance(n, int) for n in sizes)


def copied_windows(target: Target, sizes: Sequence[Size]) -> str | None:
    """Tiles of a copy of the windows of an image on CUDA and RDNA, over (positions, taps, features).

    A thread copies four features. IREE's own tiles are one of them, 32 by a workgroup (NVIDIA H100: 4.7
    million elements in 91 us, a fifth of the memory's bandwidth).
    """
    if not is_tiled(target) or not all(isinstance(n, int) for n in sizes[1:]) or sizes[-1] % GPU_VECTOR:
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
