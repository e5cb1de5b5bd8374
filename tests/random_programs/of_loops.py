"""Random programs of nested loops and branches that carry several arrays, of every dtype and odd shapes.

`loops(seed)` draws a program: what it carries (0-d, empty, of a dynamic size; bool, integers, half, complex)
and a tree of steps, branches, loops and batches that mix, swap, replace and slice what is carried. A program
is a function of a library, adze or JAX, and of arrays; `arguments` draws some, `specs` their types with the
dynamic size left open. Values stay small by construction and conditions look at integers only, so that
rounding decides nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import adze
import adze.lax
import adze.numpy
from adze import ShapeDtype

DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64", "complex64")
SHAPES: tuple[tuple[int | str, ...], ...] = ((), (), (3,), (2, 3), (0,), (2, 0), (1,), ("n",), ("n", 2))
OPEN = 4  # what the dynamic size is when a program is called
KINDS = ("then", "then", "cond", "switch", "scan", "scan", "fori", "count", "while", "while", "vmap")
BOUND = 4


class Library(NamedTuple):
    """Where the functions come from: adze, or JAX, whose while loops have no bound and no gradient."""

    np: Any
    lax: Any
    vmap: Callable[..., Any]
    value_and_grad: Callable[..., Any]
    has_bounds: bool = False


ADZE = Library(adze.numpy, adze.lax, adze.vmap, adze.value_and_grad, has_bounds=True)


class Node(NamedTuple):
    """One construct, the constructs inside it, and numbers that its details are drawn from."""

    kind: str
    inner: tuple[Any, ...]
    seed: int


class Carry(NamedTuple):
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Loops:
    """A program over `carries`; with `differentiated`, its value and gradient by the inexact real ones.

    With `batched`, two of each argument are given and the program runs for both.
    """

    carries: tuple[Carry, ...]
    node: Node
    differentiated: bool
    batched: bool

    def __call__(self, library: Library, *arrays: Any) -> Any:
        if self.batched:
            return library.vmap(lambda *one: self._of_one(library, one))(*arrays)
        return self._of_one(library, arrays)

    def _of_one(self, library: Library, arrays: Sequence[Any]) -> Any:
        run = _Run(self, library)
        moving = [i for i, c in enumerate(self.carries) if c.dtype in ("float32", "float64")]
        if not (self.differentiated and moving):
            return run.node(self.node, arrays, None)

        def loss(*given: Any) -> Any:
            state = list(arrays)
            for i, value in zip(moving, given, strict=True):
                state[i] = value
            last = run.node(self.node, tuple(state), None)
            return sum((run.np.sum(run.np.astype(last[i], np.float64)) for i in moving), np.float64(0))

        return library.value_and_grad(loss, tuple(range(len(moving))))(*(arrays[i] for i in moving))

    @property
    def specs(self) -> list[ShapeDtype]:
        first = (2,) if self.batched else ()
        return [ShapeDtype(first + c.shape, np.dtype(c.dtype)) for c in self.carries]

    def arguments(self, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        made = []
        for spec in self.specs:
            values = rng.uniform(-1, 1, [OPEN if n == "n" else int(n) for n in spec.shape])
            if spec.dtype.kind in "biu":
                values = np.floor(3 * np.abs(values))
            made.append(np.asarray(values).astype(spec.dtype))
        return made


def loops(seed: int) -> Loops:
    """The program of this seed."""
    rng = random.Random(seed)
    carries = [Carry(rng.choice(DTYPES), rng.choice(SHAPES)) for _ in range(rng.randint(2, 6))]
    if rng.random() < 0.5:  # two that may change places
        carries.append(rng.choice(carries))
    differentiated = rng.random() < 0.35
    if differentiated:  # through branches and bounded loops: of sizes that are known
        carries = [Carry(c.dtype, tuple(OPEN if n == "n" else n for n in c.shape)) for c in carries]
        carries.append(Carry(rng.choice(("float32", "float64")), rng.choice(SHAPES[:4])))
    node = _node(rng, rng.choice((1, 2, 2, 3)))
    return Loops(tuple(carries), node, differentiated, rng.random() < 0.2)


def _node(rng: random.Random, depth: int) -> Node:
    seed = rng.randrange(1 << 30)
    if depth == 0:
        return Node("step", (), seed)
    kind = rng.choice(KINDS)
    count = {"then": 2, "cond": 2, "switch": 3}.get(kind, 1)
    return Node(kind, tuple(_node(rng, depth - 1) for _ in range(count)), seed)


class _Run:
    """A program, run with the functions of a library."""

    def __init__(self, program: Loops, library: Library) -> None:
        self.program = program
        self.library = library
        self.np, self.lax = library.np, library.lax

    def node(self, node: Node, state: Any, time: Any) -> tuple[Any, ...]:
        """What `node` makes of `state` in step `time` of the loop around it."""
        rng = random.Random(node.seed)
        lax, program = self.lax, self.program

        def inside(position: int, state: Any, time: Any = time) -> tuple[Any, ...]:
            return self.node(node.inner[position], state, time)

        if node.kind == "step":
            changed = [self.np.asarray(x) for x in state]
            for _ in range(rng.randint(1, 3)):
                self.step(rng, changed, time)
            return tuple(changed)
        if node.kind == "then":
            return inside(1, inside(0, state))
        if node.kind == "cond":
            which = self.whole(state[0]) % 2 == 0
            return tuple(lax.cond(which, lambda *s: inside(0, s), lambda *s: inside(1, s), *state))
        if node.kind == "switch":
            branches = [lambda *s, i=i: inside(i, s) for i in range(3)]
            return tuple(lax.switch(self.whole(state[-1]) % 3, branches, *state))
        if node.kind == "scan":
            return self.scanned(rng, state, inside)
        if node.kind == "vmap":
            return self.batched(state, inside)
        if node.kind == "fori":
            return tuple(lax.fori_loop(0, rng.randint(0, 3), lambda i, s: inside(0, s, i), state))
        if node.kind == "count" and not program.differentiated:
            last = self.whole(state[0]) % 3
            return tuple(lax.fori_loop(0, last, lambda i, s: inside(0, s, i), state))
        return self.repeated(rng, state, inside)

    def repeated(self, rng: random.Random, state: Any, inside: Callable[..., Any]) -> tuple[Any, ...]:
        """A while loop, as long as a number and what is carried say."""
        limit = rng.randint(0, 2) + self.whole(state[0]) % 2
        start = (np.int32(0), state)

        def go_on(s: Any) -> Any:
            return s[0] < limit

        def step(s: Any) -> Any:
            return s[0] + 1, inside(0, s[1], s[0])

        if not self.program.differentiated:
            return tuple(self.lax.while_loop(go_on, step, start)[1])
        if self.library.has_bounds:
            return tuple(self.lax.while_loop(go_on, step, start, max_steps=BOUND)[1])
        return tuple(
            self.lax.fori_loop(0, BOUND, lambda i, s: self.lax.cond(go_on(s), step, lambda s: s, s), start)[1]
        )

    def scanned(self, rng: random.Random, state: Any, inside: Callable[..., Any]) -> tuple[Any, ...]:
        """A scan over an array and the positions of its rows, whose results go back into the state."""
        length, kept = rng.choice((0, 1, 3, 17)), rng.randrange(len(state))
        reverse = rng.random() < 0.3
        walked = self.np.arange(length, dtype=np.int32)
        table = np.linspace(-1, 1, length).astype(np.float32)

        def body(s: Any, now: Any) -> Any:
            time, number = now
            made = inside(0, s, time)
            moved = tuple(self.mixed(v, number) if v.dtype.kind == "f" else v for v in made)
            return moved, (made[kept], number * 0.5)

        last, (rows, numbers) = self.lax.scan(body, state, (walked, table), reverse=reverse)
        out = list(last)
        out[kept] = self.mixed(out[kept], self.number(rows) + self.np.sum(numbers))
        return tuple(out)

    def batched(self, state: Any, inside: Callable[..., Any]) -> tuple[Any, ...]:
        """The state and another one side by side; the first goes on, moved by the second."""
        other = [self.mixed(x, np.float32(0.5)) for x in state]
        pairs = [self.np.stack([a, b]) for a, b in zip(state, other, strict=True)]
        results = self.library.vmap(lambda *s: inside(0, s))(*pairs)
        return tuple(self.mixed(x[0], self.number(x[1])) for x in results)

    def step(self, rng: random.Random, state: list[Any], time: Any) -> None:
        """Change one entry of `state`, or let two change places."""
        np_, carries = self.np, self.program.carries
        k, j = rng.randrange(len(state)), rng.randrange(len(state))
        what = rng.choice(("mix", "mix", "swap", "zeros", "count", "set", "roll", "slice", "keep"))
        x = state[k]
        # Decided by what is declared: the open size is a number when the program is evaluated.
        first = carries[k].shape[0] if x.ndim else None
        if what == "swap":
            other = rng.choice([i for i, c in enumerate(carries) if c == carries[k]])
            state[k], state[other] = state[other], state[k]
        elif what == "zeros":
            state[k] = np_.zeros_like(x)
        elif what == "count" and x.ndim == 1:
            state[k] = np_.astype(np_.arange(x.shape[0], dtype=np.int32) % 2, x.dtype)
        elif what == "set" and isinstance(first, int) and first > 0:
            state[k] = x.at[0].set(np_.zeros(x.shape[1:], x.dtype))
        elif what == "roll" and x.ndim:
            state[k] = np_.flip(x, 0)
        elif what == "slice" and x.ndim == 1 and time is not None and isinstance(first, int) and first > 0:
            row = self.lax.dynamic_slice(x, (np_.astype(time, np.int32),), (1,))
            state[k] = self.mixed(x, self.number(row))
        elif what != "keep":
            state[k] = self.mixed(x, self.number(state[j]))

    def number(self, x: Any) -> Any:
        """All of `x` in one small float32."""
        np_ = self.np
        if x.dtype.kind == "c":
            x = np_.real(x)
        if x.dtype.kind in "biu":
            return np_.astype(np_.sum(np_.astype(x, np.int32)) % 5, np.float32)
        return 0.25 * np_.astype(np_.sum(np_.sin(np_.astype(x, np.float64))), np.float32)

    def whole(self, x: Any) -> Any:
        """A small integer that follows from `x`, and from a float only by its size."""
        np_ = self.np
        if x.dtype.kind not in "biu":
            x = np_.ones_like(np_.astype(np_.isnan(x), np.int32))
        return np_.astype(np_.sum(np_.astype(x, np.int32)), np.int32) % 5

    def mixed(self, x: Any, number: Any) -> Any:
        """`x` moved by a float32; an integer goes on by one."""
        if x.dtype.kind == "b":
            return ~x
        if x.dtype.kind in "iu":
            return (x + self.np.asarray(1, x.dtype)) % self.np.asarray(7, x.dtype)
        return 0.5 * x + self.np.astype(self.np.sin(number), x.dtype)
