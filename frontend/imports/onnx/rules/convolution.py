"""Convolutions: plain, transposed, of integers, deformable; Col2Im."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ....library import numpy as xp
from ....library.lax.contractions import conv_general_dilated
from ...errors import ModelError
from ..calls import Call, known
from .windows import window_of


def per_channel(value: Any, rank: int) -> Any:
    """A vector along the axis of channels."""
    return xp.reshape(value, (1, -1, *(1,) * (rank - 2)))


def conv(call: Call, x: Any, kernel: Any, bias: Any = None) -> Any:
    result = convolved(call, x, kernel)
    return result if bias is None else result + per_channel(bias, x.ndim)


def convolved(call: Call, x: Any, kernel: Any) -> Any:
    if x.ndim < 3 or kernel.ndim != x.ndim:
        raise ModelError(
            f"the array has {x.ndim} axes and the kernel {kernel.ndim}, expected 3 or more of both"
        )
    sizes = call.ints("kernel_shape", kernel.shape[2:])
    if tuple(sizes) != tuple(kernel.shape[2:]):
        raise ModelError(f"kernel_shape is {list(sizes)}, and the kernel is {list(kernel.shape)}")
    window = window_of(call, x.shape[2:], sizes)
    if isinstance(x.shape[1], int) and x.shape[1] != kernel.shape[1] * call.integer("group", 1):
        raise ModelError(
            f"the array has {x.shape[1]} channels, and the kernel is for {kernel.shape[1]} in each of "
            f"{call.integer('group', 1)} groups"
        )
    return conv_general_dilated(
        x,
        kernel,
        window.strides,
        window.pads,
        rhs_dilation=window.dilations,
        feature_group_count=call.integer("group", 1),
    )


def conv_transpose(call: Call, x: Any, kernel: Any, bias: Any = None) -> Any:
    """The transpose of a convolution: the array is dilated by the strides, the kernel is flipped."""
    rank, groups = x.ndim - 2, call.integer("group", 1)
    strides, dilations = call.ints("strides", (1,) * rank), call.ints("dilations", (1,) * rank)
    extra = call.ints("output_padding", (0,) * rank)
    reaches = [(k - 1) * d + 1 for k, d in zip(kernel.shape[2:], dilations, strict=True)]
    pads = _transposed_pads(call, x.shape[2:], reaches, strides, extra)
    inner = [(r - 1 - low, r - 1 - high + e) for r, (low, high), e in zip(reaches, pads, extra, strict=True)]
    c, m = kernel.shape[:2]
    grouped = xp.reshape(kernel, (groups, c // groups, m, *kernel.shape[2:]))
    flipped = xp.flip(xp.swapaxes(grouped, 1, 2), axis=tuple(range(3, rank + 3)))
    result = conv_general_dilated(
        x,
        xp.reshape(flipped, (groups * m, c // groups, *kernel.shape[2:])),
        (1,) * rank,
        inner,
        lhs_dilation=strides,
        rhs_dilation=dilations,
        feature_group_count=groups,
    )
    return result if bias is None else result + per_channel(bias, x.ndim)


def _transposed_pads(
    call: Call, spatial: Any, reaches: Any, strides: Any, extra: Any
) -> list[tuple[int, int]]:
    rank, auto = len(reaches), call.text("auto_pad", "NOTSET")
    shape = call.get("output_shape")
    if shape is None and auto not in ("SAME_UPPER", "SAME_LOWER"):
        flat = (0,) * (2 * rank) if auto == "VALID" else call.ints("pads", (0,) * (2 * rank))
        return list(zip(flat[:rank], flat[rank:], strict=True))
    wanted = [n * s for n, s in zip(spatial, strides, strict=True)] if shape is None else list(shape)[-rank:]
    pads = []
    for n, step, reach, more, size in zip(spatial, strides, reaches, extra, wanted, strict=True):
        total = step * (n - 1) + more + reach - size
        less = total // 2
        pads.append((less, total - less) if auto == "SAME_UPPER" else (total - less, less))
    return pads


def conv_integer(call: Call, x: Any, kernel: Any, x_zero: Any = None, kernel_zero: Any = None) -> Any:
    return convolved(call, shifted(x, x_zero), shifted(kernel, kernel_zero, axis=0))


def shifted(value: Any, zero: Any, axis: int | None = None) -> Any:
    """Quantized integers less their zero point, as int32; a vector of zero points is along `axis`."""
    wide = value.astype(np.int32)
    if zero is None:
        return wide
    if zero.ndim == 1 and zero.shape[0] != 1 and axis is not None:
        zero = xp.reshape(zero, [-1 if i == axis % value.ndim else 1 for i in range(value.ndim)])
    elif zero.ndim == 1:
        zero = xp.reshape(zero, ()) if zero.shape[0] == 1 else zero
    return wide - zero.astype(np.int32)


def deform_conv(call: Call, x: Any, kernel: Any, offset: Any, bias: Any = None, mask: Any = None) -> Any:
    """Each window's elements are taken, bilinearly, at places that offsets move (Dai et al. 2017)."""
    if x.ndim != 4:
        raise ModelError(
            f"deformable convolutions are of two spatial axes here, and the array has {x.ndim - 2}"
        )
    n, c, height, width = x.shape
    window = window_of(call, x.shape[2:], kernel.shape[2:])
    groups, offset_groups = call.integer("group", 1), call.integer("offset_group", 1)
    out, (kh, kw) = offset.shape[2:], kernel.shape[2:]
    moves = xp.reshape(offset, (n, offset_groups, kh, kw, 2, *out))
    grids = [
        s * xp.arange(o)[None, :] - low + d * xp.arange(k)[:, None]
        for s, o, (low, _), d, k in zip(
            window.strides, out, window.pads, window.dilations, (kh, kw), strict=True
        )
    ]
    rows = grids[0][None, None, :, None, :, None] + moves[:, :, :, :, 0]
    columns = grids[1][None, None, None, :, None, :] + moves[:, :, :, :, 1]
    source = xp.reshape(x, (n, offset_groups, c // offset_groups, height, width))
    taken = _bilinear(source, rows, columns)
    if mask is not None:
        taken = taken * xp.reshape(mask, (n, offset_groups, 1, kh, kw, *out))
    patches = xp.reshape(taken, (n, groups, c // groups, kh, kw, *out))
    weights = xp.reshape(kernel, (groups, -1, c // groups, kh, kw))
    result = xp.reshape(xp.einsum("ngcklij,gmckl->ngmij", patches, weights), (n, -1, *out))
    return result if bias is None else result + per_channel(bias, 4)


def _bilinear(x: Any, rows: Any, columns: Any) -> Any:
    """`x[n, g, c, h, w]` between its elements at rows and columns [n, g, ...], zero outside."""
    height, width = x.shape[-2:]
    batch = xp.reshape(xp.arange(x.shape[0]), (-1, 1, *(1,) * (rows.ndim - 2)))
    group = xp.reshape(xp.arange(x.shape[1]), (1, -1, *(1,) * (rows.ndim - 2)))
    total: Any = 0
    for dy, dx in itertools.product((0, 1), repeat=2):
        r, s = xp.floor(rows) + dy, xp.floor(columns) + dx
        share = (1 - xp.abs(rows - r)) * (1 - xp.abs(columns - s))
        inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
        at = [xp.clip(v, 0, n - 1).astype(np.int64) for v, n in ((r, height), (s, width))]
        values = xp.moveaxis(x, 2, -1)[batch, group, at[0], at[1]]
        total = total + xp.moveaxis(values, -1, 2) * xp.where(inside, share, 0.0)[:, :, None].astype(x.dtype)
    return total


def col2im(call: Call, x: Any, image_shape: Any, block_shape: Any) -> Any:
    """The sum of blocks at their places in an image: the transpose of taking them."""
    image, block = known(image_shape, "image_shape"), known(block_shape, "block_shape")
    window = window_of(call, image, block)
    counts = [
        (n + low + high - reach) // step + 1
        for n, (low, high), reach, step in zip(
            image, window.pads, window.reaches, window.strides, strict=True
        )
    ]
    n, channels = x.shape[0], x.shape[1] // math.prod(block)
    blocks = xp.reshape(x, (n, channels, *block, *counts))
    padded = [size + low + high for size, (low, high) in zip(image, window.pads, strict=True)]
    result = xp.zeros((n, channels, *padded), dtype=x.dtype)
    for at in np.ndindex(*block):
        place = tuple(
            slice(a * d, a * d + (count - 1) * s + 1, s)
            for a, d, s, count in zip(at, window.dilations, window.strides, counts, strict=True)
        )
        result = result.at[(slice(None), slice(None), *place)].add(blocks[(slice(None), slice(None), *at)])
    inner = tuple(slice(low, low + size) for size, (low, _) in zip(image, window.pads, strict=True))
    return result[(slice(None), slice(None), *inner)]
