"""Collectives in which ranks along an axis of a mesh exchange parts of their arrays.

`mesh_axes.py` says what they have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...attributes import Record, boolean, integer, pairs, stated
from ...op import Linear, Operand, require, require_axis
from ...protocols import Batched, Builder, Cotangents, Value, Values
from ...types import ANY, INT32, TensorType
from .mesh_axes import AXIS, AXIS_NAME, INDEX, MESH, MeshAxisOp, MeshCollective, every_element


class Gathered(Record):
    """The attributes of `all_gather`."""

    dim: int = stated(integer("the axis of x"))
    is_invariant: bool = stated(boolean("whether the result counts as invariant over the axis"))
    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


class Scattered(Record):
    """The attributes of `reduce_scatter`."""

    dim: int = stated(integer("the axis of x"))
    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


class Exchanged(Record):
    """The attributes of `all_to_all`."""

    split: int = stated(integer("the axis that is divided"))
    concat: int = stated(integer("the axis that grows"))
    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


class Permuted(Record):
    """The attributes of `ppermute`."""

    perm: tuple[tuple[int, int], ...] = stated(
        pairs("pairs of a source and a target, positions along the axis")
    )
    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


def _place(attributes: Gathered | Scattered | Exchanged | Permuted) -> dict[str, Any]:
    """The axis that an op is along."""
    return {"axis_name": attributes.axis_name, "mesh": attributes.mesh, "axis": attributes.axis}


def _merged(b: Builder, x: Value, at: int) -> Value:
    """Axes `at` and `at + 1` as one."""
    shape = list(b.sizes(x))
    return b.reshape(x, shape=(*shape[:at], b.size_product(shape[at], shape[at + 1]), *shape[at + 2 :]))


def _divided(b: Builder, x: Value, at: int, parts: int) -> Value:
    """Axis `at` as two: the part, and the place in it."""
    shape = list(b.sizes(x))
    part = b.size_quotient(shape[at], parts)
    return b.reshape(x, shape=(*shape[:at], parts, part, *shape[at + 1 :]))


def _moved(b: Builder, x: Value, source: int, target: int) -> Value:
    order = [i for i in range(b.tensor_type(x).rank) if i != source]
    order.insert(target, source)
    return b.transpose(x, permutation=tuple(order))


def _resized(op: str, x: TensorType, dim: int, size: int, parts: int) -> TensorType:
    """The type with axis `dim` `size` times as long, divided by `parts`."""
    require_axis(op, "dim", dim, x.rank)
    n = x.shape[dim]
    if isinstance(n, int):
        require(n % parts == 0, f"{op}: axis {dim} of {x} is not divisible by the {parts} ranks of the axis")
        n = n * size // parts
    return x.with_shape((*x.shape[:dim], n, *x.shape[dim + 1 :]))


class AllGather(MeshCollective):
    """``y = the x of all ranks, one after the other along axis dim``;  ``x' = reduce_scatter y'``.

    With `is_invariant` the result counts as invariant, and ``x' = the own part of y'``, without a message.
    """

    name = "all_gather"
    operands = (Operand("x", ANY), INDEX)
    record = Gathered

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """As of all others, unless it counts as invariant."""
        own = {attributes["axis_name"]}
        return [operands[0] - own if attributes["is_invariant"] else operands[0] | own]

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Gathered) -> TensorType:
        size = MeshAxisOp.has_place("all_gather", attributes.mesh, attributes.axis)
        return _resized("all_gather", x, attributes.dim, size, 1)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Gathered) -> Cotangents:
        x, index = operands
        dim, place = attributes.dim, _place(attributes)
        if not attributes.is_invariant:
            return [b.reduce_scatter(cotangent, index, dim=dim, **place), None]
        assert isinstance(x, Linear)
        n = x.sizes[dim]
        width = b.scalar(n, INT32) if isinstance(n, int) else b.size_to_array(n, dtype=INT32)
        part = b.mul(index, width)
        zero = b.scalar(0, INT32)
        starts = [part if i == dim else zero for i in range(x.rank)]
        return [b.dynamic_slice(b.vary(cotangent, index, **place), *starts, slice_sizes=x.sizes), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        dim = attributes["dim"]
        return [_merged(b, _moved(b, every_element(b, x, has_axis, size), 0, dim), dim)], [False]

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        return {**attributes, "dim": attributes["dim"] + 1}


class ReduceScatter(MeshCollective):
    """``y = this rank's part of the sum over the axis of x``, along axis dim;  ``x' = all_gather y'``."""

    name = "reduce_scatter"
    record = Scattered

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Scattered) -> TensorType:
        parts = MeshAxisOp.has_place("reduce_scatter", attributes.mesh, attributes.axis)
        return _resized("reduce_scatter", x, attributes.dim, 1, parts)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Scattered) -> Cotangents:
        dim, place = attributes.dim, _place(attributes)
        return [b.all_gather(cotangent, operands[1], dim=dim, is_invariant=False, **place), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        dim = attributes["dim"]
        total = b.reduce_sum(every_element(b, x, has_axis, size), axes=(0,))
        return [_moved(b, _divided(b, total, dim, size), dim, 0)], [True]

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        return {**attributes, "dim": attributes["dim"] + 1}


class AllToAll(MeshCollective):
    """``y = part i of axis split of each rank's x``, at rank i, one after the other along axis concat;
    ``x' = all_to_all y'`` with the axes exchanged."""

    name = "all_to_all"
    operands = (Operand("x", ANY), INDEX)
    record = Exchanged

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Exchanged) -> TensorType:
        size = MeshAxisOp.has_place("all_to_all", attributes.mesh, attributes.axis)
        divided = _resized("all_to_all", x, attributes.split, 1, size)
        return _resized("all_to_all", divided, attributes.concat, size, 1)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Exchanged) -> Cotangents:
        split, concat, place = attributes.concat, attributes.split, _place(attributes)
        return [b.all_to_all(cotangent, operands[1], split=split, concat=concat, **place), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        split, concat = attributes["split"], attributes["concat"]
        every = every_element(b, x, has_axis, size)
        divided = _divided(b, every, split + 1, size)  # source, ..., target, ...
        sent = _moved(b, divided, split + 1, 0)  # target, source, ...
        return [_merged(b, _moved(b, sent, 1, concat + 1), concat + 1)], [True]

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        return {**attributes, "split": attributes["split"] + 1, "concat": attributes["concat"] + 1}


class Permute(MeshCollective):
    """``y = the x of the rank that sends to this one``, zeros where none does.

    ``x' = ppermute y'`` with the pairs reversed.
    """

    name = "ppermute"
    operands = (Operand("x", ANY), INDEX)
    record = Permuted

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Permuted) -> TensorType:
        size, perm = MeshAxisOp.has_place("ppermute", attributes.mesh, attributes.axis), attributes.perm
        for side in zip(*perm, strict=True):
            once = len(set(side)) == len(side) and all(0 <= n < size for n in side)
            require(once, f"ppermute: perm {list(perm)} must pair distinct positions of {size}")
        return x

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Permuted) -> Cotangents:
        back = tuple((target, source) for source, target in attributes.perm)
        return [b.ppermute(cotangent, operands[1], perm=back, **_place(attributes)), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        every = every_element(b, x, has_axis, size)
        sources = {target: source for source, target in attributes["perm"]}
        shape = b.sizes(every)
        rank = len(shape)

        def row(source: int | None) -> Value:
            start, stop = (0, 1) if source is None else (source, source + 1)
            part = b.slice(
                every,
                start=(start, *[0] * (rank - 1)),
                limit=(stop, *shape[1:]),
                strides=(1,) * rank,
            )
            return b.zeros_like(part) if source is None else part

        rows = [row(sources.get(i)) for i in range(size)]
        return [rows[0] if size == 1 else b.concatenate(*rows, axis=0)], [True]
