"""Random smooth programs: grad, jvp, their compositions and vmap against differences, JAX and compiled code.

A program is a list of steps from one table, each a function of an array module and of earlier values, so
that it runs on `adze.numpy` and on `jax.numpy`. All values have one shape. The profile is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import adze
from adze import numpy as xp

SHAPE: Final = (2, 3)
MASK: Final = np.array([[True, False, True], [False, False, True]])
UNARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "sin(v)": lambda m, v: m.sin(v),
    "cos(2 v)": lambda m, v: m.cos(2.0 * v),
    "tanh(v)": lambda m, v: m.tanh(v),
    "exp(sin(v))": lambda m, v: m.exp(m.sin(v)),
    "log1p(v v)": lambda m, v: m.log1p(v * v),
    "sqrt(1 + v v)": lambda m, v: m.sqrt(1.0 + v * v),
    "v / (1 + v v)": lambda m, v: v / (1.0 + v * v),
    "sin(v) ** 3": lambda m, v: m.sin(v) ** 3,
    "(2 + cos(v)) ** 1.5": lambda m, v: (2.0 + m.cos(v)) ** 1.5,
    "v turned around": lambda m, v: m.flip(v, axis=1),
    "v transposed": lambda m, v: m.reshape(m.transpose(v), SHAPE),
    "v rolled": lambda m, v: m.concatenate([v[:, 1:], v[:, :1]], axis=1),
    "v shifted": lambda m, v: m.pad(v, ((0, 0), (1, 0)))[:, :3],
    "v minus its mean": lambda m, v: v - m.mean(v, axis=0, keepdims=True),
    "softmax(v)": lambda m, v: m.exp(v) / m.sum(m.exp(v), axis=1, keepdims=True),
    "cumsum(v)": lambda m, v: m.cumsum(v, axis=1),
    "v v.T v": lambda m, v: m.matmul(m.matmul(v, m.transpose(v)), m.sin(v)),
    "rows of v": lambda m, v: m.take(v, np.array([1, 1]), axis=0),
}
BINARY: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "v + w": lambda m, v, w: v + w,
    "v - w": lambda m, v, w: v - w,
    "sin(v) w": lambda m, v, w: m.sin(v) * w,
    "v / (1.5 + sin(w))": lambda m, v, w: v / (1.5 + m.sin(w)),
    "arctan2(v, 2 + cos(w))": lambda m, v, w: m.arctan2(v, 2.0 + m.cos(w)),
    "where(mask, v, w)": lambda m, v, w: m.where(MASK, v, w),
    "(2 + cos(v)) ** sin(w)": lambda m, v, w: (2.0 + m.cos(v)) ** m.sin(w),
}
DETERMINISTIC: Final = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Program:
    """Steps by name, each with the numbers of the values that it takes; value 0 is the argument."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, m: Any, x: Any) -> Any:
        values = [x]
        for name, operands in self.steps:
            function: Any = UNARY.get(name) or BINARY[name]
            values.append(function(m, *(values[i] for i in operands)))
        return m.sum(m.tanh(values[-1]) * WEIGHTS + 0.1 * m.sin(values[len(values) // 2]))

    def __str__(self) -> str:
        return "\n".join(f"v{i + 1} = {name} of v{list(on)}" for i, (name, on) in enumerate(self.steps))

    __repr__ = __str__


WEIGHTS: Final = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5]])


@st.composite
def programs(draw: Callable[[Any], Any]) -> Program:
    steps: list[tuple[str, tuple[int, ...]]] = []
    for position in range(draw(st.integers(2, 6))):
        recent = st.integers(max(0, position - 2), position)
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(sorted(UNARY))), (draw(recent),)))
        else:
            steps.append((draw(st.sampled_from(sorted(BINARY))), (draw(recent), draw(recent))))
    return Program(tuple(steps))


def point(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A point and a direction."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, SHAPE), rng.standard_normal(SHAPE)


def close(actual: Any, expected: Any, program: Program, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(
        np.asarray(actual), np.asarray(expected), rtol=rtol, atol=rtol, err_msg=str(program)
    )


@settings(DETERMINISTIC, max_examples=25)
@given(programs(), st.integers(0, 1000))
def test_derivatives_are_differences(program: Program, seed: int) -> None:
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


@settings(DETERMINISTIC, max_examples=12)
@given(programs(), st.integers(0, 1000))
def test_batch_of_gradients_is_a_loop(program: Program, seed: int) -> None:
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
@settings(DETERMINISTIC, max_examples=25)
@given(programs(), st.integers(0, 1000))
def test_derivatives_are_those_of_jax(program: Program, seed: int) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x, v = point(seed)
    reference = jax.grad(lambda x: program(jax.numpy, x))
    f = adze.grad(lambda x: program(xp, x))
    close(f(x), reference(x), program, 1e-10)
    close(adze.jvp(f, (x,), (v,))[1], jax.jvp(reference, (x,), (v,))[1], program, 1e-9)


@settings(DETERMINISTIC, max_examples=1)
@given(st.lists(programs(), min_size=6, max_size=6))
def test_compiled_derivatives_are_the_evaluated_ones(drawn: list[Program]) -> None:
    x, v = point(0)

    def everything(x: Any, v: Any) -> Any:
        found = []
        for program in drawn:
            gradient = adze.grad(lambda x, program=program: program(xp, x))
            found.append(
                (gradient(x), adze.jvp(gradient, (x,), (v,))[1], adze.vmap(gradient)(xp.stack([x, v])))
            )
        return found

    compiled, evaluated = adze.jit(everything)(x, v), everything(x, v)
    for program, actual, expected in zip(drawn, compiled, evaluated, strict=True):
        for a, e in zip(actual, expected, strict=True):
            close(a, e, program, 1e-10)
