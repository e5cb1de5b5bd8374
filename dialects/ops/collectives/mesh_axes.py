"""Collectives over an axis of a mesh of ranks, each of which runs the same program on its own arrays.

A value *varies* over an axis if ranks along it may hold different ones, and is *invariant* otherwise; its
cotangent is of the same kind. `all_reduce` and `vary` change the kind, and are each other's transposes, so
that a backward pass sends nothing twice. `passes/analysis/varying.py` says which value varies over what.

`index` is the position along the axis. Where all ranks are in one program, it is batched, and the batch rule
computes the collective from all elements; elsewhere the engine that is bound to the thread exchanges arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...attributes import boolean, choice, integer, ints, pairs, text
from ...communicator import Communicator, bound, group_of, rank_of
from ...errors import MissingRuleError
from ...op import Linear, Op, Operand, require, require_axis, undefined
from ...protocols import Batched, Builder, Cotangents, Size, Tangent, Tangents, Value, Values
from ...types import ANY, INT32, NUMBERS, TensorType
from ..elementwise.family import repeated

_INDEX = Operand("index", frozenset({INT32}))
_AXIS = {
    "axis_name": text("the name of the axis"),
    "mesh": ints("the sizes of the axes of the mesh"),
    "axis": integer("the position of the axis in the mesh"),
}


class MeshAxisOp(Op, adds=("exchanged", "has_place", "along", "own", "others")):
    """Family of ops over an axis of a mesh. A member states how it is batched along its own axis (`own`),
    along another (`others`: the attributes), and what the ranks exchange (`exchanged`)."""

    attributes = _AXIS
    is_arithmetic = False
    runs_on_host = True
    sends_along: ClassVar[str | None] = "axis_name"

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """What the operands vary over, and the axis."""
        return [frozenset({attributes["axis_name"]}).union(*operands[:1])]

    @staticmethod
    def has_place(name: str, mesh: Sequence[int], axis: int) -> int:
        """The size of the axis."""
        require(0 <= axis < len(mesh), f"{name}: axis {axis} is out of range for a mesh of {len(mesh)} axes")
        return mesh[axis]

    @staticmethod
    def along(name: str, mesh: Sequence[int], axis: int) -> tuple[Communicator | None, tuple[int, ...], int]:
        """The communicator, the ranks along the axis, and this one's position; None for an axis of one."""
        group, position = group_of(rank_of(name, mesh), mesh, axis)
        return (bound() if len(group) > 1 else None), group, position


class MeshIndex(MeshAxisOp):
    """``y = the position of this rank along an axis of the mesh``; known only where the program runs."""

    name = "mesh_index"
    sends_along = None

    @staticmethod
    def infer(*, axis_name: str, mesh: tuple[int, ...], axis: int) -> TensorType:
        MeshAxisOp.has_place("mesh_index", mesh, axis)
        return TensorType((), INT32)

    @staticmethod
    def evaluate(*, axis_name: str, mesh: tuple[int, ...], axis: int) -> np.ndarray:
        return np.asarray(MeshAxisOp.along("mesh_index", mesh, axis)[2], INT32)

    jvp = undefined("an integer has no derivative")
    transpose = undefined("it has no operand")
    batch = undefined("it has no operand, so nothing of it is batched")


