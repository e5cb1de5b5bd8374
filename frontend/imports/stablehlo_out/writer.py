"""Writes StableHLO ops one by one, in MLIR's generic form, each result with its type.

Input: names, operands, result types, attributes. Output: lines of text, and `Ref`s to stand for results. MLIR
parses and verifies what was written, and prints it in StableHLO's own form, see `function.py`.

Idea: the rules see typed references and methods for the ops that many of them need; only this file knows how
an op is spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from ....dialects.types import BOOL, INT32, TensorType, dtype_name
from ..errors import ModelUnsupportedError


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that was written: its name and type."""

    name: str
    type: TensorType

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return sizes_of(self.type)

    @property
    def rank(self) -> int:
        return len(self.type.shape)


Build: TypeAlias = "Callable[[Writer, list[Ref]], Sequence[Ref]]"


def sizes_of(type_: TensorType) -> tuple[int, ...]:
    """The shape of a type, which must be static."""
    if not type_.is_static:
        raise ModelUnsupportedError(
            f"to_stablehlo: {type_} has dynamic sizes, which consumers of StableHLO do not compile",
            hint="give every dimension a size",
        )
    return tuple(n for n in type_.shape if isinstance(n, int))


def tensor(dtype: Any, *shape: int) -> TensorType:
    """The type of an array."""
    return TensorType(shape, np.dtype(dtype))


def type_text(type_: TensorType) -> str:
    """`tensor<2x3xf32>`."""
    return f"tensor<{'x'.join([*map(str, sizes_of(type_)), dtype_name(type_.dtype)])}>"


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


class Writer:
    """The lines of one region; regions within it share its numbering of names."""

    def __init__(self, numbers: Any = None) -> None:
        self.lines: list[str] = []
        self.numbers = numbers or count()

    def op(
        self,
        name: str,
        operands: Sequence[Ref],
        results: Sequence[TensorType],
        attributes: Mapping[str, str] | None = None,
        regions: Sequence[str] = (),
    ) -> list[Ref]:
        """Write one op, of StableHLO unless its name has a dialect; its results."""
        refs = [Ref(f"%{next(self.numbers)}", t) for t in results]
        left = f"{', '.join(r.name for r in refs)} = " if refs else ""
        full = name if "." in name else f"stablehlo.{name}"
        written = ", ".join(f"{key} = {value}" for key, value in (attributes or {}).items())
        properties = f" <{{{written}}}>" if written else ""
        inside = f" ({', '.join(regions)})" if regions else ""
        types = ", ".join(type_text(v.type) for v in operands)
        returned = ", ".join(map(type_text, results))
        names = ", ".join(v.name for v in operands)
        self.lines.append(f'{left}"{full}"({names}){properties}{inside} : ({types}) -> ({returned})')
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
        return self.one(name, operands, operands[0].type)

    def region(self, arguments: Sequence[TensorType], build: Build) -> str:
        """The text of a region: `build(writer, arguments)` writes it and returns its results."""
        inner = Writer(self.numbers)
        refs = [Ref(f"%{next(self.numbers)}", t) for t in arguments]
        inner.op("return", build(inner, refs), ())
        head = ", ".join(f"{r.name}: {type_text(r.type)}" for r in refs)
        block = f"^bb0({head}):\n" if refs else ""
        return "{\n" + block + "\n".join(inner.lines) + "\n}"

    def combination(self, op: str, dtype: np.dtype) -> str:
        """A region of two scalars that applies one op."""
        scalar = tensor(dtype)
        return self.region([scalar, scalar], lambda w, xs: [w.like(op, *xs)])

    def constant(self, value: Any, dtype: Any = None) -> Ref:
        """An array of known elements."""
        array = np.asarray(value, dtype)
        type_ = TensorType(array.shape, array.dtype)
        return self.one("constant", (), type_, {"value": f"{_dense(array)} : {type_text(type_)}"})

    def filled(self, value: Any, like: Ref | TensorType) -> Ref:
        """An array of one number, of the type of another."""
        type_ = like.type if isinstance(like, Ref) else like
        array = np.broadcast_to(np.asarray(value).astype(type_.dtype), sizes_of(type_))
        return self.one("constant", (), type_, {"value": f"{_dense(array)} : {type_text(type_)}"})

    def compare(self, direction: str, x: Ref, y: Ref, *, total: bool = False) -> Ref:
        """`x <direction> y`."""
        kind = "TOTALORDER" if total else _compare_type(x.dtype)
        attributes = {
            "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
            "compare_type": f"#stablehlo<comparison_type {kind}>",
        }
        return self.one("compare", (x, y), x.type.with_dtype(BOOL), attributes)

    def select(self, predicate: Ref, on_true: Ref, on_false: Ref) -> Ref:
        return self.one("select", (predicate, on_true, on_false), on_true.type)

    def convert(self, x: Ref, dtype: Any) -> Ref:
        """`x` in another dtype, or as it is."""
        wanted = np.dtype(dtype)
        return x if x.dtype == wanted else self.one("convert", (x,), x.type.with_dtype(wanted))

    def reshape(self, x: Ref, *shape: int) -> Ref:
        return x if x.shape == shape else self.one("reshape", (x,), x.type.with_shape(shape))

    def broadcast(self, x: Ref, shape: Sequence[int], dimensions: Sequence[int] = ()) -> Ref:
        result = x.type.with_shape(tuple(shape))
        return self.one("broadcast_in_dim", (x,), result, {"broadcast_dimensions": ints(dimensions)})

    def iota(self, dtype: Any, shape: Sequence[int], axis: int) -> Ref:
        return self.one("iota", (), tensor(dtype, *shape), {"iota_dimension": integer(axis)})

    def reduce(self, op: str, x: Ref, start: Any, axes: Sequence[int]) -> Ref:
        """A reduction by one op."""
        shape = tuple(n for a, n in enumerate(x.shape) if a not in axes)
        first = self.constant(np.asarray(start).astype(x.dtype))
        return self.op(
            "reduce",
            (x, first),
            [x.type.with_shape(shape)],
            {"dimensions": ints(axes)},
            [self.combination(op, x.dtype)],
        )[0]

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
