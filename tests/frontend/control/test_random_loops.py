"""Random programs of nested loops, branches and batches: evaluated = compiled = JAX's, values and gradients.

Each example is one module of several programs, compiled once and called twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze

from ...random_programs import random_program, seeds
from ...random_programs.of_loops import ADZE, Library, Loops

IN_ONE_MODULE = 3
SEEDS = 1 << 20
TOLERANCES = {"float16": 2e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-6}  # some went through f32


@pytest.mark.parametrize("first", seeds(1, 8))
def test_compiled_is_evaluated(first: int, thorough: bool) -> None:
    count = IN_ONE_MODULE if thorough else 2
    compiled_is_evaluated([SEEDS + first * count + i for i in range(count)])


def test_numbers_whose_sine_is_broadcast_compile() -> None:
    """LLVM's vectorizer did not end: it looked at what a sine is computed of once for each way to it."""
    compiled_is_evaluated([SEEDS + 3])


@pytest.mark.thorough
def test_a_while_loop_may_carry_what_only_tells_a_size() -> None:
    compiled_is_evaluated([723011981267])


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(0, 24))
def test_evaluated_is_that_of_jax(seed: int) -> None:
    evaluated_is_that_of_jax([SEEDS + seed])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", seeds(5, 30))
def test_forward_mode_gives_what_reverse_mode_gives(number: int) -> None:
    program = differentiated(number)
    arguments = program.arguments(0)
    _, gradient = program(ADZE, *arguments)
    _, pushed = program(ADZE._replace(value_and_grad=value_and_slope), *arguments)
    pulled = sum(float(np.sum(np.asarray(g), dtype=np.float64)) for g in gradient)
    np.testing.assert_allclose(pulled, float(pushed), rtol=1e-4, atol=1e-5, err_msg=str(program))


def differentiated(number: int) -> Loops:
    """The first program from there on that asks for a gradient, and not of a batch."""
    drawn = (random_program(seed, "loops") for seed in itertools.count(SEEDS + 100 * number))
    return next(p for p in drawn if p.differentiated and not p.batched)


def value_and_slope(f: Any, positions: Sequence[int]) -> Any:
    """In the place of `value_and_grad`: the derivative along the vector of ones."""
    return lambda *xs: adze.jvp(f, xs, tuple(np.ones_like(np.asarray(x)) for x in xs))


def compiled_is_evaluated(seeds: Sequence[int]) -> None:
    """The programs of the seeds, compiled together with open sizes, give what they give evaluated."""
    programs = [random_program(seed, "loops") for seed in seeds]

    def everything(*groups: Any) -> Any:
        return [program(ADZE, *group) for program, group in zip(programs, groups, strict=True)]

    compiled = adze.trace(everything, *[tuple(p.specs) for p in programs]).lower().compile()
    for which in (0, 1):
        arguments = [tuple(program.arguments(which)) for program in programs]
        result = compiled(*arguments)
        for seed, program, group, got in zip(seeds, programs, arguments, result, strict=True):
            same(got, program(ADZE, *group), f"compiled {seed}: {program}")
        for group, program in zip(arguments, programs, strict=True):
            for got, want in zip(group, program.arguments(which), strict=True):
                np.testing.assert_array_equal(got, want, "an argument has changed")


def evaluated_is_that_of_jax(seeds: Sequence[int]) -> None:
    jax = pytest.importorskip("jax", reason="the oracle")
    library = Library(jax.numpy, jax.lax, jax.vmap, jax.value_and_grad)
    with jax.enable_x64(True):
        for seed in seeds:
            program = random_program(seed, "loops")
            arguments = program.arguments(0)
            expected = jax.jit(lambda *a, p=program: p(library, *a))(*map(jax.numpy.asarray, arguments))
            same(program(ADZE, *arguments), expected, f"evaluated {seed}: {program}")


def same(actual: Any, expected: Any, what: str) -> None:
    """The same arrays, up to the rounding of their dtypes."""
    for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        tolerance = TOLERANCES.get(a.dtype.name, 0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=what)
