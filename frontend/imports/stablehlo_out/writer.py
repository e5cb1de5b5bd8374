"""Writes StableHLO ops one by one, in MLIR's generic form, each result with its type.

Input: names, operands, result types, attributes. Output: lines of text, and `Ref`s to stand for results. MLIR
parses and verifies what was written, and prints it in StableHLO's own form, see `function.py`.

Idea: the rules see typed references and methods for the ops that many of them need; only this file knows how
an op is spelled. A size that is known only at run time is a `Ref` to a 0-d int64 array, an *extent* an int or
such a size: what takes a shape takes extents, and becomes the op with a dynamic shape where one is no int.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeAlias

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, INT32, INT64, Dimension, TensorType, dtype_name


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that was written: its name and type."""

    name: str
    type: TensorType

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def rank(self) -> int:
        return len(self.type.shape)


Extent: TypeAlias = int | Ref
SIZE: Final = TensorType((), INT64)
"""The type that sizes have in the text: wide enough for the number of elements of any array."""

Build: TypeAlias = "Callable[[Writer, list[Ref]], Sequence[Ref]]"


def tensor(dtype: Any, *shape: int) -> TensorType:
    """The type of an array."""
    return TensorType(shape, np.dtype(dtype))


def type_text(type_: TensorType) -> str:
    """`tensor<2x?xf32>`."""
    sizes = [str(n) if isinstance(n, int) else "?" for n in type_.shape]
    return f"tensor<{'x'.join([*sizes, dtype_name(type_.dtype)])}>"


def known_sizes(extents: Sequence[Extent]) -> tuple[Dimension, ...]:
    """The extents as they stand in a type."""
    return tuple(n if isinstance(n, int) else None for n in extents)


