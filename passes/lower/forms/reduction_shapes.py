"""The shapes of reductions: columns as `[batches, rows, columns]`, and the operand in these sizes.

Input: a shape or an operand, and the axes of the reduction. Output: sizes, or the operand with other sizes in
the same order of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects import mlir
from ..builder import LinalgBuilder, Size, Value
from .generics import inline_body
from .tensor_ops import collapse_axes, expand_axes, size_product


def column_sizes(shape: Sequence[Size], axes: Sequence[int]) -> tuple[int, int, int] | None:
    """The sizes `[b, r, c]` of a reduction that sums over `r`, None where it is not one of columns."""
    ordered, sizes = sorted(axes), [n for n in shape if isinstance(n, int)]
    first, last = ordered[0], ordered[-1]
    if len(sizes) < len(shape) or last == len(sizes) - 1 or ordered != list(range(first, last + 1)):
        return None
    return prod(sizes[:first]), prod(sizes[first : last + 1]), prod(sizes[last + 1 :])


def kept_sizes(b: LinalgBuilder, x: Value, axes: Sequence[int]) -> list[Size]:
    """The sizes of a reduction's result."""
    return [n for axis, n in enumerate(b.shape(x)) if axis not in axes]


def regrouped(b: LinalgBuilder, x: Value, sizes: Sequence[Size]) -> Value:
    """`x` with other sizes, all static, in the same order."""
    flat = collapse_axes(b, x, [list(range(len(b.shape(x))))])
    return expand_axes(b, flat, [list(range(len(sizes)))], sizes)


def joined(b: LinalgBuilder, x: Value) -> Value:
    """`x` with all axes as one; cheap elementwise ops that compute it are written so again.

    IREE computes what is behind axes of unknown sizes that are joined in a kernel of its own.
    """
    flat = [list(range(len(b.shape(x))))]
    owner = None if isinstance(x.owner, mlir.ir.Block) else x.owner.operation
    if owner is None or owner.name != "linalg.generic" or len(owner.results) != 1:
        return collapse_axes(b, x, flat)
    rank, maps = len(flat[0]), [mlir.ir.AffineMapAttr(a).value for a in owner.attributes["indexing_maps"]]
    whole = mlir.ir.AffineMap.get_identity(rank)
    body = owner.regions[0].blocks[0]
    kinds = str(owner.attributes["iterator_types"])
    has_places = any(each.operation.name == "linalg.index" for each in body.operations)
    if has_places or "reduction" in kinds or any(m != whole and m.results for m in maps):
        return collapse_axes(b, x, flat)
    inputs = [
        joined(b, v) if m == whole else v for v, m in zip(list(owner.operands)[:-1], maps[:-1], strict=True)
    ]
    size = size_product(b, b.shape(x))
    element = mlir.ir.RankedTensorType(x.type).element_type
    lines = [b.identity_map(1) if m == whole else b.axes_map(1, ()) for m in maps]
    return b.generic(
        inputs,
        [b.empty_of_element(element, [size])],
        lines,
        ["parallel"],
        lambda *scalars: inline_body(body, [*scalars[:-1], None], [0])[0],
    )


def split_rows(b: LinalgBuilder, x: Value, axes: Sequence[int], parts: int) -> Value:
    """`x` with neighbouring `axes` as two: of parts, and of what each has."""
    first, last, rank = min(axes), max(axes), len(b.shape(x))
    outer, inner = [[a] for a in range(first)], [[a] for a in range(last + 1, rank)]
    x = collapse_axes(b, x, [*outer, list(range(first, last + 1)), *inner]) if last > first else x
    shape = b.shape(x)
    size = shape[first]
    assert isinstance(size, int)
    groups = [*outer, [first, first + 1], *([a + 1] for a in range(first + 1, len(shape)))]
    return expand_axes(b, x, groups, [*shape[:first], parts, size // parts, *shape[first + 1 :]])
