"""What a convolution sums, as the kernel of `contractions.py` needs it: forward, and both gradients.

Input: the attributes of a convolution in any layout, with any strides, dilations, groups and paddings, and
its shapes. Output: a `Problem`, or None for one that the kernel cannot do.
Idea: a convolution sums over strided views. Zeros of padding are multiplied like all others, unless the
edges of the image become sums of their own, as they may where weights are known to be finite; zeros between
the elements of a dilated image are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import gcd, prod

from .....dialects.ops.contraction.convolution_window import Convolution, Phase, Window, phases_of
from ...tuning.array_layouts import Layout
from ...tuning.convolution_problems import Letter, Problem

PHASES = 9  # so many phases of a dilated image at most

Shape = tuple[int, ...]


def find_problem(
    attributes: Convolution,
    image: Shape,
    weights: Shape,
    out: Shape,
    beside: Sequence[Shape] = (),
    *,
    edges: Sequence[int] = (),
    beside_starts: Sequence[int] = (),
    stored: Layout | None = None,
    written: Layout | None = None,
    is_of_each: bool = False,
) -> Problem | None:
    """What a convolution of these shapes sums, None for one that the kernel cannot do.

    `is_of_each`: they are those of each of several images.
    `beside`: the strides along the axes of the result of each operand of what is applied to the sums, and
    `beside_starts` where they begin; `stored` and `written`: how the image lies and the result must.
    `edges`: spatial axes at whose ends positions are phases without the taps that see padding; None where
    that is no other sum.
    """
    if min(image + weights + out) == 0 or len(out) == 2:
        return None  # without positions it is a product
    layouts = stored, written
    attributes, (image, weights, out), beside, (stored, written) = _merged(
        attributes, (image, weights, out), tuple(beside), layouts
    )
    positions = [out[a] for a in attributes.out_spec[2:]]
    if edges:
        phases = _edges(attributes, image, weights, positions, edges)
    else:
        phases = _phases(attributes.window, attributes, weights, positions)
    if phases is None:
        return None
    problem = _problem(attributes, image, weights, positions, phases, beside)
    return replace(
        problem,
        has_edges=bool(edges),
        is_of_each=is_of_each,
        beside_starts=tuple(beside_starts),
        stored=stored,
        written=written,
    )


Layouts = tuple[Layout | None, Layout | None]


def _merged(
    a: Convolution, shapes: tuple[Shape, Shape, Shape], beside: tuple[Shape, ...], layouts: Layouts
) -> tuple[Convolution, tuple[Shape, Shape, Shape], tuple[Shape, ...], Layouts]:
    """A convolution that looks at one place at a time, with one spatial axis instead of neighbours."""
    spatial, (image, weights, out) = len(a.lhs_spec) - 2, shapes
    neighbours = [tuple(range(s[2], s[2] + spatial)) == s[2:] for s in (a.lhs_spec, a.rhs_spec, a.out_spec)]
    is_plain = all(set(each) <= {1} for each in (a.window_strides, a.lhs_dilation))
    is_plain = is_plain and all(pads == (0, 0) for pads in a.padding)
    if spatial < 2 or not all(neighbours) or not is_plain or any(weights[s] > 1 for s in a.rhs_spec[2:]):
        return a, shapes, beside, layouts
    first, last = a.out_spec[2], a.out_spec[2] + spatial - 1
    if any(steps[k] != steps[k + 1] * out[k + 1] for steps in beside for k in range(first, last)):
        return a, shapes, beside, layouts
    fewer = [
        None if layout is None else layout.merged(spec[2], spatial)
        for layout, spec in zip(layouts, (a.lhs_spec, a.out_spec), strict=True)
    ]
    if [layout is None for layout in fewer] != [layout is None for layout in layouts]:
        return a, shapes, beside, layouts

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
    sizes = shape(image, a.lhs_spec), shape(weights, a.rhs_spec), shape(out, a.out_spec)
    apart = tuple((*steps[:first], *steps[last:]) for steps in beside)
    return merged, sizes, apart, (fewer[0], fewer[1])


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


def _edges(
    a: Convolution, image: Shape, weights: Shape, positions: Sequence[int], edges: Sequence[int]
) -> list[tuple[Phase, ...]] | None:
    """The phases of an image that is not dilated, which see no padding along the axes `edges`."""
    window = a.window
    if set(window.lhs_dilation) != {1} or max(edges) >= len(positions):
        return None
    along = []
    for k, count in enumerate(positions):
        stride, dilation = window.window_strides[k], window.rhs_dilation[k]
        taps, low = weights[a.rhs_spec[2 + k]], window.padding[k][0]
        phases: list[Phase] = []
        for first in range(count):
            start = first * stride - low
            tap, end = 0, taps
            if k in edges:
                tap = max(-(start // dilation), 0)
                end = min((image[a.lhs_spec[2 + k]] - 1 - start) // dilation + 1, taps)
            if end <= tap:
                return None
            last = start + dilation * (end - 1) + 1
            if phases and (phases[-1].tap, phases[-1].taps) == (tap, end - tap):
                phases[-1] = phases[-1]._replace(places=phases[-1].places + 1, end=last)
            elif len(phases) == PHASES:
                return None
            else:
                phases.append(Phase(first, 1, tap, end - tap, start + dilation * tap, last))
        along.append(phases)
    phases_of_all = list(product(*along))
    return phases_of_all if 1 < len(phases_of_all) <= PHASES else None


def _problem(
    a: Convolution,
    image: Sequence[int],
    weights: Sequence[int],
    positions: Sequence[int],
    phases: Sequence[tuple[Phase, ...]],
    beside: tuple[Shape, ...],
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
    return Problem(tuple(image), tuple(weights), tuple(out), tuple(ranges), tuple(sums), beside)
