"""Ops that read and write one window of an array at a position given by 0-d arrays.

The starts are clamped so that the window lies inside. In a batch with starts of their own the windows become
one gather or one scatter. Many windows at once are in `gathering.py` and `scattering.py`. Negative indices
are the frontend's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...factors import Axes, Factors
from ...op import Linear, Op, Operand, require, require_same_dtype, sizes
from ...protocols import (
    Batched,
    Builder,
    Cotangents,
    OneLinear,
    OneTangent,
    Shape,
    Size,
    Tangent,
    Tangents,
    Value,
    Values,
)
from ...types import ANY, INT32, INTEGERS, Dimension, TensorType, storage
from ..elementwise.family import repeated
from ..shape.rearrange import states_own_shape
from .windows import WindowMap, fits


class DynamicSlice(Op):
    """``y[i] = x[start + i]`` with each start clamped so that the window lies inside `x`.

    The starts are 0-d integers, one for each axis of `x`.
    """

    name = "dynamic_slice"
    is_arithmetic = False
    operands = (Operand("x", ANY), Operand("start_indices", INTEGERS, variadic=True))
    attributes = {"slice_sizes": sizes("the shape of the window")}

    @staticmethod
    def infer(x: TensorType, *start_indices: TensorType, slice_sizes: tuple[Dimension, ...]) -> TensorType:
        _check_window("dynamic_slice", x, slice_sizes, start_indices)
        return x.with_shape(slice_sizes)

    @staticmethod
    def factors(x: TensorType, *start_indices: TensorType, slice_sizes: tuple[int, ...]) -> Factors:
        """Along axes of which it takes everything."""
        factors = Factors()
        window = x.with_shape(slice_sizes)
        before, after = factors.shared_but(x, _moving(x, window), window)
        starts: list[Axes] = [[] for _ in start_indices]
        factors.operands, factors.results = [before, *starts], [after]
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType], results: Sequence[TensorType], *, slice_sizes: Shape
    ) -> dict[str, Any]:
        return {"slice_sizes": results[0].shape}

    @staticmethod
    def evaluate(x: np.ndarray, *start_indices: np.ndarray, slice_sizes: tuple[int, ...]) -> np.ndarray:
        return np.array(x[_window(x.shape, start_indices, slice_sizes)], x.dtype)

    @staticmethod
    def simplify(b: Builder, x: Value, *start_indices: Value, slice_sizes: Shape) -> Value | None:
        """A window of everything is the operand: the starts can only be 0."""
        return x if states_own_shape(b, x, slice_sizes) else None

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, slice_sizes: Shape
    ) -> Tangents:
        return b.dynamic_slice(tangents[0], *primals[1:], slice_sizes=slice_sizes)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: OneLinear, *, slice_sizes: Shape) -> Cotangents:
        """Zeros, with the cotangent where the window was."""
        x, *starts = operands
        zeros = b.full(0, x.sizes, x.dtype)
        return [b.dynamic_update_slice(zeros, cotangent, *starts), *(None for _ in starts)]

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, slice_sizes: Shape
    ) -> Batched:
        """One window through the whole batch, or one gather where the starts differ."""
        x, *starts = operands
        if not any(batched[1:]):
            origin = _zero_start(b, starts)
            return [b.dynamic_slice(x, *origin, *starts, slice_sizes=(size, *slice_sizes))], [True]
        own = b.tensor_type(x).shape[1 if batched[0] else 0 :]
        numbers, vectors = _of_each(b, size, own, slice_sizes, starts, batched[1:])
        if vectors is None:
            return [x], [batched[0]]
        windows = b.gather(
            x,
            vectors,
            **numbers.batched(x=batched[0], indices=True).of_gather,
            slice_sizes=(1, *slice_sizes) if batched[0] else slice_sizes,
            mode="clip",
            fill_value=storage(np.zeros((), b.tensor_type(x).dtype)),
        )
        return [b.reshape(windows, shape=(size, *slice_sizes)) if numbers.collapsed else windows], [True]


class DynamicUpdateSlice(Op):
    """``y = x`` except ``y[start + i] = update[i]``, starts clamped so that the window lies inside `x`."""

    name = "dynamic_update_slice"
    is_arithmetic = False
    operands = (
        Operand("x", ANY),
        Operand("update", ANY),
        Operand("start_indices", INTEGERS, variadic=True),
    )

    @staticmethod
    def infer(x: TensorType, update: TensorType, *start_indices: TensorType) -> TensorType:
        require_same_dtype("dynamic_update_slice", x, update)
        _check_window("dynamic_update_slice", x, update.shape, start_indices)
        return x

    @staticmethod
    def factors(x: TensorType, update: TensorType, *start_indices: TensorType) -> Factors:
        """Along axes of which it changes everything."""
        factors = Factors()
        whole = _moving(x, update)
        before, window = factors.shared_but(x, whole, update)
        after = [
            (factors.undivided(n),) if axis in whole else before[axis]
            for axis, n in enumerate(x.static_shape)
        ]
        starts: list[Axes] = [[] for _ in start_indices]
        factors.operands, factors.results = [before, window, *starts], [after]
        return factors

    @staticmethod
    def evaluate(x: np.ndarray, update: np.ndarray, *start_indices: np.ndarray) -> np.ndarray:
        result = x.copy()
        result[_window(x.shape, start_indices, update.shape)] = update
        return result

    @staticmethod
    def simplify(b: Builder, x: Value, update: Value, *start_indices: Value) -> Value | None:
        """An update of everything is the update."""
        kind = b.tensor_type(x)
        return update if kind.is_static and kind == b.tensor_type(update) else None

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        x, update, *starts = primals
        dx, du = tangents[:2]
        dx = b.zeros_like(x) if dx is None else dx
        return b.dynamic_update_slice(dx, b.zeros_like(update) if du is None else du, *starts)

    @staticmethod
    def summed(b: Builder, present: Value, x: Value, update: Value, *starts: Value) -> Value | None:
        """Into zeros, the rest of `present` stays what it is: in place, where nothing else uses it."""
        repeats = b.defining(x)
        if repeats is None or not repeats.op.is_broadcast:
            return None
        number = b.constant_of(repeats.operands[0])
        if number is None or np.any(number != 0):
            return None
        window = b.dynamic_slice(present, *starts, slice_sizes=b.sizes(update))
        return b.dynamic_update_slice(present, b.add(window, update), *starts)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        """The window is the update's; the operand gets the rest."""
        x, update, *starts = operands
        window = update.sizes if isinstance(update, Linear) else b.sizes(update)
        cotangents: list[Tangent] = [None] * len(operands)
        if isinstance(update, Linear):
            cotangents[1] = b.dynamic_slice(cotangent, *starts, slice_sizes=window)
        if isinstance(x, Linear):  # behind the last use of the cotangent, which loops then update in place
            cotangents[0] = b.dynamic_update_slice(cotangent, b.full(0, window, x.dtype), *starts)
        return cotangents

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool]) -> Batched:
        """One window through the whole batch, or one scatter where the starts differ."""
        x, update, *starts = operands
        x = x if batched[0] else repeated(b, x, size)
        update = update if batched[1] else repeated(b, update, size)
        if not any(batched[2:]):
            return [b.dynamic_update_slice(x, update, *_zero_start(b, starts), *starts)], [True]
        own, window = b.tensor_type(x).shape[1:], b.sizes(update)[1:]
        numbers, vectors = _of_each(b, size, own, window, starts, batched[2:])
        if vectors is None:
            return [update], [True]
        if numbers.collapsed:
            kept = (n for axis, n in enumerate(window) if axis not in numbers.collapsed)
            update = b.reshape(update, shape=(size, *kept))
        result = b.scatter(
            x,
            vectors,
            update,
            kind="set",
            **numbers.batched(x=True, indices=True).of_scatter,
            mode="clip",
            unique_indices=True,
            indices_are_sorted=False,
        )
        return [result], [True]


