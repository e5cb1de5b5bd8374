"""Loops outside `jit` that are called again: known where they must compute the same, traced where not."""

from __future__ import annotations

import functools
import gc
import itertools
import math
import random
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.control import known_loops
from adze.frontend.tracing.visible import seen_by

LENGTH = 3


def loop(body: Callable[[Any], Any], x: float = 1) -> Any:
    return adze.fori_loop(0, LENGTH, lambda _, v: body(v), np.float32(x))


SCALE: Any = 2.0
OTHER: Any = types.ModuleType("other")
OTHER.scale = 2.0


def _scaled(x: Any) -> Any:
    return x * SCALE


class Model:
    rate = 2.0

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def __call__(self, x: Any) -> Any:
        return x * self.weights["w"] * self.rate


def test_the_third_call_of_a_loop_is_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        return loop(lambda x: anp.sin(x) * SCALE)

    for _ in range(2):
        run()
    monkeypatch.setattr(adze.numpy.sin, "_function", None)
    x = np.float32(1)
    for _ in range(LENGTH):
        x = np.sin(x) * np.float32(2)
    np.testing.assert_allclose(run(), x, rtol=1e-6)


def changed(monkeypatch: pytest.MonkeyPatch, change: str, value: Any) -> Callable[[Any], Any]:
    """A body that multiplies by `value`, which it gets from somewhere else."""
    if change == "global":
        monkeypatch.setitem(globals(), "SCALE", value)
        return lambda x: x * SCALE
    if change == "global of a helper":
        monkeypatch.setitem(globals(), "SCALE", value)
        return lambda x: _scaled(x)
    if change == "module":
        monkeypatch.setattr(OTHER, "scale", value)
        return lambda x: x * OTHER.scale
    if change == "class":
        monkeypatch.setattr(Model, "rate", value)
        return Model({"w": 1.0})
    if change == "attribute":
        return Model({"w": value / 2.0})
    if change == "partial":
        return functools.partial(lambda by, x: x * by, value)
    if change == "default":
        return lambda x, by=value: x * by
    if change == "list":
        return lambda x, by=[value]: x * by[0]
    if change == "weak array":
        by = anp.asarray(1.0) * value
        return lambda x: x * by
    if change == "inner function":
        return lambda x: (lambda y: y * value)(x)
    assert change == "custom rule"

    @adze.custom_jvp
    def scaled(x: Any) -> Any:
        return x

    scaled.defjvp(lambda primals, tangents: (scaled(primals[0]), value * tangents[0]))
    return lambda x: adze.grad(scaled)(x) * x