def ints(values: Sequence[int]) -> str:
    """An attribute of integers."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def integer(value: int) -> str:
    """An attribute of one integer."""
    return f"{value} : i64"


def rows(values: Sequence[tuple[int, int]]) -> str:
    """An attribute of pairs: padding."""
    inner = ", ".join(f"[{low}, {high}]" for low, high in values)
    return f"dense<[{inner}]> : tensor<{len(values)}x2xi64>" if values else "dense<> : tensor<0x2xi64>"


_OF_SIZES: Final[dict[str, Callable[[int, int], int]]] = {
    "add": int.__add__,
    "subtract": int.__sub__,
    "multiply": int.__mul__,
    "maximum": max,
    "minimum": min,
}


class Writer:
    """The lines of one region; regions within it share its numbering of names.

    `combinations` are functions of two scalars that the module needs, from their names to their texts.
    """

    def __init__(self, combinations: dict[str, str], numbers: Any = None) -> None:
        self.lines: list[str] = []
        self.combinations = combinations
        self.numbers = numbers or count()
        self._sizes: dict[tuple[str, int], Extent] = {}
        self._shaped_as: dict[str, str] = {}
        self._fewer_axes: dict[str, tuple[Ref, list[int]]] = {}

    def op(
        self,
        name: str,
        operands: Sequence[Ref],
        results: Sequence[TensorType],
        attributes: Mapping[str, str] | None = None,
        regions: Sequence[str] = (),
        discardable: Mapping[str, str] | None = None,
    ) -> list[Ref]:
        """Write one op, of StableHLO unless its name has a dialect; its results.

        `discardable` are attributes that the op's dialect does not know.
        """
        refs = [Ref(f"%{next(self.numbers)}", t) for t in results]
        left = f"{', '.join(r.name for r in refs)} = " if refs else ""
        full = name if "." in name else f"stablehlo.{name}"
        written, others = (
            ", ".join(f"{key} = {value}" for key, value in (some or {}).items())
            for some in (attributes, discardable)
        )
        properties = f" <{{{written}}}>" if written else ""
        further = f" {{{others}}}" if others else ""
        inside = f" ({', '.join(regions)})" if regions else ""
        types = ", ".join(type_text(v.type) for v in operands)
        returned = ", ".join(map(type_text, results))
        names = ", ".join(v.name for v in operands)
        self.lines.append(f'{left}"{full}"({names}){properties}{inside}{further} : ({types}) -> ({returned})')
        return refs

    def one(
        self,
        name: str,
        operands: Sequence[Ref],
        result: TensorType,
        attributes: Mapping[str, str] | None = None,
    ) -> Ref:
        """Write an op of one result."""
        return self.op(name, operands, [result], attributes)[0]

    def like(self, name: str, *operands: Ref) -> Ref:
        """Write an elementwise op, whose result is of the first operand's type."""
        return self._alike(operands[0], self.one(name, operands, operands[0].type))

    def region(self, arguments: Sequence[TensorType], build: Build) -> str:
        """The text of a region: `build(writer, arguments)` writes it and returns its results."""
        inner = Writer(self.combinations, self.numbers)
        refs = [Ref(f"%{next(self.numbers)}", t) for t in arguments]
        inner.op("return", build(inner, refs), ())
        head = ", ".join(f"{r.name}: {type_text(r.type)}" for r in refs)
        block = f"^bb0({head}):\n" if refs else ""
        return "{\n" + block + "\n".join(inner.lines) + "\n}"

    def combination(self, op: str, dtype: np.dtype) -> str:
        """A region of two scalars that applies one op."""
        scalar = tensor(dtype)
        return self.region([scalar, scalar], lambda w, xs: [w.like(op, *xs)])

    def combining(self, op: str, dtype: np.dtype) -> str:
        """The name of a private function of two scalars that applies one op."""
        scalar = type_text(tensor(dtype))
        name = f"{op}_{dtype_name(dtype)}".replace("<", "_").replace(">", "")
        self.combinations[name] = (
            f"func.func private @{name}(%x: {scalar}, %y: {scalar}) -> {scalar} {{\n"
            f"%z = stablehlo.{op} %x, %y : {scalar}\nreturn %z : {scalar}\n}}"
        )
        return name

    def constant(self, value: Any, dtype: Any = None) -> Ref:
        """An array of known elements."""
        array = np.asarray(value, dtype)
        type_ = TensorType(array.shape, array.dtype)
        return self.one("constant", (), type_, {"value": f"{_dense(array)} : {type_text(type_)}"})

    def filled(self, value: Any, like: Ref | TensorType, shape: Sequence[Extent] | None = None) -> Ref:
        """An array of one number, of the type of another; of a type with dynamic sizes, in this `shape`."""
        type_ = like.type if isinstance(like, Ref) else like
        if not type_.is_static:
            extents = shape if shape is not None or isinstance(like, TensorType) else self.extents(like)
            assert extents is not None, type_
            return self.broadcast(self.constant(np.asarray(value).astype(type_.dtype)), extents)
        array = np.broadcast_to(np.asarray(value).astype(type_.dtype), type_.shape)  # type: ignore[arg-type]
        return self.one("constant", (), type_, {"value": f"{_dense(array)} : {type_text(type_)}"})

    def compare(self, direction: str, x: Ref, y: Ref, *, total: bool = False) -> Ref:
        """`x <direction> y`."""
        kind = "TOTALORDER" if total else _compare_type(x.dtype)
        attributes = {
            "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
            "compare_type": f"#stablehlo<comparison_type {kind}>",
        }
        return self._alike(x, self.one("compare", (x, y), x.type.with_dtype(BOOL), attributes))

    def select(self, predicate: Ref, on_true: Ref, on_false: Ref) -> Ref:
        return self._alike(on_true, self.one("select", (predicate, on_true, on_false), on_true.type))

    def convert(self, x: Ref, dtype: Any) -> Ref:
        """`x` in another dtype, or as it is."""
        wanted = np.dtype(dtype)
        if x.dtype == wanted:
            return x
        return self._alike(x, self.one("convert", (x,), x.type.with_dtype(wanted)))

    def cast(self, x: Ref, type_: TensorType) -> Ref:
        """`x` under a type that knows more of its sizes, or less."""
        return x if x.type == type_ else self.one("convert", (x,), type_)

    def reshape(self, x: Ref, *shape: Extent) -> Ref:
        result = x.type.with_shape(known_sizes(shape))
        if not result.is_static:
            kept = self._kept_axes(x, shape)
            if kept is not None:  # IREE compiles no dynamic reshapes
                longer = self.broadcast(x, shape, kept)
                self._fewer_axes[longer.name] = x, kept
                return longer
            return self._sized(self.one("dynamic_reshape", (x, self.vector(shape)), result), shape)
        return x if x.type == result else self.one("reshape", (x,), result)

    def _kept_axes(self, x: Ref, shape: Sequence[Extent]) -> list[int] | None:
        """Where the axes of `x` are in `shape`, if that has axes of size 1 besides and no others."""
        sizes = self.extents(x)
        places: list[int] = []
        for axis, n in enumerate(shape):
            if len(places) < len(sizes) and n == sizes[len(places)]:
                places.append(axis)
            elif n != 1:
                return None
        return places if len(places) == len(sizes) else None

    def broadcast(self, x: Ref, shape: Sequence[Extent], dimensions: Sequence[int] = ()) -> Ref:
        if x.name in self._fewer_axes:  # of two in a row, IREE's importer forgets which axes are not repeated
            x, kept = self._fewer_axes[x.name]
            dimensions = [dimensions[axis] for axis in kept]
        result = x.type.with_shape(known_sizes(shape))
        attributes = {"broadcast_dimensions": ints(dimensions)}
        if result.is_static:
            return self.one("broadcast_in_dim", (x,), result, attributes)
        for name, is_repeated in (
            ("known_expanding_dimensions", True),
            ("known_nonexpanding_dimensions", False),
        ):
            axes = [
                k
                for k, d in enumerate(dimensions)
                if (x.type.shape[k] == 1 != result.shape[d]) == is_repeated
            ]
            attributes |= {name: ints(axes)} if axes else {}
        operands = (x, self.vector(shape))
        return self._sized(self.one("dynamic_broadcast_in_dim", operands, result, attributes), shape)

    def iota(self, dtype: Any, shape: Sequence[Extent], axis: int) -> Ref:
        result = TensorType(known_sizes(shape), np.dtype(dtype))
        attributes = {"iota_dimension": integer(axis)}
        if result.is_static:
            return self.one("iota", (), result, attributes)
        return self._sized(self.one("dynamic_iota", (self.vector(shape),), result, attributes), shape)

    def slice(self, x: Ref, start: Sequence[Extent], limit: Sequence[Extent], strides: Sequence[int]) -> Ref:
        """The elements from `start` to `limit`, whose sizes are known where both bounds are."""
        sizes = [
            -((m - n) // step) if isinstance(m, int) and isinstance(n, int) else None
            for m, n, step in zip(start, limit, strides, strict=True)
        ]
        result = x.type.with_shape(sizes)
        if all(isinstance(n, int) for n in (*start, *limit)):
            names = {"start_indices": start, "limit_indices": limit, "strides": strides}
            return self.one("slice", (x,), result, {key: ints(v) for key, v in names.items()})  # type: ignore[arg-type]
        bounds = (self.vector(start), self.vector(limit), self.vector(strides))
        return self.one("real_dynamic_slice", (x, *bounds), result)

    def reduce(self, op: str, x: Ref, start: Any, axes: Sequence[int]) -> Ref:
        """A reduction by one op."""
        shape = tuple(n for a, n in enumerate(x.type.shape) if a not in axes)
        first = self.constant(np.asarray(start).astype(x.dtype))
        return self.op(
            "reduce",
            (x, first),
            [x.type.with_shape(shape)],
            {"dimensions": ints(axes)},
            [self.combination(op, x.dtype)],
        )[0]

    def size(self, x: Ref, axis: int) -> Extent:
        """The size of an axis."""
        known = x.type.shape[axis]
        if isinstance(known, int):
            return known
        key = self._shaped_as.get(x.name, x.name), axis
        if key not in self._sizes:
            size = self.one("get_dimension_size", (x,), tensor(INT32), {"dimension": integer(axis)})
            self._sizes[key] = self.convert(size, INT64)
        return self._sizes[key]

    def _alike(self, x: Ref, result: Ref) -> Ref:
        """`result`, which has the shape of `x`."""
        self._shaped_as[result.name] = self._shaped_as.get(x.name, x.name)
        return result

    def _sized(self, result: Ref, shape: Sequence[Extent]) -> Ref:
        """`result`, which has this shape."""
        self._sizes.update({(result.name, axis): n for axis, n in enumerate(shape)})
        return result

    def extents(self, x: Ref) -> tuple[Extent, ...]:
        """The shape of an array."""
        return tuple(self.size(x, axis) for axis in range(x.rank))

    def scalar(self, n: Extent, dtype: Any = INT64) -> Ref:
        """A size as a 0-d array."""
        return self.convert(n, dtype) if isinstance(n, Ref) else self.constant(n, dtype)

    def vector(self, extents: Sequence[Extent]) -> Ref:
        """Sizes as one array."""
        if all(isinstance(n, int) for n in extents):
            return self.constant(np.array(extents, np.int64))
        parts = [self.reshape(self.scalar(n), 1) for n in extents]
        if len(parts) == 1:
            return parts[0]
        return self.one("concatenate", parts, tensor(INT64, len(parts)), {"dimension": integer(0)})

    def on_sizes(self, name: str, m: Extent, n: Extent) -> Extent:
        """`m <op> n` of two sizes: add, subtract, multiply, maximum, minimum."""
        if isinstance(m, int) and isinstance(n, int):
            return int(_OF_SIZES[name](m, n))
        return self.like(name, self.scalar(m), self.scalar(n))

    def call(self, symbol: str, operands: Sequence[Ref], results: Sequence[TensorType]) -> list[Ref]:
        """A call of another function of the module."""
        return self.op("func.call", operands, results, {"callee": f"@{symbol}"})

    def zero(self) -> Ref:
        """The index 0."""
        return self.constant(0, INT32)


def _compare_type(dtype: np.dtype) -> str:
    if dtype.kind in "fcV":
        return "FLOAT"
    return "SIGNED" if dtype.kind == "i" else "UNSIGNED"


def _dense(array: np.ndarray) -> str:
    """The elements as MLIR reads them: bits of all numbers but booleans, one for arrays of one number."""
    if not array.size:
        return "dense<>"
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype == BOOL:
        return _booleans(array)
    bits = flat.tobytes()
    size = array.dtype.itemsize
    if bits == bits[:size] * flat.size:
        bits = bits[:size]
    return f'dense<"0x{bits.hex().upper()}">'


def _booleans(array: np.ndarray) -> str:
    if array.all() or not array.any():
        return f"dense<{'true' if array.flat[0] else 'false'}>"
    return f"dense<{str(array.tolist()).replace('True', 'true').replace('False', 'false')}>"