def _zero_start(b: Builder, starts: Values) -> list[Value]:
    """The start along the batch, in the dtype of the others."""
    return [b.scalar(0, b.tensor_type(starts[0]).dtype if starts else INT32)]


def _of_each(
    b: Builder,
    size: Size,
    shape: Sequence[Dimension],
    window: Sequence[Size],
    starts: Values,
    batched: Sequence[bool],
) -> tuple[WindowMap, Value | None]:
    """One window for each element of a batch: its map without the batch, and the batch of index vectors.

    An axis that the window fills can only start at 0 and needs no index: no vectors where that is all axes.
    """
    rank = len(shape)
    indexed = [a for a in range(rank) if not (isinstance(window[a], int) and window[a] == shape[a])]
    collapsed = tuple(a for a in indexed if isinstance(window[a], int) and window[a] == 1)
    numbers = WindowMap(rank, 1, tuple(range(rank - len(collapsed))), collapsed, tuple(indexed), (), ())
    columns = [
        b.reshape(starts[a] if batched[a] else repeated(b, starts[a], size), shape=(size, 1)) for a in indexed
    ]
    if not columns:
        return numbers, None
    joined = _in_one_dtype(b, columns)
    return numbers, joined[0] if len(joined) == 1 else b.concatenate(*joined, axis=1)


def _in_one_dtype(b: Builder, indices: Values) -> Values:
    """Indices of several dtypes in one that holds them all; negative ones are clamped to 0 anyway."""
    if len({b.tensor_type(i).dtype for i in indices}) == 1:
        return indices
    return [b.convert(b.max(i, b.zeros_like(i)), dtype=np.dtype(np.uint64)) for i in indices]


def _check_window(
    op: str, x: TensorType, window: tuple[Dimension, ...], starts: Sequence[TensorType]
) -> None:
    """Raise `TypeCheckError` unless the window has x's rank, fits into it, and has one start an axis."""
    require(len(window) == x.rank, f"{op}: the window {window} must have the rank of {x}")
    require(len(starts) == x.rank, f"{op}: expected {x.rank} start indices for {x}, got {len(starts)}")
    for start in starts:
        require(start.rank == 0, f"{op}: start indices must be 0-d, got {start}")
    for n, size in zip(window, x.shape, strict=True):
        require(fits(n, size, hidden=False), f"{op}: the window {window} does not fit into {x}")


def _window(shape: tuple[int, ...], starts: Sequence[np.ndarray], window: Sequence[int]) -> tuple[slice, ...]:
    """The clamped window as NumPy slices."""
    clamped = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, shape, window, strict=True)]
    return tuple(slice(s, s + k) for s, k in zip(clamped, window, strict=True))


def _moving(x: TensorType, window: TensorType) -> list[int]:
    """The axes along which a window is smaller than `x`."""
    sizes = zip(x.static_shape, window.static_shape, strict=True)
    return [axis for axis, (n, m) in enumerate(sizes) if n != m]
