"""Functions that are differentiated or mapped outside `jit` again: known where they must be the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.transforms import known_traces

SCALE: Any = 2.0
X = np.float32([1, 2, 3])


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    known_traces._forget_all()


def gradient(f: Callable[[Any], Any]) -> Any:
    return adze.grad(lambda x: f(x).sum())(X)


def pulled_back(f: Callable[[Any], Any]) -> Any:
    return adze.vjp(f, X)[1](np.ones(3, np.float32))[0]


def pushed(f: Callable[[Any], Any]) -> Any:
    return adze.jvp(f, (X,), (np.ones(3, np.float32),))[1]


def mapped(f: Callable[[Any], Any]) -> Any:
    rows = adze.vmap(lambda x: f(x) / x)(X)
    return rows if rows.ndim == 1 else rows.max(axis=1)


TRANSFORMS = (gradient, pulled_back, pushed, mapped)


def noted(f: Callable[[], Any], times: int) -> list[bool]:
    """For each call of `f` whether it found its trace."""
    found = []
    for _ in range(times):
        before = dict(known_traces._of_thread.known.traces)
        f()
        after = known_traces._of_thread.known.traces
        found.append(all(before.get(key, f) is trace for key, trace in after.items()))
    return found


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_third_call_finds_its_trace(transform: Any) -> None:
    assert noted(lambda: transform(lambda x: x * SCALE), 4) == [False, False, True, True]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_a_function_sees_is_seen_at_each_call(transform: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    held = anp.ones(3, np.float32)
    written = np.ones(3, np.float32)
    for value in (2.0, 3.0, 2.0, 2.0, 2.0, 3.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        written[:] = value
        large = anp.full(5_000, value, dtype=np.float32)
        functions: list[Callable[[Any], Any]] = [
            lambda x: x * SCALE,
            lambda x, value=value: x * value,
            lambda x, by=held * value: x * by,
            lambda x: x * written,
            lambda x, large=large: x * large[:3],
            adze.jit(lambda x, value=value: x * value),
        ]
        for _ in range(3):
            for f in functions:
                np.testing.assert_array_equal(transform(f), np.full(3, value, np.float32))


def test_arguments_that_are_not_differentiated_belong_to_the_call() -> None:
    def loss(x: Any, by: Any, more: Any = 0.0) -> Any:
        return (x * by + more * x**2).sum()

    slope = adze.grad(loss)
    for by in (2.0, 3.0, 2.0, 2.0, 2.0, 3.0):
        for kind in (float, np.float32, anp.float32, lambda v: np.full(3, v, np.float32)):
            np.testing.assert_array_equal(slope(X, kind(by)), np.full(3, by, np.float32))
            np.testing.assert_array_equal(slope(X, kind(by), more=kind(1)), by + 2 * X)
            np.testing.assert_array_equal(adze.grad(loss, argnums=1)(X, kind(by)).sum(), X.sum())


def test_numbers_keep_their_bits() -> None:
    for value in (0.1, 0.2, 0.1, 0.1, 0.3, 0.5, 0.25, 0.5, 0.5, 0.25):
        assert float(adze.value_and_grad(lambda x: x * np.float64(3))(value)[0]) == pytest.approx(
            3 * value, rel=1e-15
        )


def test_values_that_python_asks_for_are_those_of_the_call() -> None:
    for value in (1.0, -1.0, 1.0, 1.0, -1.0, -1.0):
        slope = adze.grad(lambda x: x * 2 if x > 0 else x * 3)(np.float32(value))
        assert float(slope) == (2 if value > 0 else 3)
        held = anp.asarray(np.float32(value))
        slope = adze.grad(lambda x, held=held: x * (2 if held > 0 else 3))(np.float32(1))
        assert float(slope) == (2 if value > 0 else 3)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_prints_samples_and_notes_come_at_each_call(
    transform: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    notes: list[int] = []

    def body(x: Any) -> Any:
        notes.append(1)
        return x

    def printed(x: Any) -> Any:
        print("traced")
        return x

    samples = set()
    for _ in range(4):
        transform(body)
        transform(printed)
        samples.add(float(anp.sum(transform(lambda x: x * np.random.normal()))))
    assert len(notes) == 4 and capsys.readouterr().out == "traced\n" * 4 and len(samples) == 4


def test_effects_of_the_program_come_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        adze.debug.print("{}", x[0])
        return x

    for _ in range(4):
        gradient(f)
    assert capsys.readouterr().out.split() == ["1.0"] * 4


def test_pullbacks_of_one_trace_are_apart() -> None:
    pullbacks = [adze.vjp(anp.sin, np.float32(x))[1] for x in range(5)]
    for x, pull in enumerate(pullbacks):
        assert float(pull(np.float32(1))[0]) == pytest.approx(np.cos(x), rel=1e-6)


def test_dtypes_shapes_and_trees_are_traces_of_their_own() -> None:
    for _ in range(3):
        for dtype in (np.float32, np.float64):
            for shape in ((), (2,), (2, 3)):
                x = {"a": np.full(shape, 3, dtype), "b": (np.full(shape, 2, dtype), None)}
                slope = adze.grad(lambda t: (t["a"] * t["b"][0]).sum())(x)
                assert slope["a"].dtype == dtype and slope["a"].shape == shape and slope["b"][1] is None
                np.testing.assert_array_equal(slope["a"], x["b"][0])


def test_integers_and_aux_and_axes_stay_right() -> None:
    for scale in (2, 3, 2, 2, 2, 3):
        value, aux = adze.grad(lambda x, s=scale: ((x * s).sum(), s), has_aux=True)(X)
        assert aux == scale and float(value[0]) == scale
        out = adze.vmap(lambda x, y, s=scale: (x * s, y), in_axes=(0, None), out_axes=(1, None))(
            np.ones((2, 3), np.float32), np.float32(scale)
        )
        assert out[0].shape == (3, 2) and float(out[0][0, 0]) == scale and float(out[1]) == scale
        total = adze.vmap(lambda x: adze.lax.psum(x, "i"), axis_name="i")(np.full(scale, 1, np.float32))
        np.testing.assert_array_equal(total, np.full(scale, scale, np.float32))


def test_custom_rules_are_those_of_the_function() -> None:
    def ruled(value: float) -> Any:
        @adze.custom_vjp
        def f(x: Any) -> Any:
            return x

        f.defvjp(lambda x: (x, None), lambda _, g: (g * value,))
        return f

    for value in (2.0, 3.0, 2.0, 2.0, 2.0, 3.0):
        np.testing.assert_array_equal(gradient(ruled(value)), np.full(3, value, np.float32))


def test_nan_is_found_in_what_is_known() -> None:
    def f(x: Any) -> Any:
        return anp.sqrt(x - 10)

    for _ in range(3):
        gradient(f)
    with adze.debug.nans(), pytest.raises(FloatingPointError):
        gradient(f)


def test_derivatives_of_derivatives() -> None:
    def f(x: Any) -> Any:
        return (x**3).sum()

    for _ in range(4):
        np.testing.assert_allclose(adze.hessian(f)(X), np.diag(6 * X))
        np.testing.assert_allclose(adze.vmap(adze.grad(f))(X), 3 * X**2)
        np.testing.assert_allclose(adze.jit(adze.grad(f))(X), 3 * X**2)


def test_what_a_function_holds_is_not_kept() -> None:
    def run() -> weakref.ref[Any]:
        held = anp.asarray(np.ones(10_000, np.float32))
        for _ in range(4):
            gradient(lambda x: x * held[:3])
        return weakref.ref(held)

    gone = run()
    gc.collect()
    assert gone() is None


def test_references_are_written_at_each_call() -> None:
    total = adze.new_ref(np.float32(0))

    def f(x: Any) -> Any:
        total[...] += x.sum()
        return x

    for count in range(1, 5):
        gradient(f)
        assert float(total[...]) == count * X.sum()
