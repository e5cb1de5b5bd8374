"""Random smooth programs: grad, jvp, what they make of each other and vmap, against differences and JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp

from ...random_programs import random_program, seeds
from ...random_programs.smooth import SHAPE, Smooth


def point(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A point and a direction."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, SHAPE), rng.standard_normal(SHAPE)


def close(actual: Any, expected: Any, program: Smooth, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(
        np.asarray(actual), np.asarray(expected), rtol=rtol, atol=rtol, err_msg=str(program)
    )


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_derivatives_are_differences(seed: int) -> None:
    program = random_program(seed, "smooth")
    x, v = point(seed)

    def f(x: Any) -> Any:
        return program(xp, x)

    def slope(of: Callable[[Any], Any]) -> np.ndarray:
        return (np.asarray(of(x + 1e-5 * v)) - np.asarray(of(x - 1e-5 * v))) / 2e-5

    gradient = adze.grad(f)(x)
    measured = slope(lambda x: program(np, x))
    close(adze.jvp(f, (x,), (v,))[1], measured, program)
    close(np.sum(np.asarray(gradient) * v), measured, program)
    forward_over_reverse = adze.jvp(adze.grad(f), (x,), (v,))[1]
    close(forward_over_reverse, slope(adze.grad(f)), program)
    reverse_over_reverse = adze.grad(lambda x: xp.sum(adze.grad(f)(x) * v))(x)
    close(reverse_over_reverse, forward_over_reverse, program, 1e-10)
    reverse_over_forward = adze.grad(lambda x: adze.jvp(f, (x,), (v,))[1])(x)
    close(reverse_over_forward, forward_over_reverse, program, 1e-10)


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_batch_of_gradients_is_a_loop(seed: int) -> None:
    program = random_program(seed, "smooth")
    x, v = point(seed)
    gradient = adze.grad(lambda x: program(xp, x))
    batch = np.stack([x, v, x - v])
    loop = np.stack([np.asarray(gradient(row)) for row in batch])
    close(adze.vmap(gradient)(batch), loop, program, 1e-10)
    close(
        adze.vmap(gradient, in_axes=2, out_axes=2)(np.moveaxis(batch, 0, 2)), np.moveaxis(loop, 0, 2), program
    )
    close(adze.grad(lambda b: xp.sum(adze.vmap(lambda x: program(xp, x))(b)))(batch), loop, program, 1e-10)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(0, 60))
def test_derivatives_are_those_of_jax(seed: int, jax: Any) -> None:
    program = random_program(seed, "smooth")
    x, v = point(seed)
    reference = jax.grad(lambda x: program(jax.numpy, x))
    f = adze.grad(lambda x: program(xp, x))
    close(f(x), reference(x), program, 1e-10)
    close(adze.jvp(f, (x,), (v,))[1], jax.jvp(reference, (x,), (v,))[1], program, 1e-9)


@pytest.mark.parametrize("first", seeds(0, 3))
def test_compiled_derivatives_are_the_evaluated_ones(first: int) -> None:
    count = 6
    drawn = [random_program(first * count + i, "smooth") for i in range(count)]
    x, v = point(0)

    def everything(x: Any, v: Any) -> Any:
        results = []
        for program in drawn:
            gradient = adze.grad(lambda x, program=program: program(xp, x))
            results.append(
                (gradient(x), adze.jvp(gradient, (x,), (v,))[1], adze.vmap(gradient)(xp.stack([x, v])))
            )
        return results

    compiled, evaluated = adze.jit(everything)(x, v), everything(x, v)
    for program, actual, expected in zip(drawn, compiled, evaluated, strict=True):
        for a, e in zip(actual, expected, strict=True):
            close(a, e, program, 1e-10)
