"""Reductions and windows by a function of two scalars, transposed convolutions, patches, shorter floats.

A reduction by an arbitrary function halves its axis again and again, a window doubles; both keep the order
of the elements. What the function must be is associative, with the initial value as its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.types import BFLOAT16, FLOAT32
from ... import tree
from ...errors import ArgumentError, DtypeError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import maximum, minimum
from ...transforms.custom_derivatives import custom_jvp
from ...transforms.vmap import vmap
from .. import numpy as xp
from ..same_functions import original_of
from . import elementwise_pairs
from .contractions import conv_general_dilated
from .first_extrema import first_max, first_min, for_windows
from .padding import dilated, window_padding
from .scalar_operands import axes_of

Combine = Callable[[Any, Any], Any]

_MOST_AT_ONCE = 9
"""Places of a window that are read at once; larger ones are combined along one axis after the other."""
_ON_ARRAYS = (
    *(elementwise_pairs.add, elementwise_pairs.mul, elementwise_pairs.max, elementwise_pairs.min),
    *(elementwise_pairs.bitwise_and, elementwise_pairs.bitwise_or, elementwise_pairs.bitwise_xor),
    *(xp.add, xp.multiply, xp.maximum, xp.minimum, xp.logical_and, xp.logical_or, first_max, first_min),
)


def _mapped(computation: Combine, structure: Any) -> Combine:
    """`computation` of two trees of scalars for two lists of arrays, all of one shape."""
    original = original_of(computation)
    if any(original is known for known in _ON_ARRAYS):
        return lambda xs, ys: [original(xs[0], ys[0])]
    several = vmap(lambda xs, ys: computation(tree.unflatten(structure, xs), tree.unflatten(structure, ys)))

    def combine(xs: Any, ys: Any) -> list[Any]:
        results, result_tree = tree.flatten(several([xp.ravel(x) for x in xs], [xp.ravel(y) for y in ys]))
        values = [as_value(x) for x in results]
        if result_tree != structure or any(
            v.ndim != 1 or v.dtype != x.dtype for v, x in zip(values, xs, strict=True)
        ):
            raise ShapeError(
                "the function that reduces must return a scalar of its dtype for each operand, it returns "
                f"{', '.join(str(ops.type_of(v)) for v in values)} for "
                f"{', '.join(str(ops.type_of(xp.ravel(x))) for x in xs)}, one axis of which is mapped",
                where=user_location_text(),
            )
        return [xp.reshape(v, x.shape) for v, x in zip(values, xs, strict=True)]

    return combine


def _operands(function: str, operand: Any, init_value: Any) -> tuple[list[Any], list[Any], Any]:
    """The arrays, their initial values in the same dtypes, and the tree that they are leaves of."""
    leaves, structure = tree.flatten(operand)
    starts, start_tree = tree.flatten(init_value)
    values = [as_value(x) for x in leaves]
    if start_tree != structure or not values or any(v.shape != values[0].shape for v in values):
        raise ShapeError(
            f"{function} takes arrays of one shape and an initial value for each, got "
            f"{', '.join(str(ops.type_of(v)) for v in values)} and {len(starts)} initial values",
            where=user_location_text(),
        )
    return values, [as_value(s, v.dtype) for s, v in zip(starts, values, strict=True)], structure


def reduce(operands: Any, init_values: Any, computation: Combine, dimensions: Sequence[int]) -> Any:
    """The elements along `dimensions` combined by an associative function of two scalars.

    `init_values` is combined in front. `operands` is an array, or a tree of arrays of one shape: then
    `init_values` is such a tree of scalars, and `computation` takes and returns such trees.
    """
    values, starts, structure = _operands("reduce", operands, init_values)
    shape, rank = values[0].shape, values[0].ndim
    axes = axes_of(dimensions, rank, "dimensions")
    kept = [a for a in range(rank) if a not in axes]
    count = 1
    for axis in axes:
        count *= _static("reduce", shape[axis])
    sizes = tuple(shape[a] for a in kept)
    rows = [xp.reshape(xp.transpose(v, (*axes, *kept)), (count, *sizes)) for v in values]
    combine = _mapped(computation, structure)
    while count > 1:
        even = count // 2 * 2
        joined = combine([r[0:even:2] for r in rows], [r[1:even:2] for r in rows])
        rows = [
            xp.concatenate([j, r[even:]], axis=0) if count % 2 else j
            for j, r in zip(joined, rows, strict=True)
        ]
        count = count // 2 + count % 2
    first = [xp.broadcast_to(start, sizes) for start in starts]
    return tree.unflatten(structure, combine(first, [r[0] for r in rows]) if count else first)


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Combine,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """The elements of each window combined by an associative function of two scalars.

    One entry an axis in all sequences; `padding` is `SAME`, `SAME_LOWER`, `VALID` or pairs. Padding, and
    the gaps that `base_dilation` opens, have `init_value`, which must be the identity of the function.
    Trees of arrays are as in `reduce`.
    """
    values, starts, structure = _operands("reduce_window", operand, init_value)
    shape = values[0].shape
    ones = (1,) * len(shape)
    windows, strides = tuple(window_dimensions), tuple(window_strides or ones)
    bases, dilations = tuple(base_dilation or ones), tuple(window_dilation or ones)
    for name, entries in (
        ("window_dimensions", windows),
        ("window_strides", strides),
        ("base_dilation", bases),
        ("window_dilation", dilations),
    ):
        if len(entries) != len(shape) or any(n < 1 for n in entries):
            raise ShapeError(
                f"reduce_window: {name} is {entries}, expected {len(shape)} positive integers, one an axis "
                f"of {ops.type_of(values[0])}",
                where=user_location_text(),
            )
    reaches = [dilated(n, d) for n, d in zip(windows, dilations, strict=True)]
    scanned = [axis for axis in range(len(shape)) if (windows[axis], strides[axis], bases[axis]) != (1, 1, 1)]
    for axis in scanned:
        if bases[axis] != 1:
            _static("reduce_window", shape[axis])
    sizes = [dilated(n, b) for n, b in zip(shape, bases, strict=True)]
    pads = window_padding("reduce_window", padding, sizes, reaches, strides)
    values = [
        ops.pad(
            value,
            start,
            low=tuple(low for low, _ in pads),
            high=tuple(high for _, high in pads),
            interior=tuple(b - 1 for b in bases),
        )
        for value, start in zip(values, starts, strict=True)
    ]
    combined = for_windows(computation, values[0].dtype)
    combine = _mapped(combined, structure)
    if prod(windows) <= _MOST_AT_ONCE:
        values = _at_once(combine, values, windows, strides, dilations)
    else:
        for axis in reversed(scanned):
            values = _along(combine, values, axis, windows[axis], strides[axis], dilations[axis])
    first = [xp.broadcast_to(start, values[0].shape) for start in starts]
    if combined is not computation:  # of equal ones the first takes the derivative: an element
        return tree.unflatten(structure, combine(values, first))
    return tree.unflatten(structure, combine(first, values))


def _at_once(
    combine: Combine,
    xs: list[Any],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[Any]:
    """Small windows: what is at each of their places, combined in one expression, neighbours first."""
    shape = xs[0].shape
    ends = [
        n if w == 1 else maximum(n - (w - 1) * d, 0)
        for n, w, d in zip(shape, windows, dilations, strict=True)
    ]
    if any(w > 1 and isinstance(end, int) and end == 0 for end, w in zip(ends, windows, strict=True)):
        return [x[tuple(slice(0, end, s) for end, s in zip(ends, strides, strict=True))] for x in xs]
    parts = []
    for place in np.ndindex(*windows):
        # Where no window has a place, all are taken from within.
        starts = tuple(
            minimum(k * d, n - end) for k, d, n, end in zip(place, dilations, shape, ends, strict=True)
        )
        limits = tuple(start + end for start, end in zip(starts, ends, strict=True))
        parts.append([ops.slice(x, start=starts, limit=limits, strides=tuple(strides)) for x in xs])
    while len(parts) > 1:
        joined = [combine(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = joined + parts[len(parts) // 2 * 2 :]
    return parts[0]


def _along(combine: Combine, xs: list[Any], axis: int, window: int, stride: int, dilation: int) -> list[Any]:
    """Windows along one axis: those of powers of two by doubling, the one asked for as a row of them; where
    they are few and far apart, each place of them at once."""
    if stride > 1 and window <= 2 * stride:
        before, behind = (1,) * axis, (1,) * (xs[0].ndim - axis - 1)
        along = [(*before, n, *behind) for n in (window, stride, dilation)]
        return _at_once(combine, xs, *along)
    count = maximum(xs[0].shape[axis] - (window - 1) * dilation, 0)

    def part(ys: list[Any], start: Any, length: Any) -> list[Any]:
        first = minimum(start, ys[0].shape[axis] - length)  # where nothing is left, from within
        return [_stretch(y, axis, first, first + length) for y in ys]

    if isinstance(count, int) and count == 0:
        return part(xs, 0, 0)
    reduced: Any = None
    done, power, width = 0, xs, 1
    while True:
        if window & width:
            piece = part(power, done * dilation, count)
            reduced = piece if reduced is None else combine(reduced, piece)
            done += width
        if done == window:
            break
        length = maximum(power[0].shape[axis] - width * dilation, 0)
        power = combine(part(power, 0, length), part(power, width * dilation, length))
        width *= 2
    return [x[(*(slice(None),) * axis, slice(None, None, stride))] for x in reduced]


def _stretch(x: Any, axis: int, start: Any, limit: Any) -> Any:
    """The elements from `start` to `limit` of an axis, sizes that lie within it."""
    starts = [0] * x.ndim
    limits = list(x.shape)
    starts[axis], limits[axis] = start, limit
    return ops.slice(x, start=tuple(starts), limit=tuple(limits), strides=(1,) * x.ndim)


def _static(function: str, size: Any) -> int:
    if not isinstance(size, int):
        raise ShapeError(
            f"{function}: the size {size} must be known while tracing",
            where=user_location_text(),
            hint="adze.lax.reduce_sum and its kin take dynamic sizes",
        )
    return size


_LAYOUTS = {3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NHWDC", "HWDIO", "NHWDC")}


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """Convolution of `lhs` with `strides - 1` zeros between its elements: the transpose of a strided one.

    `padding` is `SAME` (size times stride), `VALID`, or pairs for the convolution of the spread array; with
    `use_consistent_padding` the pairs are those of the convolution that this is the transpose of.
    Layouts are NHWC and HWIO unless given. With `transpose_kernel` the kernel is flipped and its features
    are swapped, which makes this the gradient of a convolution with that kernel.
    """
    left, right = as_value(lhs), as_value(rhs)
    spatial = left.ndim - 2
    layouts = dimension_numbers or _LAYOUTS.get(left.ndim)
    if not isinstance(layouts, (tuple, list)) or [type(s) for s in layouts] != [str] * 3:
        raise ArgumentError(
            f"conv_transpose: dimension_numbers is {dimension_numbers!r} for {ops.type_of(left)}, "
            'expected three layouts such as ("NHWC", "HWIO", "NHWC")',
            where=user_location_text(),
        )
    kernel = layouts[1]
    places = [kernel.index(c) for c in kernel if c not in "OI"]
    dilations = tuple(rhs_dilation or (1,) * spatial)
    if transpose_kernel:
        right = xp.swapaxes(xp.flip(right, axis=tuple(places)), kernel.index("O"), kernel.index("I"))
    reaches = [
        (_static("conv_transpose", right.shape[p]) - 1) * d + 1
        for p, d in zip(places, dilations, strict=True)
    ]
    if isinstance(padding, str):
        pads = [_transposed_padding(padding.upper(), r, s) for r, s in zip(reaches, strides, strict=True)]
    elif use_consistent_padding:
        pads = [(r - 1 - int(p[0]), r - 1 - int(p[1])) for r, p in zip(reaches, padding, strict=True)]
    else:
        pads = [(int(low), int(high)) for low, high in padding]
    return conv_general_dilated(
        left,
        right,
        (1,) * spatial,
        pads,
        tuple(strides),
        dilations,
        layouts,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_padding(padding: str, reach: int, stride: int) -> tuple[int, int]:
    if padding == "SAME":
        total = reach + stride - 2
        low = reach - 1 if stride > reach - 1 else -(-total // 2)
    elif padding == "VALID":
        total = reach + stride - 2 + max(reach - stride, 0)
        low = reach - 1
    else:
        raise ArgumentError(
            f"conv_transpose: padding is {padding!r}, expected 'SAME', 'VALID' or pairs of integers",
            where=user_location_text(),
        )
    return low, total - low


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """`operand` rounded to a float of fewer bits, in its own dtype; too large is infinite, subnormal is zero.

    The derivative is that of the identity.
    """
    value = as_value(operand)
    if value.dtype.kind not in "fV":
        raise DtypeError(
            f"reduce_precision takes floats, got {ops.type_of(value)}", where=user_location_text()
        )
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ArgumentError(
            f"reduce_precision: expected at least 1 exponent bit and no fewer than 0 mantissa bits, got "
            f"{exponent_bits} and {mantissa_bits}",
            where=user_location_text(),
        )

    @custom_jvp
    def rounded(x: Any) -> Any:
        if x.dtype == BFLOAT16:
            return ops.convert(
                _rounded(ops.convert(x, dtype=FLOAT32), exponent_bits, mantissa_bits), dtype=BFLOAT16
            )
        return _rounded(x, exponent_bits, mantissa_bits)

    @rounded.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return rounded(*primals), tangents[0]

    return rounded(value)


def _rounded(x: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """On the bits, as integers: to the nearest, ties to even."""
    info = np.finfo(x.dtype)
    dtype = np.dtype(f"uint{info.bits}")
    unit = dtype.type
    has_sign = unit(1 << (info.bits - 1))
    bits = ops.bitcast_convert(x, dtype=dtype)
    sign, size = bits & has_sign, bits & unit(int(has_sign) - 1)
    dropped = info.nmant - mantissa_bits
    if dropped > 0:
        last = (size >> unit(dropped)) & unit(1)
        size = (size + last + unit((1 << (dropped - 1)) - 1)) & ~unit((1 << dropped) - 1)
    bias = (1 << (info.iexp - 1)) - 1
    least, most = 1, 2 * bias
    if exponent_bits < info.iexp:
        narrow = (1 << (exponent_bits - 1)) - 1
        least, most = bias - narrow + 1, bias + narrow
        size = xp.where(size < unit(least << info.nmant), unit(0), size)
    infinite = unit((2 * bias + 1) << info.nmant)
    size = xp.where(size >= unit((most + 1) << info.nmant), infinite, size)
    rounded = ops.bitcast_convert(sign | size, dtype=x.dtype)
    return xp.where(xp.isnan(x), x, rounded)
