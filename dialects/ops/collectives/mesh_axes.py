"""Collectives over an axis of a mesh of ranks, each of which runs the same program on its own arrays.

A value *varies* over an axis if ranks along it may hold different ones, and is *invariant* otherwise; its
cotangent is of the same kind. `all_reduce` and `vary` change the kind, and are each other's transposes, so
that a backward pass sends nothing twice; `unvary` takes the program's word that ranks hold the same.
`passes/analysis/varying.py` says which value varies over what.

`index` is the position along the axis. Where all ranks are in one program, it is batched, and the batch rule
computes the collective from all elements; elsewhere the communicator of the thread exchanges arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...attributes import Record, choice, integer, ints, stated, text
from ...collective_calls import along, called
from ...errors import MissingRuleError
from ...op import Op, Operand, require, undefined
from ...protocols import Batched, Builder, Cotangents, Size, Tangent, Tangents, Value, Values
from ...types import ANY, INT32, NUMBERS, TensorType
from ..elementwise.family import repeated

INDEX = Operand("index", frozenset({INT32}))
AXIS_NAME: Any = stated(text("the name of the axis"))
MESH: Any = stated(ints("the sizes of the axes of the mesh"))
AXIS: Any = stated(integer("the position of the axis in the mesh"))


class Place(Record):
    """The attributes of an op along an axis of a mesh."""

    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


class Reduced(Record):
    """The attributes of `all_reduce`."""

    kind: str = stated(choice("sum", "max", "min", doc="what is computed"))
    axis_name: str = AXIS_NAME
    mesh: tuple[int, ...] = MESH
    axis: int = AXIS


class MeshAxisOp(Op, adds=("has_place", "own", "others")):
    """Family of ops over an axis of a mesh. A member states how it is batched along its own axis (`own`)
    and along another (`others`: the attributes); `collective_calls.py` says what the ranks exchange."""

    attributes = Place.declared
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


class MeshIndex(MeshAxisOp):
    """``y = the position of this rank along an axis of the mesh``; known only where the program runs."""

    name = "mesh_index"
    record = Place
    sends_along = None

    @staticmethod
    def infer(*, attributes: Place) -> TensorType:
        MeshAxisOp.has_place("mesh_index", attributes.mesh, attributes.axis)
        return TensorType((), INT32)

    @staticmethod
    def evaluate(*, attributes: Place) -> np.ndarray:
        return np.asarray(along("mesh_index", attributes.mesh, attributes.axis)[2], INT32)

    jvp = undefined("an integer has no derivative")
    transpose = undefined("it has no operand")
    batch = undefined("it has no operand, so nothing of it is batched")


class MeshCollective(MeshAxisOp):
    """Family of ops of an array `x` over an axis of the mesh, linear in `x` but for extrema."""

    operands = (Operand("x", NUMBERS), INDEX)

    @classmethod
    def evaluate(cls, x: np.ndarray, index: np.ndarray, **attributes: Any) -> np.ndarray:
        return called(cls.name, np.asarray(x), attributes)

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


def every_element(b: Builder, x: Value, has_axis: bool, size: int) -> Value:
    return x if has_axis else repeated(b, x, size)


class AllReduce(MeshCollective):
    """``y = sum, max or min over the axis of x``; a varying operand, an invariant result.

    Sum: ``dy = all_reduce dx``; ``x' = vary y'``, which sends nothing. Extrema: the mean of ``dx`` over the
    ranks that hold the extremum; no transpose.
    """

    name = "all_reduce"
    record = Reduced

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """What the operand varies over, but for the axis."""
        return [operands[0] - {attributes["axis_name"]}]

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Reduced) -> TensorType:
        MeshAxisOp.has_place("all_reduce", attributes.mesh, attributes.axis)
        kind = attributes.kind
        require(kind == "sum" or x.dtype.kind != "c", f"all_reduce: {kind} of complex numbers")
        return x

    @classmethod
    def jvp(  # type: ignore[override]  # callers pass the fields of the record as keywords
        cls,
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        result: Value,
        *,
        attributes: Reduced,
    ) -> Tangents:
        moving = tangents[0]
        if moving is None or attributes.kind == "sum":
            return super().jvp(b, primals, tangents, result, **attributes.keywords)
        x, index = primals
        place: dict[str, Any] = {
            "axis_name": attributes.axis_name,
            "mesh": attributes.mesh,
            "axis": attributes.axis,
        }
        mask = b.compare(x, b.vary(result, index, **place), direction="EQ")
        one, zero = b.full_like(x, 1), b.full_like(x, 0)
        count = b.all_reduce(b.select(mask, one, zero), index, kind="sum", **place)
        chosen = b.all_reduce(b.select(mask, moving, b.zeros_like(moving)), index, kind="sum", **place)
        return b.div(chosen, count)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Reduced) -> Cotangents:
        if attributes.kind != "sum":
            raise MissingRuleError(f"all_reduce of kind {attributes.kind} is not linear")
        axis_name, mesh, axis = attributes.axis_name, attributes.mesh, attributes.axis
        return [b.vary(cotangent, operands[1], axis_name=axis_name, mesh=mesh, axis=axis), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        kind = attributes["kind"]
        if kind == "sum":
            return [b.reduce_sum(every_element(b, x, has_axis, size), axes=(0,))], [False]
        if not has_axis:
            return [x], [False]
        return [b.reduce_max(x, axes=(0,)) if kind == "max" else b.reduce_min(x, axes=(0,))], [False]


class Vary(MeshCollective):
    """``y = x``, where x is invariant over the axis and y need not be;  ``x' = all_reduce y'``. No code."""

    name = "vary"
    operands = (Operand("x", ANY), INDEX)
    record = Place

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Place) -> TensorType:
        MeshAxisOp.has_place("vary", attributes.mesh, attributes.axis)
        return x

    @classmethod
    def evaluate(  # type: ignore[override]  # callers pass the fields of the record as keywords
        cls, x: np.ndarray, index: np.ndarray, *, attributes: Place
    ) -> np.ndarray:
        return np.asarray(x)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Place) -> Cotangents:
        return [b.all_reduce(cotangent, operands[1], kind="sum", **attributes.keywords), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        return [x], [has_axis]


class Unvary(MeshCollective):
    """``y = x``, where x may vary over the axis as far as is known, and is the same in all ranks.

    ``x' = y'`` in the first rank along the axis, 0 in the others. No code: where ranks differ each keeps its
    own.
    """

    name = "unvary"
    operands = (Operand("x", ANY), INDEX)
    record = Place
    sends_along = None

    @staticmethod
    def varies(
        engine: object, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> list[frozenset[str]]:
        """What the operand varies over, but for the axis."""
        return [operands[0] - {attributes["axis_name"]}]

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, attributes: Place) -> TensorType:
        MeshAxisOp.has_place("unvary", attributes.mesh, attributes.axis)
        return x

    @classmethod
    def evaluate(  # type: ignore[override]  # callers pass the fields of the record as keywords
        cls, x: np.ndarray, index: np.ndarray, *, attributes: Place
    ) -> np.ndarray:
        return np.asarray(x)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Place) -> Cotangents:
        index = operands[1]
        varied = b.vary(cotangent, index, **attributes.keywords)
        is_first = b.compare(index, b.scalar(0, INT32), direction="EQ")
        chosen = b.broadcast_in_dim(is_first, shape=b.sizes(varied), dimensions=())
        return [b.select(chosen, varied, b.zeros_like(varied)), None]

    @classmethod
    def own(cls, b: Builder, size: int, x: Value, has_axis: bool, attributes: dict[str, Any]) -> Batched:
        if not has_axis:
            return [x], [False]
        _, *shape = b.sizes(x)
        start, strides = (0,) * (len(shape) + 1), (1,) * (len(shape) + 1)
        return [b.reshape(b.slice(x, start=start, limit=(1, *shape), strides=strides), shape=shape)], [False]