class MeshCollective(MeshAxisOp):
    """Family of ops of an array `x` over an axis of the mesh, linear in `x` but for extrema."""

    operands = (Operand("x", NUMBERS), _INDEX)

    @classmethod
    def evaluate(cls, x: np.ndarray, index: np.ndarray, **attributes: Any) -> np.ndarray:
        engine, group, position = cls.along(cls.name, attributes["mesh"], attributes["axis"])
        x = np.asarray(x)
        return x.copy() if engine is None else cls.exchanged(engine, group, position, x, attributes)

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        """The result, of which other ranks have parts."""
        raise NotImplementedError

    @classmethod
    def jvp(
        cls, b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, **attributes: Any
    ) -> Tangents:
        if tangents[0] is None:
            return None
        (moved,) = b.apply(cls, (tangents[0], primals[1]), attributes)
        return moved

    @classmethod
    def batch(
        cls, b: Builder, size: Size, operands: Values, batched: Sequence[bool], **attributes: Any
    ) -> Batched:
        (x, index), (has_axis, is_own) = operands, batched
        if is_own:
            assert isinstance(size, int)
            return cls.own(b, size, x, has_axis, attributes)
        return list(b.apply(cls, (x, index), cls.others(attributes) if has_axis else attributes)), [has_axis]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        """The op where the batch is its own axis: `x` has all elements of it along axis 0."""
        raise NotImplementedError

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes where `x` has one more leading axis."""
        return attributes


def _all(b: Builder, x: Value, has_axis: bool, size: int) -> Value:
    return x if has_axis else repeated(b, x, size)


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


class AllReduce(MeshCollective):
    """``y = sum, max or min over the axis of x``; a varying operand, an invariant result.

    Sum: ``dy = all_reduce dx``; ``x' = vary y'``, which sends nothing. Extrema: the mean of ``dx`` over the
    ranks that hold the extremum; no transpose.
    """

    name = "all_reduce"
    attributes = {"kind": choice("sum", "max", "min", doc="what is computed"), **_AXIS}

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """What the operand varies over, but for the axis."""
        return [operands[0] - {attributes["axis_name"]}]

    @staticmethod
    def infer(
        x: TensorType, index: TensorType, *, kind: str, axis_name: str, mesh: tuple[int, ...], axis: int
    ) -> TensorType:
        MeshAxisOp.has_place("all_reduce", mesh, axis)
        require(kind == "sum" or x.dtype.kind != "c", f"all_reduce: {kind} of complex numbers")
        return x

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        return engine.all_reduce(group, attributes["kind"], x)

    @classmethod
    def jvp(
        cls, b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, **attributes: Any
    ) -> Tangents:
        moving = tangents[0]
        if moving is None or attributes["kind"] == "sum":
            return super().jvp(b, primals, tangents, result, **attributes)
        x, index = primals
        place = {n: attributes[n] for n in ("axis_name", "mesh", "axis")}
        mask = b.compare(x, b.vary(result, index, **place), direction="EQ")
        one, zero = b.full_like(x, 1), b.full_like(x, 0)
        count = b.all_reduce(b.select(mask, one, zero), index, kind="sum", **place)
        chosen = b.all_reduce(b.select(mask, moving, b.zeros_like(moving)), index, kind="sum", **place)
        return b.div(chosen, count)

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, kind: str, axis_name: str, mesh: Any, axis: int
    ) -> Cotangents:
        if kind != "sum":
            raise MissingRuleError(f"all_reduce of kind {kind} is not linear")
        return [b.vary(cotangent, operands[1], axis_name=axis_name, mesh=mesh, axis=axis), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        kind = attributes["kind"]
        if kind == "sum":
            return [b.reduce_sum(_all(b, x, has_axis, size), axes=(0,))], [False]
        if not has_axis:
            return [x], [False]
        return [b.reduce_max(x, axes=(0,)) if kind == "max" else b.reduce_min(x, axes=(0,))], [False]


class Vary(MeshCollective):
    """``y = x``, where x is invariant over the axis and y need not be;  ``x' = all_reduce y'``. No code."""

    name = "vary"
    operands = (Operand("x", ANY), _INDEX)

    @staticmethod
    def infer(
        x: TensorType, index: TensorType, *, axis_name: str, mesh: tuple[int, ...], axis: int
    ) -> TensorType:
        MeshAxisOp.has_place("vary", mesh, axis)
        return x

    @classmethod
    def evaluate(cls, x: np.ndarray, index: np.ndarray, **attributes: Any) -> np.ndarray:
        return np.asarray(x)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, **attributes: Any) -> Cotangents:
        return [b.all_reduce(cotangent, operands[1], kind="sum", **attributes), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        return [x], [has_axis]


class AllGather(MeshCollective):
    """``y = the x of all ranks, one after the other along axis dim``;  ``x' = reduce_scatter y'``.

    With `is_invariant` the result counts as invariant, and ``x' = the own part of y'``, without a message.
    """

    name = "all_gather"
    operands = (Operand("x", ANY), _INDEX)
    attributes = {
        "dim": integer("the axis of x"),
        "is_invariant": boolean("whether the result counts as invariant over the axis"),
        **_AXIS,
    }

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """As of all others, unless it counts as invariant."""
        own = {attributes["axis_name"]}
        return [operands[0] - own if attributes["is_invariant"] else operands[0] | own]

    @staticmethod
    def infer(
        x: TensorType,
        index: TensorType,
        *,
        dim: int,
        is_invariant: bool,
        axis_name: str,
        mesh: tuple[int, ...],
        axis: int,
    ) -> TensorType:
        return _resized("all_gather", x, dim, MeshAxisOp.has_place("all_gather", mesh, axis), 1)

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        return np.concatenate(engine.all_gather(group, x), axis=attributes["dim"])

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, dim: int, is_invariant: bool, **place: Any
    ) -> Cotangents:
        x, index = operands
        if not is_invariant:
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
        return [_merged(b, _moved(b, _all(b, x, has_axis, size), 0, dim), dim)], [False]

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        return {**attributes, "dim": attributes["dim"] + 1}


class ReduceScatter(MeshCollective):
    """``y = this rank's part of the sum over the axis of x``, along axis dim;  ``x' = all_gather y'``."""

    name = "reduce_scatter"
    attributes = {"dim": integer("the axis of x"), **_AXIS}

    @staticmethod
    def infer(
        x: TensorType, index: TensorType, *, dim: int, axis_name: str, mesh: tuple[int, ...], axis: int
    ) -> TensorType:
        return _resized("reduce_scatter", x, dim, 1, MeshAxisOp.has_place("reduce_scatter", mesh, axis))

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        total = engine.all_reduce(group, "sum", x)
        return np.split(total, len(group), axis=attributes["dim"])[position].copy()

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, dim: int, **place: Any) -> Cotangents:
        return [b.all_gather(cotangent, operands[1], dim=dim, is_invariant=False, **place), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        dim = attributes["dim"]
        total = b.reduce_sum(_all(b, x, has_axis, size), axes=(0,))
        return [_moved(b, _divided(b, total, dim, size), dim, 0)], [True]

    @classmethod
    def others(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        return {**attributes, "dim": attributes["dim"] + 1}


class AllToAll(MeshCollective):
    """``y = part i of axis split of each rank's x``, at rank i, one after the other along axis concat;
    ``x' = all_to_all y'`` with the axes exchanged."""

    name = "all_to_all"
    operands = (Operand("x", ANY), _INDEX)
    attributes = {
        "split": integer("the axis that is divided"),
        "concat": integer("the axis that grows"),
        **_AXIS,
    }

    @staticmethod
    def infer(
        x: TensorType,
        index: TensorType,
        *,
        split: int,
        concat: int,
        axis_name: str,
        mesh: tuple[int, ...],
        axis: int,
    ) -> TensorType:
        size = MeshAxisOp.has_place("all_to_all", mesh, axis)
        return _resized("all_to_all", _resized("all_to_all", x, split, 1, size), concat, size, 1)

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        parts = np.split(x, len(group), axis=attributes["split"])
        return np.concatenate(engine.all_to_all(group, parts), axis=attributes["concat"])

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, split: int, concat: int, **place: Any
    ) -> Cotangents:
        return [b.all_to_all(cotangent, operands[1], split=concat, concat=split, **place), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        split, concat = attributes["split"], attributes["concat"]
        divided = _divided(b, _all(b, x, has_axis, size), split + 1, size)  # source, ..., target, ...
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
    operands = (Operand("x", ANY), _INDEX)
    attributes = {"perm": pairs("pairs of a source and a target, positions along the axis"), **_AXIS}

    @staticmethod
    def infer(
        x: TensorType,
        index: TensorType,
        *,
        perm: tuple[tuple[int, ...], ...],
        axis_name: str,
        mesh: tuple[int, ...],
        axis: int,
    ) -> TensorType:
        size = MeshAxisOp.has_place("ppermute", mesh, axis)
        for side in zip(*perm, strict=True):
            once = len(set(side)) == len(side) and all(0 <= n < size for n in side)
            require(once, f"ppermute: perm {list(perm)} must pair distinct positions of {size}")
        return x

    @classmethod
    def evaluate(cls, x: np.ndarray, index: np.ndarray, **attributes: Any) -> np.ndarray:
        engine, group, position = cls.along(cls.name, attributes["mesh"], attributes["axis"])
        x = np.asarray(x)
        if engine is not None:
            return cls.exchanged(engine, group, position, x, attributes)
        return x.copy() if attributes["perm"] else np.zeros_like(x)

    @classmethod
    def exchanged(
        cls,
        engine: Communicator,
        group: tuple[int, ...],
        position: int,
        x: np.ndarray,
        attributes: dict[str, Any],
    ) -> np.ndarray:
        targets = dict(attributes["perm"])
        sources = {target: source for source, target in attributes["perm"]}
        received = engine.permute(group, x, targets.get(position), sources.get(position))
        return np.zeros_like(x) if received is None else received

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, perm: Any, **place: Any) -> Cotangents:
        back = tuple((target, source) for source, target in perm)
        return [b.ppermute(cotangent, operands[1], perm=back, **place), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        every = _all(b, x, has_axis, size)
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
