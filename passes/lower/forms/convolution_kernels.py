"""Convolutions by a kernel of our own (`kernels/contractions.py`): forward, and both gradients.

Input: an image and weights in any layout, with any strides, dilations, groups and paddings. Output: the
convolution, or None where the linalg form stays: sizes that are not known, dtypes other than f32 and f64,
GPUs, and little work.
Idea: a convolution sums over strided views. `tuning/convolution_plans.py` chooses the order of the axes; here
the image is padded and the weights are packed, both only if the plan says so, and the kernel is called. Zeros
of padding are multiplied like all others; those between the elements of a dilated image are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd, prod

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Convolution, Phase, Window, phases_of
from ....dialects.types import TensorType
from ..builder import Value
from ..kernels.contractions import contract
from ..kernels.copies import copied_array, copy_strided
from ..lowering import LoweringContext
from ..tuning.convolution_plans import Letter, Problem, plan_convolution
from .tensor_ops import collapse_axes, expand_axes

PHASES = 9  # so many phases of a dilated image at most


def convolution_by_kernel(
    ctx: LoweringContext, lhs: Value, rhs: Value, attributes: Convolution
) -> Value | None:
    """The convolution, in the layout of `out_spec`."""
    b, dtype = ctx.builder, ctx.result_type.dtype
    shapes = [_static(type_) for type_ in (*ctx.operand_tensors, ctx.result_type)]
    if None in shapes:
        return None
    image, weights, out = (shape for shape in shapes if shape is not None)
    problem = find_problem(attributes, image, weights, out)
    if problem is None:
        return None
    known = _known(rhs)
    plan = plan_convolution(ctx.target, problem, dtype, has_constant_weights=known is not None)
    if plan is None:
        return None
    seen = _flat(ctx, lhs)
    if plan.image_copy is not None:
        seen = copy_strided(ctx.kernels, seen, plan.image_copy)
    if plan.weights_copy is None:
        packed = _flat(ctx, rhs)
    elif known is not None:
        packed = b.constant(copied_array(known.reshape(-1), plan.weights_copy))
    else:
        packed = copy_strided(ctx.kernels, _flat(ctx, rhs), plan.weights_copy)
    left, right = (packed, seen) if plan.is_swapped else (seen, packed)
    size = prod(out)
    result = contract(ctx.kernels, left, right, size, plan.parts)
    if plan.out_copy is not None:
        result = copy_strided(ctx.kernels, result, plan.out_copy)
    result = b.bind_shape(result, [size])
    return expand_axes(b, result, [list(range(len(out)))], out)


def _static(type_: TensorType) -> tuple[int, ...] | None:
    """The shape, None if it is not known."""
    shape = tuple(n for n in type_.static_shape if n is not None)
    return shape if len(shape) == type_.rank else None


def find_problem(
    attributes: Convolution, image: tuple[int, ...], weights: tuple[int, ...], out: tuple[int, ...]
) -> Problem | None:
    """What a convolution of these shapes sums, None for one that the kernel cannot do."""
    if min(image + weights + out) == 0:
        return None
    attributes, image, weights, out = _merged(attributes, image, weights, out)
    positions = [out[a] for a in attributes.out_spec[2:]]
    phases = _phases(attributes.window, attributes, weights, positions)
    return None if phases is None else _problem(attributes, image, weights, positions, phases)


def _merged(
    a: Convolution, image: tuple[int, ...], weights: tuple[int, ...], out: tuple[int, ...]
) -> tuple[Convolution, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A convolution that looks at one place at a time, with one spatial axis instead of neighbours."""
    spatial = len(a.lhs_spec) - 2
    neighbours = [tuple(range(s[2], s[2] + spatial)) == s[2:] for s in (a.lhs_spec, a.rhs_spec, a.out_spec)]
    is_plain = all(set(each) <= {1} for each in (a.window_strides, a.lhs_dilation))
    is_plain = is_plain and all(pads == (0, 0) for pads in a.padding)
    if spatial < 2 or not all(neighbours) or not is_plain or any(weights[s] > 1 for s in a.rhs_spec[2:]):
        return a, image, weights, out

    def without(spec: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(axis if axis <= spec[2] else axis - spatial + 1 for axis in spec[:3])

    def shape(sizes: tuple[int, ...], spec: tuple[int, ...]) -> tuple[int, ...]:
        first = spec[2]
        return (*sizes[:first], prod(sizes[first : first + spatial]), *sizes[first + spatial :])

    merged = Convolution(
        window_strides=(1,),
        padding=((0, 0),),
        lhs_dilation=(1,),
        rhs_dilation=(1,),
        lhs_spec=without(a.lhs_spec),
        rhs_spec=without(a.rhs_spec),
        out_spec=without(a.out_spec),
        feature_group_count=a.feature_group_count,
        batch_group_count=a.batch_group_count,
    )
    return merged, shape(image, a.lhs_spec), shape(weights, a.rhs_spec), shape(out, a.out_spec)


def _flat(ctx: LoweringContext, x: Value) -> Value:
    return collapse_axes(ctx.builder, x, [list(range(len(ctx.builder.shape(x))))])


def _known(x: Value) -> np.ndarray | None:
    """The elements of a constant."""
    owner = x.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.operation.attributes["value"]
    if not isinstance(attribute, mlir.ir.DenseElementsAttr):
        return None
    return np.array(attribute)


def _phases(
    window: Window,
    a: Convolution,
    weights: Sequence[int],
    positions: Sequence[int],
) -> list[tuple[Phase, ...]] | None:
    """Along each axis the phases of a dilated image, one phase for each axis of the others."""
    along = []
    for k, count in enumerate(positions):
        spread, dilation = window.lhs_dilation[k], window.rhs_dilation[k]
        taps, low, stride = weights[a.rhs_spec[2 + k]], window.padding[k][0], window.window_strides[k]
        if spread > 1:
            if stride != 1 or gcd(spread, dilation) != 1:
                return None
            along.append(phases_of(spread, dilation, low, count, taps))
        else:
            end = (count - 1) * stride + dilation * (taps - 1) + 1 - low
            along.append([Phase(0, count, 0, taps, -low, end)])
    phases = list(product(*along))
    return phases if len(phases) <= PHASES else None


def _problem(
    a: Convolution,
    image: Sequence[int],
    weights: Sequence[int],
    positions: Sequence[int],
    phases: Sequence[tuple[Phase, ...]],
) -> Problem:
    """The letters of the sum, and what of the image it sees."""
    groups, window = a.group_count, a.window
    batch = image[a.lhs_spec[0]] // a.batch_group_count
    features, channels = weights[a.rhs_spec[0]] // groups, weights[a.rhs_spec[1]]
    split = (a.lhs_spec[0], batch) if a.batch_group_count > 1 else (a.lhs_spec[1], channels)
    common = [
        Letter("g", groups, image=split, weights=(a.rhs_spec[0], features), out=(a.out_spec[1], features)),
        Letter("n", batch, image=(a.lhs_spec[0], 1), out=(a.out_spec[0], 1)),
        Letter("f", features, weights=(a.rhs_spec[0], 1), out=(a.out_spec[1], 1)),
        Letter("c", channels, image=(a.lhs_spec[1], 1), weights=(a.rhs_spec[1], 1)),
    ]
    sums = []
    for phase in phases:
        letters = list(common)
        for k, part in enumerate(phase):
            spread, dilation = window.lhs_dilation[k], window.rhs_dilation[k]
            stride = window.window_strides[k]
            seen, used, written = a.lhs_spec[2 + k], a.rhs_spec[2 + k], a.out_spec[2 + k]
            # Without a tap nothing of the image is seen, wherever the phase starts.
            letters.append(
                Letter(
                    f"p{k}",
                    part.places,
                    image=(seen, stride),
                    out=(written, spread),
                    image_start=part.start,
                    out_start=part.first,
                )
            )
            letters.append(
                Letter(
                    f"w{k}",
                    part.taps,
                    image=(seen, dilation),
                    weights=(used, spread),
                    weights_start=part.tap,
                )
            )
        sums.append(tuple(letters))
    out = [0] * len(image)
    for axis, n in zip(a.out_spec, (batch, features * groups, *positions), strict=True):
        out[axis] = n
    ranges = [(0, n) for n in image]
    for k, axis in enumerate(a.lhs_spec[2:]):
        parts = [phase[k] for phase in phases if phase[k].taps]
        ranges[axis] = (min((p.start for p in parts), default=0), max((p.end for p in parts), default=0))
    return Problem(tuple(image), tuple(weights), tuple(out), tuple(ranges), tuple(sums))
