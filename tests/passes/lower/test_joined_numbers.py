"""Functions of many single numbers: `join-numbers` computes them as of arrays, and changes no result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.passes.lower.kernels import join_numbers

SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.5,
    -0.3,
    1e-30,
    3e4,
    -2.0,
    0.7,
    12.0,
    1e-3,
    5.0,
    0.1,
    2.0,
    9.0,
]


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def compiled(function: Callable[..., Any], args: Sequence[Any]) -> tuple[list[bytes], str]:
    """The bits of all results, and the ops of the program behind `join-numbers`."""
    traced = adze.jit(function).trace(*args)
    results = traced.lower("cpu").compile()(*args)
    return [bits(leaf) for leaf in adze.tree.leaves(results)], str(traced.mlir("join-numbers"))


def both(
    function: Callable[..., Any], args: Sequence[Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[bytes], list[bytes]]:
    """The results with the pass, which must have something to do, and without it."""
    joined, text = compiled(function, args)
    assert "adze.concatenate" in text
    monkeypatch.setattr(join_numbers, "FEWEST", 1 << 30)
    apart, text = compiled(lambda *xs: function(*xs), args)
    assert "adze.concatenate" not in text
    return joined, apart


@pytest.mark.parametrize(("count", "dtype"), [(4, "float16"), (5, "float64"), (17, "float32")])
def test_the_bits_are_those_of_each_number(count: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def functions(*xs: Any) -> Any:
        return [[anp.sin(x), anp.exp(x), anp.arctan2(x, xs[0] + 1)] for x in xs]

    numbers = [np.array(v, dtype) for v in SPECIAL[:count]]
    joined, apart = both(functions, numbers, monkeypatch)
    assert joined == apart


def test_numbers_that_follow_from_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def chain(*xs: Any) -> Any:
        values = list(xs)
        for step in range(3):
            values = [anp.tanh(v + values[k - 1] * step) for k, v in enumerate(values)]
            values.append(anp.log(values[0] + 2))
        return values, sum(values[1:], values[0])

    numbers = [np.float32(v) for v in (0.3, -1.0, 2.0, 0.5)]
    joined, apart = both(chain, numbers, monkeypatch)
    assert joined == apart


def test_steps_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def angles(*qs: Any) -> Any:
        def step(qs: Any, _: Any) -> Any:
            sines = [anp.sin(q) * (k + 1) for k, q in enumerate(qs)]
            return tuple(q - 0.01 * sine for q, sine in zip(qs, sines, strict=True)), sines[2]

        return adze.lax.scan(step, qs, None, length=20)

    numbers = [np.float32(v) for v in np.linspace(0.1, 1.5, 7)]
    joined, apart = both(angles, numbers, monkeypatch)
    for one, other in zip(joined, apart, strict=True):  # what follows a sine is contracted with it, or not
        np.testing.assert_allclose(np.frombuffer(one, "f4"), np.frombuffer(other, "f4"), rtol=1e-5)


def test_checks_stay_in_their_order() -> None:
    def checked(*xs: Any) -> Any:
        values = []
        for k, x in enumerate(xs):
            adze.debug.callback(seen.append, x * 0 + k)
            values.append(anp.sin(x))
            adze.debug.callback(seen.append, anp.abs(values[-1]) * 0 + k + 100)
        return values

    seen: list[Any] = []
    numbers = [np.float32(v) for v in range(5)]
    results = adze.jit(checked)(*numbers)
    np.testing.assert_allclose([float(v) for v in results], np.sin(numbers), rtol=1e-6)
    assert [int(v) for v in seen] == [0, 100, 1, 101, 2, 102, 3, 103, 4, 104]
