"""Random well-typed programs of elementwise, shape and reduction ops, for hypothesis to draw.

A program is a list of steps, each an op on earlier values. Every value carries its concrete shape and, for
floats, a bound on its magnitude and on the rounding error it may have gathered: discontinuous ops are drawn
on exact values only, so that compiled and evaluated results may be compared within the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from adze.dialects.types import BOOL, FLOAT32, FLOAT64, INT32, TensorType

UINT8 = np.dtype(np.uint8)
INPUT_DTYPES = (FLOAT32, FLOAT64, INT32, UINT8, BOOL)
INPUT_SHAPES = ((4, 6), (6,), (3, 1, 5), (), (0, 3))
LARGEST = 2.0**20  # integers up to here are exact in every float dtype drawn


@dataclass(frozen=True)
class SizeOf:
    """Stands for `b.dim(value, axis=axis)` in the attributes of a step."""

    value: int
    axis: int

    def __repr__(self) -> str:
        return f"b.dim(v{self.value}, axis={self.axis})"


@dataclass(frozen=True)
class Value:
    """What is known of a value: type, concrete shape, bound of magnitude, error in units of eps."""

    type: TensorType
    shape: tuple[int, ...]
    bound: float = 1.0
    error: float = 0.0

    @property
    def is_float(self) -> bool:
        return self.type.dtype.kind == "f"


@dataclass(frozen=True)
class Step:
    """One application: the builder's method, the numbers of its operands, its attributes."""

    method: str
    operands: tuple[int, ...]
    attributes: dict[str, Any]

    def __str__(self) -> str:
        attributes = [f"{name}={value!r}" for name, value in self.attributes.items()]
        return f"b.{self.method}({', '.join([*(f'v{i}' for i in self.operands), *attributes])})"


@dataclass(frozen=True, repr=False)
class Program:
    """Inputs, steps, and which values are returned (the last ones)."""

    values: tuple[Value, ...]
    arrays: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]

    @property
    def returned(self) -> range:
        """All values that are not inputs, or the inputs where there are no others."""
        return range(len(self.arrays) if self.steps else 0, len(self.values))

    def build(self, b: Any, *inputs: Any) -> list[Any]:
        """The program in terms of a builder."""
        values = list(inputs)
        for step in self.steps:
            operands = [values[i] for i in step.operands]
            attributes = {name: _resolved(b, values, v) for name, v in step.attributes.items()}
            values.append(getattr(b, step.method)(*operands, **attributes))
        return [values[i] for i in self.returned]

    def __str__(self) -> str:
        """The program as Python over a builder `b`."""
        lines = [
            f"v{i} = {a!r}  # {v.type}"
            for i, (a, v) in enumerate(zip(self.arrays, self.values, strict=False))
        ]
        lines += [f"v{len(self.arrays) + i} = {step}" for i, step in enumerate(self.steps)]
        return "\n".join(lines)

    __repr__ = __str__


def _resolved(b: Any, values: list[Any], attribute: Any) -> Any:
    if not isinstance(attribute, tuple):
        return attribute
    return tuple(b.dim(values[n.value], axis=n.axis) if isinstance(n, SizeOf) else n for n in attribute)


@st.composite
def programs(draw: Callable[[Any], Any], most_steps: int = 8) -> Program:
    """A program of one to three inputs and up to `most_steps` ops."""
    arrays, values = [], []
    for _ in range(draw(st.integers(1, 3))):
        array, value = draw(inputs())
        arrays.append(array)
        values.append(value)
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, most_steps))):
        candidates = list(_candidates(values))
        step, value = candidates[draw(st.integers(0, len(candidates) - 1))]
        steps.append(step)
        values.append(value)
    return Program(tuple(values), tuple(arrays), tuple(steps))


@st.composite
def inputs(draw: Callable[[Any], Any]) -> tuple[np.ndarray, Value]:
    """An array of small integers of some dtype, with some of its axes dynamic."""
    dtype, shape = draw(st.sampled_from(INPUT_DTYPES)), draw(st.sampled_from(INPUT_SHAPES))
    dynamic = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    seed = draw(st.integers(0, 2**16))
    low = 0 if dtype.kind in "ub" else -4
    array = np.random.default_rng(seed).integers(low, 2 if dtype == BOOL else 5, shape).astype(dtype)
    static = tuple(None if d else n for d, n in zip(dynamic, shape, strict=True))
    return np.asarray(array), Value(TensorType(static, dtype), shape, 4.0)


Candidate = tuple[Step, Value]


def _candidates(values: list[Value]) -> Iterator[Candidate]:
    """Every step that is well typed and keeps bounds and errors small."""
    for i, x in enumerate(values):
        yield from _unary(i, x)
        yield from _movement(i, x)
        yield from _reductions(i, x)
        for j, y in enumerate(values):
            if x.shape == y.shape and x.type.dtype == y.type.dtype:
                yield from _binary(i, x, j, y)
                yield from _selections(values, i, x, j, y)


def _same(x: Value, dtype: np.dtype | None = None, bound: float = 1.0, error: float = 0.0) -> Value:
    return Value(TensorType(x.type.shape, dtype or x.type.dtype), x.shape, bound, error)


