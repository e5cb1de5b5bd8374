"""Derivatives that the user states, and what a backward pass keeps: custom_jvp, custom_vjp, checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp
from adze.frontend.tracing.interpreter import as_value, ops

X = np.array([0.5, -1.5, 2.0])
ONE = np.float64(1)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-14)


def count(text: str, op: str) -> int:
    return len(re.findall(rf'"adze\.{op}"', text))


def sine_with_slope(factor: float) -> Any:
    """sin, whose derivative is said to be `factor * cos`."""

    @adze.custom_jvp
    def sine(x: Any) -> Any:
        return xp.sin(x)

    @sine.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return sine(x), factor * xp.cos(x) * dx

    return sine


def sine_with_pullback(factor: float) -> Any:
    @adze.custom_vjp
    def sine(x: Any) -> Any:
        return xp.sin(x)

    sine.defvjp(lambda x: (sine(x), xp.cos(x)), lambda cosine, ct: (factor * cosine * ct,))
    return sine


BOTH = pytest.mark.parametrize("make", [sine_with_slope, sine_with_pullback])


# -- what both have in common ------------------------------------------------------------------------------


@BOTH
def test_value_is_the_function_itself(make: Callable[[float], Any]) -> None:
    same(make(3.0)(X), np.sin(X))
    same(adze.vmap(make(3.0))(X), np.sin(X))


@BOTH
def test_stated_derivative_is_used_by_every_transform(make: Callable[[float], Any]) -> None:
    f = make(3.0)
    expected = 3 * np.cos(X)
    same(adze.grad(lambda x: xp.sum(f(x)))(X), expected)
    same(adze.jvp(f, (X,), (np.ones(3),))[1], expected)
    same(adze.vjp(f, X)[1](np.ones(3))[0], expected)
    same(adze.linearize(f, X)[1](np.ones(3)), expected)
    same(adze.vmap(adze.grad(f))(X), expected)
    same(adze.grad(lambda x: xp.sum(adze.vmap(f)(x)))(X), expected)
    same(adze.jacfwd(f)(X), np.diag(expected))
    same(adze.jacrev(f)(X), np.diag(expected))
    same(adze.grad(adze.jit(lambda x: f(x) * 1.0))(np.float64(0.5)), expected[0])


@BOTH
def test_second_derivative_differentiates_the_rule(make: Callable[[float], Any]) -> None:
    f = make(3.0)
    same(adze.grad(adze.grad(f))(np.float64(0.5)), -3 * np.sin(0.5))
    same(adze.hessian(lambda x: xp.sum(f(x)))(X), np.diag(-3 * np.sin(X)))
    same(adze.vmap(adze.grad(adze.grad(f)))(X), -3 * np.sin(X))


@BOTH
def test_call_in_a_program_keeps_the_rule_until_it_is_differentiated(make: Callable[[float], Any]) -> None:
    f = make(3.0)
    text = adze.trace(f, X).mlir().split("func.func private")[0]
    assert count(text, "custom_jvp_call") + count(text, "custom_vjp_call") == 1
    simplified = adze.trace(f, X).mlir("simplified")
    assert count(simplified, "sin") == 1 and count(simplified, "cos") == 0


@BOTH
def test_function_is_traced_once_for_many_calls(make: Callable[[float], Any]) -> None:
    f = make(3.0)
    gradient = adze.grad(lambda x: f(f(f(x))))(ONE)
    inner, outer = np.sin(1.0), np.sin(np.sin(1.0))
    same(gradient, 27 * np.cos(1.0) * np.cos(inner) * np.cos(outer))


# -- custom_jvp ------------------------------------------------------------------------------------------


def test_rules_one_for_each_argument() -> None:
    @adze.custom_jvp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defjvps(lambda dx, z, x, y: 5 * dx * y, None)
    same(adze.grad(product, argnums=(0, 1))(np.float64(2), np.float64(3)), [15, 0])


def test_arguments_that_are_not_differentiated_come_first() -> None:
    def apply(function: Any, x: Any, power: int) -> Any:
        return function(x) ** power

    f = adze.custom_jvp(apply, nondiff_argnums=(0, 2))

    @f.defjvp
    def rule(function: Any, power: int, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return apply(function, x, power), dx * power

    same(adze.grad(lambda x: f(xp.sin, x, 7))(ONE), 7)
    same(adze.grad(lambda x: f(xp.sin, x, power=2))(ONE), 2)


def test_rule_closes_over_an_outer_tracer() -> None:
    def outer(x: Any, scale: Any) -> Any:
        @adze.custom_jvp
        def f(y: Any) -> Any:
            return y * scale

        f.defjvp(lambda primals, tangents: (f(primals[0]), 10 * tangents[0] * scale))
        return f(x)

    same(adze.grad(outer)(np.float64(2), np.float64(3)), 30)
    same(adze.vmap(adze.grad(outer), (0, None))(X, np.float64(3)), np.full(3, 30))


def test_trees_go_through_custom_rules() -> None:
    @adze.custom_jvp
    def f(p: Any) -> Any:
        return {"y": p["a"] * p["b"][0]}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (p,), (dp,) = primals, tangents
        return {"y": p["a"] * p["b"][0]}, {"y": 2 * dp["a"] + 3 * dp["b"][0]}

    gradient = adze.grad(lambda p: f(p)["y"])({"a": ONE, "b": (ONE,)})
    same(gradient["a"], 2)
    same(gradient["b"][0], 3)


# -- custom_vjp ------------------------------------------------------------------------------------------


def test_pullback_clips_the_gradient() -> None:
    @adze.custom_vjp
    def clipped(x: Any) -> Any:
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, ct: (xp.clip(ct, -1.0, 1.0),))
    same(adze.grad(lambda x: xp.sum(clipped(x) * np.array([5.0, 0.5, -7.0])))(X), [1, 0.5, -1])


def test_pullback_of_an_argument_without_effect_is_none() -> None:
    @adze.custom_vjp
    def f(x: Any, n: Any) -> Any:
        return x * n

    f.defvjp(lambda x, n: (x * n, n), lambda n, ct: (ct * n * 2, None))
    same(adze.grad(f)(ONE, np.int32(4)), 8)
    same(adze.grad(f, argnums=(0, 1))(ONE, np.float64(4)), [8, 0])


def test_pullback_gets_arguments_that_are_not_differentiated_first() -> None:
    f = adze.custom_vjp(lambda x, how: x, nondiff_argnums=(1,))
    f.defvjp(lambda x, how: (x, None), lambda how, _, ct: (ct * len(how),))
    same(adze.grad(lambda x: f(x, "four"))(ONE), 4)


def test_pullback_may_ask_for_symbolic_zeros_and_for_remat() -> None:
    f = adze.custom_vjp(lambda x, y, how: x * y, nondiff_argnames="how")

    def fwd(x: Any, y: Any, how: str) -> Any:
        assert x.perturbed and how == "four"
        return x.value * y["a"].value, (x.value, y["a"].value)

    f.defvjp(
        lambda x, y, how: fwd(x, {"a": y}, how),
        lambda how, r, ct: (ct * r[1] * len(how), None),
        symbolic_zeros=True,
        optimize_remat=True,
    )
    same(adze.grad(lambda x: f(x, np.float64(3), how="four"))(ONE), 12)


def test_defaults_of_keyword_only_arguments_stay() -> None:
    f = adze.custom_jvp(partial(lambda x, y: x * y, y=2.0))
    f.defjvp(lambda p, t: (f(*p), t[0] * 7), symbolic_zeros=True)
    same(f(ONE), 2)
    same(adze.grad(f)(ONE), 7)


def test_pullback_closes_over_an_outer_tracer() -> None:
    def outer(x: Any, scale: Any) -> Any:
        f = adze.custom_vjp(lambda y: y * 2)
        f.defvjp(lambda y: (y * 2, y), lambda y, ct: (ct * scale * y,))
        return f(x)

    same(adze.grad(outer)(np.float64(2), np.float64(3)), 6)


def test_implicit_function_is_differentiated_by_its_pullback() -> None:
    """A root by Newton's method: its gradient needs no steps."""

    @adze.custom_vjp
    def root(a: Any) -> Any:
        x = a
        for _ in range(40):
            x = 0.5 * (x + a / x)
        return x

    root.defvjp(lambda a: (root(a), root(a)), lambda x, ct: (0.5 * ct / x,))
    same(adze.grad(root)(np.float64(9)), 1 / 6)
    same(adze.vmap(adze.grad(root))(np.array([4.0, 16.0])), [1 / 4, 1 / 8])


