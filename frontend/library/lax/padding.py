"""How far windows reach over the edges of arrays: the padding arguments of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import ArgumentError, ShapeError
from ...tracing.locations import user_location_text

Pairs = tuple[tuple[int, int], ...]


def window_padding(
    function: str,
    padding: str | Sequence[tuple[int, int]],
    sizes: Sequence[Any],
    reaches: Sequence[int],
    strides: Sequence[int],
) -> Pairs:
    """The pairs of zeros before and after each axis that `padding` stands for.

    `SAME`: as many results as `size / stride`, rounded up, the odd zero behind (`SAME_LOWER`: in front);
    `VALID`: none. `reaches` are the sizes of the dilated windows. A dynamic size is possible where the
    stride is 1, since it does not matter there.
    """
    if not isinstance(padding, str):
        return tuple((int(low), int(high)) for low, high in padding)
    kind = padding.upper()
    if kind == "VALID":
        return ((0, 0),) * len(sizes)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ArgumentError(
            f"{function}: padding is {padding!r}, "
            "expected 'SAME', 'SAME_LOWER', 'VALID' or pairs of integers",
            where=user_location_text(),
        )
    pairs = []
    for size, reach, stride in zip(sizes, reaches, strides, strict=True):
        total = _missing(function, size, reach, stride)
        small, large = total // 2, total - total // 2
        pairs.append((small, large) if kind == "SAME" else (large, small))
    return tuple(pairs)


def padtype_to_pads(
    in_shape: Sequence[Any], window_shape: Sequence[int], window_strides: Sequence[int], padding: Any
) -> list[tuple[int, int]]:
    """The pairs of zeros that `padding` (`SAME`, `SAME_LOWER`, `VALID`) stands for."""
    return list(window_padding("padtype_to_pads", padding, in_shape, window_shape, window_strides))


def dilated(size: Any, dilation: int) -> Any:
    """The size of an axis with `dilation - 1` gaps between its elements."""
    return size if dilation == 1 else (size - 1) * dilation + 1


def _missing(function: str, size: Any, reach: int, stride: int) -> int:
    """The zeros that an axis lacks."""
    if stride == 1:
        return max(reach - 1, 0)
    if not isinstance(size, int):
        raise ShapeError(
            f"{function}: how much padding 'SAME' is depends on the dynamic size {size}, since the stride is "
            f"{stride}",
            where=user_location_text(),
            hint="write the padding as pairs of integers",
        )
    return max((-(-size // stride) - 1) * stride + reach - size, 0)
