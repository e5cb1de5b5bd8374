"""Binomial checkpointing: the backward pass of a loop of known length in bounded memory, as a program of ops.

Input: a step and its transpose, the initial state, the number of steps, cotangents of the final state.
Output: cotangents of the initial state, and sums of those of the constants. Idea: Revolve (Griewank and
Walther, ACM TOMS 26, 2000, algorithm 799) over chunks of steps. A stack holds states at the starts of chunks.
The last chunk whose cotangents are missing is reached from the top of the stack, by advancing and, where
slots are free, by pushing states at binomial distances on the way. The backward pass of one chunk keeps all
of its states, in a smaller loop that carries no stack. The schedule itself is made of `while` ops, so that
the number of steps may be known only when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Final

import numpy as np

from ...dialects.builder.emitter import Emitter
from ...dialects.dataclass import dataclass
from ...dialects.types import INT32
from ..ir.aliases import Value, Values

LONGEST_CHUNK: Final = 32
DEEPEST_STACK: Final = 64
REPETITIONS: Final = 64
FEWEST_STATES: Final = 2
_LARGEST: Final = 2**30


@dataclass(frozen=True)
class Reversible:
    """A loop as functions of a builder: a step, and the backward pass of a step.

    `step(b, constants, state)` returns the next state; `pull(b, constants, state, cotangents, sums)` takes
    cotangents of the state after a step and returns those of the state before it, and the sums for constants.
    """

    name: str
    function: Callable[..., str]
    step: Callable[[Emitter, Values, Values], Values]
    pull: Callable[[Emitter, Values, Values, Values, Values], tuple[Values, Values]]
    saved_states: int

    @property
    def chunk(self) -> int:
        """How many steps a chunk has."""
        return max(1, min(LONGEST_CHUNK, self.saved_states // 3))

    @property
    def stack(self) -> int:
        """How many states at the starts of chunks can be kept."""
        return max(1, min(DEEPEST_STACK, self.saved_states - self.chunk))


def pulled_back(
    b: Emitter,
    loop: Reversible,
    constants: Values,
    state: Values,
    steps: Value,
    cotangents: Values,
    sums: Values,
) -> tuple[list[Value], list[Value]]:
    """Cotangents of the initial `state`, and `sums` with the contributions of `steps` steps to the constants.

    The 0-d int32 `steps` is the number of steps of the forward pass.
    """
    chunks = _divide_up(b, steps, loop.chunk)
    stacks = [_put(b, _stack(b, x, loop.stack), x, _int(b, 0)) for x in state]
    places = b.full(0, (loop.stack,), INT32)
    n, m = len(state), len(cotangents)

    def keep_going(c: Emitter, fixed: Values, now: Values) -> Value:
        return c.compare(now[0], _int(c, 0), direction="GT")

    def last_chunk(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        """The backward pass of the last chunk that is left; its start is dropped from the stack."""
        total, constants = fixed[0], fixed[1:]
        end, top, starts = now[:3]
        last = c.sub(end, _int(c, 1))
        reached = _reach(c, loop, constants, last, top, starts, now[3 : 3 + n])
        top, starts, kept, here = reached[0], reached[1], reached[2 : 2 + n], reached[2 + n :]
        done = c.mul(last, _int(c, loop.chunk))
        count = c.min(_int(c, loop.chunk), c.sub(total, done))
        pulled = _pull_chunk(c, loop, constants, here, count, now[3 + n : 3 + n + m], now[3 + n + m :])
        is_spent = c.compare(_row(c, starts, top), last, direction="EQ")
        top = c.sub(top, c.convert(is_spent, dtype=INT32))
        return [last, top, starts, *kept, *pulled]

    start = [chunks, _int(b, 0), places, *stacks, *cotangents, *sums]
    fixed = [steps, *constants]
    final = repeated_while(b, loop, "backward", fixed, start, keep_going, last_chunk)
    return final[3 + n : 3 + n + m], final[3 + n + m :]


def _reach(
    b: Emitter, loop: Reversible, constants: Values, chunk: Value, top: Value, starts: Value, stacks: Values
) -> list[Value]:
    """Top, starts and stacks, then the state at the start of `chunk`; pushes states on the way there."""
    n = len(stacks)

    def is_before(c: Emitter, fixed: Values, now: Values) -> Value:
        return c.compare(now[0], fixed[0], direction="LT")

    def push(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        here, top, starts, kept, state = now[0], now[1], now[2], now[3 : 3 + n], now[3 + n :]
        free = c.sub(_int(c, loop.stack - 1), top)
        has_room = c.compare(free, _int(c, 0), direction="GT")
        left = c.sub(fixed[0], here)
        distance = c.select(has_room, _distance(c, loop.stack, c.add(left, _int(c, 1)), free), left)
        count = c.mul(distance, _int(c, loop.chunk))
        state = _advanced(c, loop, fixed[1:], state, count)
        here = c.add(here, distance)
        top = c.min(c.add(top, _int(c, 1)), _int(c, loop.stack - 1))
        starts = _put(c, starts, c.select(has_room, here, _row(c, starts, top)), top)
        kept = [
            _put(c, whole, c.select(_everywhere(c, has_room, x), x, _row(c, whole, top)), top)
            for whole, x in zip(kept, state, strict=True)
        ]
        return [here, top, starts, *kept, *state]

    start = [_row(b, starts, top), top, starts, *stacks, *(_row(b, whole, top) for whole in stacks)]
    return repeated_while(b, loop, "reach", [chunk, *constants], start, is_before, push)[1:]


def _distance(b: Emitter, slots: int, chunks: Value, free: Value) -> Value:
    """How far to advance before the next push, of `chunks` that are left, with `free` slots beside the base.

    s slots and r repetitions suffice for C(s + r, s) chunks. r is the least number that suffices; the chunks
    behind the push must do with one slot less in r repetitions, the chunks before it with r - 1 repetitions.
    """
    reach = np.array([[_chunks(s, r) for r in range(REPETITIONS)] for s in range(slots + 1)], np.int32)
    table = b.array(reach)
    with_push = _row(b, table, free)
    with_base = _row(b, table, b.min(b.add(free, _int(b, 1)), _int(b, slots)))
    wanted = b.broadcast_in_dim(chunks, shape=(REPETITIONS,), dimensions=())
    too_few = b.compare(with_base, wanted, direction="LT")
    repetitions = b.reduce_sum(b.convert(too_few, dtype=INT32), axes=(0,))
    before = b.max(b.min(b.sub(repetitions, _int(b, 1)), _int(b, REPETITIONS - 1)), _int(b, 0))
    distance = b.min(_row(b, with_base, before), b.sub(chunks, _row(b, with_push, before)))
    return b.max(distance, _int(b, 1))


def _chunks(slots: int, repetitions: int) -> int:
    return min(comb(slots + repetitions, slots), _LARGEST)


def _advanced(b: Emitter, loop: Reversible, constants: Values, state: Values, count: Value) -> list[Value]:
    """The state after `count` more steps."""

    def is_before(c: Emitter, fixed: Values, now: Values) -> Value:
        return c.compare(now[0], fixed[0], direction="LT")

    def step(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        return [c.add(now[0], _int(c, 1)), *loop.step(c, fixed[1:], now[1:])]

    return repeated_while(b, loop, "advance", [count, *constants], [_int(b, 0), *state], is_before, step)[1:]


def _pull_chunk(
    b: Emitter,
    loop: Reversible,
    constants: Values,
    state: Values,
    count: Value,
    cotangents: Values,
    sums: Values,
) -> list[Value]:
    """Cotangents and sums after the backward pass of `count` steps from `state`."""
    if loop.chunk == 1:
        pulled, summed = loop.pull(b, constants, state, cotangents, sums)
        return [*pulled, *summed]
    n, m = len(state), len(cotangents)
    last = b.sub(count, _int(b, 1))

    def is_before(c: Emitter, fixed: Values, now: Values) -> Value:
        return c.compare(now[0], fixed[0], direction="LT")

    def record(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        place = c.add(now[0], _int(c, 1))
        after = loop.step(c, fixed[1:], now[1 : 1 + n])
        rows = [_put(c, whole, x, place) for whole, x in zip(now[1 + n :], after, strict=True)]
        return [place, *after, *rows]

    rows = [_put(b, _stack(b, x, loop.chunk), x, _int(b, 0)) for x in state]
    start = [_int(b, 0), *state, *rows]
    rows = repeated_while(b, loop, "record", [last, *constants], start, is_before, record)[1 + n :]

    def is_left(c: Emitter, fixed: Values, now: Values) -> Value:
        return c.compare(now[0], _int(c, 0), direction="GE")

    def pull(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        own, rows = fixed[: len(constants)], fixed[len(constants) :]
        here = [_row(c, whole, now[0]) for whole in rows]
        pulled, summed = loop.pull(c, own, here, now[1 : 1 + m], now[1 + m :])
        return [c.sub(now[0], _int(c, 1)), *pulled, *summed]

    start = [last, *cotangents, *sums]
    return repeated_while(b, loop, "pull", [*constants, *rows], start, is_left, pull)[1:]


def repeated_while(
    b: Emitter,
    loop: Reversible,
    name: str,
    constants: Values,
    state: Values,
    condition: Callable[[Emitter, Values, Values], Value],
    step: Callable[[Emitter, Values, Values], Values],
) -> list[Value]:
    """A `while` op whose functions are built here; both take the constants before the state.

    It lies within an op that has derivative rules of its own, so it needs no backward pass.
    """
    k = len(constants)
    types = [b.type_of(v) for v in (*constants, *state)]
    ask = loop.function(f"{loop.name}_{name}_condition", types, lambda c, v: [condition(c, v[:k], v[k:])])
    body = loop.function(f"{loop.name}_{name}_step", types, lambda c, v: list(step(c, v[:k], v[k:])))
    final = b.while_(
        *constants,
        *constants,
        *state,
        condition=ask,
        body=body,
        condition_constants=k,
        body_constants=k,
        saved_states=0,
    )
    return list(final)


# -- arithmetic on counters and rows -------------------------------------------------------------------


def _int(b: Emitter, value: int) -> Value:
    return b.scalar(value, INT32)


def _divide_up(b: Emitter, count: Value, width: int) -> Value:
    """`ceil(count / width)` of counts."""
    return b.div(b.add(count, _int(b, width - 1)), _int(b, width))


def _stack(b: Emitter, x: Value, depth: int) -> Value:
    """Room for `depth` values like `x`."""
    return b.full(0, (depth, *b.sizes(x)), b.tensor_type(x).dtype)


def _row(b: Emitter, whole: Value, place: Value) -> Value:
    """`whole[place]`."""
    shape = b.sizes(whole)
    zeros = [_int(b, 0)] * (len(shape) - 1)
    part = b.dynamic_slice(whole, place, *zeros, slice_sizes=(1, *shape[1:]))
    return b.reshape(part, shape=shape[1:])


def _put(b: Emitter, whole: Value, x: Value, place: Value) -> Value:
    """`whole` with `whole[place] = x`."""
    shape = b.sizes(whole)
    zeros = [_int(b, 0)] * (len(shape) - 1)
    return b.dynamic_update_slice(whole, b.reshape(x, shape=(1, *shape[1:])), place, *zeros)


def _everywhere(b: Emitter, flag: Value, x: Value) -> Value:
    """A 0-d flag in the shape of `x`."""
    shape = b.sizes(x)
    return b.broadcast_in_dim(flag, shape=shape, dimensions=()) if shape else flag
