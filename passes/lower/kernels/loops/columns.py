"""Functions of arrays of rows as functions of their columns: each op for each column by itself.

Input: a function of a module, and how many rows there are. Output: a function that has for each argument and
result with so many rows its columns, one vector each, and for each small array that all rows share its
numbers. Idea: an array is a NumPy array of the values that are its columns, which NumPy slices, joins,
repeats and permutes; only elementwise ops, sums and products are emitted. What is listed here and nowhere
else is possible; else `NoColumns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.dataclass import dataclass
from .....dialects.op import Op
from .....dialects.ops.collectives.shardings import ShardingConstraint
from .....dialects.ops.constants import Constant, Iota
from .....dialects.ops.contraction.dot_general import DotGeneral, operand_axes
from .....dialects.ops.control.cond import Cond
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from .....dialects.ops.custom_rules.checkpoints import CheckpointName, OptimizationBarrier, StopGradient
from .....dialects.ops.elementwise.family import Elementwise
from .....dialects.ops.reduction import Reduction, accumulation_dtype
from .....dialects.ops.shape.rearrange import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from .....dialects.ops.shape.slicing import Pad, Slice
from .....dialects.types import TensorType
from ....ir.aliases import Operation, Value
from ....ir.construction import NewFunction
from ....ir.functions import body, split_body
from .errors import KernelError

LEAST_ROWS: Final = 16
MOST_OF_ARRAY: Final = 32  # columns of one array
MOST_OPS: Final = 2000  # of one function
_SAME: Final = (StopGradient, CheckpointName, OptimizationBarrier, ShardingConstraint)
_COMBINE: Final = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and_",
    "reduce_or": "or_",
}


class NoColumns(KernelError):
    """Why a loop is not one over columns."""


@dataclass(frozen=True)
class Columns:
    """How an array is taken apart: whether its first axis are the rows, and the shape of the others."""

    is_of_rows: bool
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many columns there are."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class Apart:
    """The columns of a value, an array of values; `lane` is the axis of the rows, None for shared numbers."""

    parts: np.ndarray
    lane: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape without the rows."""
        return self.parts.shape

    def axis(self, axis: int) -> int:
        """An axis of the value as one of `parts`."""
        if axis == self.lane:
            raise NoColumns("rows depend on each other")
        return axis - (self.lane is not None and axis > self.lane)


def _array(parts: Sequence[Value], shape: Sequence[int]) -> np.ndarray:
    result = np.empty(len(parts), object)
    result[:] = list(parts)
    return result.reshape(tuple(shape))


