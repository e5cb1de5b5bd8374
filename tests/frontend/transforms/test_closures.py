"""`custom_gradient`, `closure_convert`, and arguments of custom rules that are left out by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

from ...selection import quick_first


@adze.custom_gradient
def scaled_square(x: Any) -> Any:
    return x**2, lambda g: (g * 3 * x,)


@adze.custom_gradient
def swapped_product(x: Any, y: Any) -> Any:
    return x * y, lambda g: (g * x, g * y)


def test_a_gradient_stands_beside_the_result() -> None:
    assert float(scaled_square(2.0)) == 4
    assert float(adze.grad(scaled_square)(2.0)) == 6
    assert float(adze.grad(adze.grad(scaled_square))(2.0)) == 3
    assert float(adze.jit(adze.grad(scaled_square))(2.0)) == 6


def test_a_gradient_of_two_arguments_under_vmap_and_jit() -> None:
    x, y = np.arange(3.0, dtype=np.float32), np.arange(3.0, 6.0, dtype=np.float32)
    transformed = adze.vmap(adze.grad(swapped_product, (0, 1)))
    for results in (transformed(x, y), adze.jit(transformed)(x, y)):
        np.testing.assert_array_equal(results[0], x)
        np.testing.assert_array_equal(results[1], y)


def test_one_cotangent_needs_no_tuple() -> None:
    doubled = adze.custom_gradient(lambda x: (x.sum(), lambda g: g * anp.full(x.shape, 7, x.dtype)))
    np.testing.assert_array_equal(adze.grad(doubled)(np.ones(3)), [7, 7, 7])


def test_a_function_without_a_gradient_beside_its_result_is_an_error() -> None:
    with pytest.raises(adze.AdzeError, match=r"custom_gradient: .* must return \(result, pullback\)"):
        adze.custom_gradient(lambda x: x * 2)(1.0)


@partial(adze.custom_vjp, nondiff_argnums=(0,))
def through(function: Any, x: Any, *values: Any) -> Any:
    return anp.cos(function(x, *values))


def forward(function: Any, x: Any, *values: Any) -> Any:
    return through(function, x, *values), (x, values)


def backward(function: Any, residuals: Any, cotangent: Any) -> Any:
    x, values = residuals
    return (17 * x, *(42 * v for v in values))


through.defvjp(forward, backward)


def solve(c: Any, s: Any, x: Any) -> Any:
    converted, values = adze.closure_convert(lambda x: anp.sum(s * (x - c) ** 2), x)
    return through(converted, x, *values)


@pytest.mark.parametrize("dtype", quick_first([np.float16, np.float32, np.float64], 1))
def test_outer_values_become_arguments_that_rules_differentiate(dtype: type) -> None:
    c, s, x = np.full(2, 2, dtype), np.full(2, 3, np.int32), np.ones(2, dtype)
    assert float(solve(c, s, x)) == pytest.approx(float(np.cos(6)), rel=1e-2)
    for derivative in (adze.grad(solve, (0, 2)), adze.jit(adze.grad(solve, (0, 2)))):
        by_c, by_x = derivative(c, s, x)
        assert by_c.dtype == by_x.dtype == dtype
        np.testing.assert_array_equal(by_c, 42 * c)
        np.testing.assert_array_equal(by_x, 17 * x)


def test_a_converted_function_takes_what_it_was_converted_at() -> None:
    converted, values = adze.closure_convert(lambda x: x["a"] * 2, {"a": 1.0})
    assert values == [] and float(converted({"a": 4.0})) == 8
    with pytest.raises(
        adze.AdzeError, match="The inputs to the closure produced by closure_convert"
    ) as caught:
        converted(4.0)
    assert f"\n  at {__file__}:" in str(caught.value)


def test_arguments_are_left_out_of_rules_by_name() -> None:
    @partial(adze.custom_jvp, nondiff_argnames=("f", "n"))
    def powered(x: Any, f: Any, n: int) -> Any:
        return f(x) ** n

    @powered.defjvp
    def rule(f: Any, n: int, primals: Any, tangents: Any) -> Any:
        return powered(primals[0], f, n), 100 * n * tangents[0]

    assert float(adze.grad(lambda x: powered(x, anp.sin, 3))(1.0)) == 300

    @partial(adze.custom_vjp, nondiff_argnums=(1,), nondiff_argnames=("n",))
    def pulled(x: Any, f: Any, n: int) -> Any:
        return f(x) ** n

    pulled.defvjp(lambda x, f, n: (f(x) ** n, x), lambda f, n, x, g: (g * n * 10,))
    assert float(adze.grad(lambda x: pulled(x, anp.sin, n=3))(1.0)) == 30


def test_a_result_that_a_rule_computes_from_the_tangent_is_an_error() -> None:
    @adze.custom_jvp
    def wrong(x: Any) -> Any:
        return anp.cos(x)

    @wrong.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return anp.cos(primals[0] * tangents[0]), tangents[0]

    for call in (adze.grad(wrong), adze.jit(adze.grad(wrong)), lambda x: adze.linearize(wrong, x)):
        with pytest.raises(adze.AdzeError, match=r"a result of .* depends on a tangent") as caught:
            call(1.0)
        assert f"\n  at {__file__}:" in str(caught.value)
    assert float(adze.jvp(wrong, (1.0,), (2.0,))[0]) == pytest.approx(np.cos(2))


def test_a_residual_that_is_a_python_number_yields_to_the_dtypes_of_arrays() -> None:
    @adze.custom_vjp
    def sine(x: Any, scale: Any) -> Any:
        return anp.sin(x) * scale

    sine.defvjp(lambda x, s: (sine(x, s), (x, s)), lambda r, g: (anp.cos(r[0]) * r[1] * g, None))
    x = np.ones(3, np.float16)
    for scaled in (
        adze.grad(lambda x: sine(x, 2.0).sum()),
        adze.jit(adze.grad(lambda x: sine(x, 2.0).sum())),
    ):
        assert scaled(x).dtype == np.float16
    assert adze.jit(lambda s: adze.grad(lambda x: sine(x, s).sum())(x))(2.0).dtype == np.float16


def test_a_forward_rule_whose_result_has_another_tree_is_an_error() -> None:
    @adze.custom_vjp
    def pair(x: Any) -> Any:
        return x, x

    for result in (lambda x: [x, x], lambda x: ((x,), x)):
        pair.defvjp(lambda x, result=result: (result(x), x), lambda x, g: (x,))
        with pytest.raises(adze.AdzeError, match="the fwd rule of pair returns a result of tree"):
            adze.grad(lambda x: pair(x)[1])(1.0)


def test_a_name_that_is_no_argument_is_an_error() -> None:
    with pytest.raises(adze.AdzeError, match="nondiff_argnames names 'g', which lambda has not"):
        adze.custom_jvp(lambda x, f: f(x), nondiff_argnames=("g",))
