"""The steps of random compositions that are loops: scans over rows, and loops that update arrays in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .array_values import kind_of, number
from .drawing import Drawing, Step, mean

MOST_ROWS: Final = 130


def scanned(d: Drawing, x: Any) -> Any:
    """A scan over rows with steps of its own: what it stacks, or what it carries in the end."""
    if not x.shape or x.shape[0] > MOST_ROWS:
        return x
    seed, count, reverse = d.seed(), d.rng.randint(1, 3), d.rng.random() < 0.3

    def body(carried: Any, row: Any) -> tuple[Any, Any]:
        inner = d.inner(seed, [row, carried])
        new = inner.run(count)
        return mean(carried, inner.other(carried.shape, carried.dtype)), new if new.size < 1000 else row

    last, rows = d.library.lax.scan(body, x[0], x, reverse=reverse)
    return rows if d.rng.random() < 0.7 else last


@dataclass(frozen=True)
class Repeated:
    """What the bodies of loops over one array share: an axis, and which rows a step reads and writes."""

    d: Drawing
    axis: int
    seed: int
    first: int
    stride: int

    def read_at(self, i: Any, size: int) -> Any:
        return (i + self.first) % size

    def written_at(self, i: Any, size: int) -> Any:
        return (i * self.stride) % size

    def row(self, state: Any, i: Any) -> Any:
        """One row of the state along the axis."""
        lax, at = self.d.library.lax, self.read_at(i, state.shape[self.axis])
        return lax.dynamic_index_in_dim(state, at, self.axis, keepdims=True)

    def index(self, i: Any, size: int) -> tuple[Any, ...]:
        return (*(slice(None),) * self.axis, self.written_at(i, size))


def row_computed(r: Repeated, state: Any, i: Any) -> Any:
    row = r.row(state, i)
    inner = r.d.inner(r.seed, [row])
    inner.step()
    new = mean(row, inner.other(row.shape, row.dtype))
    at = r.written_at(i, state.shape[r.axis])
    return r.d.library.lax.dynamic_update_index_in_dim(state, new, at, r.axis)


def row_copied(r: Repeated, state: Any, i: Any) -> Any:
    index = r.index(i, state.shape[r.axis])
    return state.at[index].set(r.d.np.squeeze(r.row(state, i), r.axis))


def rows_added(r: Repeated, state: Any, i: Any) -> Any:
    if kind_of(state) == "b":
        return row_copied(r, state, i)
    row, size = r.row(state, i), state.shape[r.axis]
    index = (*(slice(None),) * r.axis, (r.d.scope.places + i) % size)
    return mean(state, state.at[index].add(row * number(1 / 64 if kind_of(row) in "fc" else 3, row)))


def window_replaced(r: Repeated, state: Any, i: Any) -> Any:
    d, size = r.d, state.shape[r.axis]
    window = [max(1, n // 2) if a == r.axis else max(1, n - 3) for a, n in enumerate(state.shape)]

    def start(at: Any, others: Any) -> list[Any]:
        """Where a window starts, inside of the array (`steps.starts` says why)."""
        both = enumerate(zip(state.shape, window, strict=True))
        return [d.np.asarray((at if a == r.axis else others) % (n - m + 1), np.int32) for a, (n, m) in both]

    old = d.library.lax.dynamic_slice(state, start(r.read_at(i, size), 0), window)
    new = mean(old, d.inner(r.seed, d.pool).other(window, state.dtype))
    return d.library.lax.dynamic_update_slice(state, new, start(r.written_at(i, size), i))


def all_computed(r: Repeated, state: Any, i: Any) -> Any:
    inner = r.d.inner(r.seed, [state])
    inner.run(2)
    return mean(state, inner.other(state.shape, state.dtype))


def all_rolled(r: Repeated, state: Any, i: Any) -> Any:
    return mean(r.d.np.roll(state, 1, r.axis), r.d.inner(r.seed, r.d.pool).other(state.shape, state.dtype))


BODIES: Final[tuple[Callable[[Repeated, Any, Any], Any], ...]] = (
    row_computed, row_copied, rows_added, window_replaced, all_computed, all_rolled,
)  # fmt: skip


def repeated(d: Drawing, x: Any) -> Any:
    """A loop that updates an array, `fori_loop` or, where nothing is differentiated, `while_loop`."""
    if not x.shape:
        return x
    lax, rng = d.library.lax, d.rng
    body, length = rng.choice(BODIES), rng.choice((1, 3, 7, 20))
    shared = Repeated(d, d.axis(x), d.seed(), rng.randint(0, 9), rng.choice((1, 2, 5)))
    if rng.random() < 0.6 or d.scope.is_differentiated:
        return lax.fori_loop(0, length, lambda i, state: body(shared, state, i), x)

    def goes_on(state: Any) -> Any:
        return state[0] < length + d.scope.places[0] % 3

    start = (np.int32(0), x)
    return lax.while_loop(goes_on, lambda s: (s[0] + 1, body(shared, s[1], s[0])), start)[1]


LOOPS: Final[dict[str, Step]] = {"scanned": scanned, "repeated": repeated}
