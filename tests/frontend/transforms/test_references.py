"""Mutable arrays (`new_ref`): what transforms, loops and branches do with what functions read and write."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax
from adze.frontend.errors import ArgumentTypeError, ShapeError, TraceError
from adze.frontend.tracing.references import any_alive
from adze.frontend.transforms.reference_effects import DidntWant, DontWant, GradRef, GradValue

RUNS = pytest.mark.parametrize("run", [lambda f: f, adze.jit], ids=["eager", "jit"])
Run = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture(autouse=True, scope="module")
def _none_stays_alive() -> Iterator[None]:
    """While there are references, jitted functions look for them: other tests count traces."""
    yield
    gc.collect()


def numbers(tree: Any) -> Any:
    return adze.tree.map(lambda x: np.asarray(x).tolist(), tree)


def test_reads_and_writes() -> None:
    ref = adze.new_ref(np.arange(4.0))
    ref[1] = 7
    ref[2:] += 1
    ref.addupdate(np.array([0, 0]), 5.0)
    assert ref[...].tolist() == [10, 7, 3, 4] and ref.shape == (4,) and len(ref) == 4
    assert adze.ref.swap(ref, 0, -1.0) == 10 and adze.ref.get(ref)[0] == -1
    adze.ref.set(ref, None, np.zeros(4))
    adze.ref.addupdate(ref, slice(2), 1.0)
    part = ref.at[:2]
    part[0] = 3
    part.at[1].addupdate(..., 4.0)
    assert repr(ref) == "Ref([3., 5., 0., 0.], dtype=f64)" and part[...].tolist() == [3, 5]
    assert adze.empty_ref(adze.ShapeDtype((2,), "float32"))[...].tolist() == [0, 0]
    assert adze.freeze(ref).tolist() == [3, 5, 0, 0]
    with pytest.raises(TraceError, match=r"a reference f64\[4\] was used after it was frozen"):
        ref[0]


def test_jit_carries_outer_references_arguments_and_those_of_its_own() -> None:
    outer, given = adze.new_ref(1.0), adze.new_ref(np.zeros(3))

    @adze.jit
    def inner(x: Any) -> Any:
        outer[...] += x
        return outer[...] * 2

    @adze.jit
    def step(x: Any, ref: Any, more: Any) -> Any:
        ref[1] = x
        ref.addupdate(2, more["k"])
        own = adze.new_ref(inner(x))
        own[...] += inner(x)
        return own[...]

    assert step(1.0, given, {"k": 2.0}) == 4 + 6 and outer[...] == 3
    assert step(10.0, given, {"k": 4.0}) == 26 + 46 and outer[...] == 23
    assert given[...].tolist() == [0, 10, 6]
    assert adze.jit(lambda x: x + 1)(1.0) == 2  # another function is called as ever


@RUNS
def test_loops_carry_what_they_write(run: Run) -> None:
    ref, total = adze.new_ref(np.zeros(3)), adze.new_ref(0.0)

    def f(x: Any) -> Any:
        def step(count: Any, row: Any) -> Any:
            ref[...] += row * x
            return count + 1, ref[0]

        _, firsts = lax.scan(step, 0, np.arange(6.0).reshape(2, 3))
        lax.fori_loop(0, 3, lambda i, s: ref.addupdate(i, 100.0), None)

        def double(n: Any) -> Any:
            total[...] = 2 * total[...] + 1
            return n + 1

        lax.while_loop(lambda n: n < 4, double, 0)
        return firsts, lax.map(lambda e: (total.addupdate(..., e), total[...])[1], np.arange(3.0))

    assert numbers(run(f)(2.0)) == ([0, 6], [15, 16, 18])
    assert ref[...].tolist() == [106, 110, 114] and total[...] == 18


@RUNS
def test_the_condition_of_a_loop_reads(run: Run) -> None:
    ref = adze.new_ref(1.0)

    def grow(n: Any) -> Any:
        ref[...] *= 3
        return n + 1

    assert run(lambda: lax.while_loop(lambda n: ref[...] < 50, grow, 0))() == 4 and ref[...] == 81


@RUNS
def test_branches_write_or_leave_alone(run: Run) -> None:
    first, second = adze.new_ref(0.0), adze.new_ref(np.zeros(2))

    def f(x: Any, flag: Any) -> Any:
        return lax.cond(
            flag, lambda: (first.addupdate(..., x), x)[1], lambda: (second.addupdate(0, x), -x)[1]
        )

    def g(i: Any, x: Any) -> Any:
        writes = [lambda: second.addupdate(0, x), lambda: second.addupdate(1, x), lambda: None]
        return lax.switch(i, writes)

    assert (run(f)(1.0, True), run(f)(2.0, False)) == (1, -2)
    assert [run(g)(i, 10.0) for i in range(3)] == [None] * 3
    assert first[...] == 1 and second[...].tolist() == [12, 10]


def test_derivatives_of_functions_that_write() -> None:
    seen = adze.new_ref(0.0)

    def f(x: Any) -> Any:
        own = adze.new_ref(x)
        lax.fori_loop(0, 3, lambda _, c: own.addupdate(..., own[...] * x), None)
        seen[...] = adze.stop_gradient(own[...])
        return own[...]  # x * (1 + x) ** 3

    assert adze.grad(f)(3.0) == adze.jit(adze.grad(f))(3.0) == 64 + 144  # (1 + x) ** 3 + 3 x (1 + x) ** 2
    assert seen[...] == 192
    assert adze.value_and_grad(lambda x: (f(x), "aux"), has_aux=True)(2.0)[0] == (54, "aux")
    assert adze.jvp(f, (1.0,), (1.0,)) == (8, 20) and seen[...] == 8
    assert adze.linearize(f, 1.0)[1](2.0) == 40
    assert adze.jit(adze.grad(adze.checkpoint(f)))(3.0) == 208 and seen[...] == 192


def test_cotangents_are_added_to_references() -> None:
    x, into = np.float32([1, 2]), adze.new_ref(np.float32([10, 20]))
    _, pullback = adze.vjp(lambda a, b: a * b, x, 3 * x)
    assert pullback.with_refs(into, GradValue())(x)[1].tolist() == [1, 4]
    results = pullback.with_refs(into, DontWant())(x)
    assert isinstance(results[0], GradRef) and isinstance(results[1], DidntWant)
    assert into[...].tolist() == [16, 44]
    with pytest.raises(ArgumentTypeError, match="with_refs got 1 entries for a function of 2 arguments"):
        pullback.with_refs(into)(x)


def test_derivatives_with_respect_to_a_reference() -> None:
    ref, into = adze.new_ref(2.0), adze.new_ref(100.0)

    def f(r: Any) -> Any:
        r[...] = anp.sin(r[...])
        return r[...] ** 2

    value, pullback = adze.vjp(f, ref)
    np.testing.assert_allclose([value, ref[...]], [np.sin(2.0) ** 2, np.sin(2.0)], rtol=1e-6)
    pullback.with_refs(into)(1.0)
    np.testing.assert_allclose(into[...], 100 + np.sin(4.0), rtol=1e-6)
    with pytest.raises(TraceError, match="the cotangent of a reference must be accumulated into a reference"):
        pullback(1.0)
    with pytest.raises(ArgumentTypeError, match="argument 'r' is differentiated"):
        adze.grad(f)(ref)


@RUNS
def test_vmap_maps_references(run: Run) -> None:
    rows, columns, shared = adze.new_ref(np.zeros((3, 2))), adze.new_ref(np.zeros((2, 3))), adze.new_ref(5.0)

    def f(x: Any, ref: Any) -> Any:
        ref[...] += x * shared[...]
        ref[0] = x
        return ref[1]

    assert run(adze.vmap(f))(np.arange(3.0), rows).tolist() == [0, 5, 10]
    assert run(adze.vmap(f, in_axes=(0, 1)))(np.arange(3.0), columns).tolist() == [0, 5, 10]
    assert rows[...].tolist() == [[0, 0], [1, 5], [2, 10]] == columns[...].T.tolist()

    def distance(x: Any, y: Any, out: Any) -> None:
        out[...] = anp.sum((x - y) ** 2)

    points, out = np.arange(4.0).reshape(2, 2), adze.new_ref(np.zeros((2, 2)))
    run(adze.vmap(adze.vmap(distance, (0, None, 0)), (None, 0, 0)))(points, points, out)
    assert out[...].tolist() == [[0, 8], [8, 0]]
    run(adze.vmap(lambda x: shared.addupdate(..., 1.0)))(points)
    assert shared[...] == 6  # the same for every element: written once


def test_what_is_refused() -> None:
    ref = adze.new_ref(np.zeros(3))
    twice = "a reference is passed to a function twice"
    both = "an argument of a function that uses it as an outer value too"
    for function, args, why in (
        (adze.jit(lambda: ref), (), "a traced function returns a reference"),
        (adze.jit(lambda a, b: 1.0), (ref, ref), twice),
        (adze.vmap(lambda a, b: 1.0), (ref, ref), twice),
        (adze.jit(lambda a: a[...] + ref[...]), (ref,), both),
        (adze.jit(lambda: adze.freeze(ref)), (), "is frozen in a function that it was not made in"),
        (adze.vmap(lambda x: ref.write(x + ref[...])), (np.zeros(2),), r"pass the reference as an argument"),
    ):
        with pytest.raises(TraceError, match=why):
            function(*args)
    assert ref[...].tolist() == [0, 0, 0]
    with pytest.raises(ShapeError, match=r"cannot write f64\[4\] into the part of shape \(3\) of f64\[3\]"):
        ref[...] = np.zeros(4)
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got Ref"):
        anp.sin(ref)
    with pytest.raises(TypeError, match="not iterable"):
        list(ref)  # type: ignore[call-overload]
    with pytest.raises(ArgumentTypeError, match="freeze takes a reference, got ndarray"):
        adze.freeze(np.zeros(3))  # type: ignore[arg-type]


def test_a_value_that_nothing_carries_out_is_an_error() -> None:
    ref = adze.new_ref(0.0)

    @adze.custom_jvp
    def f(x: Any) -> Any:
        ref[...] = x
        return x

    f.defjvp(lambda p, t: (f(*p), t[0]))
    with pytest.raises(TraceError, match="was written in a function whose trace has ended"):
        adze.grad(f)(1.0)
    assert ref[...] == 0


def test_references_die_with_what_uses_them() -> None:
    gc.collect()
    before = any_alive()
    held = [adze.new_ref(0.0)]
    adze.jit(lambda: held[0].addupdate(..., 1.0))()
    assert any_alive()
    held.clear()
    gc.collect()
    assert any_alive() == before is False
