"""Loops of the host: state that nobody reads, scans without steps, rows without elements, barriers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from iree.compiler.tools import compile_str

import adze
from adze import ShapeDtype, lax
from adze import numpy as xp

from ....selection import quick_first

A, B = np.float32([1, 2, 3]), np.float32([5, 6])


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "off")


def equal(actual: Any, expected: Any) -> None:
    for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-6)


# -- while loops whose bodies do not read all of the state: IREE refuses them, crashes or allocates for ever


def replaced(a: Any, b: Any) -> Any:
    def body(s: Any) -> Any:
        return s[0] + 1, xp.zeros(3, np.float32), s[2] * 2, xp.ones(2, np.float32)

    return lax.while_loop(lambda s: s[0] < 3, body, (np.int32(0), a, a, b))


def replaced_and_asked_for(a: Any, b: Any) -> Any:
    def body(s: Any) -> Any:
        return s[0] * 0 + 1.0, s[1] + 1, xp.ones_like(s[2])

    return lax.while_loop(lambda s: xp.sum(s[1]) < 30, body, (a, a, b))


def replaced_inside(a: Any, b: Any) -> Any:
    def body(s: Any) -> Any:
        i, x, y = s
        inner = (x * 0, y)
        x, y = lax.while_loop(lambda t: t[0].sum() < 2, lambda t: (t[0] + 1, xp.zeros_like(t[1])), inner)
        return i + 1, x, y

    return lax.while_loop(lambda s: s[0] < 3, body, (np.int32(0), a, b))


UNREAD = (replaced, replaced_and_asked_for, replaced_inside)


def test_state_that_the_body_does_not_read() -> None:
    def everything(a: Any, b: Any) -> Any:
        return [f(a, b) for f in UNREAD]

    equal(adze.jit(everything)(A, B), everything(A, B))


def test_state_of_dynamic_size_that_the_body_does_not_read() -> None:
    compiled = adze.trace(replaced_and_asked_for, *[ShapeDtype(("n",), np.float32)] * 2).lower().compile()
    for n in (1, 4):
        x = np.linspace(0, 1, n).astype(np.float32)
        equal(compiled(x, x), replaced_and_asked_for(x, x))


def test_only_what_is_not_read_costs_an_op() -> None:
    def chosen(f: Callable[..., Any], *arguments: Any) -> int:
        return adze.trace(f, *arguments).lower().mlir().count("arith.select")

    def loop(body: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda a, b: lax.while_loop(lambda s: xp.sum(s[0]) < 30, body, (a, b))

    read = chosen(loop(lambda s: (s[0] + 1, s[1] * 2)), A, B)
    assert chosen(loop(lambda s: (s[0] + 1, s[1])), A, B) == read - 1  # a constant of the loop
    assert chosen(loop(lambda s: (s[0] + 1, xp.ones_like(s[1]))), A, B) == read + 1


# -- scans without steps, and with rows without elements -----------------------------------------------------


def scanned(x: Any, rows: Any) -> Any:
    def body(c: Any, row: Any) -> Any:
        return c + xp.sum(row), (row * 2, xp.sum(c))

    return lax.scan(body, x, rows), lax.scan(body, x, rows, reverse=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", [(0, 3), (0,), (0, 0), (3, 0), (17, 0), (2, 0, 3)])
def test_scan_without_steps_or_over_rows_without_elements(shape: Sequence[int]) -> None:
    rows = np.ones(shape, np.float32)
    equal(adze.jit(scanned)(A, rows), scanned(A, rows))


def test_scan_without_steps_and_rows_of_a_dynamic_size() -> None:
    def f(x: Any) -> Any:
        rows = xp.broadcast_to(x[None], (2, x.shape[0]))[:0]
        return lax.scan(lambda c, row: (c + 1, (c * row, row)), x, rows)

    compiled = adze.trace(f, ShapeDtype(("n",), np.float32)).lower().compile()
    for n in (1, 3):
        x = np.linspace(0, 1, n).astype(np.float32)
        equal(compiled(x), f(x))


# -- inner loops: what is computed before them, for them and for what follows


def read_before_and_after(x: Any, k: Any) -> Any:
    p = xp.sin(k)
    return lax.fori_loop(0, 3, lambda i, s: s * 2, p) + p, None


def leaps_and_choice(x: Any, k: Any) -> Any:
    p = xp.sin(k)

    def leap(i: Any, s: Any) -> Any:
        x, p = s
        x = x + 0.1 * (p - 0.05 * x)
        return x, p - 0.05 * x

    last, momentum = lax.fori_loop(0, 10, leap, (x, p))
    better = xp.sum(last**2) + xp.sum(momentum**2) < xp.sum(x**2) + xp.sum(p * p)
    x = xp.where(better, last, x)
    return x, (x, better)


def two_deep_and_updated(x: Any, k: Any) -> Any:
    p = xp.sin(k)
    q = p.at[1].set(2.0)

    def inner(i: Any, s: Any) -> Any:
        c = xp.cos(s)
        return lax.fori_loop(0, 3, lambda i, t: t * 2 + p, c) + c

    x = lax.fori_loop(0, 3, inner, p) + p
    x = lax.cond(xp.sum(x) > 0, lambda v: v * q, lambda v: v + p, x)
    return 0.01 * x, q.at[0].set(1.0) * p


@pytest.mark.thorough
def test_loops_in_loops_whose_surroundings_read_what_they_read() -> None:
    def everything(x: Any, rows: Any) -> Any:
        return [lax.scan(f, x, rows) for f in (read_before_and_after, leaps_and_choice, two_deep_and_updated)]

    rows = np.linspace(0, 1, 9).astype(np.float32).reshape(3, 3)
    equal(adze.jit(everything)(A, rows), everything(A, rows))


def loops_and_branches(x: Any) -> Any:
    return lax.while_loop(
        lambda s: s[0] < 3,
        lambda s: (s[0] + 1, lax.cond(xp.sum(s[1]) > 0, lambda v: v - 1, lambda v: v * 2, s[1]) + s[1]),
        (np.int32(0), x),
    )[1]


def test_loops_in_loops_of_a_dynamic_size() -> None:
    def f(rows: Any) -> Any:
        last = lax.scan(read_before_and_after, rows[0], rows)[0]
        return lax.scan(lambda c, row: (loops_and_branches(c) + row, None), last, rows)

    compiled = adze.trace(f, ShapeDtype((3, "n"), np.float32)).lower().compile()
    for n in (1, 4):
        rows = np.linspace(0, 1, 3 * n).astype(np.float32).reshape(3, n)
        equal(compiled(rows), f(rows))


# -- loops that count


def repeated(x: Any, n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, v: xp.sin(v) + i.astype(np.float32), x)


def until_a_flag(x: Any, n: Any) -> Any:
    def step(s: Any) -> Any:
        i, j, _, v = s
        return i + 1, xp.maximum(j - 2, -5), (i < n) & ~(j == -3), v * 0.5

    return lax.while_loop(lambda s: s[2], step, (np.int32(0), np.int64(9), n > 0, x))


def counted_twice(x: Any, n: Any) -> Any:
    def outer(s: Any) -> Any:
        i, v = s
        return i + 1, lax.while_loop(lambda t: t[0] < i, lambda t: (t[0] + 1, t[1] * 1.5), (0 * i, v))[1]

    return lax.while_loop(lambda s: s[0] < n, outer, (0 * n, x))


def wrapping(x: Any, n: Any) -> Any:
    start = np.int32(2**31 - 2) + 0 * n
    return lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] + 1, s[1] + 1), (start, x))


def from_a_wider(x: Any, n: Any) -> Any:
    wide = n.astype(np.int64) * 3
    return lax.while_loop(lambda s: s[0].astype(np.int32) > 1, lambda s: (s[0] - 2, s[1] * 2), (wide, x))


def unsigned(x: Any, n: Any) -> Any:
    return lax.while_loop(lambda s: s[0] > 2**31, lambda s: (s[0] - 1, s[1] + 1), (np.uint32(2**31 + 3), x))


def asks_the_device(x: Any, n: Any) -> Any:
    return lax.while_loop(
        lambda s: (s[0] < n) & (xp.sum(s[1]) < 20), lambda s: (s[0] + 1, s[1] * 1.5), (0 * n, x)
    )


COUNTING = (repeated, until_a_flag, counted_twice, wrapping, from_a_wider, unsigned, asks_the_device)


def test_loops_that_count() -> None:
    def everything(x: Any, n: Any) -> Any:
        return [f(x, n) for f in COUNTING]

    compiled = adze.jit(everything)
    for n in (-1, 0, 1, 7):
        equal(compiled(A, np.int32(n)), everything(A, xp.asarray(np.int32(n))))


# -- what a loop carries stays where it is: IREE would copy it in each iteration


def copies(f: Callable[..., Any], *arguments: Any) -> list[int]:
    """The bytes of every copy that a program makes on the device."""
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    flags += ["--iree-llvmcpu-target-cpu=x86-64-v3", "--compile-to=stream"]
    text = compile_str(adze.trace(f, *arguments).lower().mlir(), extra_args=flags).decode()
    return [int(n) for n in re.findall(r"stream\.cmd\.copy .* %c(\d+) :", text)]


def stacked(x: Any) -> Any:
    return lax.scan(lambda c, _: (c * 0.5, c), x, None, length=4)


def until_done(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, xp.sin(s[1])), (np.int32(0), x))[1]


def in_groups(x: Any) -> Any:
    return xp.sum(lax.scan(lambda c, _: (xp.sin(c), None), x, None, length=6, checkpoint_every=3)[0])


X = np.linspace(-1, 1, 1000).astype(np.float32)


@pytest.mark.thorough
def test_loops_copy_rows_and_not_what_they_carry() -> None:
    for f in (stacked, until_done, adze.grad(in_groups)):
        assert all(n <= X.nbytes for n in copies(f, X))
        equal(adze.jit(f)(X), f(X))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "target", quick_first(["vulkan:lavapipe", "cuda:sm_90", "vulkan:ampere", "cuda:sm_80"], 2)
)
def test_loops_compile_where_the_device_is_described_by_name_or_attribute(target: str) -> None:
    def everything(x: Any) -> Any:
        return stacked(x), until_done(x), adze.grad(in_groups)(x)

    assert adze.trace(everything, X).lower(target).compile().vmfb


def test_what_only_the_condition_reads_is_not_carried() -> None:
    def f(x: Any) -> Any:
        def step(s: Any) -> Any:
            x, _ = s
            return x * 0.5, xp.max(x)

        return lax.while_loop(lambda s: s[1] > 0.1, step, (x, np.float32(1)))

    def first(x: Any) -> Any:
        return f(x)[0]

    for function, carried in ((first, 2), (f, 3)):  # with whether to go on
        text = str(adze.trace(function, X).lower().mlir())
        (types,) = re.findall(r"= scf\.while \(.*\) : \((.*)\) -> ", text)
        assert types.count("tensor<") == carried
        equal(adze.jit(function)(X), function(X))


def test_the_host_waits_for_iterations_whose_inner_loops_return_much() -> None:
    def waits(n: int) -> int:
        text = str(adze.trace(adze.grad(in_groups), np.ones(n, np.float32)).lower().mlir())
        return len(re.findall(r"util\.optimization_barrier %extracted\w* : f32", text))

    # Three steps of 4 n bytes are saved in an iteration of the backward pass.
    assert waits(1000) == 0 and waits(1 << 17) == 1


def test_stacks_of_equal_shape_are_arrays_of_their_own() -> None:
    def f(x: Any) -> Any:
        def outer(c: Any, _: Any) -> Any:
            last, rows = stacked(c)
            return last, xp.sum(rows, 0)

        last, rows = lax.scan(outer, x, None, length=4)
        return last, rows, stacked(x)[1], stacked(x + 1)[1]

    equal(adze.jit(f)(X), f(X))


def test_loops_over_one_vector_of_counts() -> None:
    """The second loop compares all counts with one, and stacks it (`runtime/compile/pipelines.py`)."""

    def f(x: Any) -> Any:
        counts = lax.iota(np.int32, x.shape[0])
        _, rows = lax.scan(lambda a, k: (a * 0.5, a[:, 0] + k), x, counts)
        added = rows[0, 0] + x

        def step(a: Any, k: Any) -> Any:
            return a * 0.5 + xp.where(counts < k, added[0], 0.0), k

        return lax.scan(step, added * 2, counts)

    x = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    equal(adze.trace(f, ShapeDtype(("n", "n"))).lower().compile()(x), f(x))


def test_values_that_change_places_in_a_loop() -> None:
    def f(a: Any, b: Any) -> Any:
        def step(s: Any, i: Any) -> Any:
            a, b, c = s
            return (b, a, a), (a.at[0].set(i), b, c)

        return lax.scan(step, (a, b, b), xp.arange(5.0, dtype=np.float32))

    equal(adze.jit(f)(A, A + 3), f(A, A + 3))


# -- barriers: only between readers of a reduction that read it by different maps


def test_one_map_by_two_ways_is_no_hazard() -> None:
    def barriers(f: Callable[..., Any]) -> int:
        return adze.trace(f, np.ones((4, 3), np.float32)).lower().mlir().count("compute_barrier.start")

    def same(x: Any) -> Any:
        s = xp.sum(x, 1)
        return xp.broadcast_to(s[:, None], (4, 4)) * xp.reshape(s, (4, 1))

    def crossed(x: Any) -> Any:
        s = xp.sum(x, 1)
        return xp.broadcast_to(s[:, None], (4, 4)) * xp.reshape(s, (1, 4))

    assert barriers(crossed) > barriers(same) == 0

    def read_and_folded(x: Any) -> Any:
        s = xp.sum(x, 1)
        return s, xp.max(xp.broadcast_to(s[:, None], (4, 5)), axis=0), xp.sum(s[:, None] * x, axis=1)

    x = np.linspace(-1, 2, 12).astype(np.float32).reshape(4, 3)
    equal(
        adze.jit(lambda x: [same(x), crossed(x), read_and_folded(x)])(x),
        [same(x), crossed(x), read_and_folded(x)],
    )
