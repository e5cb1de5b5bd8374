"""Random programs over all families of ops, drawn to provoke wrong fusions and shared buffers.

An author draws one application after another and evaluates each at once, for two sets of arguments, so that
every step is known to be well typed, inside its bounds, and exact: floats stay small integers, whose results
do not depend on the order of additions. Input: a source of random numbers. Output: a `Program`, which can be
built with any builder and knows its results. Values are used again and returned at random, inputs too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from adze.dialects.dialect import BY_NAME
from adze.dialects.types import BFLOAT16, SIZE, TensorType, storage

DTYPES: Final = tuple(
    np.dtype(t)
    for t in (
        *(np.float32, np.float64, np.complex64, np.complex128, np.float16, BFLOAT16),
        *(np.int32, np.int64, np.uint8, np.uint32, np.int8, np.bool_),
    )
)
WEIGHTS: Final = (10, 8, 4, 5, 2, 2, 6, 4, 3, 2, 2, 4)
SHAPES: Final = ((4, 6), (6,), (6, 4), (3, 1, 5), (), (0, 3), (4, 4), (2, 3, 4), (12,), (1, 6), (1,), (9, 16))
MOST_ELEMENTS: Final = 500
# Sizes that no tile divides and rows longer than a tile: where IREE cuts loops and recomputes in pieces.
LARGE_SHAPES: Final = (
    *((65, 129), (5, 300), (33, 65), (130, 17), (300,), (129,), (65, 1), (1, 129), (2, 65, 33), (129, 65)),
)
MOST_LARGE_ELEMENTS: Final = 50_000
ROUNDED_DTYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))
LARGEST_ROUNDED: Final = 4.0
ROUNDINGS: Final = 256
"""What is rounded stays this small and goes through a dozen steps at most."""


class SizeOf:
    """Stands, in a `sizes` attribute, for the product of some of a value's dimensions."""

    def __init__(self, value: int, *axes: int) -> None:
        self.value, self.axes = value, axes

    def __repr__(self) -> str:
        return " * ".join(f"b.dim(v{self.value}, axis={a})" for a in self.axes)


