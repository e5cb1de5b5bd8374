"""Loops as kernels compute what the evaluator and the loops of the host compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.frontend.staging import lowered
from adze.passes.lower.kernels.loops.replace import FAULT
from adze.runtime.compile.compiler import CompileOptions
from adze.runtime.errors import CompileError

from ....random_programs import random_program, seeds
from ....random_programs.of_loops import ADZE
from .loops import GROUPS, Loop, floats, shifted

TOLERANCES = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 2e-5, "complex64": 2e-5}


def program(loops: Sequence[Loop]) -> Any:
    def all_of_them(arguments: Any) -> Any:
        return [loop(*given) for (loop, _), given in zip(loops, arguments, strict=True)]

    return all_of_them


def arguments_of(loops: Sequence[Loop]) -> list[Any]:
    return [tuple(given) for _, given in loops]


def same(actual: Any, expected: Any, what: str) -> None:
    for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b, what)
            continue
        tolerance = TOLERANCES.get(a.dtype.name, 1e-12)
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
        )


def remarks(traced: Any) -> list[str]:
    """What is said of each loop, from `kernel:` or `host:` on."""
    parts = traced.mlir("loop-kernels").split('adze.loop = "')[1:]
    return [part.split('"', 1)[0] for part in parts if "ops on small arrays" not in part.split('"', 1)[0]]


def decisions(traced: Any) -> list[str]:
    return [remark.split(":", 1)[0] for remark in remarks(traced)]


def after_steps(steps: int, x: int) -> int:
    """The number behind so many steps of x * 1664525 + 1013904223 in 32 bits, by doubling a step."""
    factor, summand = 1664525, 1013904223
    while steps:
        if steps % 2:
            x = (x * factor + summand) % 2**32
        factor, summand, steps = factor * factor % 2**32, (factor + 1) * summand % 2**32, steps // 2
    return x


def test_a_loop_over_more_arrays_than_a_dispatch_takes_is_the_hosts() -> None:
    def sums(arrays: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: tuple(a.cumsum() + i for a in c), arrays)

    arrays = tuple(np.arange(k, k + 2, dtype=np.float32) for k in range(17))
    traced = adze.trace(sums, arrays)
    assert decisions(traced) == ["host"]
    same(traced.lower().compile()(arrays), sums(arrays), "17 arrays")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("group", GROUPS)
def test_kernels_compute_what_is_evaluated(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADZE_LOOP_KERNELS", raising=False)
    loops = GROUPS[group]
    traced = adze.trace(program(loops), arguments_of(loops))
    assert decisions(traced) == ["kernel"] * len(loops)
    compiled = traced.lower().compile()
    given = arguments_of(loops)
    result = compiled(given)
    for (loop, arguments), got in zip(loops, result, strict=True):
        if loop.__name__ == "many_steps":  # too many for the evaluator
            want: Any = np.uint32(after_steps(2_000_000, int(arguments[0])))
        else:
            want = loop(*arguments)
        same(got, want, f"{loop.__name__}{[np.asarray(a).dtype for a in arguments]}")
    for before, after in zip(adze.tree.leaves(arguments_of(loops)), adze.tree.leaves(given), strict=True):
        np.testing.assert_array_equal(before, after, "an argument has changed")


@pytest.mark.thorough
@pytest.mark.parametrize("group", GROUPS)
def test_kernels_compute_what_the_host_computes(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loops = [loop for loop in GROUPS[group] if loop[0].__name__ != "many_steps"]
    results = []
    for switch in ("on", "off"):
        monkeypatch.setenv("ADZE_LOOP_KERNELS", switch)
        traced = adze.trace(program(loops), arguments_of(loops))
        assert set(decisions(traced)) == {"kernel" if switch == "on" else "host"}
        results.append(traced.lower().compile()(arguments_of(loops)))
    for (loop, _), result, expected in zip(loops, *results, strict=True):
        same(result, expected, loop.__name__)


@pytest.mark.thorough
def test_derivatives_and_batches_are_kernels_too() -> None:
    def rows(a: Any) -> Any:
        return lax.fori_loop(1, 5, lambda i, a: a.at[i].set(xp.sin(a[i]) * a[i - 1]), a).sum()

    def recurrent(h: Any, w: Any, x: Any) -> Any:
        return lax.scan(lambda h, r: (xp.tanh(w @ h + r), h.sum()), h, x)[1].sum()

    def newton(x: Any) -> Any:
        return lax.while_loop(lambda s: abs(s * s - x) > 1e-3, lambda s: (s + x / s) / 2, x)

    def everything(a: Any, h: Any, w: Any, x: Any) -> Any:
        return (
            adze.grad(rows)(a),
            adze.jvp(rows, (a,), (a,)),
            adze.grad(recurrent, argnums=(0, 1, 2))(h, w, x),
            adze.vmap(rows)(xp.stack([a, a * 2])),
            adze.vmap(newton)(abs(x[:, 0]) + 1),
            adze.vmap(adze.grad(recurrent), in_axes=(None, None, 0))(h, w, xp.stack([x, -x])),
        )

    given = floats(5, 4), floats(3), floats(3, 3), floats(6, 3)
    traced = adze.trace(everything, *given)
    assert set(decisions(traced)) == {"kernel"}
    same(traced.lower().compile()(*given), everything(*given), "derivatives and batches")


def test_what_kernels_cannot_do_stays_on_the_host() -> None:
    def sorts(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, x: xp.sort(x)[::-1] + x, x)

    def products(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, y: xp.tanh(x @ y), x)

    def open_sizes(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, y: xp.cumsum(y) + 1, x)

    assert decisions(adze.trace(sorts, floats(4))) == ["host"]
    assert decisions(adze.trace(products, floats(200, 200))) == ["host"]
    assert decisions(adze.trace(open_sizes, adze.ShapeDtype(("n",), np.float32))) == ["host"]


def test_an_inner_loop_is_a_kernel_where_the_outer_one_is_not() -> None:
    def f(x: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            return lax.fori_loop(0, 6, lambda j, x: x.at[j].add(x[j - 1]), xp.sort(x))

        return lax.fori_loop(0, 3, step, x)

    x = floats(6)
    traced = adze.trace(f, x)
    assert sorted(decisions(traced)) == ["host", "kernel"]
    same(traced.lower().compile()(x), f(x), "inner")


def test_a_program_that_iree_refuses_with_kernels_has_host_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    real = lowered.compile_program

    def refuses_kernels(produce: Any, *rest: Any, **options: Any) -> Any:
        if b"kernel_loop" in produce((), CompileOptions()):
            raise CompileError("no kernels today")
        return real(produce, *rest, **options)

    monkeypatch.setattr(lowered, "compile_program", refuses_kernels)
    x = floats(4)
    compiled = adze.trace(shifted, x).lower().compile(cache=False)
    same(compiled(x), shifted(x), "shifted")


@pytest.mark.parametrize("seed", seeds(1, 24))
def test_random_loops_compute_what_is_evaluated(seed: int) -> None:
    drawn = [random_program((1 << 20) + 40 + 2 * seed + k, "loops") for k in (0, 1)]

    def everything(*groups: Any) -> Any:
        return [program(ADZE, *group) for program, group in zip(drawn, groups, strict=True)]

    given = [tuple(program.arguments(0)) for program in drawn]
    traced = adze.trace(everything, *given)
    assert not [remark for remark in traced.remarks() if FAULT in remark]
    found = traced.lower().compile()(*given)
    for program, arguments, got in zip(drawn, given, found, strict=True):
        for a, b in zip(adze.tree.leaves(got), adze.tree.leaves(program(ADZE, *arguments)), strict=True):
            a, b = np.asarray(a), np.asarray(b)
            tolerance = {"float16": 2e-2, "float32": 5e-5, "complex64": 5e-5}.get(a.dtype.name, 1e-6)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=str(program))


def test_a_carry_that_only_the_condition_uses() -> None:
    def newton(x: Any) -> Any:
        def going_on(state: Any) -> Any:
            return (xp.max(xp.abs(state[1])) > 1e-6) & (state[2] < 100)

        def step(state: Any) -> Any:
            r, _, count = state
            move = (r * r * r - x) / (3 * r * r)
            return r - move, move, count + 1

        return lax.while_loop(going_on, step, (xp.ones_like(x), xp.ones_like(x), np.int32(0)))[0]

    x = abs(floats(6)) + 1
    traced = adze.trace(newton, x)
    assert decisions(traced) == ["kernel"]
    same(traced.lower().compile()(x), newton(x), "newton")


def test_loops_that_go_on_where_others_ended() -> None:
    """What a loop computes for the next one alone is updated in place; arguments stay what they are."""

    def rows(a: Any) -> Any:
        return lax.fori_loop(1, 5, lambda i, a: a.at[i].set(xp.sin(a[i]) * a[i - 1]), a)

    def exchanged(s: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, s: (s[1] + 1, s[0].at[i].set(s[1][i])), s)

    def function(a: Any, b: Any) -> Any:
        first = rows(rows(a))  # the second in place
        second = rows(first)  # of what is a result, too
        pair = exchanged(exchanged((rows(b), rows(b * 2))))
        same = lax.fori_loop(0, 3, lambda i, s: (s[0] * 2, s[1].at[i].set(s[0][i])), (pair[0], pair[0]))
        return first, second, pair[1], rows(pair[1]), rows(rows(same[1])), same[0]

    given = floats(6, 5), floats(6, 5)
    before = [x.copy() for x in given]
    traced = adze.trace(function, *given)
    compiled = traced.lower().compile()
    expected = function(*given)
    for _ in range(2):
        same(compiled(*given), expected, "loops in a row")
    for x, y in zip(given, before, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_step_that_only_moves_arrays() -> None:
    """Of two steps at once nothing but copies is left, and parts of them are taken in their order."""

    def exchanged(part: Any, steps: int) -> Any:
        def step(i: Any, s: Any) -> Any:
            return s[1], s[0], part(s[1])

        return lambda a, b: lax.fori_loop(0, steps, step, (a, b, part(a)))

    parts = (lambda b: b[:, 5], lambda b: b[3], lambda b: b[2, 4])
    kinds = [(exchanged(part, steps), steps) for part in parts for steps in (4, 5, 6, 7, 23)]
    given = floats(24, 24), floats(24, 24)
    traced = adze.trace(lambda a, b: [function(a, b) for function, _ in kinds], *given)
    assert set(decisions(traced)) == {"kernel"}
    results = traced.lower().compile()(*given)
    for result, (function, steps) in zip(results, kinds, strict=True):
        same(result, function(*given), f"{steps} steps")