CHANGES = (
    *("global", "global of a helper", "module", "class", "attribute", "partial", "default", "list"),
    *("weak array", "inner function", "custom rule"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_body_sees_is_seen_at_each_call(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    for value in (2.0, 3.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0):
        assert float(loop(changed(monkeypatch, change, value))) == value**LENGTH


@pytest.mark.parametrize("size", [2, 3_000, 300_000])
@pytest.mark.parametrize("kind", [np.asarray, anp.asarray])
def test_arrays_that_a_body_holds_are_those_of_the_call(kind: Any, size: int) -> None:
    start = np.zeros(size, np.float32)
    for value in (2, 3, 2, 2, 2, 3, 3, 3):
        held = kind(np.full(size, value, np.float32))
        for _ in range(3):
            result = adze.fori_loop(0, LENGTH, lambda _, x, held=held: x + held, start)
            np.testing.assert_array_equal(result, np.full(size, LENGTH * value, np.float32))


def test_an_array_of_numpy_may_be_written_between_calls() -> None:
    held = np.zeros(2, np.float32)
    for value in (1, 1, 1, 2, 1, 2):
        held[:] = value
        result = adze.fori_loop(0, LENGTH, lambda _, x: x + held, np.zeros(2, np.float32))
        np.testing.assert_array_equal(result, np.full(2, LENGTH * value, np.float32))


def test_numbers_among_the_operands_belong_to_the_loop() -> None:
    for start in (1.5, 2.5, 1.5, 1.5, 2.5, 2.5):
        assert float(adze.fori_loop(0, LENGTH, lambda i, x: x + i, start)) == start + 3


def test_clocks_generators_and_iterators_are_asked_at_each_call() -> None:
    generator, numbers, plain = np.random.default_rng(0), itertools.count(), random.Random(0)
    bodies: list[Callable[[Any], Any]] = [
        lambda x: x + generator.normal(),
        lambda x: x + next(numbers),
        lambda x: x + plain.random(),
        lambda x: x + np.random.normal(),
        lambda x: x + random.random(),
    ]
    for body in bodies:
        assert seen_by([body]) is None
        assert len({float(loop(body)) for _ in range(5)}) == 5


def test_files_and_settings_are_read_at_each_call(tmp_path: Any) -> None:
    def body(x: Any) -> Any:
        return x + np.load(tmp_path / "x.npy")

    assert seen_by([body]) is None
    assert seen_by([lambda x: x * adze.config.jax_enable_x64]) is None
    for value in (1.0, 1.0, 1.0, 2.0):
        np.save(tmp_path / "x.npy", np.float32(value))
        assert float(loop(body)) == 1 + LENGTH * value


def test_prints_of_a_body_come_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    def body(x: Any) -> Any:
        print("traced")
        return x

    for _ in range(4):
        loop(body)
    assert capsys.readouterr().out == "traced\n" * 4


def test_effects_of_the_program_come_at_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    def body(x: Any) -> Any:
        adze.debug.print("{}", x)
        return x + 1

    for _ in range(4):
        loop(body)
    assert capsys.readouterr().out.split() == ["1.0", "2.0", "3.0"] * 4


def test_a_body_that_writes_elsewhere_is_traced_at_each_call() -> None:
    notes: dict[str, int] = {"calls": 0}

    def body(x: Any) -> Any:
        notes["calls"] = 1
        return x + 1

    for _ in range(4):
        notes["calls"] = 0
        assert float(loop(body)) == 1 + LENGTH
        assert notes["calls"] == 1


def test_a_body_that_needs_values_runs_in_python() -> None:
    for end in (2, 3, 2, 2, 2, 3):
        assert float(loop(lambda x, end=end: x + 1 if x < end else x)) == end


def test_the_default_dtypes_belong_to_the_loop() -> None:
    factor = np.float64(2)

    def result() -> Any:
        return adze.scan(lambda c, x: (c, x * factor), None, anp.ones(2))[1].dtype

    for _ in range(3):
        assert result() == np.float64
        with adze.default_dtypes("float32"):
            assert result() == np.float32


def test_a_loop_that_is_called_often_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    jitted = known_loops._jitted_function
    monkeypatch.setattr(known_loops, "_jitted_function", lambda *of: compiled.append(of) or jitted(*of))
    monkeypatch.setattr(known_loops, "MOST_OPS", 20)
    held = anp.asarray(np.linspace(0, 1, 5_000, dtype=np.float32))
    expected = np.full(5_000, 0.5, np.float32)
    for _ in range(LENGTH):
        expected = np.sin(expected) + np.asarray(held)
    for _ in range(8):
        result = adze.fori_loop(0, LENGTH, lambda _, x: anp.sin(x) + held, np.full(5_000, 0.5, np.float32))
        np.testing.assert_allclose(result, expected, rtol=1e-6)
        assert result.dtype == np.float32 and not result.weak_type
    assert len(compiled) == 1


def test_weak_results_stay_weak_when_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_loops, "MOST_OPS", 10)
    kinds = set()
    for _ in range(8):
        n = adze.fori_loop(0, LENGTH, lambda i, n: n + 2 * i, 0)
        kinds.add((int(n), n.dtype.name, n.weak_type))
    assert kinds == {(6, "int64", True)}


def test_loops_with_effects_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(known_loops, "MOST_OPS", 10)
    monkeypatch.setattr(known_loops, "_jitted_function", None)
    for _ in range(8):
        loop(lambda x: (adze.debug.print("{}", x), x + 1)[1])
    assert len(capsys.readouterr().out.split()) == 8 * LENGTH


def test_long_loops_of_known_functions_are_compiled_at_once() -> None:
    for end in (20_000, 5, 20_000, 5, 20_000, 5):
        assert int(adze.while_loop(lambda n, end=end: n < end, lambda n: n + 1, np.int32(0))) == end


def test_what_a_loop_holds_is_not_kept() -> None:
    def run() -> weakref.ref[Any]:
        held = anp.asarray(np.zeros(10_000, np.float32))
        for _ in range(4):
            adze.fori_loop(0, LENGTH, lambda _, x: x + held[:2], np.zeros(2, np.float32))
        return weakref.ref(held)

    gone = run()
    gc.collect()
    assert gone() is None


def test_loops_inside_functions_that_are_differentiated_are_their_own() -> None:
    def total(by: Any) -> Any:
        return loop(lambda x: x * by)

    for by in (2.0, 3.0, 2.0, 3.0):
        assert float(adze.grad(total)(np.float32(by))) == LENGTH * by ** (LENGTH - 1)
        assert float(total(np.float32(by))) == by**LENGTH


def test_maps_and_scans_with_trees_are_known_too() -> None:
    def step(carry: Any, x: Any) -> Any:
        return {"n": carry["n"] + x["a"]}, (x["b"], carry["n"] * math.pi)

    xs = {"a": np.arange(4, dtype=np.float32), "b": np.arange(4, dtype=np.int32)}
    for _ in range(4):
        last, (b, n) = adze.scan(step, {"n": np.float32(0)}, xs, reverse=True)
        assert float(last["n"]) == 6
        np.testing.assert_array_equal(b, xs["b"])
        np.testing.assert_allclose(n, np.float32([6, 5, 3, 0]) * np.float32(math.pi))
        np.testing.assert_array_equal(adze.lax.map(lambda x: x + 1, xs["b"]), xs["b"] + 1)


def test_jitted_functions_of_a_body_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    jitted = adze.jit(_scaled)
    for value in (2.0, 2.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        jitted.clear_cache()
        assert seen_by([jitted]) is not None
        assert float(loop(lambda x: jitted(x))) == value**LENGTH


def test_functions_that_nobody_can_compare_are_not_looked_at_for_ever() -> None:
    generator = np.random.default_rng(0)

    def body(x: Any) -> Any:
        return x + generator.normal()

    for _ in range(10):
        assert seen_by([body]) is None
    generator = None  # type: ignore[assignment]
    assert seen_by([body]) is None
    assert seen_by([lambda x: (body, x)]) is not None


def test_no_more_loops_are_known_than_a_few_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_loops, "_MOST", 3)
    loops = known_loops.KnownLoops()
    for key in range(9):
        loops.keep(key, None)
    assert len(loops._loops) == 3
