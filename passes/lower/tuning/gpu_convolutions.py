"""Convolutions on NVIDIA's GPUs whose features lie before their positions: which are products as they lie.

Input: a target, the sizes and layouts of a convolution, its dtype. Output: into how many parts the batch is
cut, None where images are transposed to channels last. Counted in PTX and run as C, never timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np

from ....dialects.ops.contraction.convolution_window import Layout, Window
from ....dialects.types import COMPLEX, FLOAT32, INTEGERS
from ....runtime.targets import Target
from .configuration import Size
from .gpu_facts import is_tiled
from .gpu_products import DEPTH, LEAST, ROUNDED, TILES
from .window_forms import WINDOWS, copied_parts, window_parts

SUMS: Final = 4 * FLOAT32.itemsize
"""The sums of the images' own products have so many times the bytes of an element of the windows at most."""


MEETINGS: Final = 16  # products that an element of a result is the sum of


def column_parts(
    target: Target,
    layouts: Sequence[Layout],
    sizes: Sequence[Size],
    window: Sequence[Size],
    channels: Size,
    dtype: np.dtype,
) -> int | None:
    """Of a convolution with results `sizes` (batch, positions, features).

    Positions are the columns of its product: where tiles do not divide them, each image would be padded.
    """
    positions = [n for n in sizes[1:-1] if isinstance(n, int)]
    if not all(map(_is_sorted, layouts)) or len(positions) < len(sizes) - 2 or prod(positions) % TILES[1]:
        return None
    return window_parts(target, sizes, window, channels, dtype)


def gradient_parts(
    target: Target,
    layouts: Sequence[Layout],
    sizes: Sequence[Size],
    taps: Sequence[Size],
    channels: Size,
    dtype: np.dtype,
) -> int | None:
    """Of the gradient of a kernel; `sizes`: (batch, positions, features) of the convolution's results.

    Each image has a product of its own: its positions must repay that, and the memory of its sums.
    """
    known = [n for n in sizes if isinstance(n, int)]
    if len(known) < len(sizes) or not all(map(_is_sorted, layouts)) or dtype in COMPLEX or dtype in INTEGERS:
        return None
    places = prod(known[1:-1])
    if places % TILES[1] or places < DEPTH or known[-1] * FLOAT32.itemsize > places * SUMS:
        return None
    return copied_parts(target, sizes, taps, channels, dtype)


def sums_products(
    target: Target, shape: Sequence[int], taps: Sequence[int], features: int, window: Window, dtype: np.dtype
) -> bool:
    """Whether the convolution of a dilated image is one product of all its elements and the whole kernel.

    `shape`: the image's without its zeros, features last. Otherwise each phase is a convolution of its own.
    """
    is_float = dtype not in COMPLEX and dtype not in INTEGERS
    if not is_tiled(target) or not is_float or set(window.rhs_dilation) != {1}:
        return False
    meetings = prod(-(-n // d) for n, d in zip(taps, window.lhs_dilation, strict=True))
    products = prod(shape[:-1]) * prod(taps) * features
    is_worth = products * shape[-1] >= ROUNDED and min(shape[-1], features) >= LEAST
    return is_worth and meetings <= MEETINGS and products * max(dtype.itemsize, 4) <= WINDOWS


def _is_sorted(layout: Layout) -> bool:
    return all(one < other for one, other in pairwise(layout))
