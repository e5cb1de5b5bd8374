"""Loops of every kind with arguments, by group: what the tests of loops in kernels compile.

Each loop is a plain function of adze, so that it can be evaluated too. A group is one program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

import adze
from adze import lax, random
from adze import numpy as xp

from .loops_of_narrow_numbers import NARROW

Loop = tuple[Callable[..., Any], Sequence[Any]]
RANDOM: Final = np.random.default_rng(12)


def floats(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(dtype)


# -- carried arrays --------------------------------------------------------------------------------


def exchanged(a: Any, b: Any) -> Any:
    return lax.fori_loop(0, 7, lambda i, s: (s[1], s[0] + 1), (a, b))


def rotated(a: Any, b: Any, c: Any) -> Any:
    return lax.fori_loop(0, 8, lambda i, s: (s[1], s[2], s[0] * 2 + s[1]), (a, b, c))


def exchanged_updates(a: Any, b: Any) -> Any:
    return lax.fori_loop(0, 6, lambda i, s: (s[1].at[i].set(s[0][i] + 1), s[0].at[i].add(s[1][0])), (a, b))


def shifted(a: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, a: a.at[1:].set(a[:-1] * 0.5).at[0].set(i), a)


def fields(e: Any, f: Any, h: Any) -> Any:
    """Windows that are updated in place, and read shifted by the next update."""

    def step(i: Any, s: Any) -> Any:
        e, f, h = s
        e = e.at[1:].set(e[1:] - (h[1:] - h[:-1]) / 2)
        f = f.at[:, 1:].set(f[:, 1:] - (h[:, 1:] - h[:, :-1]) / 2)
        h = h.at[:-1, :-1].set(h[:-1, :-1] - (f[:-1, 1:] - f[:-1, :-1] + e[1:, :-1] - e[:-1, :-1]) / 4)
        return e, f, h.at[1:].set(h[1:] / 2 + h[:-1])  # of the rows that are being written

    return lax.fori_loop(0, 3, step, (e, f, h))


def neighbours(a: Any) -> Any:
    return lax.fori_loop(
        0, 5, lambda i, a: a.at[1:-1, 1:-1].set((a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:]) / 3), a
    )


def every_other(a: Any, b: Any) -> Any:
    """Windows with steps, updated from others: between them, of the same rows moved, of other steps."""

    def step(i: Any, state: Any) -> Any:
        a, b = state
        a = a.at[1:-1:2, 1:-1].set((a[:-2:2, 1:-1] + a[2::2, 1:-1]) / 2 + b[1:-1:2, 1:-1])
        b = b.at[2::2, ::2].set(b[:-2:2, ::2] / 2 + a[1:-1:2, ::2])
        before = a
        a = a.at[::2, ::3].add(a[: (len(a) + 1) // 2, ::3] / 4).at[:, 1].set(b[:, 0])
        later = xp.arange(len(a))[:, None] > 1
        b = xp.where(later, xp.pad(a[1:], ((1, 0), (0, 0))), b)  # more than the mask has true elements
        return a.at[:1:2].set(before[-1:] / 2), b.at[1::2, 1::2].set(0)

    return lax.fori_loop(0, 3, step, (a, b))


def waves(a: Any, b: Any) -> Any:
    """Whole arrays from neighbours, which change places; what a step stacks and counts."""

    def step(state: Any, i: Any) -> Any:
        now, before = state
        around = xp.roll(now, 1, 0) + xp.roll(now, -1, 1) + xp.pad(now[1:, 1:], ((0, 1), (1, 0)))
        return (2 * now - before + around / 8 + i, now), (before[0], now.sum())

    return lax.scan(step, (a, b), xp.arange(7, dtype=a.dtype))


def smoothed(a: Any, b: Any) -> Any:
    """An odd number of steps of a padded stencil, with a loop inside of others."""

    def step(i: Any, x: Any) -> Any:
        return xp.pad((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + b[1:-1, 2:]) / 4, 1, constant_values=i)

    return lax.fori_loop(0, 2, lambda i, x: lax.fori_loop(1, 6, step, x.at[i].set(b[-1])), a)


def settled(a: Any, b: Any) -> Any:
    """What is updated is compared with what it was; nothing but the number of steps is returned."""

    def step(state: Any) -> Any:
        _, count, a, b = state
        new = a.at[1:-1].set((a[2:] + a[:-2]) / 2 + b[1:-1] / 100)
        return xp.abs(new - a).max(), count + 1, new, b.at[0].set(new[1])

    first = (xp.float32(1), 0, a, b)
    return lax.while_loop(lambda s: (s[0] > 0.01) & (s[1] < 9), step, first)[1]


def settled_arrays(a: Any, b: Any) -> Any:
    """The same, of which the arrays are returned, one in two updates that both read what it was."""

    def step(state: Any) -> Any:
        change, a, b = state
        new = a.at[1:-1].set((a[2:] + a[:-2]) / 2).at[0].set(a[-1])
        b = b.at[2].set(b[0] + xp.abs(new - a).sum()).at[0].set(b[1])
        return xp.abs(new - a).max() + change / 2, new, b

    return lax.while_loop(lambda s: s[0] > 0.3, step, (xp.float32(1), a, b))[1:]


def old_and_new(a: Any) -> Any:
    """In a loop that counts, with a loop inside that updates the array as well."""

    def step(i: Any, state: Any) -> Any:
        a, total = state
        new = lax.fori_loop(0, 3, lambda k, x: x.at[k].set(x[k + 1] + i), a)
        return new, total + (new * a).sum()

    return lax.fori_loop(0, 4, step, (a, xp.float32(0)))


def rows_in_place(a: Any) -> Any:
    return lax.fori_loop(1, 6, lambda i, a: a.at[i].set(a[i] * 0.5 + a[i - 1] * 0.25), a)


def triangular(a: Any) -> Any:
    def outer(i: Any, a: Any) -> Any:
        return lax.fori_loop(0, i, lambda j, a: a.at[i, j].add(a[j, j] * a[i, i]), a)

    return lax.fori_loop(0, 6, outer, a)


def rows_of_an_outer_array(a: Any) -> Any:
    """What is inserted into an array from outside of the loop is not in it in the next iteration."""
    zeros, doubled = xp.zeros(a.shape, a.dtype), xp.asarray(a) * 2

    def step(c: Any, i: Any) -> Any:
        row = lax.dynamic_update_slice(zeros, xp.sum(c, 0)[None], (i, i - i))
        inner = lax.fori_loop(0, 3, lambda j, r: r * 0.5 + c[j], doubled[i])
        return c * 0.5 + row, (row, doubled.at[i].set(inner), doubled.at[-i].set(c[0]))

    return lax.scan(step, a, xp.arange(len(a)))


def inserted_twice(a: Any) -> Any:
    """Two arrays that differ from a third one in the same elements."""

    def step(i: Any, c: Any) -> Any:
        one, other = xp.pad(c[:3] * c[1:], (0, 1)), xp.pad(c[1:] + c[:3], (0, 1))
        matrix = one.reshape(2, 2)
        return (matrix @ other.reshape(2, 2) + matrix.T).reshape(4) * 0.25

    return lax.fori_loop(0, 3, step, a)


def updated_once(a: Any, b: Any) -> Any:
    """A single step that updates operands, one array in two places, and arrays of the same zeros."""

    def step(i: Any, s: Any) -> Any:
        x, y, z, w = s
        both = x.at[i].set(y[1] * 2).at[2].set(x[i] + 1)
        return both, y.at[i + 1, :2].set(z[0, :2] + 3), z.at[:, i].set(x[:, 1]), w.at[3].set(y[0] + z[0])

    zeros = xp.zeros(a.shape, a.dtype)
    return lax.fori_loop(0, 1, step, (a, b, zeros, zeros))


def stacked(x: Any) -> Any:
    return lax.scan(lambda c, r: (c + r, (c * r, r.sum(), r > c)), xp.zeros(5, x.dtype), x)


def stacked_from_the_end(x: Any) -> Any:
    return lax.scan(lambda c, r: (c / 2 + r, c), xp.zeros(5, x.dtype), x, reverse=True)


def stacked_inside(x: Any) -> Any:
    def outer(c: Any, row: Any) -> Any:
        last, rows = lax.scan(lambda d, e: (d + e, (d, c * e)), c[0], row)
        return c + last, rows

    return lax.scan(outer, xp.ones(3, x.dtype), x)


# -- how long ----------------------------------------------------------------------------------------


def ends_early(x: Any) -> Any:
    return lax.while_loop(
        lambda s: (s[0].sum() < 100) & (s[1] < 50), lambda s: (s[0] * 1.5 + 1, s[1] + 1), (x, 0)
    )


def never_runs(x: Any) -> Any:
    return lax.while_loop(lambda s: s[1] < 0, lambda s: (s[0] * 2, s[1] - 1), (x, 0))


def as_long_as_asked(n: Any, x: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, x: x.at[i].set(x[i - 1] + i), x)


def collatz(n: Any) -> Any:
    def step(s: Any) -> Any:
        return xp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))


def many_steps(x: Any) -> Any:
    return lax.fori_loop(0, 2_000_000, lambda i, c: c * 1664525 + 1013904223, x)


def each_as_long_as_it_takes(c: Any) -> Any:
    def small(s: Any) -> Any:
        return (abs(s[0]) < 2) & (s[1] < 30)

    def step(s: Any) -> Any:
        here = small(s)
        return xp.where(here, s[0] * s[0] + c, s[0]), xp.where(here, s[1] + 1, s[1])

    return lax.while_loop(lambda s: small(s).any(), step, (c * 0, xp.zeros(c.shape, np.int32)))


def asked_only_in_the_condition(x: Any) -> Any:
    """The body writes arrays that it does not use: each must be written in its own place."""

    def going_on(s: Any) -> Any:
        return (s[1].sum() < 40) & ~s[2].all() & (s[3] < 30)

    def step(s: Any) -> Any:
        x, _, _, count = s
        return x * 1.25 + 1, x[::-1] * 2, x > 30, count + 1

    return lax.while_loop(going_on, step, (x, x, x > 99, 0))


# -- positions ---------------------------------------------------------------------------------------


def out_of_range(x: Any, positions: Any) -> Any:
    x = xp.asarray(x)

    def step(c: Any, i: Any) -> Any:
        filled, clipped = x.at[i].get(mode="fill", fill_value=-7), x.at[i].get(mode="clip")
        dropped, moved = c.at[i].add(1, mode="drop"), c.at[i].multiply(2, mode="clip")
        return dropped * moved, (filled, clipped, lax.dynamic_slice(x, (i,), (3,)))

    return lax.scan(step, x, positions)


def updated_windows(x: Any, positions: Any) -> Any:
    return lax.fori_loop(
        0, len(positions), lambda i, c: lax.dynamic_update_slice(c, c[0:2] * 2, (positions[i],)), x
    )


def gathered(x: Any, positions: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c[positions] + x, x)


def scattered(x: Any, positions: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return c.at[positions].add(c[: positions.shape[0]]).at[positions[::-1]].set(i * 1.0)

    return lax.fori_loop(0, 3, step, x)


# -- choices -----------------------------------------------------------------------------------------


def chosen_number(x: Any) -> Any:
    return lax.scan(lambda c, r: (lax.cond(c > 1, lambda c: c - 2, lambda c: c + r, c), c), x[0], x)


def chosen_array(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return lax.cond(c[i] > 0, lambda c: c.at[i].set(-1), lambda c: c + 1, c)

    return lax.fori_loop(0, 6, step, x)


def one_of_four(x: Any) -> Any:
    branches = [lambda c: c + 1, lambda c: c * 2, lambda c: -c, lambda c: c[::-1]]
    return lax.fori_loop(0, 9, lambda i, c: lax.switch(i % 4, branches, c), x)


def kept_or_updated(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return lax.cond(c[i] > 0, lambda c: c.at[i].set(-1), lambda c: c, c)

    return lax.fori_loop(0, 6, step, x)


def one_of_two_arrays(x: Any, y: Any) -> Any:
    def step(i: Any, s: Any) -> Any:
        x, y = s
        x, y = lax.cond(x[i, 0] > y[i, 1], lambda x, y: (y, x), lambda x, y: (x, x), x, y)
        return x.at[i].add(1), y

    return lax.fori_loop(0, 3, step, (x, y))


def one_complex_number(z: Any) -> Any:
    zero = xp.zeros((1,), z.dtype)
    return lax.fori_loop(
        0, 4, lambda i, s: (s[0] + s[1][0], lax.cond(i > 2, lambda: zero + 1j, lambda: zero)), (z, zero)
    )


# -- numbers -----------------------------------------------------------------------------------------


def reductions(x: Any) -> Any:
    def step(c: Any, r: Any) -> Any:
        result = r.max(), r.min(), r.prod(), xp.argmax(r), xp.argmin(r), xp.cumsum(r), xp.cumprod(r)[::-1]
        return c + 1, result

    return lax.scan(step, 0, x)


def integers(x: Any, y: Any) -> Any:
    return lax.fori_loop(0, 20, lambda i, s: (s[0] * s[1] + s[0], s[1] // 2 + s[0] - s[1]), (x, y))


def bools(m: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, m: m.at[i].set(~m[i + 1]) ^ m[::-1], m)


def stacked_bools(m: Any) -> Any:
    return lax.scan(lambda c, x: (c ^ x, (c & x, x.any(), x.all(), xp.argmax(x))), m[0], m)


def not_numbers(x: Any) -> Any:
    def step(c: Any, r: Any) -> Any:
        return xp.maximum(c, r), (xp.minimum(c, r), c < r, xp.isnan(r), xp.argmax(r), xp.argmin(r))

    return lax.scan(step, x[0], x)


def matrix_vector(a: Any, v: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, v: (a @ v) / 8, v)


def matrices(a: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, b: (a @ b.T) / 8, a)


def rows_with_columns(a: Any, b: Any, c: Any) -> Any:
    """Sums in blocks along the right operand's columns, with rests; of a batch, of two axes, of few steps."""

    def step(i: Any, s: Any) -> Any:
        a, b, c = s
        of_rows = xp.tanh(a @ b[0])
        of_batch = xp.einsum("xkm,xkn->xmn", b[:, :, :5], b)
        of_two = xp.tanh(xp.einsum("jkm,jkn->mn", c, c))
        of_few = xp.tanh(a[:, :3] @ b[1, :3])
        return of_rows + of_few, b * 0.9 + of_batch[:, :1] * 0.01, c * 0.5 + of_two[:1] * 0.1

    return lax.fori_loop(0, 3, step, (a, b, c))


