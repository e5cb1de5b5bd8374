"""Random programs of arrays that tiles do not divide: compiled as users compile them = evaluated.

Unlike `test_random_programs.py` this goes the whole way, since what IREE computes wrongly at such sizes is
found after the lowering, in its kernels, and then compiled another way.
"""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze.frontend.tracing.interpreter import ops

from ...random_programs import random_program, seeds
from ...random_programs.of_ops import Program

ONCE_REFUSED = (73, 95)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", seeds(1, 6, also=ONCE_REFUSED))
def test_compiled_is_evaluated(seed: int) -> None:
    check(random_program(seed, "large"))


def check(drawn: Program) -> None:
    """Compile the program and call it three times."""
    inputs = drawn.values[: drawn.count]
    specs = [
        adze.ShapeDtype(tuple(f"n{i}_{a}" if n is None else n for a, n in enumerate(v.type.shape)), v.dtype)
        for i, v in enumerate(inputs)
    ]
    compiled = adze.jit(lambda *xs: tuple(drawn.build(ops, *xs))).trace(*specs).lower().compile()
    for which in (0, 1, 0):  # the third call would see what the others left behind
        arguments = drawn.arguments(which)
        results = compiled(*arguments)
        drawn.check(which, results, "compiled")
        for got, want in zip(arguments, drawn.arguments(which), strict=True):
            np.testing.assert_array_equal(got, want, f"an argument has changed of\n{drawn}")
