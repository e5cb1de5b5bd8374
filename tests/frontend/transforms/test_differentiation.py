"""Derivatives as users call them: grad, jvp, vjp, linearize, Jacobians; their trees, nesting and errors.

All evaluated in NumPy except the last test, which compiles one module.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp

X = np.array([0.5, -1.5, 2.0])


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-14)


def gradient_text(function: Callable[..., Any], *args: Any) -> str:
    """The IR of the gradient of a function, simplified."""
    return adze.trace(adze.grad(function), *args).mlir("simplified")


def operations(text: str) -> list[str]:
    """The names of the ops in IR, constants and what makes constants larger left out."""
    names = re.findall(r'"adze\.(\w+)"', text)
    return sorted(n for n in names if n not in ("constant", "broadcast_in_dim"))


# -- grad ------------------------------------------------------------------------------------------------


def test_gradient_of_a_scalar_function() -> None:
    gradient = adze.grad(lambda x: xp.sum(x * x * x))(X)
    assert isinstance(gradient, adze.Array)
    same(gradient, 3 * X**2)


def test_gradient_takes_argnums() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return a * b * b * c

    args = (np.float64(2), np.float64(3), np.float64(5))
    same(adze.grad(f)(*args), 45)
    same(adze.grad(f, 1)(*args), 60)
    same(adze.grad(f, -1)(*args), 18)
    first, last = adze.grad(f, argnums=(0, 2))(*args)
    same(first, 45)
    same(last, 18)
    only = adze.grad(f, argnums=(1,))(*args)
    assert isinstance(only, tuple)
    same(only[0], 60)


def test_gradient_takes_argnames() -> None:
    def f(x: Any, *, scale: Any) -> Any:
        return x * scale * scale

    gradient, named = adze.grad(f, argnames="scale")(np.float64(3), scale=np.float64(2))
    same(gradient, 4)
    assert list(named) == ["scale"]
    same(named["scale"], 12)


def test_value_and_gradient_with_auxiliary_results() -> None:
    def loss(x: Any) -> Any:
        y = x * 2
        return xp.sum(y * y), {"y": y, "note": xp.sum(x)}

    (value, aux), gradient = adze.value_and_grad(loss, has_aux=True)(X)
    same(value, np.sum(4 * X * X))
    same(gradient, 8 * X)
    same(aux["y"], 2 * X)
    gradient, aux = adze.grad(loss, has_aux=True)(X)
    same(gradient, 8 * X)
    same(aux["note"], X.sum())


def test_integer_arguments_have_gradients_only_on_demand() -> None:
    def f(n: Any, x: Any) -> Any:
        return x * x * n

    gradient = adze.grad(f, argnums=(0, 1), allow_int=True)(np.int32(3), np.float64(2))
    assert gradient[0].dtype == np.bool_
    same(gradient[1], 12)


def test_holomorphic_derivative() -> None:
    z = np.complex128(0.3 - 0.4j)
    same(adze.grad(xp.exp, holomorphic=True)(z), np.exp(z))
    same(adze.grad(lambda z: xp.log(z) * z, holomorphic=True)(z), np.log(z) + 1)


@adze.tree_util.register_dataclass
@dataclass
class Layer:
    w: Any
    b: Any


def test_gradient_has_the_tree_of_the_argument() -> None:
    parameters = {"first": Layer(X, np.float64(2)), "rest": [X, None, (np.float64(1),)]}

    def f(p: Any) -> Any:
        return xp.sum(p["first"].w * p["rest"][0]) * p["first"].b + p["rest"][2][0]

    gradient = adze.grad(f)(parameters)
    assert isinstance(gradient["first"], Layer)
    assert gradient["rest"][1] is None
    same(gradient["first"].w, 2 * X)
    same(gradient["first"].b, (X * X).sum())
    same(gradient["rest"][2][0], 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_gradient_keeps_the_dtype(dtype: str) -> None:
    x = xp.asarray([1.0, 2.0], dtype=getattr(xp, dtype))
    gradient = adze.grad(lambda x: xp.sum(xp.tanh(x) * 2.0))(x)
    assert gradient.dtype == x.dtype


def test_argument_that_is_not_used_has_a_gradient_of_zeros() -> None:
    same(adze.grad(lambda x, y: y * 2.0)(X, np.float64(1)), np.zeros(3))
    same(adze.grad(lambda x: np.float64(3) * xp.sum(xp.floor(x)))(X), np.zeros(3))


# -- jvp, vjp, linearize -----------------------------------------------------------------------------------


def test_jvp_gives_value_and_tangent_in_the_tree_of_the_result() -> None:
    def f(x: Any, y: Any) -> Any:
        return {"product": x * y, "count": xp.asarray([1, 2])}

    value, tangent = adze.jvp(f, (X, 2 * X), (np.ones(3), np.zeros(3)))
    same(value["product"], 2 * X * X)
    same(tangent["product"], 2 * X)
    assert tangent["count"].dtype == np.bool_ and not np.any(np.asarray(tangent["count"]))


def test_jvp_with_auxiliary_results() -> None:
    value, tangent, aux = adze.jvp(lambda x: (x * x, x), (X,), (np.ones(3),), has_aux=True)
    same(value, X * X)
    same(tangent, 2 * X)
    same(aux, X)


def test_pullback_is_used_several_times() -> None:
    value, pull = adze.vjp(lambda x, y: xp.sin(x) * y, X, 2 * X)
    same(value, np.sin(X) * 2 * X)
    for seed in (np.ones(3), np.array([1.0, 0.0, 0.0])):
        to_x, to_y = pull(seed)
        same(to_x, np.cos(X) * 2 * X * seed)
        same(to_y, np.sin(X) * seed)


def test_vjp_with_auxiliary_results() -> None:
    value, pull, aux = adze.vjp(lambda x: (x * x, {"x": x}), X, has_aux=True)
    same(value, X * X)
    same(aux["x"], X)
    same(pull(np.ones(3))[0], 2 * X)


def test_pullback_is_made_and_used_inside_a_trace() -> None:
    def f(x: Any, ct: Any) -> Any:
        _, pull = adze.vjp(xp.sin, x)
        return pull(ct)[0] + pull(2 * ct)[0]

    traced = adze.trace(f, X, X).mlir("simplified")
    assert operations(traced).count("cos") == 1
    assert "sin" not in operations(traced)


def test_pullback_made_outside_is_used_inside_a_derivative() -> None:
    _, pull = adze.vjp(lambda x: x * x * x, X)
    same(adze.grad(lambda ct: xp.sum(pull(ct * ct)[0]))(X), 2 * X * 3 * X**2)


def test_linearized_function_is_linear_and_agrees_with_jvp() -> None:
    value, push = adze.linearize(lambda x: xp.exp(x) * x, X)
    same(value, np.exp(X) * X)
    dx = np.array([1.0, -2.0, 0.5])
    same(push(dx), (X + 1) * np.exp(X) * dx)
    same(push(3 * dx), 3 * np.asarray(push(dx)))


def test_transpose_of_a_linear_function() -> None:
    pull = adze.linear_transpose(lambda x: xp.stack([x[0] + x[1], 3 * x[2]]), X)
    same(pull(np.array([5.0, 7.0]))[0], [5, 5, 21])


# -- Jacobians -----------------------------------------------------------------------------------------


def test_jacobians_by_columns_and_by_rows() -> None:
    def f(x: Any) -> Any:
        return xp.stack([x[0] * x[1], xp.sin(x[2])])

    expected = [[X[1], X[0], 0], [0, 0, np.cos(X[2])]]
    same(adze.jacfwd(f)(X), expected)
    same(adze.jacrev(f)(X), expected)
    same(adze.jacobian(f)(X), expected)


def test_jacobian_of_trees_of_matrices() -> None:
    a = np.arange(6.0).reshape(2, 3)

    def f(p: Any) -> Any:
        return {"y": p["a"] * p["s"]}

    for jacobian in (adze.jacfwd, adze.jacrev):
        result = jacobian(f)({"a": a, "s": np.float64(2)})["y"]
        assert result["a"].shape == (2, 3, 2, 3)
        same(result["a"], 2 * np.eye(6).reshape(2, 3, 2, 3))
        same(result["s"], a)


def test_hessian_and_its_products() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 2 * x[1] + xp.exp(x[2])

    expected = np.array([[2 * X[1], 2 * X[0], 0], [2 * X[0], 0, 0], [0, 0, np.exp(X[2])]])
    same(adze.hessian(f)(X), expected)
    v = np.array([1.0, 2.0, 3.0])
    same(adze.hvp(f, (X,), (v,)), expected @ v)


def test_gradients_are_checked() -> None:
    adze.check_grads(lambda x: xp.sum(xp.sin(x) * x), (X,), order=3)

    @adze.custom_jvp
    def wrong(x: Any) -> Any:
        return x * x

    wrong.defjvp(lambda primals, tangents: (primals[0] * primals[0], tangents[0]))
    with pytest.raises(AssertionError, match="jvp of order 1 differs from central differences"):
        adze.check_grads(lambda x: wrong(x), (X,))


# -- nesting -------------------------------------------------------------------------------------------


def test_higher_derivatives() -> None:
    f = xp.sin
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        f = adze.grad(f)
        same(f(np.float64(0.7)), expected(0.7))


@pytest.mark.each_value
@pytest.mark.parametrize(
    "inner", ["grad", "jvp", "vjp", "jacfwd", "jacrev", "linearize", "jit(grad)", "grad(jit)"]
)
@pytest.mark.parametrize("outer", ["grad", "jvp", "vjp", "jacfwd", "jacrev", "linearize"])
def test_modes_nest_in_any_order(outer: str, inner: str) -> None:
    def f(x: Any) -> Any:
        return xp.exp(x) * x * x

    second = {
        "grad": lambda g: adze.grad(g),
        "jvp": lambda g: lambda x: adze.jvp(g, (x,), (xp.ones_like(x),))[1],
        "vjp": lambda g: lambda x: adze.vjp(g, x)[1](xp.ones_like(x))[0],
        "jacfwd": lambda g: adze.jacfwd(g),
        "jacrev": lambda g: adze.jacrev(g),
        "linearize": lambda g: lambda x: adze.linearize(g, x)[1](xp.ones_like(x)),
        "jit(grad)": lambda g: adze.jit(adze.grad(g)),
        "grad(jit)": lambda g: adze.grad(adze.jit(g)),
    }
    x = np.float64(0.3)
    same(second[outer](second[inner](f))(x), np.exp(x) * (x * x + 4 * x + 2))


def test_perturbations_are_not_confused() -> None:
    """Siskind and Pearlmutter (2008): `d/dx (x * d/dy (x + y))` at 1 is 1, not 2."""
    one = np.float64(1)
    inner = lambda x: x * adze.grad(lambda y: x + y)(one)  # noqa: E731
    same(adze.grad(inner)(one), 1)

    def push(function: Any) -> Any:
        return lambda x: adze.jvp(function, (x,), (one,))[1]

    same(push(lambda x: x * push(lambda y: x + y)(one))(one), 1)
    same(adze.grad(lambda x: x * push(lambda y: x * y)(one))(np.float64(3)), 6)
    same(push(lambda x: x * adze.grad(lambda y: x * y * y)(x))(np.float64(3)), 54)


def test_inner_derivative_depends_on_an_outer_variable() -> None:
    def outer(x: Any) -> Any:
        return adze.grad(lambda y: xp.sin(x * y))(np.float64(2))

    x = 0.4
    same(adze.grad(outer)(np.float64(x)), np.cos(2 * x) - 2 * x * np.sin(2 * x))


def test_closure_over_an_outer_tracer_gets_its_gradient() -> None:
    def f(x: Any) -> Any:
        y = x * x
        inner = adze.jit(lambda z: z * y)
        return xp.sum(inner(xp.sin(x)))

    same(adze.grad(f)(X), 2 * X * np.sin(X) + X**2 * np.cos(X))


def test_stop_gradient_is_constant_for_every_order() -> None:
    def f(x: Any) -> Any:
        return x * x * adze.stop_gradient(x)

    x = np.float64(3)
    same(f(x), 27)
    same(adze.grad(f)(x), 18)
    same(adze.grad(adze.grad(f))(x), 6)
    tree = adze.stop_gradient({"a": X, "n": np.int32(2)})
    same(tree["a"], X)


def test_derivative_through_python_control_flow() -> None:
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    same(adze.grad(lambda x: power(x, 5))(np.float64(2)), 80)


def test_gradient_under_dynamic_shapes() -> None:
    def f(x: Any) -> Any:
        return xp.sum(xp.tanh(x) * x)

    traced = adze.trace(adze.grad(f), adze.ShapeDtype(("n",), np.float64))
    assert "tensor<?xf64>" in traced.mlir("simplified")


# -- what the gradient is made of -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(lambda x: xp.sin(x), ["cos"], id="sin"),
        pytest.param(lambda x: x * x, ["mul"], id="square"),
        pytest.param(lambda x: xp.exp(x), ["exp"], id="exp"),
        pytest.param(lambda x: xp.sin(xp.exp(x)), ["cos", "exp", "mul"], id="chain"),
        pytest.param(lambda x: xp.tanh(x), ["add", "mul", "sub", "tanh"], id="tanh"),
        pytest.param(lambda x: xp.floor(x) + x, [], id="zero tangents are no arrays"),
        pytest.param(lambda x: 3.0 * x + 1.0, [], id="affine"),
        pytest.param(lambda x: xp.negative(-x), [], id="negation of a negation"),
        pytest.param(lambda x: adze.stop_gradient(xp.exp(x)) + x, [], id="stopped"),
    ],
)
def test_scalar_gradient_has_the_ops_that_a_person_would_write(function: Any, expected: list[str]) -> None:
    assert operations(gradient_text(function, np.float64(1))) == expected


def test_gradient_of_a_sum_of_squares_is_one_product() -> None:
    assert operations(gradient_text(lambda x: xp.sum(x * x), X)) == ["mul"]
    assert operations(gradient_text(lambda x: xp.sum(x * 2.0), X)) == []


def test_movement_is_undone_in_the_gradient() -> None:
    def f(x: Any) -> Any:
        return xp.sum(xp.reshape(xp.transpose(xp.reshape(x, (2, 300))), (600,)) * np.arange(600.0))

    assert operations(gradient_text(f, np.arange(600.0))) == ["reshape", "reshape", "transpose"]


# -- errors ------------------------------------------------------------------------------------------------


def pair(x: Any) -> Any:
    return xp.sum(x), x


def test_error_of_a_result_that_is_no_scalar() -> None:
    with pytest.raises(AdzeError) as caught:
        adze.grad(lambda x: x * 2)(X)
    assert caught.value.message == "grad needs a scalar, lambda returns f64[3]"
    assert caught.value.hint == "reduce it (.sum(), .mean()), or use jacrev, jacfwd or vjp"
    assert caught.value.where is not None and "test_differentiation.py" in caught.value.where


def test_error_of_an_integer_argument() -> None:
    with pytest.raises(AdzeError) as caught:
        adze.grad(lambda n: n * 2.0)(np.int32(3))
    assert caught.value.message == "grad with respect to 'n': it is i32[], and integers have no gradient"
    assert "allow_int=True" in str(caught.value.hint)


def test_error_of_an_integer_result() -> None:
    with pytest.raises(AdzeError, match=r"grad needs a real float, lambda returns i64\[\]"):
        adze.grad(lambda x: xp.sum(xp.astype(x, xp.int32)))(X)


def test_error_of_a_complex_result() -> None:
    with pytest.raises(AdzeError, match="grad needs a real float, exp returns c128") as caught:
        adze.grad(xp.exp)(np.complex128(1))
    assert caught.value.hint == "return a real part or an absolute value, or pass holomorphic=True"
    with pytest.raises(AdzeError, match=r"grad\(holomorphic=True\) needs complex arguments, 'x' is f64"):
        adze.grad(xp.exp, holomorphic=True)(np.float64(1))


def test_error_of_a_wrong_argnum() -> None:
    with pytest.raises(AdzeError, match=r"argnums names argument 2, pair was called with 1 arguments"):
        adze.grad(pair, 2)(X)
    with pytest.raises(AdzeError, match=r"argnums names argument 1, pair was called with 1 arguments"):
        adze.jacrev(pair, 1)(X)
    with pytest.raises(AdzeError, match="argnames names 'scale', which pair was not called with"):
        adze.grad(pair, argnames="scale")(X)


def test_error_of_auxiliary_results_without_has_aux() -> None:
    with pytest.raises(AdzeError) as caught:
        adze.grad(pair)(X)
    assert caught.value.message == "grad needs a function that returns one scalar, pair returns (*, *)"
    assert caught.value.hint == "it returns a pair: pass has_aux=True for (loss, extra results)"


def test_error_of_has_aux_without_auxiliary_results() -> None:
    with pytest.raises(
        AdzeError, match=r"with has_aux=True lambda must return a pair \(result, aux\), it returns \*"
    ):
        adze.grad(lambda x: xp.sum(x), has_aux=True)(X)


def test_error_of_a_missing_rule_names_op_line_and_way_out() -> None:
    with pytest.raises(AdzeError) as caught:
        adze.grad(lambda x: xp.sum(lax.nextafter(x, 2 * x)))(X)
    assert caught.value.message.startswith("'nextafter' cannot be differentiated: ")
    assert caught.value.where is not None and "test_differentiation.py" in caught.value.where
    assert "adze.custom_vjp" in str(caught.value.hint)


def test_error_of_transposing_what_is_not_linear() -> None:
    with pytest.raises(
        AdzeError, match="'sin' cannot be transposed: it is not linear in its operands"
    ) as caught:
        adze.linear_transpose(xp.sin, X)(X)
    assert caught.value.where is not None and "test_differentiation.py" in caught.value.where
    with pytest.raises(
        AdzeError, match="'mul' cannot be transposed: it is not linear in these operands together"
    ):
        adze.linear_transpose(lambda x: x * x, X)(X)


@pytest.mark.parametrize(
    ("tangents", "message"),
    [
        ((X, X), "tangents have the tree ((*, *), {}), primals ((*,), {})"),
        ((np.ones(2),), "the tangent of 'x' is f64[2], expected f64[3]"),
        ((np.ones(3, np.float32),), "the tangent of 'x' is f32[3], expected f64[3]"),
    ],
)
def test_error_of_a_tangent_that_does_not_fit(tangents: Any, message: str) -> None:
    with pytest.raises(AdzeError) as caught:
        adze.jvp(lambda x: x * x, (X,), tangents)
    assert caught.value.message == message


def test_error_of_primals_that_are_no_tuple() -> None:
    with pytest.raises(AdzeError, match="jvp takes tuples of primals and tangents, got ndarray and ndarray"):
        adze.jvp(xp.sin, X, X)


def test_error_of_a_cotangent_that_does_not_fit() -> None:
    _, pull = adze.vjp(lambda x: {"y": x}, X)
    with pytest.raises(AdzeError, match=r"the cotangent has the tree \*, the result \{'y': \*\}"):
        pull(X)
    with pytest.raises(AdzeError, match=r"the cotangent of 'result 0' is f64\[2\], expected f64\[3\]"):
        pull({"y": np.ones(2)})


# -- compiled ------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_compiled_derivatives_are_the_evaluated_ones() -> None:
    def f(x: Any, w: Any) -> Any:
        return xp.mean(xp.tanh(x * w) ** 2) + xp.max(x)

    def everything(x: Any, w: Any) -> Any:
        value, gradient = adze.value_and_grad(f, argnums=(0, 1))(x, w)
        per_element = adze.vmap(adze.grad(lambda a: xp.sin(a) * a))(x)
        return value, gradient, adze.hessian(f)(x, w), per_element

    for actual, expected in zip(
        adze.tree.leaves(adze.jit(everything)(X, X[::-1].copy())),
        adze.tree.leaves(everything(X, X[::-1].copy())),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-11, atol=1e-13)


def test_a_pullback_shows_what_it_keeps_of_arguments() -> None:
    def f(p: Any, x: Any, n: Any) -> Any:
        return xp.sin(p["a"]) * x + p["b"] + n

    args = {"a": np.float32([1, 2]), "b": np.float32([3, 4])}, np.float32([5, 6]), np.float32([7, 8])
    value, pullback = adze.vjp(f, *args)
    first, x, n = pullback.args_res
    assert repr(first) == "{'a': NotNeeded(), 'b': NotNeeded()}" and repr(n) == "NotNeeded()"
    assert x.tolist() == [5.0, 6.0] and len(pullback.opaque_residuals) == 2
    assert len(adze.tree.leaves(pullback)) == 3
    slopes = pullback(value)
    # Other arrays take the place of those that were kept.
    pullback.args_res[1] = np.float32([10, 12])
    assert np.allclose(pullback(value)[0]["a"], 2 * slopes[0]["a"])
    other = pullback.replace(args_res=[first, np.float32([5, 6]), n])
    assert np.allclose(other(value)[0]["a"], slopes[0]["a"])
    # It leaves jit, and enters it again, as a tree.
    value, kept = adze.jit(lambda *args: adze.vjp(f, *args))(*args)
    assert kept.args_res[1].tolist() == [5.0, 6.0]
    assert np.allclose(adze.jit(lambda pull, y: pull(y))(kept, value)[1], slopes[1])
    pullback.args_res[1] = np.float32([1, 2, 3])
    with pytest.raises(
        adze.AdzeError, match=r"needs the leaf 2 of its arguments, f32\[2\]: args_res has f32\[3\]"
    ):
        pullback(value)
    with pytest.raises(adze.AdzeError, match="a pullback has no residuals"):
        pullback.replace(residuals=[])


def test_infinite_python_numbers_are_differentiated_as_they_are() -> None:
    """Such a number has no bits beyond float32 that the function could need."""
    for x in (np.inf, -np.inf):
        assert [float(v) for v in adze.jvp(lambda x: x * x, (x,), (1.0,))] == [np.inf, 2 * x]
        assert float(adze.grad(lambda x: x * x)(x)) == 2 * x
        assert float(adze.jit(adze.grad(xp.square))(x)) == 2 * x
    assert np.isnan(adze.grad(lambda x: x * x)(np.nan))
    assert complex(adze.jvp(lambda z: z + 1, (complex(np.inf, 0),), (1 + 0j,))[0]).real == np.inf
    assert float(adze.grad(lambda x: x * np.float64(1))(0.1)) == 1
    assert float(adze.value_and_grad(lambda x: x * np.float64(1))(0.1)[0]) == 0.1
