"""Ops that read and write at positions given by arrays: dynamic slices, gather, scatter.

`gather` and `scatter` are general: `WindowMap`, built from the dimension numbers of `jax.lax`, says for
each axis of the operand which index component, batch axis and window axis its coordinate is made of, and
evaluation, inference and lowering all read that map. Negative indices are the frontend's business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..declaration import (
    BATCHING_LATER,
    DIFFERENTIATION_LATER,
    Op,
    Operand,
    boolean,
    choice,
    elements,
    ints,
    require,
    require_axes,
    require_same_dtype,
    sizes,
)
from ..errors import TypeCheckError
from ..types import ANY, COMPLEX, INTEGERS, NUMBERS, TensorType, from_storage, same_dimension
from .shape import states_own_shape


class DynamicSlice(Op):
    """``y[i] = x[start + i]`` with each start clamped so that the window lies inside `x`.

    The starts are 0-d integers, one for each axis of `x`.
    """

    name = "dynamic_slice"
    operands = (Operand("x", ANY), Operand("start_indices", INTEGERS, variadic=True))
    attributes = {"slice_sizes": sizes("the shape of the window")}
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER

    @staticmethod
    def infer(x: TensorType, *start_indices: TensorType, slice_sizes: tuple[int | None, ...]) -> TensorType:
        _check_window("dynamic_slice", x, slice_sizes, start_indices)
        return x.with_shape(slice_sizes)

    @staticmethod
    def evaluate(x: np.ndarray, *start_indices: np.ndarray, slice_sizes: tuple[int, ...]) -> np.ndarray:
        return np.array(x[_window(x.shape, start_indices, slice_sizes)], x.dtype)

    @staticmethod
    def lower(l: Any, x: Any, *start_indices: Any, slice_sizes: tuple[Any, ...]) -> Any:
        return l.dynamic_slice(x, start_indices, slice_sizes)

    @staticmethod
    def simplify(b: Any, x: Any, *start_indices: Any, slice_sizes: tuple[Any, ...]) -> Any:
        """A window of everything is the operand: the starts can only be 0."""
        return x if states_own_shape(b, x, slice_sizes) else None


class DynamicUpdateSlice(Op):
    """``y = x`` except ``y[start + i] = update[i]``, starts clamped so that the window lies inside `x`."""

    name = "dynamic_update_slice"
    operands = (
        Operand("x", ANY),
        Operand("update", ANY),
        Operand("start_indices", INTEGERS, variadic=True),
    )
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER

    @staticmethod
    def infer(x: TensorType, update: TensorType, *start_indices: TensorType) -> TensorType:
        require_same_dtype("dynamic_update_slice", x, update)
        _check_window("dynamic_update_slice", x, update.shape, start_indices)
        return x

    @staticmethod
    def evaluate(x: np.ndarray, update: np.ndarray, *start_indices: np.ndarray) -> np.ndarray:
        result = x.copy()
        result[_window(x.shape, start_indices, update.shape)] = update
        return result

    @staticmethod
    def lower(l: Any, x: Any, update: Any, *start_indices: Any) -> Any:
        return l.dynamic_update_slice(x, update, start_indices)

    @staticmethod
    def simplify(b: Any, x: Any, update: Any, *start_indices: Any) -> Any:
        """An update of everything is the update."""
        kind = b.tensor_type(x)
        return update if kind.is_static and kind == b.tensor_type(update) else None


def _check_window(
    op: str, x: TensorType, window: tuple[int | None, ...], starts: Sequence[TensorType]
) -> None:
    """Raise `TypeCheckError` unless the window has x's rank, fits into it, and has one start an axis."""
    require(len(window) == x.rank, f"{op}: the window {window} must have the rank of {x}")
    require(len(starts) == x.rank, f"{op}: expected {x.rank} start indices for {x}, got {len(starts)}")
    for start in starts:
        require(start.rank == 0, f"{op}: start indices must be 0-d, got {start}")
    for n, size in zip(window, x.shape, strict=True):
        fits = n is None or size is None or 0 <= n <= size
        require(fits, f"{op}: the window {window} does not fit into {x}")


def _window(shape: tuple[int, ...], starts: Sequence[np.ndarray], window: Sequence[int]) -> tuple[slice, ...]:
    """The clamped window as NumPy slices."""
    clamped = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, shape, window, strict=True)]
    return tuple(slice(s, s + k) for s, k in zip(clamped, window, strict=True))


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

    def check(self, op: str, components: int | None) -> None:
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
            components is None or components == len(self.start_index_map),
            f"{op}: the index vector has {components} entries, start_index_map {self.start_index_map} "
            f"expects {len(self.start_index_map)}",
        )

    @property
    def result_rank(self) -> int:
        return self.indices_rank - 1 + len(self.offset_dims)

    @property
    def window_axes(self) -> tuple[int, ...]:
        """The operand axes along which the window extends in the result."""
        hidden = {*self.collapsed, *self.operand_batching}
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

    def result_shape(self, indices: Sequence[Any], window: Sequence[Any]) -> tuple[Any, ...]:
        """The result's shape from the indices' shape and the window's size along each operand axis."""
        shape: list[Any] = [None] * self.result_rank
        for axis, n in zip(self.batch_axes, indices[:-1], strict=True):
            shape[axis] = n
        for axis, operand_axis in zip(self.offset_dims, self.window_axes, strict=True):
            shape[axis] = window[operand_axis]
        return tuple(shape)

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
                clamped = np.clip(start, 0, min(last, np.iinfo(start.dtype).max)).astype(np.int64)
                inside = inside & (clip | (clamped == start)).reshape(inside.shape)
                position = position + clamped.reshape(inside.shape)
            arrays.append(position)
        return arrays, inside