def test_forward_mode_transposes_the_pullback() -> None:
    f = sine_with_pullback(3.0)
    same(adze.jvp(f, (X,), (X,))[1], 3 * np.cos(X) * X)


def test_error_of_forward_mode_where_the_pullback_cannot_be_transposed() -> None:
    f = adze.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (xp.clip(ct, -1.0, 1.0),))
    with pytest.raises(AdzeError, match="'min' cannot be transposed: it is not linear in its operands"):
        adze.jvp(f, (X,), (X,))
    same(adze.grad(lambda x: xp.sum(f(x)))(X), np.ones(3))


# -- errors ------------------------------------------------------------------------------------------------


def check(call: Callable[[], Any], message: str, hint: str | None = None) -> None:
    with pytest.raises(AdzeError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.where is not None and "test_custom_derivatives.py" in caught.value.where
    if hint is not None:
        assert caught.value.hint == hint


def identity(x: Any) -> Any:
    return x


def test_error_of_a_missing_rule() -> None:
    check(
        lambda: adze.grad(adze.custom_jvp(identity))(ONE),
        "custom_jvp function identity has no rule",
        "define one: @f.defjvp",
    )
    check(
        lambda: adze.grad(adze.custom_vjp(identity))(ONE),
        "custom_vjp function identity has no rules",
        "define them: f.defvjp(fwd, bwd)",
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda p, t: p[0], "the jvp rule of identity must return (result, tangent), it returns *"),
        (
            lambda p, t: (p[0], (t[0], t[0])),
            "the jvp rule of identity returns a tangent of tree (*, *) for a result of tree *",
        ),
        (
            lambda p, t: (p[0], xp.astype(t[0], xp.float32)),
            "the jvp rule of identity returns results and tangents of types f64[], f32[], "
            "expected twice f64[]",
        ),
    ],
)
def test_error_of_a_jvp_rule_that_does_not_fit(rule: Any, message: str) -> None:
    f = adze.custom_jvp(identity)
    f.defjvp(rule)
    check(lambda: adze.grad(f)(ONE), message)


