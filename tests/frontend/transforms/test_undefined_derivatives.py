"""A derivative that does not exist is an error where it is needed, in every transform, and only there.

Input: functions with an argument without a derivative. Output: an error with the user's line, or the value.
Idea: the value that does not exist depends on the tangent, so that no transform may take it for zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects.errors import AdzeError
from adze.lax import custom_linear_solve
from adze.scipy import special

POINTS = np.array([2.0, 3.0], dtype=np.float32)
TEXT = "betainc has no derivative in a"


def beta(a: Any, x: Any = 0.5) -> Any:
    return special.betainc(a, 2.0, x)


def scanned(a: Any) -> Any:
    return adze.scan(lambda c, _: (c * beta(a), None), a * 0 + 1, None, length=2)[0]


def carried(a: Any) -> Any:
    return adze.scan(lambda c, _: (beta(c) + c, None), a, None, length=2)[0]


@adze.custom_jvp
def ruled(a: Any) -> Any:
    return beta(a)


@ruled.defjvp
def _ruled(primals: Any, tangents: Any) -> Any:
    return adze.jvp(beta, primals, tangents)


@adze.custom_vjp
def pulled(a: Any) -> Any:
    return beta(a)


pulled.defvjp(lambda a: (beta(a), a), lambda a, ct: (ct * adze.grad(beta)(a),))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "grad": adze.grad(beta),
    "plus a value that has one": adze.grad(lambda a: beta(a) + a),
    "jit of grad": adze.jit(adze.grad(beta)),
    "grad of jit": adze.grad(adze.jit(beta)),
    "vmap of grad": lambda a: adze.vmap(adze.grad(beta))(a * POINTS),
    "grad of vmap": adze.grad(lambda a: adze.vmap(beta)(a * POINTS).sum()),
    "jvp": lambda a: adze.jvp(beta, (a,), (1.0,))[1],
    "jvp of grad": lambda a: adze.jvp(adze.grad(beta), (a,), (1.0,))[1],
    "grad of jvp": adze.grad(lambda a: adze.jvp(lambda x: beta(a, x), (0.5,), (1.0,))[1]),
    "grad of grad": adze.grad(lambda x: adze.grad(lambda a: beta(a, x))(2.0)),
    "both arguments": lambda a: adze.grad(lambda x: adze.grad(lambda v: beta(v, x))(a))(np.float32(0.5)),
    "jvp of jvp": lambda a: adze.jvp(
        lambda x: adze.jvp(lambda y: beta(y, x), (a,), (1.0,))[1], (0.5,), (1.0,)
    )[1],
    "vjp": lambda a: adze.vjp(beta, a)[1](1.0),
    "jacrev": adze.jacrev(lambda a: a * beta(a)),
    "hessian": adze.hessian(beta),
    "scan": adze.grad(scanned),
    "carry of a scan": adze.grad(carried),
    "fori_loop": adze.grad(lambda a: lax.fori_loop(0, 2, lambda i, c: beta(c) + c, a)),
    "cond": adze.grad(lambda a: adze.cond(a > 0, beta, lambda x: x, a)),
    "checkpoint": adze.grad(adze.checkpoint(beta)),
    "custom_jvp": adze.grad(ruled),
    "custom_vjp": adze.grad(pulled),
}


@pytest.mark.each_value
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_derivative_that_is_needed_is_an_error(name: str, jit: bool) -> None:
    function = adze.jit(FUNCTIONS[name]) if jit else FUNCTIONS[name]
    with pytest.raises(AdzeError) as raised:
        function(np.float32(2.0))
    assert TEXT in str(raised.value)
    assert "test_undefined_derivatives.py" in str(raised.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: adze.grad(lambda v: beta(2.0, v))(x),
        lambda x: adze.grad(lambda v: beta(lax.stop_gradient(v), 0.5) + v)(x) * 1.5,
        lambda x: adze.grad(lambda v: (v * 1.5, beta(v))[0])(x),
        lambda x: adze.jvp(lambda v: (v * 1.5, adze.jit(lambda u: (beta(u), u))(v))[0], (x,), (1.0,))[1],
        lambda x: adze.jvp(lambda v: adze.checkpoint(lambda u: (beta(u), u * 1.5))(v)[1], (x,), (1.0,))[1],
        lambda x: adze.grad(lambda v: adze.scan(lambda c, _: (c * 1.0, beta(c)), v * 1.5, None, length=2)[0])(
            x
        ),
    ],
)
def test_a_derivative_that_is_not_needed_is_none(function: Callable[[Any], Any]) -> None:
    value = np.float32(0.5)
    assert float(function(value)) == pytest.approx(1.5)
    assert float(adze.jit(function)(value)) == pytest.approx(1.5)


def test_a_solve_without_its_transpose_has_no_gradient() -> None:
    matrix = np.array([[2.0, 1.0], [0.0, 3.0]], dtype=np.float32)

    def solved(b: Any) -> Any:
        return custom_linear_solve(lambda x: matrix @ x, b, lambda _, v: adze.numpy.linalg.solve(matrix, v))

    vector = np.ones(2, np.float32)
    adze.jvp(solved, (vector,), (vector,))
    for function in (lambda b: solved(b).sum(), lambda b: adze.jvp(solved, (b * b,), (b,))[1].sum()):
        with pytest.raises(AdzeError, match="no transpose_solve"):
            adze.grad(function)(vector)
        with pytest.raises(AdzeError, match="no transpose_solve"):
            adze.jit(adze.grad(function))(vector)
