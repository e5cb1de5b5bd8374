"""Random programs with control flow: evaluated = JAX's, values and gradients; some of them compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

hypothesis = pytest.importorskip("hypothesis", reason="draws the programs")
st = hypothesis.strategies


class Node(NamedTuple):
    """One construct, and the programs inside it."""

    kind: str
    inner: tuple[Any, ...]
    number: int


LEAVES = ("sin", "square", "scale", "shift")


def programs() -> Any:
    leaf = st.builds(lambda kind, n: Node(kind, (), n), st.sampled_from(LEAVES), st.integers(1, 3))

    def extend(children: Any) -> Any:
        one, two = st.tuples(children), st.tuples(children, children)
        number = st.integers(0, 3)
        return st.one_of(
            st.builds(lambda i, n: Node("then", i, n), two, number),
            st.builds(lambda i, n: Node("cond", i, n), two, number),
            st.builds(lambda i, n: Node("scan", i, n), one, number),
            st.builds(lambda i, n: Node("fori", i, n), one, number),
            st.builds(lambda i, n: Node("while", i, n), one, number),
            st.builds(lambda i, n: Node("map", i, n), one, number),
        )

    return st.recursive(leaf, extend, max_leaves=5)


def run(node: Node, x: Any, w: Any, np_: Any, lax_: Any, bound: dict[str, int]) -> Any:
    """The program applied to a vector `x` of 3; `w` is captured by every body."""

    def inside(position: int, value: Any) -> Any:
        return run(node.inner[position], value, w, np_, lax_, bound)

    if node.kind == "sin":
        return np_.sin(x)
    if node.kind == "square":
        return x * x / (1.0 + np_.sum(x * x))
    if node.kind == "scale":
        return x * w
    if node.kind == "shift":
        return x + w * node.number
    if node.kind == "then":
        return inside(1, inside(0, x))
    if node.kind == "cond":
        return lax_.cond(np_.sum(x) > 0, lambda v: inside(0, v), lambda v: inside(1, v), x)
    if node.kind == "scan":
        last, rows = lax_.scan(lambda c, v: (inside(0, c) + v, np_.sum(c)), x, np_.stack([x] * 2))
        return last + np_.sum(rows)
    if node.kind == "fori":
        return lax_.fori_loop(0, node.number, lambda i, v: inside(0, v) + i, x)
    if node.kind == "map":
        return lax_.map(lambda v: np_.sum(inside(0, v * np_.ones_like(x))), x)
    state = (np_.asarray(np.int32(0)), x)

    def go_on(s: Any) -> Any:
        return (s[0] < 4) & (np_.sum(np_.abs(s[1])) < 5.0)

    return lax_.while_loop(go_on, lambda s: (s[0] + 1, inside(0, s[1]) * 1.5), state, **bound)[1]


X, WEIGHT = np.array([0.3, -0.2, 0.5]), np.float64(0.7)


def loss(node: Node, bound: dict[str, int]) -> Any:
    return lambda x, w: xp.sum(xp.tanh(run(node, x, w, xp, lax, bound)))


@pytest.mark.oracle
@hypothesis.settings(max_examples=20, deadline=None, derandomize=True, database=None)
@hypothesis.given(programs())
def test_random_program_has_the_value_and_the_tangent_of_jax(node: Node) -> None:
    jax = pytest.importorskip("jax", reason="the oracle")

    def reference(x: Any, w: Any) -> Any:
        return jax.numpy.sum(jax.numpy.tanh(run(node, x, w, jax.numpy, jax.lax, {})))

    moves = (X * 0 + 1.0, np.float64(0.5))
    with jax.enable_x64(True):
        expected = [np.asarray(v) for v in jax.jvp(reference, (X, WEIGHT), moves)]
    found = adze.jvp(loss(node, {}), (X, WEIGHT), moves)
    np.testing.assert_allclose([float(v) for v in found], expected, rtol=1e-6, atol=1e-8)


@hypothesis.settings(max_examples=15, deadline=None, derandomize=True, database=None)
@hypothesis.given(programs())
def test_modes_agree_on_random_programs(node: Node) -> None:
    f = loss(node, {"max_steps": 4})
    gradient = adze.grad(f, (0, 1))(X, WEIGHT)
    _, pushed = adze.jvp(loss(node, {}), (X, WEIGHT), (X * 0 + 1.0, np.float64(0.5)))
    pulled = float(np.sum(np.asarray(gradient[0]))) + 0.5 * float(np.asarray(gradient[1]))
    np.testing.assert_allclose(pulled, float(pushed), rtol=1e-6, atol=1e-8)


@hypothesis.settings(max_examples=1, deadline=None, derandomize=True, database=None)
@hypothesis.given(st.lists(programs(), min_size=3, max_size=3))
def test_compiled_random_programs_are_the_evaluated_ones(nodes: list[Node]) -> None:
    def everything(x: Any, w: Any) -> list[Any]:
        return [adze.value_and_grad(loss(node, {"max_steps": 4}))(x, w) for node in nodes]

    found, expected = adze.jit(everything)(X, WEIGHT), everything(X, WEIGHT)
    for a, b in zip(adze.tree.leaves(found), adze.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6, atol=1e-8)
