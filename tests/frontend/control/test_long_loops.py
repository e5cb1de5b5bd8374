"""Loops outside `jit` that run many ops: they are compiled, and nobody sees a difference but the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.ops.effects import CheckFailedError
from adze.frontend.staging import long_loops
from adze.passes.analysis.long_loops import MOST_OPS
from adze.runtime.errors import CompileError

LONG = MOST_OPS + 8


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """For each loop that was to be compiled, whether it was."""
    long_loops._known.clear()
    done: list[bool] = []
    compile_loop = long_loops.compiled_loop

    def noted(*args: Any) -> Any:
        results = compile_loop(*args)
        done.append(results is not None)
        return results

    monkeypatch.setattr(long_loops, "compiled_loop", noted)
    return done


def halved(i: Any, x: Any) -> Any:
    return x * 0.5 + i


def test_a_loop_of_many_steps_is_compiled_and_gives_what_jit_gives(compiled: list[bool]) -> None:
    x = np.float32([1, 2, 3])
    result = adze.fori_loop(0, LONG, halved, x)
    assert compiled == [True]
    expected = adze.jit(lambda x: adze.fori_loop(0, LONG, halved, x))(x)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype and not result.weak_type


def test_a_loop_of_few_steps_is_not(compiled: list[bool]) -> None:
    adze.fori_loop(0, 10, halved, np.float32([1, 2, 3]))
    assert compiled == []


def test_many_ops_in_few_steps_count_too(compiled: list[bool]) -> None:
    def inner(_: Any, x: Any) -> Any:
        return adze.fori_loop(0, 100, lambda _, y: anp.sin(y) + 1, x)

    adze.fori_loop(0, 60, inner, np.float32(0.5))
    assert compiled == [True]


def test_numbers_stay_weak(compiled: list[bool]) -> None:
    counted = adze.fori_loop(0, LONG, lambda i, n: n + 2, 0)
    few = adze.fori_loop(0, 3, lambda i, n: n + 2, 0)
    assert compiled == [True]
    assert int(counted) == 2 * LONG
    assert (counted.dtype, counted.weak_type) == (few.dtype, few.weak_type)


def test_columns_and_carry_of_a_scan_keep_their_trees(compiled: list[bool]) -> None:
    def step(carry: Any, x: Any) -> Any:
        total = carry["total"] + x
        return {"total": total}, (total, -x)

    xs = np.arange(LONG, dtype=np.int32)
    last, (totals, negative) = adze.scan(step, {"total": np.int32(0)}, xs, reverse=True)
    assert compiled == [True]
    np.testing.assert_array_equal(totals, np.cumsum(xs[::-1], dtype=np.int32)[::-1])
    np.testing.assert_array_equal(negative, -xs)
    assert int(last["total"]) == int(totals[0])


def test_what_a_body_captures_is_read_at_each_call(compiled: list[bool]) -> None:
    def grown(step: Any) -> Any:
        return adze.fori_loop(0, LONG, lambda _, x: x + step, np.float32([0]))

    assert float(grown(np.float32([1]))[0]) == LONG
    assert float(grown(np.float32([2]))[0]) == 2 * LONG
    assert compiled == [True, True] and len(long_loops._known) == 1  # one program for both


def test_a_while_loop_that_goes_on_is_compiled(compiled: list[bool]) -> None:
    def count(end: Any) -> Any:
        return adze.while_loop(lambda n: n < end, lambda n: n + 1, np.int32(0))

    for end in (5, LONG, LONG, 5):  # what a call does depends on no earlier one
        assert int(count(np.int32(end))) == end
    assert compiled == [True, True]


def test_a_while_loop_with_a_bound_ends_there() -> None:
    end = np.int32(LONG)
    bounded = adze.while_loop(lambda n: n < end, lambda n: n + 1, np.int32(0), max_steps=LONG)
    assert int(bounded) == LONG
    with pytest.raises(CheckFailedError):
        adze.while_loop(lambda n: n < end, lambda n: n + 1, np.int32(0), max_steps=LONG - 1)


def test_loops_inside_an_eager_gradient_are_compiled(compiled: list[bool]) -> None:
    def loss(x: Any) -> Any:
        return adze.scan(lambda c, _: (c * 0.999 + anp.sin(x), None), x, None, length=LONG)[0]

    value, slope = adze.value_and_grad(loss)(np.float64(0.3))
    assert compiled and all(compiled)
    r = 0.999**LONG
    np.testing.assert_allclose(value, 0.3 * r + np.sin(0.3) * (1 - r) / 0.001, rtol=1e-9)
    np.testing.assert_allclose(slope, r + np.cos(0.3) * (1 - r) / 0.001, rtol=1e-9)


def test_effects_happen_at_each_step(compiled: list[bool], capsys: pytest.CaptureFixture[str]) -> None:
    def step(i: Any, x: Any) -> Any:
        adze.debug.print("{}", x)
        return x + i

    adze.fori_loop(0, LONG, step, 0)
    assert len(capsys.readouterr().out.splitlines()) == LONG
    assert compiled == []


def test_what_needs_values_runs_in_python(compiled: list[bool]) -> None:
    def step(i: Any, x: Any) -> Any:
        return x + 1 if x < 3 else x

    assert float(adze.fori_loop(0, LONG, step, np.float32(0))) == 3
    assert compiled == []


def test_without_jit_nothing_is_compiled(compiled: list[bool]) -> None:
    with adze.disable_jit():
        result = adze.fori_loop(0, LONG, lambda _, x: x + 1, np.float32(0))
    assert float(result) == LONG
    assert not any(compiled)


def test_nan_is_found_at_its_line(compiled: list[bool]) -> None:
    with adze.debug.nans(), pytest.raises(FloatingPointError, match=r"test_long_loops\.py"):
        adze.fori_loop(0, LONG, lambda _, x: anp.sqrt(x - 1), np.float32(5))
    assert compiled == []


def test_a_loop_that_cannot_be_compiled_is_evaluated(
    compiled: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise CompileError("no")

    monkeypatch.setattr(long_loops.Jitted, "__call__", refuse)
    for _ in range(2):
        assert float(adze.fori_loop(0, LONG, lambda _, x: x + 1, np.float32(0))) == LONG
    assert compiled == [False, False]


def test_no_more_loops_are_kept_than_a_few_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_loops, "_MOST", 2)
    monkeypatch.setattr(long_loops.Jitted, "__call__", lambda self, *xs: xs[-1:])
    for n in range(4):
        adze.fori_loop(0, LONG, lambda _, x, n=n: x + n, np.float32(0))
    assert len(long_loops._known) == 2


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_arrays_that_functions_hold_make_no_other_program(shape: tuple[int, ...]) -> None:
    class Model:
        def __init__(self, rate: Any) -> None:
            self.rate = {"w": anp.full(shape, rate, dtype="float32")}

        def step(self, x: Any, _: Any) -> Any:
            return x + self.rate["w"] * 0.5, None

    for rate in (2, 4):
        last, _ = adze.scan(Model(rate).step, anp.zeros(shape, "float32"), None, length=LONG)
        np.testing.assert_array_equal(last, np.full(shape, rate * LONG / 2, np.float32))
    assert len(long_loops._known) == 1


def test_arrays_of_numpy_that_functions_hold_make_no_other_program_either() -> None:
    for rate in (2, 4):
        rates = np.full(3, rate, np.float32)
        last = adze.fori_loop(0, LONG, lambda _, x, rates=rates: x + rates, anp.zeros(3, "float32"))
        np.testing.assert_array_equal(last, np.full(3, rate * LONG, np.float32))
    assert len(long_loops._known) == 1


def test_large_arrays_that_nobody_finds_are_not_written_as_text(compiled: list[bool]) -> None:
    class Hidden:
        __slots__ = ("array",)

    hidden = Hidden()
    hidden.array = np.arange(20_000, dtype=np.float32)
    last = adze.fori_loop(0, 6_000, lambda i, x: x + hidden.array[:2] * 0.5, anp.zeros(2, "float32"))
    np.testing.assert_array_equal(last, [0, 3_000])
    assert compiled == []


def test_functions_run_once_in_loops_of_any_length() -> None:
    numbers = iter(range(10))
    assert int(adze.fori_loop(0, 10, lambda i, x: x + next(numbers), 0)) == 0
    assert next(numbers) == 1


def test_a_longer_loop_with_effects_is_compiled_and_calls_in_order(
    compiled: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    def step(x: Any, _: Any) -> Any:
        shows = lambda: (adze.debug.print("at {}", x), 0)[1]  # noqa: E731
        adze.cond(x % 20_000 == 0, shows, lambda: 0)
        return x + 1, None

    last, _ = adze.scan(step, np.int32(0), None, length=50_000)
    assert compiled == [True] and int(last) == 50_000
    assert capsys.readouterr().out.split() == ["at", "0", "at", "20000", "at", "40000"]


def test_what_a_called_function_raises_ends_a_long_loop(compiled: list[bool]) -> None:
    seen = []

    def note(x: Any) -> None:
        seen.append(int(x))
        if x == 2:
            raise KeyError("two")

    def step(x: Any, _: Any) -> Any:
        adze.debug.callback(note, x)
        return x + 1, None

    with pytest.raises(Exception, match="two"):
        adze.scan(step, np.int32(0), None, length=60_000)
    assert seen == [0, 1, 2]