class ColumnFunctions:
    """The functions of a loop over columns, each emitted once."""

    def __init__(
        self, module: mlir.ir.Module, by_symbol: Mapping[str, Operation], reader: Reader, rows: int
    ) -> None:
        self._module = module
        self._by_symbol = by_symbol
        self._reader = reader
        self._rows = rows
        self._emitted: dict[str, str] = {}

    def columns_of(self, shape: Sequence[Any]) -> Columns:
        """How an array of this shape is taken apart."""
        is_of_rows = bool(shape) and shape[0] == self._rows
        columns = Columns(is_of_rows, tuple(shape[1:] if is_of_rows else shape))
        if not 0 < columns.count <= MOST_OF_ARRAY:
            raise NoColumns(f"it uses an array of {columns.count} columns")
        return columns

    def loop(self, b: Emitter, loop: Application, operands: Sequence[Sequence[Value]]) -> Sequence[Value]:
        """The loop on the columns of its operands; the columns of its results."""
        attributes: dict[str, Any] = dict(loop.attributes)
        counts = list(map(len, operands))

        def up_to(first: int, count: int) -> int:
            return sum(counts[first : first + count])

        attributes["body"] = self.function(attributes["body"])
        if loop.op is Scan:
            constants, carried = attributes["constant_count"], attributes["carry_count"]
            attributes["constant_count"] = up_to(0, constants)
            attributes["carry_count"] = up_to(constants, carried)
            attributes["results"] = tuple(
                part
                for position, type_ in enumerate(attributes["results"])
                for part in self.types_of(type_, is_stack=position >= carried)
            )
        else:
            asked, given = attributes["condition_constants"], attributes["body_constants"]
            attributes["condition"] = self.function(attributes["condition"])
            attributes["condition_constants"] = up_to(0, asked)
            attributes["body_constants"] = up_to(asked, given)
        return b.apply(loop.op, [value for each in operands for value in each], attributes)

    def types_of(self, type_: TensorType, *, is_stack: bool = False) -> list[TensorType]:
        """The types of the columns of an array; of a stack of them, of each step."""
        leading = type_.shape[:1] if is_stack else ()
        columns = self.columns_of(type_.shape[len(leading) :])
        return [type_.with_shape((*leading, *([self._rows] if columns.is_of_rows else [])))] * columns.count

    def function(self, symbol: str) -> str:
        """The function of columns."""
        if symbol not in self._emitted:
            source = self._by_symbol[symbol]
            types = [self._type(v) for v in body(source).arguments]
            flat = [part for type_ in types for part in self.types_of(type_)]
            new = NewFunction(self._module, self._reader.codec, f"{symbol}_columns", flat, source.location)
            arguments = iter(new.arguments)
            values: dict[Value, Apart] = {}
            for argument, type_ in zip(body(source).arguments, types, strict=True):
                columns = self.columns_of(type_.shape)
                parts = [next(arguments) for _ in range(columns.count)]
                values[argument] = Apart(_array(parts, columns.shape), 0 if columns.is_of_rows else None)
            operations, end = split_body(source)
            emitter = _Ops(self, new.emitter, self._rows)
            for child in operations:
                operation = child.operation
                application = self._reader.read(operation, values.__getitem__)
                if application is None:
                    raise NoColumns(f"{operation.name} is in it")
                types = [self._type(v) for v in operation.results]
                results = emitter.emit(application, types)
                self._require_alike(results, types)
                values.update(zip(operation.results, results, strict=True))
            returned = [part for v in end.operands for part in self._returned(values[v])]
            self._emitted[symbol] = new.finish(returned)
        return self._emitted[symbol]

    def _require_alike(self, results: Sequence[Apart], types: Sequence[TensorType]) -> None:
        """Each result has its rows where its shape says so, which is what its users go by."""
        for result, type_ in zip(results, types, strict=True):
            shape = list(result.shape)
            if result.lane is not None:
                shape.insert(result.lane, self._rows)
            if tuple(shape) != type_.shape or (result.lane is None and type_.shape[:1] == (self._rows,)):
                raise NoColumns("an array that all rows share looks like rows")

    def _returned(self, value: Apart) -> list[Value]:
        if value.lane not in (None, 0):
            raise NoColumns("its rows are not first")
        return list(value.parts.reshape(-1))

    def _type(self, value: Value) -> TensorType:
        type_ = self._reader.codec.read_type(value.type)
        if not isinstance(type_, TensorType) or not type_.is_static:
            raise NoColumns("it has sizes that are known only when it runs")
        return type_


