"""The arithmetic of windows that gather and scatter share: where each element of a window lies.

In: the dimension numbers of `jax.lax`, shapes, index vectors. Out: a `WindowMap`, which says for each axis
of the operand which index component, batch axis and window axis its coordinate is made of. Inference,
evaluation, lowering, and the rules that turn a gather into its scatter and either into its batch all read
that map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...dataclass import dataclass
from ...errors import TypeCheckError
from ...factors import Axes, Factors
from ...op import require, require_axes
from ...types import Dimension, N, TensorType, same_dimension


class Coordinate(NamedTuple):
    """What one operand coordinate is the sum of: an index component, and a position along a result axis."""

    component: int | None  # which entry of the index vector (last axis of the indices)
    axis: int | None  # which axis of the result (of the updates, for scatter) counts along it
    is_window: bool  # whether that axis is a window axis (else it is a batch axis)


@dataclass(frozen=True, slots=True)
class WindowMap:
    """The dimension numbers of gather and scatter, in gather's words; see `jax.lax.GatherDimensionNumbers`.

    The last axis of the indices is the index vector; the result has the indices' other axes (batch axes)
    in order, and the window axes at `offset_dims`.
    """

    rank: int  # of the operand
    indices_rank: int
    offset_dims: tuple[int, ...]
    collapsed: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching: tuple[int, ...]
    indices_batching: tuple[int, ...]

    def check(self, op: str, components: Dimension) -> None:
        """Raise `TypeCheckError` unless the numbers fit the ranks and each other."""
        if self.indices_rank < 1:
            raise TypeCheckError(
                f"{op}: indices must have rank 1 or more; their last axis is the index vector"
            )
        require_axes(op, "offset axes", self.offset_dims, self.result_rank)
        require_axes(op, "collapsed axes", (*self.collapsed, *self.operand_batching), self.rank)
        require_axes(op, "start_index_map", (*self.start_index_map, *self.operand_batching), self.rank)
        require_axes(op, "batching axes of the indices", self.indices_batching, self.indices_rank - 1)
        require(
            len(self.operand_batching) == len(self.indices_batching),
            f"{op}: batching axes {self.operand_batching} of the operand and {self.indices_batching} "
            "of the indices must pair up",
        )
        require(
            len(self.offset_dims) == len(self.window_axes)
            and list(self.offset_dims) == sorted(self.offset_dims),
            f"{op}: offset axes {self.offset_dims} must be ascending, one for each of the operand's "
            f"window axes {self.window_axes}",
        )
        require(
            same_dimension(components, len(self.start_index_map)),
            f"{op}: the index vector has {components} entries, start_index_map {self.start_index_map} "
            f"expects {len(self.start_index_map)}",
        )

    @property
    def result_rank(self) -> int:
        return self.indices_rank - 1 + len(self.offset_dims)

    @property
    def hidden(self) -> frozenset[int]:
        """The operand axes along which windows have size 1 and do not extend in the result."""
        return frozenset((*self.collapsed, *self.operand_batching))

    @property
    def window_axes(self) -> tuple[int, ...]:
        """The operand axes along which the window extends in the result."""
        hidden = self.hidden
        return tuple(axis for axis in range(self.rank) if axis not in hidden)

    @property
    def batch_axes(self) -> tuple[int, ...]:
        """The result axes that come from the indices, in the indices' order."""
        return tuple(axis for axis in range(self.result_rank) if axis not in self.offset_dims)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """For each operand axis, what its coordinate is made of."""
        component = {axis: k for k, axis in enumerate(self.start_index_map)}
        batch = {
            axis: self.batch_axes[i]
            for axis, i in zip(self.operand_batching, self.indices_batching, strict=True)
        }
        window = dict(zip(self.window_axes, self.offset_dims, strict=True))
        return tuple(
            Coordinate(component.get(axis), window.get(axis, batch.get(axis)), axis in window)
            for axis in range(self.rank)
        )

    def result_shape(self, indices: Sequence[N], window: Sequence[N]) -> tuple[N, ...]:
        """The result's shape from the indices' shape and the window's size along each operand axis."""
        sizes = dict(zip(self.batch_axes, indices[:-1], strict=True))
        sizes.update(zip(self.offset_dims, (window[a] for a in self.window_axes), strict=True))
        return tuple(sizes[axis] for axis in range(self.result_rank))

    def batched(self, x: bool, indices: bool) -> WindowMap:
        """The map of a batch, which is axis 0 of the result and of what is batched: `x`, `indices`, or both.

        Where only the operand has it, windows extend along it; where both have it, it runs along in both.
        """
        step, shift = int(x), int(indices)
        alone, together = (0,) * (x and not indices), (0,) * (x and indices)
        return WindowMap(
            self.rank + step,
            self.indices_rank + shift,
            (*alone, *(axis + 1 for axis in self.offset_dims)),
            tuple(axis + step for axis in self.collapsed),
            tuple(axis + step for axis in self.start_index_map),
            (*together, *(axis + step for axis in self.operand_batching)),
            (*together, *(axis + shift for axis in self.indices_batching)),
        )

    @property
    def of_gather(self) -> dict[str, tuple[int, ...]]:
        """The map as attributes of `gather`."""
        return {
            "offset_dims": self.offset_dims,
            "collapsed_slice_dims": self.collapsed,
            "start_index_map": self.start_index_map,
            "operand_batching_dims": self.operand_batching,
            "start_indices_batching_dims": self.indices_batching,
        }

    @property
    def of_scatter(self) -> dict[str, tuple[int, ...]]:
        """The map as attributes of `scatter`."""
        return {
            "update_window_dims": self.offset_dims,
            "inserted_window_dims": self.collapsed,
            "scatter_dims_to_operand_dims": self.start_index_map,
            "operand_batching_dims": self.operand_batching,
            "scatter_indices_batching_dims": self.indices_batching,
        }

    def positions(
        self, shape: Sequence[int], indices: np.ndarray, window: Sequence[int], clip: bool
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Operand coordinates (clamped into range) that broadcast to the result, and which are in range.

        `shape` is the operand's, `window` the window's size along each operand axis. A window that leaves
        the operand anywhere is out of range as a whole, unless `clip` moves it inside.
        """
        result = self.result_shape(indices.shape, window)
        inside = np.ones([n if a in self.batch_axes else 1 for a, n in enumerate(result)], bool)
        arrays = []
        for axis, (component, along, _) in enumerate(self.coordinates()):
            position = np.zeros([1] * len(result), np.int64)
            if along is not None:
                position = np.arange(result[along]).reshape(
                    [-1 if a == along else 1 for a in range(len(result))]
                )
            if component is not None:
                start, last = indices[..., component], max(shape[axis] - window[axis], 0)
                clamped = _clamped(start, last)
                inside = inside & (clip | (clamped == start)).reshape(inside.shape)
                position = position + clamped.reshape(inside.shape)
            arrays.append(position)
        return arrays, inside

    def taken(self, x: np.ndarray, indices: np.ndarray, window: Sequence[int]) -> np.ndarray | None:
        """The gather of `x`, clipped, by NumPy's own indexing; None where it has no such form.

        It has one where windows are everything along the axes that the result keeps, and one element along
        the others, which lie together and have the axes of the indices in their place.
        """
        axes, count = self.start_index_map, indices.ndim - 1
        if not axes or axes != self.collapsed or self.operand_batching:
            return None
        first, rest = axes[0], self.rank - len(axes)
        kept = tuple(d if d < first else d + count for d in range(rest))
        if axes != tuple(range(first, first + len(axes))) or self.offset_dims != kept:
            return None
        if any(window[axis] != x.shape[axis] for axis in self.window_axes):
            return None
        places = [_clamped(indices[..., k], x.shape[axis] - 1) for k, axis in enumerate(axes)]
        everything: list[Any] = [slice(None)] * first
        found = x[(*everything, *places)]
        return np.asarray(found) if count else np.array(found)  # places that are numbers make a view


def _clamped(starts: np.ndarray, last: int) -> np.ndarray:
    """Starts of windows moved into `0 ... last`, which their dtype may not hold."""
    return np.clip(starts, 0, min(last, np.iinfo(starts.dtype).max)).astype(np.int64)


def scatter_window(numbers: WindowMap, updates: Sequence[N]) -> tuple[N | int, ...]:
    """The window's size along each operand axis, from the shape of the updates."""
    window: list[N | int] = [1] * numbers.rank
    for axis, operand_axis in zip(numbers.offset_dims, numbers.window_axes, strict=True):
        window[operand_axis] = updates[axis]
    return tuple(window)


def fits(n: Dimension, size: Dimension, hidden: bool) -> bool:
    """Whether a window of `n` may lie on an axis of `size`, where both are known.

    An axis of size 0 that the result lacks, or that is the batch, has windows of 1: there is no element for
    them, and `gather` and `scatter` say what then happens.
    """
    return not isinstance(n, int) or not isinstance(size, int) or 0 <= n <= size or (hidden and size == 0)


def check_batching(op: str, numbers: WindowMap, x: TensorType, indices: TensorType) -> None:
    """Raise `TypeCheckError` unless axes that run together have equal sizes."""
    for axis, other in zip(numbers.operand_batching, numbers.indices_batching, strict=True):
        require(
            same_dimension(x.shape[axis], indices.shape[other]),
            f"{op}: axis {axis} of {x} and axis {other} of the indices {indices} run together "
            "but differ in size",
        )


def window_axes(
    factors: Factors, numbers: WindowMap, x: TensorType, indices: TensorType, windows: TensorType
) -> tuple[list[Axes], Axes]:
    """The factors of `x` and of the indices, and those of the array of windows."""
    sizes = windows.static_shape
    own: list[tuple[int, ...] | None] = [None] * windows.rank
    vectors: Axes = [(factors.free(n),) for n in indices.static_shape[:-1]]
    for axis, each in zip(numbers.batch_axes, vectors, strict=True):
        own[axis] = each
    before: Axes = [(factors.undivided(n),) for n in x.static_shape]
    for axis, offset in zip(numbers.window_axes, numbers.offset_dims, strict=True):
        if sizes[offset] == x.static_shape[axis]:
            own[offset] = before[axis] = (factors.free(sizes[offset]),)
        else:
            own[offset] = (factors.undivided(sizes[offset]),)
    for axis, other in zip(numbers.operand_batching, numbers.indices_batching, strict=True):
        before[axis] = vectors[other]
    components = (factors.undivided(indices.static_shape[-1]),)
    return [before, [*vectors, components]], [each for each in own if each is not None]