@pytest.mark.parametrize(
    ("fwd", "bwd", "message"),
    [
        (lambda x: x, None, "the fwd rule of identity must return (result, residuals), it returns *"),
        (
            lambda x: (xp.stack([x, x]), None),
            lambda r, ct: (ct,),
            "the fwd rule of identity returns results of types f64[2], the function f64[]",
        ),
        (
            lambda x: (x, None),
            lambda r, ct: ct,
            "the bwd rule of identity must return a tuple of 1 cotangents, one for each argument, "
            "it returns *",
        ),
        (
            lambda x: (x, None),
            lambda r, ct: ({"x": ct},),
            "the bwd rule of identity returns for argument 0 a cotangent of tree {'x': *}, expected *",
        ),
        (
            lambda x: (x, None),
            lambda r, ct: (xp.stack([ct, ct]),),
            "the bwd rule of identity returns for argument 0 a cotangent of type f64[2], expected f64[]",
        ),
    ],
)
def test_error_of_a_pullback_that_does_not_fit(fwd: Any, bwd: Any, message: str) -> None:
    f = adze.custom_vjp(identity)
    f.defvjp(fwd, bwd)
    check(lambda: adze.grad(f)(ONE), message)


def test_error_of_arguments_that_do_not_fit() -> None:
    check(
        lambda: adze.custom_jvp(identity, nondiff_argnames=["mode"]),
        "nondiff_argnames names 'mode', which identity has not: it has x",
    )
    check(lambda: adze.custom_jvp(identity)(1, 2), "identity(): too many positional arguments")
    keyword_only = adze.custom_jvp(lambda x, *, y: x)
    check(lambda: keyword_only(1, y=2), "lambda() has keyword-only arguments, which custom rules cannot take")


