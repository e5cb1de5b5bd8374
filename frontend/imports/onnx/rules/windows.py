"""Windows over spatial axes: what convolutions and pools share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from .....dialects.dataclass import dataclass
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call

MOST_PLACES: Final = 2**18
"""More elements than a window of a model has: pools have an op for each."""
_AUTO = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


@dataclass(frozen=True)
class Window:
    """A window's sizes, steps and dilations, and how far the array is padded at both ends of each axis."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @property
    def reaches(self) -> tuple[int, ...]:
        return tuple((k - 1) * d + 1 for k, d in zip(self.sizes, self.dilations, strict=True))


def window_of(call: Call, spatial: Sequence[Any], sizes: Sequence[int]) -> Window:
    """The window that a node's attributes state for spatial axes of these sizes."""
    rank = len(spatial)
    strides, dilations = call.ints("strides", (1,) * rank), call.ints("dilations", (1,) * rank)
    for name, entries in (("kernel_shape", sizes), ("strides", strides), ("dilations", dilations)):
        if len(entries) != rank or min(entries, default=1) < 1:
            raise ModelError(f"{name} is {list(entries)}, expected {rank} positive numbers")
    if math.prod(sizes) > MOST_PLACES:
        raise ModelError(f"kernel_shape is {list(sizes)}, expected at most {MOST_PLACES} elements")
    window = Window(tuple(sizes), strides, dilations, ((0, 0),) * rank)
    auto = call.choice("auto_pad", "NOTSET", _AUTO)
    if auto == "VALID":
        return window
    if auto == "NOTSET":
        flat = call.ints("pads", (0,) * (2 * rank))
        if len(flat) != 2 * rank:
            raise ModelError(f"pads has {len(flat)} entries, expected two for each of {rank} axes")
        pads = tuple(zip(flat[:rank], flat[rank:], strict=True))
    else:
        static = [_static(n, auto) for n in spatial]
        pads = tuple(
            _same(n, reach, step, auto == "SAME_UPPER")
            for n, reach, step in zip(static, window.reaches, strides, strict=True)
        )
    return Window(window.sizes, strides, dilations, pads)


def _static(n: Any, auto: str) -> int:
    if not isinstance(n, int):
        raise ModelUnsupportedError(f"auto_pad {auto} needs spatial sizes that are known, and one is {n}")
    return n


def _same(n: int, reach: int, step: int, upper: bool) -> tuple[int, int]:
    total = max((-(-n // step) - 1) * step + reach - n, 0)
    less = total // 2
    return (less, total - less) if upper else (total - less, less)
