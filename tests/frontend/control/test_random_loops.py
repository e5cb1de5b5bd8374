"""Random programs of nested loops, branches and batches: evaluated = compiled = JAX's, values and gradients.

Each example is one module of several programs, compiled once and called twice. The profile is deterministic;
`ADZE_FUZZ_EXAMPLES` draws more modules than the few of a normal run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze

from .random_loops import ADZE, Library, loops

hypothesis = pytest.importorskip("hypothesis", reason="draws the programs")
st = hypothesis.strategies

IN_ONE_MODULE = 3
EXAMPLES = int(os.environ.get("ADZE_FUZZ_EXAMPLES", "2"))
TOLERANCES = {"float16": 2e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-6}  # some went through f32


@hypothesis.settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
    max_examples=EXAMPLES,
)
@hypothesis.given(st.integers(1 << 20, 1 << 40))
def test_compiled_is_evaluated(seed: int) -> None:
    compiled_is_evaluated([seed + i for i in range(IN_ONE_MODULE)])


def test_a_while_loop_may_carry_what_only_tells_a_size() -> None:
    compiled_is_evaluated([723011981267])


@pytest.mark.oracle
@hypothesis.settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
    max_examples=EXAMPLES,
)
@hypothesis.given(st.integers(1 << 20, 1 << 40))
def test_evaluated_is_that_of_jax(seed: int) -> None:
    evaluated_is_that_of_jax([seed + i for i in range(IN_ONE_MODULE)])


def compiled_is_evaluated(seeds: Sequence[int]) -> None:
    """The programs of the seeds, compiled together with open sizes, give what they give evaluated."""
    programs = [loops(seed) for seed in seeds]

    def everything(*groups: Any) -> Any:
        return [program(ADZE, *group) for program, group in zip(programs, groups, strict=True)]

    compiled = adze.trace(everything, *[tuple(p.specs) for p in programs]).lower().compile()
    for which in (0, 1):
        arguments = [tuple(program.arguments(which)) for program in programs]
        found = compiled(*arguments)
        for seed, program, group, got in zip(seeds, programs, arguments, found, strict=True):
            same(got, program(ADZE, *group), f"compiled {seed}: {program}")
        for group, program in zip(arguments, programs, strict=True):
            for got, want in zip(group, program.arguments(which), strict=True):
                np.testing.assert_array_equal(got, want, "an argument has changed")


def evaluated_is_that_of_jax(seeds: Sequence[int]) -> None:
    jax = pytest.importorskip("jax", reason="the oracle")
    library = Library(jax.numpy, jax.lax, jax.vmap, jax.value_and_grad)
    with jax.enable_x64(True):
        for seed in seeds:
            program = loops(seed)
            arguments = program.arguments(0)
            expected = jax.jit(lambda *a, p=program: p(library, *a))(*map(jax.numpy.asarray, arguments))
            same(program(ADZE, *arguments), expected, f"evaluated {seed}: {program}")


def same(found: Any, expected: Any, what: str) -> None:
    """The same arrays, up to the rounding of their dtypes."""
    for a, b in zip(adze.tree.leaves(found), adze.tree.leaves(expected), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        tolerance = TOLERANCES.get(a.dtype.name, 0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=what)
