"""`check_gradients`: right derivatives pass, a wrong rule does not, whichever mode it is of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze.frontend.staging.derived import Specified
from adze.frontend.staging.gradient_checks import check_gradients


def specified(function: Callable[..., Any], *shapes: tuple[tuple[int | str, ...], Any]) -> Specified:
    return Specified(function, tuple(adze.ShapeDtype(shape, dtype) for shape, dtype in shapes), {})


RIGHT = {
    "tree of results": (lambda w, x: {"y": np.tanh(x @ w), "n": x > 0}, ((3, 2), "f32"), (("n", 3), "f32")),
    "logarithm": (lambda x: np.log(x), ((4,), "f16")),
    "complex": (lambda z: (z * z * 1j, z.real), ((3,), "c64")),
    "with integers": (lambda x, i: x[i], ((3,), "f32"), ((2,), "i32")),
    "narrow on purpose": (lambda x: np.sin(x.astype(np.float32)), ((3,), "f32")),
    "empty": (lambda x: x * 2, ((0,), "f32")),
    "constant": (lambda x: x * 0, ((3,), "f32")),
}
DTYPES = {"f16": np.float16, "f32": np.float32, "c64": np.complex64, "i32": np.int32}


@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_agree(name: str) -> None:
    function, *specs = RIGHT[name]
    found = check_gradients(specified(function, *((shape, DTYPES[dtype]) for shape, dtype in specs)))
    assert (found.skipped, found.failures()) == (None, []), found
    assert found.is_coarse == (name == "narrow on purpose")


@adze.custom_vjp
def squared(x: Any) -> Any:
    return x * x


squared.defvjp(lambda x: (x * x, x), lambda x, ct: (3 * x * ct,))


@adze.custom_jvp
def cubed(x: Any) -> Any:
    return x**3


cubed.defjvp(lambda primals, tangents: (primals[0] ** 3, 2 * primals[0] * tangents[0]))


@pytest.mark.parametrize("rule", [squared, cubed, lambda x: adze.lax.stop_gradient(x) * x])
def test_wrong_rule_is_noticed(rule: Callable[..., Any]) -> None:
    (failure,) = check_gradients(specified(rule, ((3,), np.float32))).failures()
    assert failure.startswith("forward mode and a difference of values differ by 0.")


def test_what_cannot_be_checked_says_why() -> None:
    assert check_gradients(specified(lambda i: i, ((2,), np.int32))).skipped == "no input is of floats"
    assert check_gradients(specified(lambda x: x > 0, ((2,), np.float32))).skipped == "no result is of floats"
    nowhere = check_gradients(specified(lambda x: np.log(-np.abs(x)), ((2,), np.float32)))
    assert nowhere.skipped == "its results are not finite at the inputs that were drawn"
