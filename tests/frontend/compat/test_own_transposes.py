"""Transpose rules of clients' primitives, and what clients ask of JAX's tracer of forward mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.compat.jax.extend import core
from adze.compat.jax.interpreters import ad


def _solver(calls: list[str]) -> Any:
    """`x` with `a x = b`, by a loop that has no transpose; its rules count how often they are called."""
    solve = core.Primitive("solve")
    solve.multiple_results = True

    def impl(a: Any, b: Any, *, steps: int) -> list[Any]:
        positive = jnp.where(jnp.sum(b) > 0, 1.0, -1.0)  # not linear in b
        x = jnp.linalg.solve(a, b * positive) * positive
        return [x, jnp.int32(steps)]

    def jvp(primals: Any, tangents: Any, *, steps: int) -> Any:
        a, b = primals
        da, db = tangents
        x, count = solve.bind(a, b, steps=steps)
        right = ad.instantiate_zeros(db)
        if type(da) is not ad.Zero:
            right = right - da @ x
        dx, _ = solve.bind(a, right, steps=steps)
        return [x, count], [dx, ad.Zero.from_primal_value(count)]

    def transpose(cotangents: Any, a: Any, b: Any, *, steps: int) -> Any:
        calls.append("transpose")
        assert ad.is_undefined_primal(b) and not ad.is_undefined_primal(a) and b.aval.shape == (2,)
        cotangent, of_count = cotangents
        assert type(of_count) is ad.Zero
        return [None, solve.bind(a.T, cotangent, steps=steps)[0]]

    solve.def_impl(impl)
    ad.primitive_jvps[solve] = jvp
    ad.primitive_transposes[solve] = transpose
    return lambda a, b: solve.bind(a, b, steps=3)[0]


A = np.float32([[3, 1], [1, 4]])
B = np.float32([1, -5])


@pytest.mark.parametrize("stage", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_the_backward_pass_calls_the_rule_of_transposition(stage: Any) -> None:
    calls: list[str] = []
    solve = _solver(calls)

    def loss(a: Any, b: Any) -> Any:
        return jnp.sum(jnp.sin(solve(a, b)))

    def plain(a: Any, b: Any) -> Any:
        return jnp.sum(jnp.sin(jnp.linalg.solve(a, b)))

    for wanted, got in zip(
        jax.grad(plain, argnums=(0, 1))(A, B), stage(jax.grad(loss, argnums=(0, 1)))(A, B), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)
    assert calls == ["transpose"]
    wanted = jax.hessian(plain, argnums=1)(A, B)
    np.testing.assert_allclose(stage(jax.hessian(loss, argnums=1))(A, B), wanted, rtol=1e-4)
    wanted = jax.vmap(jax.grad(plain), in_axes=(None, 0))(A, np.eye(2, dtype=np.float32))
    got = stage(jax.vmap(jax.grad(loss), in_axes=(None, 0)))(A, np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_a_linear_primitive_captures_what_its_implementation_uses() -> None:
    scaled = core.Primitive("scaled")

    def loss(x: Any, factor: Any) -> Any:
        scaled.def_impl(lambda x: x * factor)
        ad.deflinear2(scaled, lambda ct, x: [ct * factor * 10])  # ten times the truth: seen in the gradient
        return jnp.sum(scaled.bind(x))

    x = np.float32([1, 2])
    assert jax.grad(lambda x: jax.jit(loss)(x, np.float32(2)))(x).tolist() == [20, 20]
    assert jax.jvp(lambda x: loss(x, np.float32(2)), (x,), (x,))[1].item() == 6

    halved = core.Primitive("halved")
    halved.def_impl(lambda x: x / 2)
    ad.deflinear(halved, lambda ct: [ct * 7])
    assert jax.grad(lambda x: halved.bind(x).sum())(x).tolist() == [7, 7]


def test_values_that_depend_on_what_is_differentiated_are_jvp_tracers() -> None:
    outer = jnp.ones(2)

    def function(x: Any, k: Any) -> Any:
        trace = core.find_top_trace((x,))
        seen = [x * 2, k + 1, jnp.zeros(2), outer * 2, 1.0]
        moving = [isinstance(v, ad.JVPTracer) and v._trace.main is trace.main for v in seen]
        assert moving == [True, False, False, False, False]
        return x * 2 + k

    primals, tangents = (np.float32(2), np.int32(3)), (np.float32(1), np.int32(0))
    assert core.find_top_trace() is None
    assert jax.jvp(function, primals, tangents)[1].item() == 2
    jax.jit(lambda x, k: jax.jvp(function, (x, k), tangents))(*primals)


def test_the_rule_is_called_from_jitted_functions_in_users_rules() -> None:
    calls: list[str] = []
    solve = jax.jit(_solver(calls))

    @jax.custom_jvp
    def solution(b: Any) -> Any:
        return jax.lax.stop_gradient(solve(A, b))

    @solution.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (db,) = tangents
        return solution(*primals), jax.lax.cond(db.size > 1, lambda: solve(A, db), lambda: db)

    def loss(b: Any) -> Any:
        return jnp.sum(jnp.sin(solution(b)))

    wanted = jax.grad(lambda b: jnp.sum(jnp.sin(jnp.linalg.solve(A, b))))(B)
    np.testing.assert_allclose(jax.grad(loss)(B), wanted, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(B), wanted, rtol=1e-5)
    assert calls and jax.jvp(loss, (B,), (B,))[1].shape == ()


def test_a_rule_that_refuses_cotangents_is_called_only_where_there_are_some() -> None:
    forward_only = core.Primitive("forward_only")
    forward_only.def_impl(lambda x: x)
    ad.primitive_jvps[forward_only] = lambda primals, tangents: (
        forward_only.bind(*primals),
        forward_only.bind(*map(ad.instantiate_zeros, tangents)),
    )

    def refuse(cotangent: Any, x: Any) -> Any:
        if isinstance(cotangent, ad.Zero):
            return ad.Zero
        raise RuntimeError("no backward pass")

    ad.primitive_transposes[forward_only] = refuse

    def both(x: Any) -> Any:
        return jnp.sin(x), forward_only.bind(x)

    assert jax.jvp(lambda x: both(x)[1], (2.0,), (3.0,))[1].item() == 3
    assert jax.grad(lambda x: both(x)[0])(0.0).item() == 1
    assert jax.vmap(jax.grad(lambda x: both(x)[0]))(np.zeros(2, np.float32)).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="no backward pass"):
        jax.grad(lambda x: both(x)[1])(0.0)


def test_linear_functions_are_transposed_at_specs() -> None:
    spec = jax.ShapeDtypeStruct((3,), np.float32)
    pull = jax.linear_transpose(lambda x, y: (2 * x, x[:2] + y["a"]), spec, {"a": np.zeros(2, np.float32)})
    dx, dy = pull((np.float32([1, 2, 3]), np.float32([10, 20])))
    assert dx.tolist() == [12, 24, 6] and dy["a"].tolist() == [10, 20]


def test_zero_tangents_of_trees() -> None:
    from adze.compat.jax.custom_derivatives import SymbolicZero, zero_from_primal

    primal = {"x": np.ones((2, 3), np.float32), "n": np.int32(3)}
    zeros = zero_from_primal(primal)
    assert zeros["x"].tolist() == [[0] * 3] * 2 and zeros["x"].dtype == np.float32
    assert zeros["n"].shape == () and zeros["n"].dtype == jax.dtypes.float0
    marks = zero_from_primal(primal, symbolic_zeros=True)
    assert type(marks["x"]) is SymbolicZero and marks["x"].shape == (2, 3)


def test_values_of_a_tree_of_marked_primals() -> None:
    from adze.compat.jax.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values

    marked = {"a": CustomVJPPrimal(1.0, True), "b": [CustomVJPPrimal(2, False)]}
    assert custom_vjp_primal_tree_values(tree=marked) == {"a": 1.0, "b": [2]}