def rows_with_rows(a: Any, b: Any, c: Any) -> Any:
    """Sums along rows of both operands, longer than a vector, some with a rest; of a batch; of two axes."""

    def step(i: Any, s: Any) -> Any:
        a, b, c = s
        of_rows, of_batch = xp.tanh(a @ b[0].T), xp.einsum("xmk,xnk->xmn", b, b)
        of_two = xp.tanh(xp.einsum("mjk,njk->mn", c, c))
        return of_rows @ b[1] / 8, b * 0.9 + of_batch[:, :, :1] * 0.01, c * 0.5 + of_two[:, :1, None] * 0.1

    return lax.fori_loop(0, 3, step, (a, b, c))


def few_columns(x: Any, w: Any) -> Any:
    """Products of fewer columns than a vector has."""
    return lax.fori_loop(0, 3, lambda i, x: xp.tanh(x @ w) @ w.T / 4, x)


def outer_products(a: Any, v: Any) -> Any:
    """Products that sum nothing, of which larger arrays are computed."""

    def step(i: Any, s: Any) -> Any:
        a, v = s
        columns = a.sum(0) * xp.tensordot(a[0], v[0], 0)
        return a * xp.tensordot(v, v[1], 0)[:, None] + columns * 0.1, v * xp.tensordot(a[0, 0], v, 0)

    return lax.fori_loop(0, 3, step, (a, v))