@dataclass(frozen=True)
class Known:
    """A value: its type, and what it is for the first and for the second set of arguments."""

    type: TensorType
    arrays: tuple[np.ndarray, np.ndarray]
    is_rounded: bool = False
    """Whether it came through a transcendental function, which compiled code may round elsewhere."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.arrays[0].shape

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype


@dataclass(frozen=True)
class Step:
    """One application: op, numbers of operands, attributes, the number of its first result."""

    op: str
    operands: tuple[int, ...]
    attributes: dict[str, Any]
    result: int

    def __str__(self) -> str:
        words = [f"v{i}" for i in self.operands]
        for name, value in self.attributes.items():
            if isinstance(value, np.ndarray):
                value = f"np.array({value.tolist()}, {str(value.dtype)!r})"
            elif isinstance(value, np.dtype):
                value = f"np.dtype({str(value)!r})"
            words.append(f"{name}={value!r}" if not isinstance(value, str) else f"{name}={value}")
        return f"v{self.result} = b.{self.op}({', '.join(words)})"


@dataclass(frozen=True, repr=False)
class Program:
    """Inputs (the first values), steps, and the numbers of the values that are returned."""

    values: tuple[Known, ...]
    count: int
    steps: tuple[Step, ...]
    returned: tuple[int, ...]

    @property
    def types(self) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
        return tuple(v.type for v in self.values[: self.count]), tuple(
            self.values[i].type for i in self.returned
        )

    def arguments(self, which: int) -> list[np.ndarray]:
        return [v.arrays[which].copy() for v in self.values[: self.count]]

    def expected(self, which: int) -> list[np.ndarray]:
        return [self.values[i].arrays[which] for i in self.returned]

    def check(self, which: int, results: Sequence[Any], what: str) -> None:
        """Raise an AssertionError unless `results` are those of a set of arguments."""
        for number, result, want in zip(self.returned, results, self.expected(which), strict=True):
            where, actual = f"{what} v{number} of\n{self}", np.asarray(result)
            assert (actual.dtype, actual.shape) == (want.dtype, want.shape), where
            if self.values[number].is_rounded:
                bound = ROUNDINGS * float(np.finfo(want.dtype).eps)
                np.testing.assert_allclose(actual, want, rtol=bound, atol=bound, err_msg=where)
            else:
                np.testing.assert_array_equal(actual, want, where)

    def build(self, b: Any, *inputs: Any) -> list[Any]:
        """The program in terms of a builder."""
        values = list(inputs)
        for step in self.steps:
            attributes = {name: _resolved(b, values, v) for name, v in step.attributes.items()}
            results = getattr(b, step.op)(*(values[i] for i in step.operands), **attributes)
            values.extend(results if isinstance(results, (tuple, list)) else [results])
        return [values[i] for i in self.returned]

    def __str__(self) -> str:
        lines = [f"v{i}: {v.type}" for i, v in enumerate(self.values[: self.count])]
        lines += [f"{step}  # {self.values[step.result].type}" for step in self.steps]
        return "\n".join([*lines, f"return {', '.join(f'v{i}' for i in self.returned)}"])

    __repr__ = __str__


def _resolved(b: Any, values: list[Any], attribute: Any) -> Any:
    if not isinstance(attribute, tuple):
        return attribute

    def size(entry: Any) -> Any:
        if not isinstance(entry, SizeOf):
            return entry
        total: Any = 1
        for axis in entry.axes:
            n = b.sizes(values[entry.value])[axis]
            total = n if isinstance(total, int) and total == 1 else b.size_product(total, n)
        return total

    return tuple(size(entry) for entry in attribute)


Proposal = tuple[str, tuple[int, ...], dict[str, Any]]


class Author:
    """Draws one program. Each `_family` method proposes an application on values there are, or None."""

    def __init__(self, source: random.Random, features: Collection[str] = (), most_steps: int = 12) -> None:
        self.random = source
        self.features = features
        is_large = "large" in features
        self.shapes = LARGE_SHAPES if is_large else SHAPES
        self.most_elements = MOST_LARGE_ELEMENTS if is_large else MOST_ELEMENTS
        self.values: list[Known] = []
        self.steps: list[Step] = []
        self.dynamic = source.random() < 0.3
        self.most_steps = most_steps

    def program(self) -> Program:
        """The whole program."""
        main = self.random.choices(DTYPES, WEIGHTS)[0]
        for _ in range(self.random.randint(1, 3)):
            self._add_input(main if self.random.random() < 0.7 else self.random.choices(DTYPES, WEIGHTS)[0])
        count = len(self.values)
        families = list(self._families())
        wanted = self.random.randint(3, self.most_steps)
        for _ in range(20 * wanted):
            if sum(step.op != "constant" for step in self.steps) >= wanted:
                break
            proposal = self.random.choice(families)()
            if proposal is not None:
                self._try(*proposal)
        return Program(tuple(self.values), count, tuple(self.steps), self._outputs(count))

    def _families(self) -> Iterator[Callable[[], Proposal | None]]:
        if "rounded" in self.features:
            yield from (self._rounding,) * 5
        if "plain" in self.features:
            yield from (self._unary, self._binary, self._convert, self._select, self._broadcast)
            yield from (self._transpose, self._reverse, self._concatenate, self._slice, self._reduce)
            return
        yield from (self._unary, self._binary, self._binary, self._binary, self._outer, self._convert)
        yield from (self._select, self._constant, self._broadcast, self._reshape, self._transpose)
        yield from (self._transpose, self._slice, self._slice, self._pad, self._concatenate, self._reverse)
        yield from (self._reduce, self._reduce, self._cumulative, self._dot, self._gram, self._sort)
        yield from (self._dynamic_slice, self._update, self._update, self._gather, self._scatter)
        yield from (self._argument, self._top_k)

    def _outputs(self, count: int) -> tuple[int, ...]:
        used = {i for step in self.steps for i in step.operands}
        unused = [i for i in range(count, len(self.values)) if i not in used]
        some = [i for i in range(len(self.values)) if self.random.random() < 0.15]
        results = [*unused, *some] or [len(self.values) - 1]
        self.random.shuffle(results)
        return tuple(results)

    # -- values --------------------------------------------------------------------------------

    def _add_input(self, dtype: np.dtype) -> None:
        shape = self.random.choice(self.shapes)
        static = tuple(None if self.dynamic and self.random.random() < 0.5 else n for n in shape)
        self.values.append(
            Known(TensorType(static, dtype), (self._array(shape, dtype), self._array(shape, dtype)))
        )

    def _array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        rng = np.random.default_rng(self.random.getrandbits(32))
        low, high = (0, 2) if dtype.kind == "b" else (0, 5) if dtype.kind == "u" else (-3, 4)
        values = rng.integers(low, high, shape).astype(np.int64)
        if dtype.kind == "c":
            return np.asarray((values + 1j * rng.integers(low, high, shape)).astype(dtype))
        return np.asarray(values.astype(dtype))

    def _try(
        self, name: str, operands: tuple[int, ...], attributes: dict[str, Any], is_rounded: bool = False
    ) -> None:
        """Append the application if it is well typed and its results are small, and exact unless rounded."""
        op = BY_NAME[name.rstrip("_")]
        chosen = [self.values[i] for i in operands]
        try:
            types = op.result_types([v.type for v in chosen], self._sizes(attributes, None))
        except Exception:  # inference has refused it
            return
        both = []
        for which in (0, 1):
            concrete = self._sizes(attributes, which)
            with np.errstate(all="ignore"):
                result = op.evaluate(*(v.arrays[which] for v in chosen), **concrete)
            both.append(result if isinstance(result, tuple) else (result,))
        fits = _is_small if is_rounded else _is_exact
        if not all(fits(a, self.most_elements) for results in both for a in results):
            return
        assert SIZE not in types
        self.steps.append(Step(name, operands, attributes, len(self.values)))
        pairs = zip(types, zip(*both, strict=True), strict=True)
        self.values.extend(Known(t, pair, is_rounded) for t, pair in pairs)

    def _sizes(self, attributes: dict[str, Any], which: int | None) -> dict[str, Any]:
        """The attributes with every `SizeOf` as an integer, or as inference is to see it."""

        def size(entry: Any) -> Any:
            if not isinstance(entry, SizeOf):
                return entry
            known = self.values[entry.value]
            shape = known.type.shape if which is None else known.shape
            sizes = [shape[a] for a in entry.axes]
            return None if any(n is None for n in sizes) else prod(sizes)  # type: ignore[arg-type]

        return {k: tuple(map(size, v)) if isinstance(v, tuple) else v for k, v in attributes.items()}

    def _pick(self, where: Callable[[Known], bool] = lambda v: True) -> int | None:
        """An exact value, the newer ones more often."""
        results = [i for i, v in enumerate(self.values) if not v.is_rounded and where(v)]
        if not results:
            return None
        return results[-1 - int(len(results) * self.random.random() ** 1.5)]

    def _size(self, i: int, axis: int) -> Any:
        """One dimension of a value, as a shape attribute would state it."""
        n = self.values[i].type.shape[axis]
        return SizeOf(i, axis) if n is None else n

    def _index(self, high: int, shape: tuple[int, ...] = ()) -> int:
        """A constant of positions, mostly inside `0 .. high - 1`."""
        rng = np.random.default_rng(self.random.getrandbits(32))
        low, top = (-2, high + 2) if self.random.random() < 0.2 else (0, max(high, 1))
        dtype = np.dtype(self.random.choice((np.int32, np.int64)))
        array = np.asarray(rng.integers(low, top, shape).astype(dtype))
        self._try("constant", (), {"value": storage(array), "dtype": dtype})
        return len(self.values) - 1

    # -- elementwise ---------------------------------------------------------------------------

    def _unary(self) -> Proposal | None:
        i = self._pick()
        assert i is not None
        kind = self.values[i].dtype.kind
        names = {
            "b": ("not_",),
            "c": ("neg", "conj", "real", "imag"),
            "i": ("neg", "abs", "popcount", "sign"),
            "u": ("popcount", "not_"),
        }
        return self.random.choice(names.get(kind, ("neg", "abs", "floor", "sign"))), (i,), {}

    def _rounding(self) -> None:
        """A transcendental function of an exact value, or a step that goes on from one."""
        floats = [i for i, v in enumerate(self.values) if v.dtype in ROUNDED_DTYPES]
        if not floats:
            return
        i = self.random.choice(floats)
        x = self.values[i]
        others = [j for j in floats if self.values[j].shape == x.shape and self.values[j].dtype == x.dtype]
        reversed_axes = tuple(range(len(x.shape)))[::-1]
        name, operands, attributes = self.random.choice(
            [
                *((name, (i,), {}) for name in ("tanh", "sin", "cos", "logistic", "neg", "abs")),
                *((name, (i, self.random.choice(others)), {}) for name in ("add", "sub", "mul", "max")),
                ("transpose", (i,), {"permutation": reversed_axes}),
                ("reverse", (i,), {"axes": reversed_axes[:1]}),
            ]
        )
        self._try(name, operands, attributes, is_rounded=True)

    def _same(self, i: int) -> int:
        """Another value of the same type, or `i` again."""
        x = self.values[i]
        result = self._pick(lambda v: v.shape == x.shape and v.dtype == x.dtype)
        assert result is not None
        return result

    def _binary(self) -> Proposal | None:
        i = self._pick()
        assert i is not None
        j, kind = self._same(i), self.values[i].dtype.kind
        if kind == "b":
            return self.random.choice(("and_", "or_", "xor")), (i, j), {}
        names = (
            ["add", "sub", "mul"] + (["max", "min"] if kind != "c" else []) + (["compare"] * (kind != "c"))
        )
        name = self.random.choice(names)
        return name, (i, j), {"direction": self.random.choice(("LT", "EQ"))} if name == "compare" else {}

    def _outer(self) -> Proposal | None:
        """Two readings of one vector on different axes, which the next `_binary` may join."""
        i = self._pick(lambda v: len(v.shape) == 1)
        if i is None:
            return None
        shape = (self._size(i, 0), self._size(i, 0))
        for axis in (0, 1):
            self._try("broadcast_in_dim", (i,), {"shape": shape, "dimensions": (axis,)})
        return self._binary()

    def _convert(self) -> Proposal | None:
        i = self._pick(lambda v: v.dtype.kind != "c")
        if i is None:
            return None
        wanted = [d for d in DTYPES if d.kind != "c"]
        x = self.values[i]
        if any((a < 0).any() for a in x.arrays if x.dtype.kind == "f"):
            wanted = [d for d in wanted if d.kind != "u"]
        return "convert", (i,), {"dtype": self.random.choice(wanted)}

    def _select(self) -> Proposal | None:
        p = self._pick(lambda v: v.dtype.kind == "b")
        if p is None:
            return None
        i = self._pick(lambda v: v.shape == self.values[p].shape)
        assert i is not None
        return "select", (p, i, self._same(i)), {}

    def _constant(self) -> Proposal | None:
        i = self._pick()
        assert i is not None
        x = self.values[i]
        if self.random.random() < 0.5:
            array = self._array(x.shape, x.dtype)
            return "constant", (), {"value": storage(array), "dtype": x.dtype}
        scalar = self._array((), x.dtype)
        self._try("constant", (), {"value": storage(scalar), "dtype": x.dtype})
        shape = tuple(self._size(i, a) for a in range(len(x.shape)))
        return "broadcast_in_dim", (len(self.values) - 1,), {"shape": shape, "dimensions": ()}

    # -- movement ------------------------------------------------------------------------------

    def _broadcast(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) < 3)
        if i is None:
            return None
        rank = len(self.values[i].shape)
        shape: list[Any] = [self._size(i, a) for a in range(rank)]
        place = self.random.randint(0, rank)
        shape.insert(place, self.random.choice((1, 2, 3, *(SizeOf(i, a) for a in range(rank)))))
        dimensions = tuple(a for a in range(rank + 1) if a != place)
        return "broadcast_in_dim", (i,), {"shape": tuple(shape), "dimensions": dimensions}

    def _reshape(self) -> Proposal | None:
        i = self._pick()
        assert i is not None
        x = self.values[i]
        rank = len(x.shape)
        if rank >= 2 and self.random.random() < 0.6:
            a = self.random.randrange(rank - 1)
            merged = SizeOf(i, a, a + 1)
            rest = [self._size(i, k) for k in range(rank)]
            return "reshape", (i,), {"shape": (*rest[:a], merged, *rest[a + 2 :])}
        sizes = [self._size(i, k) for k in range(rank)]
        splits = [
            (a, f) for a, n in enumerate(x.type.shape) if n for f in (1, 2, 3) if n % f == 0 and rank < 4
        ]
        if not splits:
            return (
                "reshape",
                (i,),
                {"shape": (1, *sizes)} if rank < 4 else {"shape": (SizeOf(i, *range(rank)),)},
            )
        axis, factor = self.random.choice(splits)
        parts = [factor, x.shape[axis] // factor]
        self.random.shuffle(parts)
        return "reshape", (i,), {"shape": (*sizes[:axis], *parts, *sizes[axis + 1 :])}

    def _transpose(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 1)
        if i is None:
            return None
        order = list(range(len(self.values[i].shape)))
        self.random.shuffle(order)
        return "transpose", (i,), {"permutation": tuple(order)}

    def _slice(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        start, limit, strides = [], [], []
        for axis, n in enumerate(self.values[i].shape):
            first = self.random.randint(0, min(n, 2)) if self.random.random() < 0.5 else 0
            whole = self.random.random() < 0.6
            start.append(first)
            limit.append(self._size(i, axis) if whole else self.random.randint(first, n))
            strides.append(self.random.choice((1, 1, 1, 2, 3)))
        return "slice", (i,), {"start": tuple(start), "limit": tuple(limit), "strides": tuple(strides)}

    def _pad(self) -> Proposal | None:
        i = self._pick(lambda v: 0 < len(v.shape) < 4)
        if i is None:
            return None
        x = self.values[i]
        value = self._pick(lambda v: v.shape == () and v.dtype == x.dtype)
        if value is None or self.random.random() < 0.5:
            scalar = self._array((), x.dtype)
            self._try("constant", (), {"value": storage(scalar), "dtype": x.dtype})
            value = len(self.values) - 1

        def amounts(*of: int) -> tuple[int, ...]:
            return tuple(self.random.choice(of) for _ in x.shape)

        config = {
            "low": amounts(0, 0, 1, 2, -1),
            "high": amounts(0, 0, 1, -1),
            "interior": amounts(0, 0, 0, 1),
        }
        padded = [
            n + lo + hi + k * max(n - 1, 0) for n, lo, hi, k in zip(x.shape, *config.values(), strict=True)
        ]
        return ("pad", (i, value), config) if min(padded) >= 0 else None

    def _concatenate(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        x = self.values[i]
        axis = self.random.randrange(len(x.shape))

        def fits(v: Known) -> bool:
            return (
                v.dtype == x.dtype
                and len(v.shape) == len(x.shape)
                and all(a == axis or m == n for a, (m, n) in enumerate(zip(v.shape, x.shape, strict=True)))
            )

        others = [self._pick(fits) for _ in range(self.random.randint(1, 2))]
        operands = [i, *(j for j in others if j is not None)]
        self.random.shuffle(operands)
        return "concatenate", tuple(operands), {"axis": axis}

    def _reverse(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        rank = len(self.values[i].shape)
        return (
            "reverse",
            (i,),
            {"axes": tuple(sorted(self.random.sample(range(rank), self.random.randint(1, rank))))},
        )

    # -- combining -----------------------------------------------------------------------------

    def _axes(self, i: int) -> tuple[int, ...]:
        rank = len(self.values[i].shape)
        return tuple(sorted(self.random.sample(range(rank), self.random.randint(1, rank))))

    def _reduce(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        kind = self.values[i].dtype.kind
        names = {"b": ("reduce_and", "reduce_or"), "c": ("reduce_sum",)}
        axes = self._axes(i)
        name = self.random.choice(names.get(kind, ("reduce_sum", "reduce_sum", "reduce_max", "reduce_min")))
        if name in ("reduce_max", "reduce_min") and any(self.values[i].shape[a] == 0 for a in axes):
            return None
        return name, (i,), {"axes": axes}

    def _cumulative(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0 and v.dtype.kind != "b")
        if i is None:
            return None
        names = ("cumsum",) if self.values[i].dtype.kind == "c" else ("cumsum", "cummax", "cummin")
        axis = self.random.randrange(len(self.values[i].shape))
        return self.random.choice(names), (i,), {"axis": axis, "reverse": self.random.random() < 0.4}

    def _argument(self) -> Proposal | None:
        i = self._pick(lambda v: v.dtype.kind not in "cb" and len(v.shape) > 0 and min(v.shape) > 0)
        if i is None:
            return None
        name = self.random.choice(("argmax", "argmin"))
        axis = self.random.randrange(len(self.values[i].shape))
        return name, (i,), {"axis": axis, "index_dtype": np.dtype(np.int32)}

    def _dot(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0 and v.dtype.kind != "b")
        if i is None:
            return None
        x = self.values[i]
        axis = self.random.randrange(len(x.shape))
        j = self._pick(lambda v: v.dtype == x.dtype and x.shape[axis] in v.shape)
        assert j is not None
        other = self.random.choice([a for a, n in enumerate(self.values[j].shape) if n == x.shape[axis]])
        numbers: dict[str, Any] = {"contracting": ((axis,), (other,)), "batch": ((), ()), "dtype": x.dtype}
        shared = [
            (a, c)
            for a, m in enumerate(x.shape)
            for c, n in enumerate(self.values[j].shape)
            if a != axis and c != other and m == n
        ]
        if shared and self.random.random() < 0.4:
            a, c = self.random.choice(shared)
            numbers["batch"] = ((a,), (c,))
        return "dot_general", (i, j), numbers

    def _gram(self) -> Proposal | None:
        """A square product and its transpose, which the next `_binary` may join."""
        i = self._pick(lambda v: len(v.shape) == 2 and v.dtype.kind != "b")
        if i is None:
            return None
        numbers = {"contracting": ((1,), (1,)), "batch": ((), ()), "dtype": self.values[i].dtype}
        before = len(self.values)
        self._try("dot_general", (i, i), numbers)
        if len(self.values) == before:
            return None
        return "transpose", (before,), {"permutation": (1, 0)}

    def _sort(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0 and v.dtype.kind != "c")
        if i is None:
            return None
        x = self.values[i]
        operands = (i,) if self.random.random() < 0.6 else (i, self._pick(lambda v: v.shape == x.shape))
        axis = self.random.randrange(len(x.shape))
        return "sort", operands, {"axis": axis, "num_keys": 1, "is_stable": True}  # type: ignore[return-value]

    def _top_k(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0 and v.dtype.kind not in "cb" and v.shape[-1] > 0)
        if i is None:
            return None
        return "top_k", (i,), {"k": self.random.randint(1, self.values[i].shape[-1])}

    # -- positions -----------------------------------------------------------------------------

    def _dynamic_slice(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        shape = self.values[i].shape
        sizes = tuple(
            self._size(i, a) if self.random.random() < 0.4 else self.random.randint(0, n)
            for a, n in enumerate(shape)
        )
        starts = [self._index(n) for n in shape]
        return "dynamic_slice", (i, *starts), {"slice_sizes": sizes}

    def _update(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        x = self.values[i]
        j = self._pick(
            lambda v: (
                v.dtype == x.dtype
                and len(v.shape) == len(x.shape)
                and all(m <= n for m, n in zip(v.shape, x.shape, strict=True))
            )
        )
        assert j is not None
        return "dynamic_update_slice", (i, j, *(self._index(n) for n in x.shape)), {}

    def _gather(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        x = self.values[i]
        rank = len(x.shape)
        axis = self.random.randrange(rank)
        if x.shape[axis] == 0:
            return None
        indices = self._index(x.shape[axis], (self.random.randint(1, 5), 1))
        mode = self.random.choice(("clip", "fill"))
        return (
            "gather",
            (i, indices),
            {
                "offset_dims": tuple(range(1, rank)),
                "collapsed_slice_dims": (axis,),
                "start_index_map": (axis,),
                "operand_batching_dims": (),
                "start_indices_batching_dims": (),
                "slice_sizes": tuple(1 if a == axis else self._size(i, a) for a in range(rank)),
                "mode": mode,
                "fill_value": storage(self._array((), x.dtype)),
            },
        )

    def _scatter(self) -> Proposal | None:
        i = self._pick(lambda v: len(v.shape) > 0)
        if i is None:
            return None
        x = self.values[i]
        rank = len(x.shape)
        axis = self.random.randrange(rank)
        rest = tuple(n for a, n in enumerate(x.shape) if a != axis)
        u = self._pick(lambda v: v.dtype == x.dtype and len(v.shape) == rank and v.shape[1:] == rest)
        if u is None or not x.shape[axis]:
            return None
        kinds = ("set", "set", "add") if x.dtype.kind in "bc" else ("set", "add", "max", "min", "mul")
        indices = self._index(x.shape[axis], (self.values[u].shape[0], 1))
        return (
            "scatter",
            (i, indices, u),
            {
                "kind": self.random.choice(kinds if x.dtype.kind != "b" else ("set",)),
                "update_window_dims": tuple(range(1, rank)),
                "inserted_window_dims": (axis,),
                "scatter_dims_to_operand_dims": (axis,),
                "operand_batching_dims": (),
                "scatter_indices_batching_dims": (),
                "mode": "drop",
                "unique_indices": False,
                "indices_are_sorted": False,
            },
        )


def _is_exact(array: np.ndarray, most_elements: int) -> bool:
    """Whether the elements are few, and small integers where rounding could make a difference."""
    if array.size > most_elements or array.ndim > 4:
        return False
    if array.dtype.kind in "biu":
        return True
    most = {np.dtype(np.float16): 1024, BFLOAT16: 128}.get(array.dtype, 1 << 18)
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    for part in parts:
        wide = part.astype(np.float64)
        if not (np.isfinite(wide).all() and (np.abs(wide) <= most).all() and (wide == np.round(wide)).all()):
            return False
    return True


def _is_small(array: np.ndarray, most_elements: int) -> bool:
    """Whether the elements are few, and so small that errors stay a few roundings."""
    return array.size <= most_elements and bool((np.abs(array) <= LARGEST_ROUNDED).all())


def program(seed: int, features: Collection[str] = ()) -> Program:
    """The program of this seed: of all families, or `plain`; of `large` arrays; also `rounded` values."""
    return Author(random.Random(seed), features).program()
