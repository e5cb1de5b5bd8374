"""Random loops over arrays that are updated, sliced, reshaped and exchanged: what kernels must get right.

`arrays(seed)` draws a program: a loop of some kind that carries arrays of any dtype and of several shapes,
uses arrays from outside, and whose body is a dozen hostile array ops, with branches and further loops inside;
as it is, or batched, or differentiated in one of several ways. A program is a function of arrays; `arguments`
draws some. Values stay small by construction; indices leave their range at times.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import adze
from adze import lax
from adze import numpy as xp

from .array_values import cast, dtype_of, fitted, kind_of, mean, moved, number

DTYPES: Final = (
    *("float32",) * 6, "float64", "float64", "float16", "bfloat16", "complex64", "complex128", "bool", "bool",
    "int8", "int16", "int32", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
FLOATS: Final = ("float32", "float32", "float64")
SIZES: Final = (1, 2, 3, 3, 4, 4, 5, 7)
KINDS: Final = ("scan", "scan", "scan", "fori", "fori", "while", "open")
TRANSFORMS: Final = (
    *("plain",) * 5, "vmap", "vmap", "jvp", "grad", "grad", "checkpoint", "jvp of grad", "vmap of grad",
)  # fmt: skip
DERIVATIVES: Final = ("jvp", "grad", "checkpoint", "jvp of grad", "vmap of grad")
BOUND: Final = 4
MOST_ELEMENTS: Final = 64


@dataclass(frozen=True)
class Kind:
    dtype: str
    shape: tuple[int, ...]

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        x = rng.standard_normal(self.shape)
        dtype = dtype_of(self.dtype)
        if dtype.kind == "b":
            return np.asarray(x > 0)
        if dtype.kind == "c":
            return np.asarray(x + 1j * rng.standard_normal(self.shape)).astype(dtype)
        if dtype.kind in "iu":
            return rng.integers(0 if dtype.kind == "u" else -9, 10, self.shape).astype(dtype)
        return np.asarray(x).astype(dtype)


@dataclass(frozen=True)
class Arrays:
    """A program; its arguments are what it carries and what it uses from outside."""

    seed: int
    carried: tuple[Kind, ...]
    outside: tuple[Kind, ...]
    loop: str
    transform: str
    length: int
    depth: int
    is_shared: bool  # whether what is carried begins as one array

    def arguments(self) -> list[np.ndarray]:
        rng = np.random.default_rng(self.seed)
        drawn = [kind.draw(rng) for kind in (*self.carried, *self.outside)]
        if self.transform in ("vmap", "vmap of grad"):
            return [np.stack([x, kind.draw(rng)]) for x, kind in zip(drawn, self._kinds, strict=True)]
        return drawn

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return *self.carried, *self.outside

    def __call__(self, *arrays: Any) -> Any:
        if self.transform == "vmap":
            return adze.vmap(self.plain)(*arrays)
        if self.transform not in DERIVATIVES:
            return self.plain(*arrays)
        moving = tuple(k for k, kind in enumerate(self._kinds) if kind.dtype in FLOATS)

        def loss(*given: Any) -> Any:
            leaves = [x for x in adze.tree.leaves(self.plain(*given)) if x.dtype.name in FLOATS]
            return sum(
                (xp.sum(xp.sin(xp.astype(x, np.float64) * (k + 1))) for k, x in enumerate(leaves)), 0.0
            )

        def gradient(*given: Any) -> Any:
            return adze.value_and_grad(loss, moving)(*given)

        if self.transform in ("jvp", "jvp of grad"):
            function = loss if self.transform == "jvp" else gradient

            def moved(*some: Any) -> Any:
                every = list(arrays)
                for k, x in zip(moving, some, strict=True):
                    every[k] = x
                return function(*every)

            start = tuple(arrays[k] for k in moving)
            return adze.jvp(moved, start, tuple(x * np.asarray(0.5, x.dtype) for x in start))
        return adze.vmap(gradient)(*arrays) if self.transform == "vmap of grad" else gradient(*arrays)

    # -- the loop

    def plain(self, *arrays: Any) -> Any:
        count = len(self.carried)
        carried = tuple(xp.asarray(x) for x in arrays[:count])
        outside = [xp.asarray(x) for x in arrays[count:]]
        if self.is_shared:
            carried = tuple(carried[0] if kind == self.carried[0] else x
                            for kind, x in zip(self.carried, carried, strict=True))  # fmt: skip
        outside += [xp.zeros(self.carried[0].shape, dtype_of(self.carried[0].dtype)), moved(outside[0])]
        result = _Body(self, outside).loop(self.loop, self.length, carried, self.seed, self.depth, None)
        return result, outside[-1]


def arrays(seed: int) -> Arrays:
    """The program of this seed."""
    rng = random.Random(seed)
    transform = rng.choice(TRANSFORMS)
    dtypes = FLOATS if transform in DERIVATIVES and rng.random() < 0.7 else DTYPES
    dtype = rng.choice(dtypes)

    def kind(first: str) -> Kind:
        while True:
            shape = tuple(rng.choice(SIZES) for _ in range(rng.choice((1, 1, 2, 2, 2, 3))))
            if np.prod(shape) <= MOST_ELEMENTS:
                return Kind(first if rng.random() < 0.75 else rng.choice(dtypes), shape)

    carried = [kind(dtype) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    if rng.random() < 0.5:  # two that may change places
        carried.append(rng.choice(carried))
    if transform in DERIVATIVES:
        carried.append(Kind(rng.choice(FLOATS), kind("float32").shape))
    return Arrays(
        seed=rng.randrange(1 << 30),
        carried=tuple(carried),
        outside=tuple(kind(dtype) for _ in range(2)),
        loop=rng.choice(KINDS),
        transform=transform,
        length=rng.choice((1, 2, 3, 4, 4, 5)),
        depth=rng.choice((1, 1, 2, 2, 3)),
        is_shared=rng.random() < 0.3,
    )


class _Body:
    """Draws the bodies of the loops of one program while they are traced: the same for the same seed."""

    def __init__(self, program: Arrays, outside: Sequence[Any]) -> None:
        self.program = program
        self.outside = list(outside)
        self.is_differentiated = program.transform in DERIVATIVES

    def loop(
        self, kind: str, length: int, carried: Sequence[Any], seed: int, depth: int, time: Any
    ) -> tuple[Any, ...]:
        """A loop of a kind; what it carries in the end and, of a scan, what it stacked."""
        rng, count = random.Random(seed), len(carried)
        start = tuple(carried)
        reverse, stacked = rng.random() < 0.3, rng.randint(0, 3)
        inner = rng.randrange(1 << 30)

        def body(state: Sequence[Any], step: Any) -> list[Any]:
            return self.step(state, xp.astype(step, np.int32), inner, depth)

        if kind == "open" and self.is_differentiated:
            kind = "while"
        if kind == "scan":

            def scanned(state: Any, item: Any) -> Any:
                step, row = item
                made = body(
                    (*state[:-1], mean(state[-1], fitted(row, state[-1].shape, state[-1].dtype))), step
                )
                return tuple(made[:count]), tuple(made[count : count + stacked])

            if self.program.transform == "checkpoint" and rng.random() < 0.7:
                scanned = adze.checkpoint(scanned)
            walked = fitted(self.outside[0], (length, 2), self.outside[0].dtype)
            items = (xp.arange(length, dtype=np.int32), walked)
            last, rows = lax.scan(scanned, start, items, reverse=reverse)
            return *last, *rows
        if kind == "fori":
            return tuple(lax.fori_loop(0, length, lambda i, s: tuple(body(s, i)[:count]), start))
        if kind == "open":
            bound = self.number_of(self.outside[1]) if time is None else time
            return tuple(lax.fori_loop(0, bound, lambda i, s: tuple(body(s, i)[:count]), start))
        extra = self.number_of(carried[0])
        options = {"max_steps": BOUND} if self.is_differentiated else {}
        return tuple(
            lax.while_loop(
                lambda s: (s[0] < length - 1 + extra % 2) & (s[0] < BOUND),
                lambda s: (s[0] + 1, *body(s[1:], s[0])[:count]),
                (np.int32(0), *start),
                **options,
            )[1:]
        )

    def number_of(self, x: Any) -> Any:
        """A number from 0 to 4 that follows from the integers or bools in `x`, else from its size alone."""
        if kind_of(x) not in "biu":
            return xp.asarray(np.int32(int(np.prod(x.shape)) % 5))
        return xp.astype(xp.sum(xp.astype(x, np.int32)) % 5, np.int32)

    def step(self, carried: Sequence[Any], time: Any, seed: int, depth: int) -> list[Any]:
        """The next of what is carried, and three more arrays."""
        rng = random.Random(seed)
        pool = [xp.asarray(x) for x in carried]
        count = len(pool)
        pool += self.outside
        for _ in range(rng.randint(3, 9)):
            pool += self.draw(rng, pool, time, depth)
        results = []
        for x in carried:
            new = rng.choice(pool[-4:] if rng.random() < 0.7 else pool)
            results.append(fitted(new, x.shape, x.dtype))
        if rng.random() < 0.2:  # returned as they are, in another order where types allow
            k = rng.randrange(count)
            results[k] = carried[k]
        if rng.random() < 0.3:
            for k in range(count):
                for j in range(k):
                    if carried[k].shape == carried[j].shape and carried[k].dtype == carried[j].dtype:
                        results[k], results[j] = results[j], results[k]
        return [*results, pool[-1], rng.choice(pool[-4:]), rng.choice(pool)]

    def index(self, rng: random.Random, pool: Sequence[Any], time: Any, size: int) -> Any:
        """A position on an axis, which may be outside of it."""
        what = rng.randrange(8)
        if what < 3:
            return time
        if what == 3:
            return (time + 1) % np.int32(size)
        if what == 4:
            return np.int32(size - 1) - time
        if what == 5:
            return rng.randrange(-size, size)
        if what == 6:
            return self.number_of(rng.choice(pool)) - np.int32(rng.randint(0, 2))
        return time * np.int32(2) - np.int32(1)

    def draw(self, rng: random.Random, pool: list[Any], time: Any, depth: int) -> list[Any]:
        """New arrays that follow from those of the pool."""
        family = rng.choice(("update", "update", "update", "move", "move", "compute", "choose", "inner"))
        x = rng.choice(pool[-3:] if rng.random() < 0.6 else pool)
        if family == "inner" and depth > 1:
            return self.inner(rng, pool, time, depth)
        method: Callable[..., list[Any]] = getattr(self, family if family != "inner" else "update")
        y = rng.choice(pool[-4:] if rng.random() < 0.5 else pool)
        return method(rng, x, y, pool, time)

    def update(self, rng: random.Random, x: Any, y: Any, pool: list[Any], time: Any) -> list[Any]:
        rank, n = len(x.shape), x.shape[0]
        what = rng.randrange(9)
        at = self.index(rng, pool, time, n)
        row = fitted(y, x.shape[1:], x.dtype)
        if what <= 1:
            return [x.at[at].set(row)]
        if what == 2:
            if kind_of(x) == "b":
                return [x.at[at].set(~row)]
            kinds = ("add", "add", "multiply") if kind_of(x) == "c" else ("add", "multiply", "min", "max")
            mode = rng.choice(("drop", "clip"))
            return [getattr(x.at[at], rng.choice(kinds))(moved(row), mode=mode)]
        if what == 3:
            axis = rng.randrange(rank)
            window = [rng.randint(1, m) for m in x.shape]
            where = [self.index(rng, pool, time, m) if a == axis else rng.randint(0, 1)
                     for a, m in enumerate(x.shape)]  # fmt: skip
            return [lax.dynamic_update_slice(x, fitted(y, window, x.dtype), [np.int32(0) + w for w in where])]
        if what == 4:  # a window of itself, elsewhere
            k = rng.randint(1, n)
            zeros = [np.int32(0)] * (rank - 1)
            window = lax.dynamic_slice(x, [np.int32(0) + at, *zeros], (k, *x.shape[1:]))
            to = np.int32(0) + self.index(rng, pool, time, n)
            return [
                lax.dynamic_update_slice(x, window if rng.random() < 0.6 else moved(window), [to, *zeros])
            ]
        if what == 5:
            if rng.random() < 0.5:
                return [x.at[::-1].set(mean(x, fitted(y, x.shape, x.dtype)))]
            return [x.at[:: rng.choice((1, 2, -1))].set(row)]
        if what == 6 and rank > 1:
            other = self.index(rng, pool, time, x.shape[1])
            column = fitted(y, (n, *x.shape[2:]), x.dtype)
            return [x.at[:, other].set(column) if rng.random() < 0.5 else x.at[at, other].set(column[0])]
        if what == 7:
            places = np.asarray([rng.randrange(-n, n + 1) for _ in range(rng.randint(1, 4))], np.int32)
            rows = fitted(y, (len(places), *x.shape[1:]), x.dtype)
            if rng.random() < 0.5 or kind_of(x) == "b":
                return [x.at[places].set(rows)]
            return [x.at[places].add(rows)]
        first, second = x[at], x[rng.randrange(n)]
        return [x.at[at].set(second).at[rng.randrange(n)].set(first)]

    def move(self, rng: random.Random, x: Any, y: Any, pool: list[Any], time: Any) -> list[Any]:
        rank, n = len(x.shape), x.shape[0]
        what = rng.randrange(11)
        size = int(np.prod(x.shape))
        if what == 0:
            return [x.reshape(size)]
        if what == 1:
            shape = rng.choice(((size,), (1, size), (size, 1), (n, 1, size // n), x.shape[::-1]))
            return [x.reshape(tuple(shape))]
        if what == 2:
            return [x.T]
        if what == 3:
            return [xp.flip(x, rng.randrange(rank))]
        if what == 4:
            cut = rng.randint(0, n - 1)
            other = fitted(y, (cut, *x.shape[1:]), x.dtype) if cut else x[:1]
            return [xp.concatenate([x[cut or 1 :], other], 0)]
        if what == 5:
            return [x[self.index(rng, pool, time, n)][None]]
        if what == 6:
            return [x[rng.randint(0, n - 1) :: rng.choice((1, 2))]]
        if what == 7:
            places = np.asarray([rng.randrange(-n - 1, n + 1) for _ in range(rng.randint(1, 5))], np.int32)
            if rng.random() < 0.5:
                return [x.at[places].get(mode=rng.choice(("clip", "fill", "wrap")))]
            return [x[places % np.int32(n)]]
        if what == 8:
            wide = xp.broadcast_to(x[None], (2, *x.shape))
            return [wide.reshape(2 * n, *x.shape[1:])[:n]] if rng.random() < 0.5 else [wide]
        if what == 9:
            return [xp.pad(x, [(1, 1)] + [(0, 0)] * (rank - 1))[rng.randint(0, 2) :][:n]]
        return [fitted(x, y.shape, x.dtype)]

    def compute(self, rng: random.Random, x: Any, y: Any, pool: list[Any], time: Any) -> list[Any]:
        what = rng.randrange(9)
        if what <= 1:
            return [moved(x)]
        if what <= 3:
            return [mean(x, fitted(y, x.shape, x.dtype))]
        axis = rng.randrange(len(x.shape))
        if what == 4:
            if kind_of(x) == "b":
                return [x.any(axis)[None]]
            return [xp.astype(xp.sum(x, axis, keepdims=True), x.dtype)]
        if what == 5 and kind_of(x) != "c":
            chosen = xp.max(x, axis) if rng.random() < 0.5 else xp.min(x, axis)
            return [chosen[None], xp.astype(xp.argmax(x, axis), np.int32)[None]]
        if what == 6 and kind_of(x) != "b":
            return [xp.cumsum(moved(x), axis) if kind_of(x) != "u" else x]
        if what == 7 and kind_of(x) in "fc" and len(x.shape) == 2:
            return [(x @ fitted(y, (x.shape[1], 3), x.dtype)) * number(0.2, x)]
        if what == 8 and kind_of(x) in "fiu":
            return [xp.maximum(x, fitted(y, x.shape, x.dtype))]
        return [cast(x, y.dtype)]

    def choose(self, rng: random.Random, x: Any, y: Any, pool: list[Any], time: Any) -> list[Any]:
        what = rng.randrange(6)
        flag = time % 2 == 0 if rng.random() < 0.5 else self.number_of(y) > rng.randint(0, 3)
        other = fitted(y, x.shape, x.dtype)
        if what == 0:
            return [lax.cond(flag, lambda: x, lambda: other)]
        if what == 1:
            at, row = self.index(rng, pool, time, x.shape[0]), other[0]
            return list(lax.cond(flag, lambda: (x.at[at].set(row), other), lambda: (other, x)))
        if what == 2:
            return list(lax.cond(flag, lambda: (other, x, moved(x)), lambda: (x, other, other)))
        if what == 3:
            branches = [lambda: x, lambda: moved(other), lambda: mean(x, other)]
            return [lax.switch(time % 3, branches)]
        mask = fitted(pool[0], x.shape, np.dtype(bool))
        return [xp.where(mask if rng.random() < 0.5 else flag, x, other)]

    def inner(self, rng: random.Random, pool: list[Any], time: Any, depth: int) -> list[Any]:
        """A loop inside of the loop, or a batch."""
        seed, kind = rng.randrange(1 << 30), rng.choice((*KINDS, "vmap"))
        carried = [rng.choice(pool) for _ in range(rng.choice((1, 2, 2)))]
        if rng.random() < 0.3:
            carried.append(carried[0])
        if kind == "vmap":
            x, y = carried[0], carried[-1]
            rows = fitted(y, x.shape, x.dtype)
            places = np.arange(x.shape[0], dtype=np.int32)
            return [adze.vmap(lambda r, s, k: mean(r[None].at[k].set(s), s[None]))(x, rows, places)]
        return list(self.loop(kind, rng.randint(1, 3), carried, seed, depth - 1, time))
