"""Products of matrices whose rows come in groups, each with a matrix of its own: `ragged_dot`.

Input: rows in the order of their groups, the sizes of the groups (traced). Output: for each row its product
with its group's matrix.

Idea: a row of no group is zero. The left side is copied for each group with the rows of others masked, and
one product contracts groups and columns together; so the cost is that of all groups for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.dataclass import dataclass
from ...tracing.interpreter import as_value, ops
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import type_text
from .contractions import dot_general


@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes `ragged_dot_general` contracts and batches, which one of the left side has the groups' rows,
    and which of the right side has the groups."""

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


_BASIC = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """Rows `[m, k]` times the matrix of their group of `[g, k, n]`: `[m, n]`.

    `group_sizes` `[g]` are the numbers of rows of each group, in order; rows beyond them are 0. There is no
    `group_offset`. Raises `ShapeError` where the shapes do not fit.
    """
    return ragged_dot_general(lhs, rhs, group_sizes, _BASIC, precision, preferred_element_type, group_offset)


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """`ragged_dot` with other axes, in the mode that the ragged axis of the left side decides.

    Neither contracted nor batched, it has the rows of the groups, each with a matrix of the right side. Where
    it is contracted there is one product for each group, along a new first axis, and no axis of groups on the
    right side; where it is batched groups have no effect. `group_sizes` are `[g]`, or one row for each
    place along the batched axes.
    """
    if group_offset is not None:
        raise argument_error("ragged_dot: group_offset is not supported", "slice group_sizes and rhs")
    left, right, sizes = as_value(lhs), as_value(rhs), as_value(group_sizes)
    numbers = ragged_dot_dimension_numbers
    (contracting, batch) = numbers.dot_dimension_numbers
    ragged, groups = tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions)
    if len(ragged) != 1:
        raise argument_error(f"ragged_dot_general: expected one ragged axis, got {ragged}")
    place = ragged[0]
    has_matrices = place not in (*contracting[0], *batch[0])
    if len(groups) != has_matrices:
        raise argument_error(
            f"ragged_dot_general: the ragged axis {place} wants {int(has_matrices)} axes of groups on the "
            f"right side, got {groups}",
        )
    if place in batch[0]:
        return dot_general(left, right, (contracting, batch), precision, preferred_element_type)
    mask = _own(left, right, sizes, place, batch[0], groups)
    copies = xp.where(mask, left[None], xp.zeros((), dtype=left.dtype))
    contracted, batched = tuple(a + 1 for a in contracting[0]), tuple(a + 1 for a in batch[0])
    if has_matrices:
        axes = ((0, *contracted), (groups[0], *contracting[1]))
        return dot_general(copies, right, (axes, (batched, batch[1])), precision, preferred_element_type)
    axes = (contracted, tuple(contracting[1]))
    product = dot_general(copies, right, (axes, (batched, batch[1])), precision, preferred_element_type)
    return xp.moveaxis(product, len(batched), 0)


def _own(left: Any, right: Any, sizes: Any, place: int, batch: Sequence[int], groups: tuple[int, ...]) -> Any:
    """For each group which elements of the left side are in it, along a new first axis."""
    fits = sizes.ndim == 1 or sizes.shape[:-1] == tuple(left.shape[a] for a in batch)
    if not sizes.ndim or not fits or (groups and sizes.shape[-1] != right.shape[groups[0]]):
        raise shape_error(
            f"ragged_dot: group sizes {type_text(sizes)} do not fit the groups of {type_text(right)}"
        )
    ends = xp.cumsum(sizes.astype(int), axis=-1)
    rows = ops.iota(shape=(left.shape[place],), axis=0, dtype=np.dtype(np.int64))
    is_own = (rows >= (ends - sizes)[..., None]) & (rows < ends[..., None])
    shared = tuple(a + 1 for a in batch) if sizes.ndim > 1 else ()
    order = [axis for _, axis in sorted(zip(shared, range(len(shared)), strict=True))]
    is_own = xp.transpose(is_own, (len(shared), *order, len(shared) + 1))
    if any(axis > place + 1 for axis in shared):
        raise argument_error("ragged_dot_general: batched axes with groups of their own come before the rows")
    shape = [n if a in (0, place + 1, *shared) else 1 for a, n in enumerate((sizes.shape[-1], *left.shape))]
    return xp.reshape(is_own, shape)
