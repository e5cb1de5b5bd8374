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


def test_a_function_of_a_named_size_is_transposed() -> None:
    def pulled(x: Any) -> Any:
        return adze.linear_transpose(lambda c: (2 * c[1:], c[::-1]), x)((x[1:], x))[0]

    program = adze.trace(pulled, adze.ShapeDtype(("n",))).lower().compile()
    np.testing.assert_array_equal(program(np.float32([1, 2, 4])), [4, 6, 9])