class Gather(Op):
    """``y[batch, offset] = x[indices[batch] + offset]``: one window of `x` for each index vector.

    The dimension numbers are those of `jax.lax.gather`. `clip` moves a window that would leave `x` back
    inside; `fill` gives `fill_value` for it; `promise_in_bounds` says that there is none (and clips).
    `fill_value` holds the bits of a 0-d array of x's dtype as `types.storage` writes them.
    """

    name = "gather"
    operands = (Operand("x", ANY), Operand("start_indices", INTEGERS))
    attributes = {
        "offset_dims": ints("the result axes along which windows extend"),
        "collapsed_slice_dims": ints("the axes of x, of window size 1, that the result lacks"),
        "start_index_map": ints("the axis of x that each entry of an index vector counts along"),
        "operand_batching_dims": ints("axes of x that run together with an axis of the indices"),
        "start_indices_batching_dims": ints("the axes of the indices that they run with"),
        "slice_sizes": sizes("the window's size along each axis of x"),
        "mode": choice("clip", "fill", "promise_in_bounds", doc="what becomes of windows that leave x"),
        "fill_value": elements("the value of elements out of range in mode fill"),
    }
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER

    @staticmethod
    def map(x_rank: int, indices_rank: int, attributes: dict[str, Any]) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            tuple(attributes["offset_dims"]),
            tuple(attributes["collapsed_slice_dims"]),
            tuple(attributes["start_index_map"]),
            tuple(attributes["operand_batching_dims"]),
            tuple(attributes["start_indices_batching_dims"]),
        )

    @staticmethod
    def infer(
        x: TensorType, start_indices: TensorType, *, slice_sizes: tuple[int | None, ...], **attributes: Any
    ) -> TensorType:
        numbers = Gather.map(x.rank, start_indices.rank, attributes)
        numbers.check("gather", start_indices.shape[-1] if start_indices.rank else None)
        require(len(slice_sizes) == x.rank, f"gather: slice_sizes {slice_sizes} must have the rank of {x}")
        for axis, (n, size) in enumerate(zip(slice_sizes, x.shape, strict=True)):
            hidden = axis in numbers.collapsed or axis in numbers.operand_batching
            require(
                not hidden or n == 1, f"gather: slice size {n} of collapsed or batching axis {axis} must be 1"
            )
            fits = n is None or size is None or 0 <= n <= size
            require(fits, f"gather: slice_sizes {slice_sizes} do not fit into {x}")
        _check_batching("gather", numbers, x, start_indices)
        value = attributes["fill_value"]
        require(
            value.shape == ((2,) if x.dtype in COMPLEX else ()),
            f"gather: fill_value must be 0-d and of dtype {x.dtype}",
        )
        return x.with_shape(numbers.result_shape(start_indices.shape, slice_sizes))

    @staticmethod
    def evaluate(
        x: np.ndarray, start_indices: np.ndarray, *, slice_sizes: tuple[int, ...], **attributes: Any
    ) -> np.ndarray:
        numbers = Gather.map(x.ndim, start_indices.ndim, attributes)
        fill = attributes["mode"] == "fill"
        shape = numbers.result_shape(start_indices.shape, slice_sizes)
        if math.prod(shape) == 0:
            return np.zeros(shape, x.dtype)
        arrays, inside = numbers.positions(x.shape, start_indices, slice_sizes, clip=not fill)
        result = np.broadcast_to(x[tuple(arrays)] if arrays else x, shape)
        if fill:
            result = np.where(inside, result, from_storage(attributes["fill_value"], x.dtype))
        return np.array(np.broadcast_to(result, shape), dtype=x.dtype)

    @staticmethod
    def lower(l: Any, x: Any, start_indices: Any, *, slice_sizes: tuple[Any, ...], **attributes: Any) -> Any:
        numbers = Gather.map(len(l.shape(x)), len(l.shape(start_indices)), attributes)
        fill = None
        if attributes["mode"] == "fill":
            fill = from_storage(attributes["fill_value"], l.result_type.dtype)
        return l.gather(x, start_indices, numbers, slice_sizes, fill)


