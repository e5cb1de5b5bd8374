"""`associative_scan` has two forms, a tree and a loop: which one a target takes, and that they agree.

Oracle: the same function outside of a trace, which is the tree of NumPy's results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects.errors import MissingRuleError

RNG = np.random.default_rng(7)


def affine(first: Any, second: Any) -> Any:
    """The maps x -> a x + b, one after the other."""
    return first[0] * second[0], first[1] * second[0] + second[1]


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    return RNG.uniform(0.5, 1.2, shape).astype(dtype)


CASES = {
    "affine": (affine, (numbers(9, 3), numbers(9, 3)), {}),
    "affine, from the end": (affine, (numbers(9, 3), numbers(9, 3)), {"reverse": True}),
    "affine, middle axis": (affine, (numbers(2, 9, 3), numbers(2, 9, 3)), {"axis": 1}),
    "last axis, from the end": (xp.multiply, numbers(3, 17, dtype="float64"), {"axis": -1, "reverse": True}),
    "numbers": (xp.logaddexp, numbers(50), {}),
    "matrices": (lambda a, b: b @ a, numbers(12, 3, 3) / np.float32(2.5), {}),
    "ranks": (lambda a, b: (b[0] @ a[0], a[1] * b[1]), (numbers(7, 2, 2), numbers(7, 1)), {}),
    "nothing along another axis": (xp.maximum, numbers(7, 0), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_both_forms_agree_with_their_derivatives(name: str) -> None:
    fn, elems, options = CASES[name]
    leaves, structure = adze.tree.flatten(elems)
    arguments = tuple(range(len(leaves)))

    def scanned(*xs: Any) -> Any:
        return adze.tree.leaves(lax.associative_scan(fn, adze.tree.unflatten(structure, xs), **options))

    def loss(*xs: Any) -> Any:
        return sum(xp.sum(xp.sin(y) * y) for y in scanned(*xs))

    def pushed(*xs: Any) -> Any:
        return adze.jvp(adze.grad(loss, argnums=arguments), xs, xs)[1]

    gradients = adze.vmap(adze.grad(loss, argnums=arguments))
    stacked = [np.stack([x, x * x.dtype.type(0.9)]) for x in leaves]
    for f, xs in ((scanned, leaves), (pushed, leaves), (gradients, stacked)):
        for got, wanted in zip(adze.jit(f)(*xs), f(*xs), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    ("target", "fn", "loops"),
    [("cpu", xp.add, 2), ("cuda", xp.add, 0), ("cpu", lambda a, b: xp.sort(a + b), 0)],
)
def test_a_target_takes_one_form_for_value_and_gradient(target: str, fn: Any, loops: int) -> None:
    def loss(x: Any) -> Any:
        return xp.sum(lax.associative_scan(fn, x) ** 2)

    traced = adze.trace(adze.grad(loss), adze.ShapeDtype((64, 4)))
    text = traced.at_stage("choose-branches", target)
    assert "adze.cond" not in text
    assert text.count('"adze.scan"') == loops


def test_garbage_of_references_chooses_no_form() -> None:
    garbage: list[Any] = [adze.new_ref(np.zeros(2, np.float32))]
    garbage.append(garbage)
    del garbage
    traced = adze.trace(lambda x: lax.associative_scan(xp.add, x), adze.ShapeDtype((64, 4)))
    assert traced.at_stage("choose-branches", "cpu").count('"adze.scan"') == 1


def test_choices_inside_of_a_loop_and_of_captured_values() -> None:
    def run(x: Any, limit: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            tops = lax.associative_scan(lambda a, b: xp.minimum(xp.maximum(a, b), limit), carry)
            return tops * 0.9, xp.sum(tops)

        return lax.scan(step, x, None, length=4)[1]

    def loss(x: Any, limit: Any) -> Any:
        return xp.sum(run(x, limit) ** 2)

    x, limit = numbers(11), np.float32(1.1)
    for f in (run, adze.grad(loss, argnums=(0, 1))):
        for got, wanted in zip(adze.jit(f)(x, limit), f(x, limit), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5)
    text = adze.trace(adze.grad(loss), x, limit).mlir("choose-branches")
    assert "adze.cond" not in text


def test_a_platform_has_its_branch() -> None:
    def f(x: Any) -> Any:
        return lax.platform_dependent(x, cuda=xp.sin, cpu=xp.cos, default=xp.tanh)

    x = numbers(5)
    for got in (f(x), adze.jit(f)(x), adze.jit(adze.vmap(f))(x)):
        np.testing.assert_allclose(got, np.cos(x), rtol=1e-6)
    np.testing.assert_allclose(adze.jit(adze.grad(lambda x: xp.sum(f(x))))(x), -np.sin(x), rtol=1e-6)
    traced = adze.trace(f, adze.ShapeDtype((5,)))
    for target, op in (("cpu", "cos"), ("cuda", "sin"), ("vulkan:turing", "tanh")):
        text = traced.at_stage("choose-branches", target)
        assert f'"adze.{op}"' in text
        assert text.count("adze.") < 6


def test_a_platform_without_a_branch_is_an_error_where_the_program_is_compiled() -> None:
    traced = adze.trace(lambda x: lax.platform_dependent(x, cuda=xp.sin), adze.ShapeDtype((5,)))
    with pytest.raises(MissingRuleError) as raised:
        traced.lower("cpu")
    assert "the program has no branch for cpu" in str(raised.value)
    assert "default=" in str(raised.value)
    assert __file__ in str(raised.value)