@pytest.mark.parametrize("fails", ["fwd", "bwd"])
def test_an_exception_of_a_rule_is_the_users_own(fails: str) -> None:
    """Also of the first of two rules: the other one has not been traced then."""

    def raising(*_: Any) -> Any:
        raise RuntimeError(f"{fails} is not written yet")

    f = adze.custom_vjp(lambda x: x * x)
    f.defvjp(
        raising if fails == "fwd" else lambda x: (x * x, x),
        raising if fails == "bwd" else lambda x, ct: (2 * x * ct,),
    )
    same(adze.jit(lambda x: f(x) + 1)(np.float64(3)), 10)
    for differentiated in (adze.grad(f), adze.jit(adze.grad(lambda x: f(x) + x))):
        with pytest.raises(RuntimeError, match=f"{fails} is not written yet"):
            differentiated(np.float64(3))


def test_a_rule_of_other_arguments_is_named_by_python() -> None:
    f = adze.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x: (x, x), lambda x, ct: (ct,))
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        adze.grad(f)(np.float64(3), np.float64(2))


def test_an_exception_of_a_rule_is_raised_where_it_is_differentiated() -> None:
    @adze.custom_jvp
    def fixed(x: Any) -> Any:
        return x * 2

    @fixed.defjvp
    def never(primals: Any, tangents: Any) -> Any:
        raise RuntimeError("not by this argument")

    same(adze.jit(fixed)(X), X * 2)
    same(adze.jit(adze.vmap(fixed))(X), X * 2)
    with pytest.raises(RuntimeError, match="not by this argument"):
        adze.grad(lambda x: fixed(x).sum())(X)
    with pytest.raises(RuntimeError, match="not by this argument"):
        adze.jit(lambda x: adze.jvp(fixed, (x,), (x,)))(X)


def test_keywords_may_skip_arguments_with_defaults() -> None:
    @partial(adze.custom_jvp, nondiff_argnums=(1, 2))
    def power(x: Any, exponent: int = 2, factor: float = 1.0) -> Any:
        return factor * x**exponent

    power.defjvp(lambda exponent, factor, p, t: (power(*p, exponent, factor), 7 * t[0]))
    assert float(power(3.0, factor=2.0)) == 18.0
    assert float(adze.grad(lambda x: power(x, factor=2.0))(3.0)) == 7.0


# -- checkpoint ------------------------------------------------------------------------------------------


def layers(x: Any) -> Any:
    return xp.exp(xp.sin(xp.exp(xp.sin(x))))


POLICIES = adze.checkpoint_policies


@pytest.mark.parametrize(
    "policy",
    [
        POLICIES.nothing_saveable,
        POLICIES.everything_saveable,
        POLICIES.dots_saveable,
        POLICIES.dots_with_no_batch_dims_saveable,
        POLICIES.save_only_these_names("a"),
        POLICIES.save_any_names_but_these("a"),
        POLICIES.save_anything_except_these_names("a"),
    ],
)
def test_checkpoint_changes_no_value_and_no_derivative(policy: Any) -> None:
    f = adze.checkpoint(layers, policy=policy)
    x = np.float64(0.3)
    same(f(x), layers(x))
    same(adze.grad(f)(x), adze.grad(layers)(x))
    same(adze.grad(adze.grad(f))(x), adze.grad(adze.grad(layers))(x))
    same(adze.jvp(f, (x,), (ONE,))[1], adze.grad(layers)(x))
    same(adze.vmap(adze.grad(f))(X), adze.vmap(adze.grad(layers))(X))


def test_checkpoint_computes_again_what_it_does_not_keep() -> None:
    def gradient(policy: Any) -> str:
        f = adze.checkpoint(layers, policy=policy)
        return adze.trace(adze.value_and_grad(f), np.float64(0.3)).mlir("simplified")

    plain = adze.trace(adze.value_and_grad(layers), np.float64(0.3)).mlir("simplified")
    assert (count(plain, "exp"), count(plain, "sin")) == (2, 2)
    everything = gradient(POLICIES.everything_saveable)
    assert (count(everything, "exp"), count(everything, "sin")) == (2, 2)
    nothing = gradient(POLICIES.nothing_saveable)
    assert count(nothing, "exp") == 4 and count(nothing, "optimization_barrier") == 1


