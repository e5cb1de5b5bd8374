"""Arguments and results of derivatives: what is chosen, what passes untouched, aux, None, float0.

All evaluated in NumPy, but for the tests of pullbacks that leave `jit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp
from adze.frontend.errors import ArgumentError, DtypeError
from adze.frontend.tracing.frames import Tracer

X = np.array([0.5, -1.5, 2.0])
FLOAT0 = np.dtype([("float0", np.void, 0)])


@dataclass
class Settings:
    """A configuration, as users pass it along."""

    rate: float = 0.5
    name: str = "tanh"


OTHERS: list[Any] = [
    True,
    3,
    2.5,
    "mode",
    None,
    len,
    Settings(),
    [1.0, "x"],
    {"n": 2},
    X,
    np.float32(2),
    xp.asarray(X),
    object(),
]


def text_of(call: Callable[[], Any], kind: type[AdzeError] = ArgumentError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


# -- what is not differentiated ---------------------------------------------------


@pytest.mark.parametrize("other", OTHERS, ids=lambda v: type(v).__name__)
def test_other_arguments_are_the_same_objects(other: Any) -> None:
    def f(w: Any, given: Any, *, named: Any) -> Any:
        assert given is other
        assert named is other
        assert isinstance(w, Tracer)
        return (w * w).sum()

    for derivative in (adze.grad, adze.value_and_grad, adze.jacfwd, adze.jacrev, adze.hessian):
        derivative(f)(X, other, named=other)
        derivative(f, argnums=-2)(X, other, named=other)
    adze.vmap(lambda w, given: f(w, given, named=given), in_axes=(0, None))(X[None], other)


def test_other_arguments_in_use() -> None:
    def loss(w: Any, x: Any, steps: int, activation: Any, training: bool) -> Any:
        for _ in range(steps):
            w = activation(w * x) if training else w * x
        return w.sum()

    assert adze.grad(loss)(X, np.full(3, 2.0), 2, lambda v: v, True).tolist() == [4.0, 4.0, 4.0]
    step = adze.jit(lambda w, x: adze.grad(loss)(w, x, 3, xp.sin, False))
    assert step(X, np.full(3, 2.0)).tolist() == [8.0, 8.0, 8.0]


def test_a_python_float_keeps_its_bits() -> None:
    assert adze.grad(lambda w, s: w * s)(np.float64(1), 0.1).item() == 0.1


def test_error_of_a_chosen_argument_that_is_no_array() -> None:
    text = text_of(lambda: adze.grad(lambda p: p["w"])({"w": 1.0, "act": "relu"}))
    assert text.startswith(
        "argument 'p['act']' is differentiated: expected an array or a number, got str: 'relu'\n  at "
    )
    assert text.endswith("hint: only arguments that argnums and argnames do not choose may be anything")
    assert "argument 's' is differentiated" in text_of(lambda: adze.vjp(lambda x, s: x, 1.0, "s"))


# -- argnums and argnames ---------------------------------------------------


def product(x: Any, y: Any, z: Any = 1.0) -> Any:
    return x * y * z


def test_gradients_by_number() -> None:
    assert adze.grad(product, -1)(2.0, 3.0).item() == 2
    assert [g.item() for g in adze.grad(product, (1, 0))(2.0, 3.0, z=5.0)] == [10, 15]
    assert [g.item() for g in adze.grad(product, [0, -1])(2.0, 3.0)] == [3, 2]
    assert [g.item() for g in adze.grad(product, (0, 0))(2.0, 3.0)] == [3, 3]
    assert adze.grad(product, np.int64(1))(2.0, 3.0).item() == 2
    assert adze.jacfwd(product, -1)(2.0, 3.0).item() == 2


def test_gradients_by_name() -> None:
    assert adze.grad(product, argnames="y")(x=2.0, y=3.0).item() == 2
    assert adze.grad(product, argnames="y")(y=3.0, x=2.0, z=5.0).item() == 10
    results = adze.grad(product, argnames=("x", "y"))(x=2.0, y=3.0)
    assert {k: v.item() for k, v in results.items()} == {"x": 3, "y": 2}
    assert adze.grad(product, (), argnames="y")(2.0, 3.0).item() == 2
    by_position, by_name = adze.grad(product, argnames="y")(2.0, 3.0)
    assert (by_position.item(), by_name["y"].item()) == (3, 2)
    by_position, by_name = adze.grad(product, (0, 1), argnames=["z"])(2.0, 3.0, z=5.0)
    assert [g.item() for g in by_position] == [15, 10]
    assert by_name["z"].item() == 6


@pytest.mark.parametrize("argnums", [1.5, "x", [0.5]])
def test_error_of_argnums_that_are_no_integers(argnums: Any) -> None:
    text = text_of(lambda: adze.grad(product, argnums))
    assert text.startswith(f"argnums is {argnums!r}, expected an integer or a sequence of integers\n  at ")


@pytest.mark.parametrize("argnums", [2, -3, (0, 2)])
@pytest.mark.parametrize("derivative", [adze.grad, adze.jacfwd, adze.jacrev, adze.hessian])
def test_error_of_argnums_out_of_range(derivative: Any, argnums: Any) -> None:
    number = argnums if isinstance(argnums, int) else argnums[-1]
    text = text_of(lambda: derivative(product, argnums)(2.0, 3.0))
    assert text.startswith(f"argnums names argument {number}, product was called with 2 arguments\n  at ")


def test_error_of_argnums_for_keywords() -> None:
    text = text_of(lambda: adze.grad(product)(x=2.0, y=3.0))
    assert text.startswith(
        "argnums names argument 0, product was called with 0 arguments and the keywords x, y"
    )
    assert text.endswith("hint: choose arguments that are given by keyword with argnames")
    assert "argnames names 'w'" in text_of(lambda: adze.grad(product, argnames="w")(1.0, 2.0))


def test_error_of_nothing_to_differentiate() -> None:
    assert "there is nothing to differentiate by" in text_of(lambda: adze.grad(product, ()))
    text = text_of(lambda: adze.grad(product(1.0, 2.0)))  # type: ignore[arg-type]
    assert text.startswith("expected a function to differentiate, got float: 2.0")
    assert text.endswith("hint: give the function itself: grad(f)(x), not grad(f(x))")


# -- aux ---------------------------------------------------


def test_aux_may_hold_anything() -> None:
    marker = object()

    def f(x: Any) -> Any:
        return x * x, {"name": "f", "x": x + 1, "n": 3, "o": marker, "none": None, "a": X}

    def check(aux: Any) -> None:
        assert aux["o"] is marker
        assert aux["a"] is X
        assert (aux["name"], aux["n"], aux["none"]) == ("f", 3, None)
        assert type(aux["n"]) is int
        assert isinstance(aux["x"], adze.Array)
        assert aux["x"].item() == 4

    check(adze.grad(f, has_aux=True)(3.0)[1])
    check(adze.value_and_grad(f, has_aux=True)(3.0)[0][1])
    check(adze.jvp(f, (3.0,), (1.0,), has_aux=True)[2])
    check(adze.vjp(f, 3.0, has_aux=True)[2])
    value, push, aux = adze.linearize(f, 3.0, has_aux=True)
    check(aux)
    assert (value.item(), push(1.0).item()) == (9, 6)
    for derivative in (adze.jacfwd, adze.jacrev, adze.hessian):
        check(derivative(f, has_aux=True)(3.0)[1])


def test_aux_has_a_derivative_of_its_own() -> None:
    def f(x: Any) -> Any:
        _, aux = adze.grad(lambda y: (y**3, [y**3, x]), has_aux=True)(x)
        return aux[0] * xp.sin(aux[1])

    expected = adze.grad(lambda x: x**3 * xp.sin(x))(np.float64(4)).item()
    assert adze.grad(f)(np.float64(4)).item() == pytest.approx(expected, rel=1e-14)
    assert adze.jit(adze.grad(f))(np.float64(4)).item() == pytest.approx(expected, rel=1e-14)


def test_a_jacobian_calls_its_function_once() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * x, "aux"

    for derivative in (adze.jacfwd, adze.jacrev):
        derivative(f, has_aux=True)(X)
    assert len(calls) == 2


# -- None, integers, complex ---------------------------------------------------


def test_none_in_primals_and_cotangents() -> None:
    def f(x: Any, nothing: Any) -> Any:
        return x, {"a": 2 * x, "b": (3 * x, None)}, nothing

    value, pull = adze.vjp(f, {"w": X, "none": None}["w"], None)
    assert value[2] is None
    ones = np.ones(3)
    assert [c if c is None else c.tolist() for c in pull((ones, {"a": ones, "b": (ones, None)}, None))] == [
        [6.0, 6.0, 6.0],
        None,
    ]
    assert pull((ones, {"a": None, "b": (ones, None)}, None))[0].tolist() == [4.0, 4.0, 4.0]
    assert pull((None, {"a": ones, "b": None}, None))[0].tolist() == [2.0, 2.0, 2.0]
    assert pull((ones, None, None))[0].tolist() == [1.0, 1.0, 1.0]
    assert pull(None)[0].tolist() == [0.0, 0.0, 0.0]
    assert "the cotangent has the tree (*, *, *)" in text_of(lambda: pull((ones, ones, ones)))
    (_, out), (_, moved) = adze.jvp(lambda x, n: (x, n), (1.0, None), (1.0, None))
    assert out is None and moved is None
    gradient = adze.grad(lambda p: p["w"].sum())({"w": X, "none": None})
    assert gradient["none"] is None


def test_none_in_what_a_bwd_rule_gives() -> None:
    @adze.custom_vjp
    def f(params: Any, x: Any) -> Any:
        return params["w"] * x + params["b"][0]

    def bwd(kept: Any, g: Any) -> Any:
        return {"w": g * kept, "b": None}, None

    f.defvjp(lambda params, x: (f(params, x), x), bwd)
    gradient = adze.grad(f)({"w": 2.0, "b": (1.0,)}, 3.0)
    assert (gradient["w"].item(), gradient["b"][0].item()) == (3, 0)


def test_integers_have_no_derivative() -> None:
    zero = np.zeros((), FLOAT0)
    assert adze.jvp(lambda x, n: x * n, (3.0, 2), (1.0, zero))[1].item() == 2
    assert adze.jvp(lambda x: x + 1, (2,), (zero,))[1].dtype == bool
    of_x, of_i = adze.vjp(lambda x, i: x[i], np.ones(2), 1)[1](1.0)
    assert of_x.tolist() == [0.0, 1.0]
    assert of_i.dtype == bool
    assert adze.grad(lambda x, i: x[i], argnums=(0, 1), allow_int=True)(np.ones(2), 1)[1].dtype == bool
    (pulled,) = adze.vjp(lambda x: lax.reshape(x, (2, 2)), np.ones((4, 1), int))[1](np.zeros((2, 2), FLOAT0))
    assert pulled.shape == (4, 1)
    chosen = adze.value_and_grad(lambda p: lax.cond(p, lambda: 1.0, lambda: 2.0), allow_int=True)(True)
    assert chosen[0].item() == 1


Z = np.array([1 + 2j, 0.5 - 1j])


def test_holomorphic_jacobians() -> None:
    for derivative in (adze.jacfwd, adze.jacrev):
        result = derivative(lambda z: z**3, holomorphic=True)(Z)
        np.testing.assert_allclose(np.asarray(result), np.diag(3 * Z**2), rtol=1e-13)
    second = adze.hessian(lambda z: (z**3).sum(), holomorphic=True)(Z)
    np.testing.assert_allclose(np.asarray(second), np.diag(6 * Z), rtol=1e-13)


def test_error_of_complex_jacobians() -> None:
    """Where the function is not holomorphic, one complex number says too little."""
    text = text_of(lambda: adze.jacfwd(xp.conj)(Z), DtypeError)
    assert text.startswith("jacfwd of conj needs real arguments, got c128[2]")
    text = text_of(lambda: adze.jacrev(xp.conj)(Z), DtypeError)
    assert text.startswith("jacrev of conj needs real results, got c128[2]")
    for derivative in (adze.jacfwd, adze.jacrev):
        text = text_of(lambda d=derivative: d(xp.sin, holomorphic=True)(X), DtypeError)
        assert "holomorphic=True needs complex arguments and results, sin has f64[3]" in text


def test_jacobians_of_several_dtypes() -> None:
    a = (np.array([2.0], np.float16), np.array([3.0], np.float32))

    def f(pair: Any) -> Any:
        x, y = pair
        return x, y, x + y

    forward, backward = adze.jacfwd(f)(a), adze.jacrev(f)(a)
    assert [[str(v.dtype) for v in row] for row in forward] == [
        ["float16"] * 2,
        ["float32"] * 2,
        ["float32"] * 2,
    ]
    assert [[str(v.dtype) for v in row] for row in backward] == [["float16", "float32"]] * 3
    for row, other in zip(forward, backward, strict=True):
        assert [float(v.item()) for v in row] == [float(v.item()) for v in other]


# -- pullbacks as values ---------------------------------------------------


def test_pullbacks_are_pytrees() -> None:
    _, pull = adze.vjp(lambda x: xp.sin(x), X)
    assert [v.shape for v in adze.tree.leaves(pull)] == [(3,)]
    doubled = adze.tree.map(lambda v: 2 * v, pull)
    assert np.allclose(doubled(np.ones(3))[0], 2 * np.cos(X))
    assert repr(pull) == "<pullback of a result *, 1 residuals>"
    _, push = adze.linearize(lambda x: xp.sin(x), X)
    assert np.allclose(adze.tree.map(lambda v: 2 * v, push)(np.ones(3)), 2 * np.cos(X))


def test_pullbacks_pass_through_vmap() -> None:
    pulls = adze.vmap(lambda x: adze.vjp(lambda y: y * xp.sin(y), x)[1])(X)
    result = adze.vmap(lambda pull, g: pull(g)[0])(pulls, np.ones(3))
    assert np.allclose(result, np.sin(X) + X * np.cos(X))


def test_pullbacks_are_residuals_of_rules_and_carries_of_loops() -> None:
    @adze.custom_vjp
    def f(x: Any) -> Any:
        return xp.sin(x)

    f.defvjp(lambda x: adze.vjp(xp.sin, x), lambda pull, g: pull(g))
    assert np.allclose(adze.grad(lambda x: f(x).sum())(X), np.cos(X))
    _, pull = adze.vjp(xp.sin, X)
    total, _ = lax.scan(lambda c, g: (c + pull(g * np.ones(3))[0], None), np.zeros(3), np.array([1.0, 2.0]))
    assert np.allclose(total, 3 * np.cos(X))


def test_pullbacks_leave_jit_and_enter_it() -> None:
    pull = adze.jit(lambda x: adze.vjp(xp.sin, x)[1])(X)
    assert np.allclose(pull(np.ones(3))[0], np.cos(X))
    assert np.allclose(adze.jit(lambda p, g: p(g)[0])(pull, np.ones(3)), np.cos(X))
    push = adze.jit(lambda x: adze.linearize(xp.sin, x)[1])(X)
    assert np.allclose(push(np.ones(3)), np.cos(X))


def test_error_of_two_cotangents() -> None:
    _, pull = adze.vjp(lambda x: (x, x), 1.0)
    text = text_of(lambda: pull(1.0, 1.0))
    assert text.startswith("a pullback takes one cotangent of the tree (*, *), got 2 arguments")
    assert text.endswith("hint: put them into one tree: pullback((a, b))")


# -- devices ---------------------------------------------------


def test_device_put_takes_a_device() -> None:
    for device in adze.devices()[:2]:
        placed = adze.device_put({"x": X, "none": None, "n": (2.0,)}, device)
        assert placed["none"] is None
        assert placed["x"].device == placed["n"][0].device
        assert placed["x"].to_device(device).device == placed["x"].device
    text = text_of(lambda: adze.device_put(X, 3))  # type: ignore[arg-type]
    assert text.startswith("device is int: 3, expected an entry of adze.devices() or its name")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("count", [3, 40000])
def test_other_arrays_of_every_dtype_and_size(dtype: str, count: int) -> None:
    weights = np.asarray(xp.asarray(np.arange(count) % 5, dtype))

    def f(x: Any, w: Any) -> Any:
        w = xp.asarray(w)
        return xp.real((x * w.astype("complex64" if dtype == "complex64" else "float32")).sum())

    gradient = adze.grad(f)(np.ones(count, np.float32), weights)
    assert np.array_equal(gradient, weights.real.astype(np.float32))
    filled = adze.grad(f)(np.ones(count, np.float32), np.ones_like(weights))
    assert np.array_equal(filled, np.ones(count))


def test_the_cotangent_of_a_linear_transpose_has_the_type_of_the_result() -> None:
    def transposed(x: Any) -> Any:
        return adze.linear_transpose(lambda y: 2 * y, x)(x)[0]

    assert adze.jit(transposed)(1.5).item() == 3
    pull = adze.linear_transpose(lambda y: 2 * y, X)
    assert "the cotangent of 'result 0' is f64[2], expected f64[3]" in text_of(lambda: pull(np.ones(2)))