def short_rows(x: Any) -> Any:
    """Rows of a few elements, each of which a vector holds, and their neighbours."""

    def step(i: Any, x: Any) -> Any:
        total, most = (x * x).sum(-1, dtype=x.dtype), x.max(-1)
        part = xp.floor_divide if x.dtype.kind in "iu" else xp.divide
        return part(xp.roll(x, 1, 0), 2) + (part(total, 64) + part(most, 4))[..., None]

    return lax.fori_loop(0, 4, step, x)


def reduced_columns(x: Any) -> Any:
    """Rows in wholes and rests, one and two axes of steps; what it takes elements of is updated as well."""

    def step(i: Any, s: Any) -> Any:
        x, y = s
        means = x.sum(0) // 3 if x.dtype.kind in "iu" else x.mean(0)
        ends = x.max(0), x.min((0, 1)), x.prod(1), (x < means).sum(0)
        return x.at[1].set(means), y + sum(xp.sum(e, dtype=y.dtype) for e in ends)

    return lax.fori_loop(0, 3, step, (x, x.ravel()[0] * 0))


def convolved(x: Any, w: Any) -> Any:
    """A window times weights, summed along three axes, for each place of the result."""

    def step(i: Any, y: Any) -> Any:
        window = lax.dynamic_slice(x, (0, i, 0, 0), (x.shape[0], w.shape[0], w.shape[1], x.shape[3]))
        return y.at[:, i].set((window[..., None] * w).sum((1, 2, 3)))

    count = x.shape[1] - w.shape[0] + 1
    return lax.fori_loop(0, count, step, xp.zeros((x.shape[0], count, w.shape[3]), x.dtype))