def test_checkpoint_keeps_products_without_batches() -> None:
    def f(x: Any, w: Any) -> Any:
        rows = xp.sin(x @ w).reshape(2, 2, 2)
        return xp.sum(xp.tanh(xp.matmul(xp.exp(rows), rows)))

    def products(policy: Any) -> int:
        gradient = adze.value_and_grad(adze.checkpoint(f, policy=policy), argnums=1)
        return count(adze.trace(gradient, np.ones((2, 4)), np.ones((4, 4))).mlir("simplified"), "dot_general")

    assert products(POLICIES.dots_saveable) == 5  # two forward, three backward
    assert products(POLICIES.dots_with_no_batch_dims_saveable) == 6
    assert products(POLICIES.nothing_saveable) == 7


def test_checkpoint_keeps_named_values() -> None:
    def f(x: Any) -> Any:
        y = adze.checkpoint_name(xp.exp(x), "kept")
        return xp.sin(xp.tanh(y) * y)

    def gradient(policy: Any) -> str:
        return adze.trace(adze.value_and_grad(adze.checkpoint(f, policy=policy)), ONE).mlir("simplified")

    kept = gradient(POLICIES.save_only_these_names("kept"))
    assert count(kept, "exp") == 1 and count(kept, "tanh") == 2
    assert count(gradient(POLICIES.save_only_these_names("other")), "exp") == 2
    others = gradient(POLICIES.save_any_names_but_these("other"))
    assert (count(others, "exp"), count(others, "tanh")) == (1, 2)
    assert count(gradient(POLICIES.save_any_names_but_these("kept")), "exp") == 2
    assert count(gradient(POLICIES.save_anything_except_these_names("kept")), "tanh") == 1


def test_checkpoint_closes_over_an_outer_tracer() -> None:
    def f(x: Any, w: Any) -> Any:
        return adze.checkpoint(lambda y: xp.sin(y * w))(x)

    same(adze.grad(f, argnums=(0, 1))(ONE, np.float64(2)), [2 * np.cos(2), np.cos(2)])


def test_what_checkpoint_computes_again_has_its_effects_once(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(x: Any) -> Any:
        ops.print(as_value(x), format="seen {}")
        return x + 1

    @adze.checkpoint
    def f(x: Any) -> Any:
        ops.print(as_value(x), format="given {}")
        return xp.sin(lax.cond(x > 0, shown, lambda x: x, xp.exp(x))) * x

    for transformed in (adze.grad(f), adze.grad(adze.grad(f)), lambda x: adze.jvp(f, (x,), (x,))):
        transformed(np.float64(0))
        assert capsys.readouterr().out.split() == ["given", "0.0"]
        transformed(np.float64(1))
        assert capsys.readouterr().out.split() == ["given", "1.0", "seen", str(np.exp(1.0))]


def test_checkpoint_is_a_decorator_with_a_policy() -> None:
    @adze.checkpoint(policy=POLICIES.everything_saveable)
    def f(x: Any) -> Any:
        return x * x

    same(adze.grad(f)(np.float64(3)), 6)
    check(
        lambda: adze.checkpoint(layers, policy="dots"),  # type: ignore[arg-type]
        "checkpoint policy 'dots' is not one of adze.checkpoint_policies",
        "such as adze.checkpoint_policies.dots_saveable",
    )


@BOTH
def test_stated_derivative_under_dynamic_shapes(make: Callable[[float], Any]) -> None:
    f = make(3.0)
    spec = adze.ShapeDtype(("n", 2), np.float64)

    def both(x: Any) -> Any:
        reverse = adze.grad(lambda x: xp.sum(f(x) * x))(x)
        return reverse + adze.jvp(f, (x,), (x,))[1] + adze.vmap(adze.grad(lambda v: xp.sum(f(v))))(x)

    compiled = adze.jit(both).trace(spec).lower().compile()
    for n in (1, 3):
        x = np.linspace(-1, 2, 2 * n).reshape(n, 2)
        expected = 3 * np.cos(x) * x + np.sin(x) + 3 * np.cos(x) * x + 3 * np.cos(x)
        np.testing.assert_allclose(np.asarray(compiled(x)), expected, rtol=1e-12)


# -- compiled ------------------------------------------------------------------------------------------


def test_compiled_custom_derivatives_are_the_evaluated_ones() -> None:
    slope, pullback = sine_with_slope(2.0), sine_with_pullback(3.0)

    def everything(x: Any) -> Any:
        return (
            adze.grad(lambda x: xp.sum(slope(x) * pullback(x)))(x),
            adze.vmap(adze.grad(adze.checkpoint(layers)))(x),
        )

    for actual, expected in zip(adze.jit(everything)(X), everything(X), strict=True):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-13)


