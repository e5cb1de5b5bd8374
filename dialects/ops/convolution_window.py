"""How a window moves over an image: strides, padding and dilations, and the sizes that follow."""

from __future__ import annotations

from typing import NamedTuple

Layout = tuple[int, ...]


class Window(NamedTuple):
    """How the window moves: one entry for each spatial axis."""

    window_strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]


def dilated(size: int, dilation: int) -> int:
    """The size of an axis after `dilation - 1` zeros are put between its elements."""
    return (size - 1) * dilation + 1 if size else 0


def output_size(size: int, kernel: int, stride: int, pads: tuple[int, int], spread: tuple[int, int]) -> int:
    """How many positions a window has along one axis; `spread` dilates image and kernel."""
    span = dilated(size, spread[0]) + pads[0] + pads[1] - dilated(kernel, spread[1])
    return span // stride + 1 if span >= 0 else 0