class _Ops:
    """Ops on columns, appended to one function."""

    def __init__(self, functions: ColumnFunctions, b: Emitter, rows: int) -> None:
        self._functions = functions
        self._b = b
        self._rows = rows
        self._count = 0
        self._repeated: dict[Value, Value] = {}
        self._rules: dict[type[Op], Callable[..., Apart]] = {
            Constant: self._constant,
            Iota: self._constant,
            BroadcastInDim: self._broadcast,
            Reshape: self._reshape,
            Transpose: self._transpose,
            Slice: self._slice,
            Pad: self._pad,
            Concatenate: self._concatenate,
            Reverse: self._reverse,
            DotGeneral: self._product,
        }

    def emit(self, application: Application, types: Sequence[TensorType]) -> list[Apart]:
        """The results of one op, which have these types as arrays of rows."""
        op, operands, attributes = application
        if op in (Scan, While, Cond):
            return self._control(application, types)
        if op in _SAME:
            return list(operands)
        (type_,) = types
        if issubclass(op, Elementwise):
            return [self._elementwise(op, operands, attributes)]
        if issubclass(op, Reduction):
            return [self._reduce(op, *operands, **attributes)]
        if op not in self._rules:
            raise NoColumns(f"adze.{op.name} is in it")
        if op in (Constant, Iota):
            return [self._constant(np.asarray(op.evaluate(**attributes)))]
        if op in (BroadcastInDim, Reshape):
            attributes = {**attributes, "shape": type_.static_shape}
        return [self._rules[op](*operands, **attributes)]

    def _apply(self, op: type[Op], operands: Sequence[Value], attributes: Mapping[str, Any]) -> Value:
        self._count += 1
        if self._count > MOST_OPS:
            raise NoColumns(f"it has more than {MOST_OPS} ops on columns")
        (result,) = self._b.apply(op, operands, dict(attributes))
        return result

    def _elementwise(self, op: type[Op], operands: Sequence[Apart], attributes: Mapping[str, Any]) -> Apart:
        first = operands[0]
        if any((x.shape, x.lane) != (first.shape, first.lane) for x in operands):
            raise NoColumns("rows depend on each other")
        parts = [
            self._apply(op, elements, attributes)
            for elements in zip(*(x.parts.reshape(-1) for x in operands), strict=True)
        ]
        return Apart(_array(parts, first.shape), first.lane)

    def _reduce(self, op: type[Op], x: Apart, *, axes: Sequence[int]) -> Apart:
        if x.lane is not None and not x.shape and tuple(axes) == (x.lane,):
            return Apart(_array([self._apply(op, [x.parts.item()], {"axes": (0,)})], ()), None)
        dtype = self._b.tensor_type(x.parts.reshape(-1)[0]).dtype
        if op.name in ("reduce_sum", "reduce_prod") and accumulation_dtype(dtype) != dtype:
            raise NoColumns(f"it sums {dtype} in a wider type")
        combine = getattr(self._b, _COMBINE[op.name])
        taken = [x.axis(axis) for axis in axes]
        kept = [axis for axis in range(x.parts.ndim) if axis not in taken]
        rows = x.parts.transpose((*kept, *taken)).reshape((*(x.shape[axis] for axis in kept), -1))
        lane = None if x.lane is None else x.lane - sum(axis < x.lane for axis in axes)
        return Apart(_combined(rows, combine), lane)

    def _constant(self, array: np.ndarray) -> Apart:
        is_of_rows = array.ndim > 0 and array.shape[0] == self._rows
        if is_of_rows:
            first = np.ascontiguousarray(array[:1])
            if array.tobytes() != first.tobytes() * len(array):
                raise NoColumns("rows have constants of their own")
            array = array[0]
        self._functions.columns_of(array.shape)
        parts = _array([self._b.array(np.asarray(n)) for n in array.reshape(-1)], array.shape)
        return self._of_rows(Apart(parts, None)) if is_of_rows else Apart(parts, None)

    def _of_rows(self, x: Apart) -> Apart:
        """Shared numbers as columns, whose axis of rows is first."""
        for part in x.parts.reshape(-1):
            if part not in self._repeated:
                self._repeated[part] = self._b.broadcast_in_dim(part, shape=(self._rows,), dimensions=())
        return Apart(_array([self._repeated[part] for part in x.parts.reshape(-1)], x.shape), 0)

    # -- movement ------------------------------------------------------------------------------

    def _broadcast(self, x: Apart, *, shape: Sequence[int], dimensions: Sequence[int]) -> Apart:
        at = list(dimensions)
        lane = at.pop(x.lane) if x.lane is not None else None
        parts = x.parts
        if lane is None and self._rows in shape[:1]:
            lane = 0
            if 0 in at:  # one number, repeated for all rows
                if parts.shape[at.index(0)] != 1:
                    raise NoColumns("an array that all rows share becomes rows")
                parts, at = parts.squeeze(at.index(0)), [d for d in at if d != 0]
        others = [d for d in range(len(shape)) if d != lane]
        order = sorted(range(len(at)), key=at.__getitem__)
        sizes = [1] * len(others)
        for k in order:
            sizes[others.index(at[k])] = parts.shape[k]
        wanted = tuple(shape[d] for d in others)
        spread = np.broadcast_to(parts.transpose(order).reshape(sizes), wanted)
        if lane is not None and x.lane is None:
            return self._of_rows(Apart(spread, None))
        self._functions.columns_of(wanted if lane is None else (self._rows, *wanted))
        return Apart(spread, lane)

    def _reshape(self, x: Apart, *, shape: Sequence[int]) -> Apart:
        if x.lane is None:
            return Apart(x.parts.reshape(tuple(shape)), None)
        before = prod(x.shape[: x.lane])
        for lane, n in enumerate(shape):
            if n == self._rows and prod(shape[:lane]) == before:
                return Apart(x.parts.reshape((*shape[:lane], *shape[lane + 1 :])), lane)
        raise NoColumns("it joins rows with other axes")

    def _transpose(self, x: Apart, *, permutation: Sequence[int]) -> Apart:
        order = [x.axis(axis) for axis in permutation if axis != x.lane]
        lane = None if x.lane is None else list(permutation).index(x.lane)
        return Apart(x.parts.transpose(order), lane)

    def _slice(
        self, x: Apart, *, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
    ) -> Apart:
        bounds = list(map(slice, start, limit, strides))
        if x.lane is not None:
            self._require_all(bounds.pop(x.lane))
        return Apart(x.parts[tuple(bounds)], x.lane)

    def _require_all(self, taken: slice) -> None:
        if (taken.start, taken.stop, taken.step) != (0, self._rows, 1):
            raise NoColumns("rows depend on each other")

    def _pad(
        self, x: Apart, value: Apart, *, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
    ) -> Apart:
        amounts = list(zip(low, high, interior, strict=True))
        if x.lane is not None and any(amounts.pop(x.lane)):
            raise NoColumns("rows depend on each other")
        around = (value if x.lane is None else self._of_rows(value)).parts.item()
        sizes, places, taken = [], [], []
        for n, (before, behind, between) in zip(x.shape, amounts, strict=True):
            step, size = between + 1, before + behind + n + (n - 1) * between
            kept = [k for k in range(n) if 0 <= before + k * step < size]
            sizes.append(size)
            taken.append(kept)
            places.append([before + k * step for k in kept])
        padded = np.empty(sizes, object)
        padded.fill(around)
        if padded.size and x.parts.size:
            padded[np.ix_(*places)] = x.parts[np.ix_(*taken)]
        self._functions.columns_of(padded.shape if x.lane is None else (self._rows, *padded.shape))
        return Apart(padded, x.lane)

    def _concatenate(self, *xs: Apart, axis: int) -> Apart:
        lane = xs[0].lane
        if any(x.lane != lane for x in xs):
            raise NoColumns("rows depend on each other")
        return Apart(np.concatenate([x.parts for x in xs], axis=xs[0].axis(axis)), lane)

    def _reverse(self, x: Apart, *, axes: Sequence[int]) -> Apart:
        return Apart(np.flip(x.parts, axis=tuple(x.axis(axis) for axis in axes)), x.lane)

    # -- products ------------------------------------------------------------------------------

    def _product(self, x: Apart, y: Apart, *, contracting: Any, batch: Any, dtype: np.dtype) -> Apart:
        b = self._b
        kinds = {b.tensor_type(v.parts.reshape(-1)[0]).dtype for v in (x, y) if v.parts.size}
        if kinds != {dtype} or accumulation_dtype(dtype) != dtype:
            raise NoColumns("it sums products in a wider type")
        ranks = [v.parts.ndim + (v.lane is not None) for v in (x, y)]
        axes = [operand_axes(rank, side, contracting, batch) for side, rank in enumerate(ranks)]
        names = _names(*axes)
        lanes = {names[side][v.lane] for side, v in enumerate((x, y)) if v.lane is not None}
        if len(lanes) > 1 or any(name.startswith("k") for name in lanes):
            raise NoColumns("rows depend on each other")
        kept = [
            *(f"b{k}" for k in range(len(axes[0].batch))),
            *(f"m{k}" for k in range(len(axes[0].free))),
            *(f"n{k}" for k in range(len(axes[1].free))),
        ]
        lane = kept.index(next(iter(lanes))) if lanes else None
        sides = [
            (v, [name for a, name in sorted(names[side].items()) if a != v.lane])
            for side, v in enumerate((x, y))
        ]
        sizes = {name: n for v, own in sides for name, n in zip(own, v.shape, strict=True)}
        kept = [name for name in kept if name not in lanes]
        summed = [f"k{k}" for k in range(len(axes[0].contracting))]
        if lanes:
            sides = [(v if v.lane is not None else self._of_rows(v), own) for v, own in sides]

        def element(place: dict[str, int]) -> Value:
            factors = [v.parts[tuple(place[name] for name in own)] for v, own in sides]
            self._count += 2
            return b.mul(*factors)

        shape = [sizes[name] for name in kept]
        parts = []
        for at in np.ndindex(*shape):
            place = dict(zip(kept, at, strict=True))
            products = [
                element({**place, **dict(zip(summed, steps, strict=True))})
                for steps in np.ndindex(*(sizes[name] for name in summed))
            ]
            parts.append(_folded(products, b.add))
            if self._count > MOST_OPS:
                raise NoColumns(f"it has more than {MOST_OPS} ops on columns")
        return Apart(_array(parts, shape), lane)

    # -- control flow --------------------------------------------------------------------------

    def _control(self, application: Application, types: Sequence[TensorType]) -> list[Apart]:
        """A loop or branch inside of the loop."""
        op, operands, attributes = application
        if any(x.lane not in (None, 0) for x in operands):
            raise NoColumns("its rows are not first")
        if op is Scan and len(operands) > attributes["constant_count"] + attributes["carry_count"]:
            raise NoColumns("an inner loop scans over arrays")
        if op is Scan and len(types) > attributes["carry_count"]:
            raise NoColumns("an inner loop stacks arrays")
        given = [list(x.parts.reshape(-1)) for x in operands]
        if op is Cond:
            results = tuple(part for t in attributes["results"] for part in self._functions.types_of(t))
            branches = tuple(self._functions.function(symbol) for symbol in attributes["branches"])
            flat = [value for each in given for value in each]
            outputs = iter(
                self._b.apply(Cond, flat, {**attributes, "branches": branches, "results": results})
            )
        else:
            outputs = iter(self._functions.loop(self._b, application, given))
        found = []
        for type_ in types:
            columns = self._functions.columns_of(type_.shape)
            parts = [next(outputs) for _ in range(columns.count)]
            found.append(Apart(_array(parts, columns.shape), 0 if columns.is_of_rows else None))
        return found


def _names(left: Any, right: Any) -> list[dict[int, str]]:
    """For both operands of a product, the loop of each axis: of the batch, its own, of the sum."""
    found = []
    for axes, own in ((left, "m"), (right, "n")):
        loops = (("b", axes.batch), (own, axes.free), ("k", axes.contracting))
        found.append({axis: f"{letter}{k}" for letter, group in loops for k, axis in enumerate(group)})
    return found


def _combined(rows: np.ndarray, combine: Callable[[Value, Value], Value]) -> np.ndarray:
    """The elements of the last axis, combined."""
    shape = rows.shape[:-1]
    return _array([_folded(list(row), combine) for row in rows.reshape(-1, rows.shape[-1])], shape)


def _folded(values: Sequence[Value], combine: Callable[[Value, Value], Value]) -> Value:
    if not values:
        raise NoColumns("it reduces no elements")
    each: Iterator[Value] = iter(values)
    total = next(each)
    for value in each:
        total = combine(total, value)
    return total
