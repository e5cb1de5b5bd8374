"""Calls whose results have the named sizes of their arguments, as the carry of a loop; transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax

STEPS: dict[str, Callable[[Any], Any]] = {
    "checkpoint": adze.checkpoint(anp.sin),
    "custom_linear_solve": lambda c: lax.custom_linear_solve(
        lambda v: v * 3, c, lambda _, b: b / 3, lambda _, b: b / 3
    ),
    "custom_root": lambda c: lax.custom_root(lambda y: y - c, c, lambda f, y: c, lambda g, y: y),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_loop_carries_the_result_of_a_call(name: str) -> None:
    def total(x: Any) -> Any:
        return lax.scan(lambda c, _: (STEPS[name](c), None), x, None, length=2)[0].sum()

    x = np.float32([0.1, 0.2, 0.7])
    program = adze.trace(adze.grad(total), adze.ShapeDtype(("n",))).lower().compile()
    np.testing.assert_allclose(program(x), adze.grad(total)(x), rtol=1e-6)


LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "slices": lambda c, x: (2 * c[1:], c[::-1]),
    "a jitted function": lambda c, x: adze.jit(lambda d: (d[1:], 3 * d))(c),
    "the carry of a scan": lambda c, x: lax.scan(
        lambda d, _: (anp.concatenate([d[1:], d[:1]]), d[1:]), c, None, length=2
    ),
    "rows of a scan": lambda c, x: lax.scan(lambda d, r: (d + r.sum(), r[1:]), c[0], anp.stack([c, c])),
    "a jitted function in a scan": lambda c, x: lax.scan(
        lambda d, _: (adze.jit(lambda e: e[::-1] * 2)(d), None), c, None, length=3
    )[0],
    "branches": lambda c, x: lax.cond(x[0] > 0, lambda d: d[1:], lambda d: 2 * d[:-1], c),
}


@pytest.mark.parametrize("name", LINEAR)
def test_functions_of_named_sizes_are_transposed(name: str) -> None:
    def pulled(x: Any) -> Any:
        def function(c: Any) -> Any:
            return LINEAR[name](c, x)

        seed = adze.tree.map(anp.cos, function(x))
        return adze.linear_transpose(function, x)(seed)[0]

    x = np.float32([0.5, 2, 4])
    program = adze.trace(pulled, adze.ShapeDtype(("n",))).lower().compile()
    np.testing.assert_allclose(program(x), pulled(x), rtol=1e-6)