def _unary(i: int, x: Value) -> Iterator[Candidate]:
    if x.type.dtype == BOOL:
        yield Step("not_", (i,), {}), x
        yield Step("convert", (i,), {"dtype": FLOAT32}), _same(x, FLOAT32)
        return
    yield Step("neg", (i,), {}), x
    yield Step("abs", (i,), {}), x
    if not x.is_float:
        yield Step("popcount", (i,), {}), x
        other = UINT8 if x.type.dtype == INT32 else INT32
        yield Step("convert", (i,), {"dtype": other}), _same(x, other)
        return
    if x.bound <= 100:
        for name in ("tanh", "sin", "cos", "logistic"):
            yield Step(name, (i,), {}), _same(x, bound=1.0, error=x.error + 8)
    if not x.error:
        yield Step("convert", (i,), {"dtype": INT32}), _same(x, INT32, x.bound)
        yield Step("sign", (i,), {}), _same(x)
        yield Step("floor", (i,), {}), x


def _binary(i: int, x: Value, j: int, y: Value) -> Iterator[Candidate]:
    if x.type.dtype == BOOL:
        for name in ("and_", "or_", "xor"):
            yield Step(name, (i, j), {}), _merged(x, y)
        return
    if not x.error and not y.error:
        comparison = _merged(x, y)
        for direction in ("EQ", "LT", "GE"):
            yield Step("compare", (i, j), {"direction": direction}), _same(comparison, BOOL)
    for name in ("max", "min"):
        yield Step(name, (i, j), {}), _merged(x, y, max(x.bound, y.bound), max(x.error, y.error))
    if not x.is_float:
        for name in ("add", "sub", "mul", "div", "rem"):
            yield Step(name, (i, j), {}), _merged(x, y)
        return
    is_exact = not x.error and not y.error
    total, product = x.bound + y.bound, x.bound * y.bound
    if total <= LARGEST:
        error = 0.0 if is_exact else x.error + y.error + total
        yield Step("add", (i, j), {}), _merged(x, y, total, error)
        yield Step("sub", (i, j), {}), _merged(x, y, total, error)
    if product <= LARGEST:
        error = 0.0 if is_exact else x.bound * y.error + y.bound * x.error + product
        yield Step("mul", (i, j), {}), _merged(x, y, product, error)


def _merged(x: Value, y: Value, bound: float = 4.0, error: float = 0.0) -> Value:
    pairs = zip(x.type.shape, y.type.shape, strict=True)
    return Value(
        TensorType(tuple(n if m is None else m for m, n in pairs), x.type.dtype), x.shape, bound, error
    )


def _selections(values: list[Value], i: int, x: Value, j: int, y: Value) -> Iterator[Candidate]:
    for k, predicate in enumerate(values):
        if predicate.type.dtype == BOOL and predicate.shape == x.shape:
            merged = _merged(x, y, max(x.bound, y.bound), max(x.error, y.error))
            shape = _merged(predicate, merged).type.shape
            result = Value(TensorType(shape, x.type.dtype), x.shape, merged.bound, merged.error)
            yield Step("select", (k, i, j), {}), result


def _movement(i: int, x: Value) -> Iterator[Candidate]:
    rank = len(x.shape)

    def moved(static: tuple[int | None, ...], shape: tuple[int, ...]) -> Value:
        return Value(TensorType(static, x.type.dtype), shape, x.bound, x.error)

    if rank < 3:
        sizes = tuple(SizeOf(i, a) if n is None else n for a, n in enumerate(x.type.shape))
        attributes = {"shape": (2, *sizes), "dimensions": tuple(range(1, rank + 1))}
        yield Step("broadcast_in_dim", (i,), attributes), moved((2, *x.type.shape), (2, *x.shape))
    if rank > 1:
        order = tuple(reversed(range(rank)))
        yield Step("transpose", (i,), {"permutation": order}), moved(x.type.shape[::-1], x.shape[::-1])
    if rank:
        yield Step("reverse", (i,), {"axes": (rank - 1,)}), x
        last = x.type.shape[-1]
        joined = moved(
            (*x.type.shape[:-1], None if last is None else 2 * last), (*x.shape[:-1], 2 * x.shape[-1])
        )
        if x.shape[-1] <= 12:
            yield Step("concatenate", (i, i), {"axis": rank - 1}), joined
    if rank and x.type.is_static:
        count = int(np.prod(x.shape))
        yield Step("reshape", (i,), {"shape": (count,)}), moved((count,), (count,))
        if x.shape[0] > 1:
            limit = x.shape
            start = (1, *(0,) * (rank - 1))
            shape = (x.shape[0] - 1, *x.shape[1:])
            attributes = {"start": start, "limit": limit, "strides": (1,) * rank}
            yield Step("slice", (i,), attributes), moved(shape, shape)


def _reductions(i: int, x: Value) -> Iterator[Candidate]:
    for axis in range(len(x.shape)):
        static = x.type.shape[:axis] + x.type.shape[axis + 1 :]
        shape = x.shape[:axis] + x.shape[axis + 1 :]

        def reduced(bound: float, error: float, static: Any = static, shape: Any = shape) -> Value:
            return Value(TensorType(static, x.type.dtype), shape, bound, error)

        if x.type.dtype == BOOL:
            yield Step("reduce_or", (i,), {"axes": (axis,)}), reduced(1.0, 0.0)
            continue
        count = max(x.shape[axis], 1)
        if x.bound * count <= LARGEST or not x.is_float:
            error = count * (x.error + x.bound * count) if x.error else 0.0
            yield Step("reduce_sum", (i,), {"axes": (axis,)}), reduced(x.bound * count, error)
        if x.shape[axis]:
            yield Step("reduce_max", (i,), {"axes": (axis,)}), reduced(x.bound, x.error)