class Scatter(Op):
    """``y = x``, then ``y[indices[batch] + offset] = f(y[...], updates[batch, offset])`` for each update.

    The dimension numbers are those of `jax.lax.scatter`, `kind` is f. Updates are applied in row-major
    order, so that duplicate indices have one defined result: for `set` the last one wins. A window that
    leaves `x` is dropped as a whole (`drop`) or moved inside (`clip`, `promise_in_bounds`). The hints
    `unique_indices` and `indices_are_sorted` allow a faster form and never change a true promise's result.
    """

    name = "scatter"
    operands = (Operand("x", ANY), Operand("indices", INTEGERS), Operand("updates", ANY))
    attributes = {
        "kind": choice("set", "add", "mul", "min", "max", doc="how an update meets what is there"),
        "update_window_dims": ints("the axes of the updates along which windows extend"),
        "inserted_window_dims": ints("the axes of x, of window size 1, that the updates lack"),
        "scatter_dims_to_operand_dims": ints("the axis of x that each entry of an index vector counts along"),
        "operand_batching_dims": ints("axes of x that run together with an axis of the indices"),
        "scatter_indices_batching_dims": ints("the axes of the indices that they run with"),
        "mode": choice("drop", "clip", "promise_in_bounds", doc="what becomes of windows that leave x"),
        "unique_indices": boolean("a promise that no element is written twice"),
        "indices_are_sorted": boolean("a promise that the index vectors ascend"),
    }
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER
    functions: ClassVar[dict[str, Any]] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }

    @staticmethod
    def map(x_rank: int, indices_rank: int, attributes: dict[str, Any]) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            tuple(attributes["update_window_dims"]),
            tuple(attributes["inserted_window_dims"]),
            tuple(attributes["scatter_dims_to_operand_dims"]),
            tuple(attributes["operand_batching_dims"]),
            tuple(attributes["scatter_indices_batching_dims"]),
        )

    @staticmethod
    def infer(x: TensorType, indices: TensorType, updates: TensorType, **attributes: Any) -> TensorType:
        kind = attributes["kind"]
        allowed = {"set": ANY, "add": NUMBERS, "mul": NUMBERS}.get(kind, ANY - COMPLEX)
        dtype = require_same_dtype("scatter", x, updates)
        require(dtype in allowed, f"scatter: kind '{kind}' is not defined for {x}")
        numbers = Scatter.map(x.rank, indices.rank, attributes)
        numbers.check("scatter", indices.shape[-1] if indices.rank else None)
        require(
            updates.rank == numbers.result_rank,
            f"scatter: updates {updates} must have rank {numbers.result_rank}: the indices' axes but the "
            "last, and the window axes",
        )
        window = scatter_window(numbers, updates.shape)
        for n, size in zip(window, x.shape, strict=True):
            fits = n is None or size is None or n <= size
            require(fits, f"scatter: the updates {updates} have a window that does not fit into {x}")
        expected = numbers.result_shape(indices.shape, window)
        require(
            all(map(same_dimension, expected, updates.shape)),
            f"scatter: indices {indices} ask for updates of shape {expected}, got {updates}",
        )
        _check_batching("scatter", numbers, x, indices)
        return x

    @staticmethod
    def evaluate(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, **attributes: Any) -> np.ndarray:
        result = x.copy()
        if updates.size == 0 or x.size == 0:
            return result
        numbers = Scatter.map(x.ndim, indices.ndim, attributes)
        window = scatter_window(numbers, updates.shape)
        arrays, inside = numbers.positions(x.shape, indices, window, clip=attributes["mode"] != "drop")
        inside = np.broadcast_to(inside, updates.shape).ravel()
        flat = np.zeros(updates.shape, np.int64)
        for array, n in zip(arrays, x.shape, strict=True):
            flat = flat * n + array
        where, values = flat.ravel()[inside], updates.ravel()[inside]
        target = result.reshape(-1)
        if attributes["kind"] == "set":
            target[where] = values
        else:
            with np.errstate(all="ignore"):
                Scatter.functions[attributes["kind"]].at(target, where, values)
        return target.reshape(x.shape)

    @staticmethod
    def lower(l: Any, x: Any, indices: Any, updates: Any, **attributes: Any) -> Any:
        numbers = Scatter.map(len(l.shape(x)), len(l.shape(indices)), attributes)
        return l.scatter(
            x,
            indices,
            updates,
            numbers,
            kind=attributes["kind"],
            drop=attributes["mode"] == "drop",
            unique=attributes["unique_indices"],
        )


def scatter_window(numbers: WindowMap, updates: Sequence[Any]) -> tuple[Any, ...]:
    """The window's size along each operand axis, from the shape of the updates."""
    window: list[Any] = [1] * numbers.rank
    for axis, operand_axis in zip(numbers.offset_dims, numbers.window_axes, strict=True):
        window[operand_axis] = updates[axis]
    return tuple(window)


def _check_batching(op: str, numbers: WindowMap, x: TensorType, indices: TensorType) -> None:
    """Raise `TypeCheckError` unless axes that run together have equal sizes."""
    for axis, other in zip(numbers.operand_batching, numbers.indices_batching, strict=True):
        require(
            same_dimension(x.shape[axis], indices.shape[other]),
            f"{op}: axis {axis} of {x} and axis {other} of the indices {indices} run together "
            "but differ in size",
        )
