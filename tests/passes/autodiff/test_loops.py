"""What derivatives and batches of loops look like as IR: what is carried, stacked and repeated."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

XS = np.linspace(0.1, 1.0, 5)


def counted(w: Any, xs: Any) -> Any:
    """A scan that carries an integer counter beside a float."""

    def step(carry: Any, x: Any) -> Any:
        count, total = carry
        return (count + 1, xp.tanh(total * w + x) * count), None

    return lax.scan(step, (np.int32(0), np.float64(0.5)), xs)[0][1]


def scans(text: str) -> list[str]:
    return [line for line in text.splitlines() if '"adze.scan"' in line]


def types_of_carry(line: str) -> list[str]:
    """The types that a scan carries."""
    start = int(re.search(r"constant_count = (\d+)", line)[1])  # type: ignore[index]
    count = int(re.search(r"carry_count = (\d+)", line)[1])  # type: ignore[index]
    operands = re.search(r" : \((.*)\) -> ", line)[1].split(", ")  # type: ignore[index]
    return operands[start : start + count]


def test_transposed_scan_carries_no_counter() -> None:
    text = adze.trace(adze.grad(counted), np.float64(0.7), XS).mlir("simplified")
    main = text[: text.index("func.func private")]
    forward, backward = scans(main)
    assert "tensor<i32>" in types_of_carry(forward)
    assert "reverse = true" in backward
    assert set(types_of_carry(backward)) == {"tensor<f64>"}


def test_scan_with_a_counter_has_the_derivative_of_the_unrolled_loop() -> None:
    def unrolled(w: Any, xs: Any) -> Any:
        total = np.float64(0.5)
        for count in range(5):
            total = xp.tanh(total * w + xs[count]) * np.float64(count)
        return total

    for f in (adze.grad, lambda g: adze.grad(adze.grad(g))):
        result, expected = f(counted)(np.float64(0.7), XS), f(unrolled)(np.float64(0.7), XS)
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-12)


def test_cotangents_that_are_zero_are_not_walked_over() -> None:
    def f(w: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (c * w + x, c * c), np.float64(0), xs)[0]

    text = adze.trace(adze.grad(f), np.float64(0.7), XS).mlir("simplified")
    backward = scans(text[: text.index("func.func private")])[-1]
    assert backward.count("tensor<5xf64>") == 1  # the carry of each step, and no row of zeros


def test_small_bodies_are_repeated_in_an_iteration_of_the_hosts_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "off")

    def f(x: Any) -> Any:
        return lax.scan(lambda c, v: (xp.sin(c) + v, c), x[0], x)

    long = adze.trace(f, np.ones(20)).lower("cpu").mlir()
    assert long.count("scf.for") == 2
    assert long.count("func.call") + long.count("math.sin") >= 9 or long.count("tensor.insert_slice") == 9
    short = adze.trace(f, np.ones(15)).lower("cpu").mlir()
    assert short.count("scf.for") == 1
    assert short.count("tensor.insert_slice") == 1


def test_unbatched_carry_stays_single() -> None:
    def f(x: Any, w: Any) -> Any:
        return lax.scan(lambda c, v: ((c[0] + 1, c[1] * w + v), None), (np.int32(0), x), XS)[0]

    text = adze.trace(adze.vmap(f, (0, None)), np.ones(3), np.float64(2)).mlir("simplified")
    (line,) = scans(text[: text.index("func.func private")])
    assert types_of_carry(line) == ["tensor<i32>", "tensor<3xf64>"]