def masked_sums(x: Any, limits: Any) -> Any:
    """Sums of which a mask leaves a range, by every comparison; limits are negative and too large, too."""
    n = xp.arange(x.size)

    def step(c: Any, limit: Any) -> Any:
        low, high = limit
        inside = (n >= low) & (high > n)
        results = (
            xp.where(n < high, x, 0).sum(),
            xp.where(n <= high, x, 1).sum(),
            xp.where(n > low, x * c, x[3]).sum(),
            xp.where(n == low, x, 0).sum(),
            xp.where(inside & (x > 0), x, 0).sum(),
            xp.where(~inside, x[0], x).sum(),
            xp.where(inside, x, 0) @ x[xp.where(inside, n[::-1], 2)],
            xp.where(n != low, x, 0).sum(),
        )
        return c + 1, results

    return lax.scan(step, x[0] * 0 + 1, limits)


def masked_updates(x: Any, limits: Any) -> Any:
    """Rows of which a mask updates a range in place."""
    n = xp.arange(x.shape[0])

    def step(x: Any, limit: Any) -> Any:
        x = xp.where((n >= limit[0]) & (n < limit[1]), x * 2 + 1, x)
        return x, x[5]

    return lax.scan(step, x, limits)


def rows_of_a_sparse_matrix(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    n = xp.arange(columns.size)

    def step(i: Any, y: Any) -> Any:
        inside = (n >= starts[i]) & (n < starts[i + 1])
        return y.at[i].set(xp.where(inside, values, 0) @ x[xp.where(inside, columns, 0)])

    return lax.fori_loop(0, starts.size - 1, step, xp.zeros(starts.size - 1, x.dtype))


def computed_places(x: Any, i: Any) -> Any:
    """Elements at places that are computed: of the carry itself, fewer and more of them than there are."""

    def step(k: Any, x: Any) -> Any:
        places = (i * 3 + k) % x.size
        return x.at[k].set(x[places].sum()) + x[places[:2]].max() + x[(i + k) % 4][:, None].max()

    return lax.fori_loop(0, 4, step, x)


def moved(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        padded = xp.pad(c, 1)[1:-1, :-2]
        return c.T + padded * 2 + xp.concatenate([c[:, 2:], c[:, :2]], 1)

    return lax.fori_loop(0, 3, step, x)


def functions(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return xp.exp(-c * c) + xp.sin(c) + xp.tanh(c) * xp.log1p(abs(c))

    return lax.fori_loop(0, 3, step, x)


def complex_numbers(z: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, z: z * z * 0.5 + xp.conj(z)[::-1].at[i].set(1j), z)


def _special() -> np.ndarray:
    x = floats(5, 6)
    x[2, 3], x[3], x[4, 1:3], x[0, :2] = np.nan, -np.inf, np.inf, (-0.0, 0.0)
    return x


def _special_columns() -> np.ndarray:
    x = floats(4, 5, 19)
    x[0, :2, 3], x[1, :, 17], x[2, 1, :] = np.nan, -np.inf, np.inf
    x[:, :, 0], x[:, ::2, 18] = -0.0, 0.0
    return x


def _special_row() -> np.ndarray:
    x = floats(41)
    x[[0, 3, 17, 40]] = -0.0, np.inf, np.nan, -np.inf
    return x


def _sparse(first: float) -> list[np.ndarray]:
    """Rows of a sparse matrix, one of them empty, and a vector whose first element no row takes."""
    x = floats(6, dtype=np.float64)
    x[0] = first
    starts = np.array([0, 3, 3, 20, 37], np.uint32)
    return [starts, RANDOM.integers(1, 6, 37).astype(np.uint32), floats(37, dtype=np.float64), x]


def _of_dtype(dtype: Any) -> list[Loop]:
    return [
        (stacked, [floats(6, 5, dtype=dtype)]),
        (stacked_from_the_end, [floats(6, 5, dtype=dtype)]),
        (reductions, [floats(5, 6, dtype=dtype)]),
        (matrix_vector, [floats(7, 7, dtype=dtype), floats(7, dtype=dtype)]),
        (matrix_vector, [floats(40, 40, dtype=dtype), floats(40, dtype=dtype)]),
        (functions, [floats(9, dtype=dtype)]),
    ]


def _of_integers(dtype: str) -> list[Loop]:
    low = RANDOM.integers(1, 100, (5,)).astype(dtype), RANDOM.integers(1, 100, (5,)).astype(dtype)
    return [
        (integers, low),
        (reductions, [RANDOM.integers(0, 100, (3, 4)).astype(dtype)]),
        (reduced_columns, [RANDOM.integers(0, 100, (3, 4, 11)).astype(dtype)]),
        (masked_sums, [RANDOM.integers(0, 100, 35).astype(dtype), _LIMITS]),
    ]


_FAR: Final = np.array([0, 3, -1, -9, 9, 100, -100, 2**31 - 1], np.int32)
_LIMITS: Final = np.array([[3, 20], [0, 0], [-5, 100], [30, 10], [39, 40], [2**31 - 1, -(2**31)]], np.int32)
_COMPLEX: Final = (floats(6) + 1j * floats(6)).astype(np.complex64)

# -- random numbers --------------------------------------------------------------------------------


def walked(key: Any, x: Any) -> Any:
    def step(state: Any, _: Any) -> Any:
        key, x = state
        key, of_step, of_choice = random.split(key, 3)
        proposal = x + random.normal(of_step, x.shape, x.dtype)
        x = xp.where(random.uniform(of_choice, dtype=x.dtype) < 0.7, proposal, x)
        return (key, x), x.sum()

    return lax.scan(step, (key, x), None, length=5)


def bits_of_all_widths(key: Any) -> Any:
    def step(key: Any, i: Any) -> Any:
        key = random.fold_in(key, i)
        return key, [random.bits(key, (3, 5), f"uint{width}") for width in (8, 16, 32, 64)]

    return lax.scan(step, key, xp.arange(4))


def bits_of_several_keys(keys: Any) -> Any:
    def step(keys: Any, _: Any) -> Any:
        new = adze.vmap(lambda key: random.split(key, 2))(keys)
        return new[:, 0], adze.vmap(lambda key: random.randint(key, (3,), -9, 9))(new[:, 1])

    return lax.scan(step, keys, None, length=4)


GROUPS: Final[dict[str, list[Loop]]] = {
    "narrow": NARROW,
    "carried": [
        (exchanged, [floats(4), floats(4)]),
        (rotated, [floats(4), floats(4), floats(4)]),
        (exchanged_updates, [floats(8), floats(8)]),
        (shifted, [floats(6)]),
        (neighbours, [floats(5, 6)]),
        (fields, [floats(5, 6), floats(5, 6), floats(5, 6)]),
        *((every_other, [floats(*n)] * 2) for n in ((7, 6), (9, 35), (3, 3))),
        (every_other, [floats(5, 7, dtype=np.float64)] * 2),
        (waves, [floats(16, 17), floats(16, 17)]),
        (waves, [floats(20, 13, dtype=np.float64)] * 2),
        (smoothed, [floats(17, 16), floats(17, 16)]),
        (settled, [floats(9), floats(9)]),
        (settled_arrays, [floats(9), floats(9)]),
        (old_and_new, [floats(5)]),
        (rows_in_place, [floats(6, 5)]),
        (rows_of_an_outer_array, [floats(4, 2)]),
        (inserted_twice, [floats(4)]),
        (triangular, [floats(6, 6)]),
        (updated_once, [floats(4, 5), floats(4, 5)]),
        (stacked, [floats(6, 5)]),
        (stacked_from_the_end, [floats(6, 5)]),
        (stacked_inside, [floats(4, 3)]),
    ],
    "lengths": [
        (ends_early, [abs(floats(5))]),
        (never_runs, [floats(5)]),
        *((as_long_as_asked, [np.int32(n), floats(8)]) for n in (0, 5, -3)),
        (collatz, [np.int64(27)]),
        (many_steps, [np.uint32(7)]),
        (asked_only_in_the_condition, [abs(floats(5))]),
        (asked_only_in_the_condition, [abs(floats(5)) + 90]),
        (each_as_long_as_it_takes, [_COMPLEX]),
    ],
    "positions": [
        (out_of_range, [floats(7), _FAR]),
        (out_of_range, [floats(7), abs(_FAR).astype(np.uint8)]),
        (out_of_range, [floats(7), np.uint64([1, 6, 7, 2**63, 2**64 - 1])]),
        (updated_windows, [floats(7), _FAR]),
        (gathered, [floats(7), _FAR[:7].astype(np.int64)]),
        (scattered, [floats(7), np.int8([1, 5, 1, -2, 70])]),
    ],
    "choices": [
        (chosen_number, [floats(8)]),
        (chosen_array, [floats(6)]),
        (one_of_four, [floats(6)]),
        (kept_or_updated, [floats(6)]),
        (one_of_two_arrays, [floats(3, 4), floats(3, 4)]),
        (one_complex_number, [_COMPLEX]),
    ],
    "floats": [
        (reductions, [_special()]),
        (not_numbers, [_special()]),
        (matrices, [floats(6, 6)]),
        (rows_with_columns, [floats(5, 38), floats(2, 38, 38), floats(3, 6, 20)]),
        (rows_with_columns, [floats(*n, dtype=np.float64) for n in ((1, 41), (2, 41, 41), (2, 4, 9))]),
        (rows_with_rows, [floats(3, 35), floats(2, 5, 35), floats(4, 2, 16)]),
        (rows_with_rows, [floats(*n, dtype=np.float64) for n in ((3, 8), (2, 5, 8), (4, 3, 21))]),
        *((few_columns, [floats(19, 9), floats(9, n)]) for n in (7, 15, 25)),
        *((few_columns, [floats(5, 9), floats(9, n)]) for n in (1, 3)),
        *((few_columns, [floats(2, 40), floats(40, n)]) for n in (7, 15)),
        *((outer_products, [floats(5, 7, dtype=t) / 2, floats(5, dtype=t) / 2]) for t in "fd"),
        (outer_products, [np.stack([_COMPLEX[:4]] * 3) / 4, _COMPLEX[:3] / 4]),
        *((reduced_columns, [floats(*n)]) for n in ((5, 6, 37), (9, 3, 16), (3, 13, 4), (2, 2, 300))),
        *((short_rows, [floats(*n) * 9]) for n in ((3, 4), (4, 4), (13, 4), (8, 8), (19, 8), (5, 9, 4))),
        *((short_rows, [(floats(9, 4) * 9).astype(dtype)]) for dtype in (np.int32, np.int64, np.float64)),
        *((short_rows, [_special_row()[: 4 * n].reshape(4, n)]) for n in (4, 8)),
        (reduced_columns, [_special_columns()]),
        (reduced_columns, [floats(4, 3, 21, dtype=np.float64)]),
        (convolved, [floats(4, 5, 3, 2), floats(2, 3, 2, 20)]),
        (convolved, [floats(11, 4, 2, 1), floats(3, 2, 1, 7)]),
        *((masked_sums, [x, _LIMITS]) for x in (floats(40), floats(33, dtype=np.float64), _special_row())),
        *((masked_sums, [x, _LIMITS * 6]) for x in (floats(240), floats(233, dtype=np.float64))),
        (masked_sums, [RANDOM.integers(-100, 100, 230).astype(np.int32), _LIMITS * 6]),
        *((masked_updates, [x, _LIMITS]) for x in (floats(40), _special_row())),
        *((rows_of_a_sparse_matrix, _sparse(first)) for first in (1.0, np.nan, -np.inf)),
        (computed_places, [floats(9), np.array([1, 8, 3, 3, 2, 0, 7, 7, 4], np.int32)]),
        (moved, [floats(5, 5)]),
        (complex_numbers, [_COMPLEX]),
        (complex_numbers, [_COMPLEX.astype(np.complex128)]),
        *_of_dtype(np.float16),
        *_of_dtype(ml_dtypes.bfloat16),
        *_of_dtype(np.float64),
    ],
    "random": [
        (walked, [np.uint32([1, 4000000000]), floats(6)]),
        (walked, [np.uint32([3, 5]), floats(2, 4, dtype=np.float64)]),
        (walked, [np.uint32([3, 5]), floats(1)]),
        (bits_of_all_widths, [np.uint32([7, 9])]),
        (bits_of_several_keys, [np.uint32([[1, 2], [3, 4], [5, 4000000000]])]),
    ],
    "integers": [
        (bools, [floats(9) > 0]),
        (stacked_bools, [floats(6, 4) > 0]),
        *(
            loop
            for kind in ("int", "uint")
            for bits in (8, 16, 32, 64)
            for loop in _of_integers(f"{kind}{bits}")
        ),
    ],
}