# -- what a function with rules closes over ------------------------------------------------------------------


def scaled_by_closure_jvp(y: Any, s: Any) -> Any:
    f = adze.custom_jvp(lambda y: y * xp.sin(s))
    f.defjvp(lambda p, t: (p[0] * xp.sin(s), 10 * t[0] * xp.sin(s)))
    return f(y)


def scaled_by_closure_vjp(y: Any, s: Any) -> Any:
    f = adze.custom_vjp(lambda y: y * xp.sin(s))
    f.defvjp(lambda y: (f(y), s), lambda s, ct: (10 * ct * xp.sin(s),))
    return f(y)


@pytest.mark.parametrize("function", [scaled_by_closure_jvp, scaled_by_closure_vjp])
def test_derivatives_by_closed_over_values_follow_the_function_itself(function: Any) -> None:
    """No rule speaks of them; a derivative of zero would be wrong in silence."""
    y, s = np.float64(3), np.float64(2)
    assert adze.grad(function, 0)(y, s) == pytest.approx(10 * np.sin(2))
    assert adze.grad(function, 1)(y, s) == pytest.approx(3 * np.cos(2))
    assert adze.jvp(function, (y, s), (np.float64(1), np.float64(1)))[1] == pytest.approx(
        10 * np.sin(2) + 3 * np.cos(2)
    )
    assert adze.grad(adze.grad(function, 1), 1)(y, s) == pytest.approx(-3 * np.sin(2))
    assert adze.grad(adze.grad(function, 0), 1)(y, s) == pytest.approx(10 * np.cos(2))
    batch = adze.vmap(adze.grad(function, 1))(np.full(2, y), np.full(2, s))
    assert batch.tolist() == pytest.approx([3 * np.cos(2)] * 2)
    assert adze.jit(adze.grad(function, (0, 1)))(y, s)[1] == pytest.approx(3 * np.cos(2))


def test_numbers_of_python_among_residuals_reach_bwd_as_they_are() -> None:
    @adze.custom_vjp
    def scaled(x: Any, y: Any) -> Any:
        return x * y

    def bwd(residuals: Any, cotangent: Any) -> Any:
        assert residuals["flag"] is True and type(residuals["count"]) is int
        of_y = residuals["x"] * cotangent * residuals["count"] if residuals["flag"] else None
        return residuals["y"] * cotangent * residuals["half"], of_y

    scaled.defvjp(
        lambda x, y: (x * y, {"x": x, "flag": True, "count": 3, "half": 0.5, "y": y}),
        bwd,
    )
    x = np.float32([1, 2])
    for transform in (lambda f: f, adze.jit):
        gradient = transform(adze.grad(lambda x, y: scaled(x, y).sum(), argnums=(0, 1)))
        assert [g.tolist() for g in gradient(x, 2 * x)] == [[1, 2], [3, 6]]
    assert adze.vmap(adze.grad(scaled, argnums=1))(x, x).tolist() == [3, 6]


def test_rules_that_call_functions_of_the_same_name() -> None:
    def rule(function: Callable[[Any], Any], pullback: Callable[[Any], Any]) -> Any:
        @adze.custom_vjp
        def f(x: Any) -> Any:
            return function(x)

        f.defvjp(lambda x: (function(x), x), lambda x, ct: (ct * pullback(x),))
        return f

    square = rule(lambda x: x * x, lambda x: 2 * x)
    fourth = rule(lambda x: square(x) * square(x), lambda x: 4 * square(x) * x)
    eighth = rule(lambda x: fourth(x) * fourth(x), lambda x: 8 * fourth(x) * square(x) * x)
    second = adze.grad(adze.grad(eighth))
    x = np.float32(1.5)
    assert adze.grad(eighth)(x).item() == 8 * 1.5**7
    assert second(x).item() == adze.jit(second)(x).item() == 56 * 1.5**6
