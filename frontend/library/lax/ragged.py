"""Products of matrices whose rows come in groups, each with a matrix of its own: `ragged_dot`.

Input: rows in the order of their groups, the sizes of the groups (traced). Output: for each row its product
with its group's matrix.

Idea: a row of no group is zero. The left side is copied for each group with the rows of others masked, and
one product contracts groups and columns together; so the cost is that of all groups for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """`ragged_dot` with other axes: the ragged axis of the left side is neither contracted nor batched."""
    if group_offset is not None:
        raise argument_error("ragged_dot: group_offset is not supported", "slice group_sizes and rhs")
    left, right, sizes = as_value(lhs), as_value(rhs), as_value(group_sizes)
    numbers = ragged_dot_dimension_numbers
    (contracting, batch) = numbers.dot_dimension_numbers
    ragged, groups = tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions)
    if len(ragged) != 1 or len(groups) != 1:
        raise argument_error(
            f"ragged_dot_general: expected one ragged axis and one axis of groups, got {ragged} and {groups}",
            "groups along contracting axes are products of each group: loop over them",
        )
    (place,), (group,) = ragged, groups
    if place in (*contracting[0], *batch[0]):
        raise argument_error("ragged_dot_general: the ragged axis is contracted or batched")
    if sizes.ndim != 1 or sizes.shape[0] != right.shape[group]:
        raise shape_error(
            f"ragged_dot: group sizes {type_text(sizes)} do not fit the groups of {type_text(right)}"
        )
    ends = xp.cumsum(sizes.astype(np.int64))
    rows = ops.iota(shape=(left.shape[place],), axis=0, dtype=np.dtype(np.int64))
    is_own = (rows >= (ends - sizes)[:, None]) & (rows < ends[:, None])
    shape = [left.shape[a] if a == place else 1 for a in range(left.ndim)]
    mask = xp.reshape(is_own, (sizes.shape[0], *shape))
    copies = xp.where(mask, left[None], xp.zeros((), dtype=left.dtype))
    shifted = tuple(a + 1 for a in contracting[0])
    return dot_general(
        copies,
        right,
        (((0, *shifted), (group, *contracting[1])), (tuple(a + 1 for a in batch[0]), tuple(batch[1]))),
        precision,
        preferred_element_type,
    )
