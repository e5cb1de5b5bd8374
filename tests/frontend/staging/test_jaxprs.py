"""Jaxprs: their equations are JAX's primitives with JAX's attributes, and can be applied again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.compat.jax as jax
import adze.numpy as anp
from adze import lax

X = np.float32([1.0, 2.0, 3.0])
W = anp.arange(3.0)


@adze.custom_jvp
def doubled(x: Any) -> Any:
    return x * 2


doubled.defjvps(lambda t, result, x: t * 2)

# A function, and the primitives of its equations.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "elementwise": (lambda x: anp.exp(anp.tanh(x)) * W, "tanh exp mul"),
    "a choice": (lambda x: anp.where(x > W, x, W), "gt select_n"),
    "loops": (lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x), "scan"),
    "a while loop": (lambda x: lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 2, x), "while"),
    "a branch": (
        lambda x: lax.cond(x[0] > 0, lambda y: y * 2, lambda y: y - 1, x),
        "slice reshape gt convert_element_type cond",
    ),
    "a jitted function": (adze.jit(lambda x: adze.nn.relu(x) * 2), "jit"),
    "a checkpoint": (lambda x: adze.checkpoint(anp.sin)(x), "checkpoint"),
    "a product": (lambda x: x @ np.ones((3, 2), np.float32), "dot_general"),
    "a convolution": (
        lambda x: lax.conv(x[None, None, :], np.ones((1, 1, 2), np.float32), (1,), "VALID"),
        "reshape conv_general_dilated",
    ),
    "sorted": (
        lambda x: anp.sort(x)[::-1] + anp.argmax(x),
        "sort rev argmax convert_element_type broadcast_in_dim add",
    ),
    "gathered": (lambda x: x[np.array([0, 2])], "reshape gather"),
    "scattered": (lambda x: x.at[np.array([0, 2])].add(1.0), "reshape broadcast_in_dim scatter_add"),
    "padded": (lambda x: lax.pad(x, np.float32(7), [(1, 2, 0)]), "pad"),
    "rounded": (lambda x: anp.round(x * W), "mul round"),
    "greatest": (lambda x: lax.top_k(x, 2), "top_k"),
    "sums": (lambda x: anp.cumsum(x).sum(), "cumsum reduce_sum"),
    "random": (lambda x: adze.random.bits(adze.random.PRNGKey(0), (3,)), "random_bits"),
    "a derivative": (lambda x: adze.grad(lambda v: (v**3).sum())(x), "mul add"),
    "a custom rule": (lambda x: doubled(x), "custom_jvp_call"),
}


def walked(jaxpr: Any, consts: Any, *args: Any) -> list[Any]:
    """An interpreter as documents about JAX write it."""
    known = dict(zip(jaxpr.invars, args, strict=True)) | dict(zip(jaxpr.constvars, consts, strict=True))

    def read(v: Any) -> Any:
        return v.val if type(v) is jax.core.Literal else known[v]

    for eqn in jaxpr.eqns:
        results = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
        known.update(zip(eqn.outvars, results if eqn.primitive.multiple_results else [results], strict=True))
    return list(map(read, jaxpr.outvars))


def same(got: Any, wanted: Any) -> bool:
    return len(got) == len(wanted) and all(
        g.dtype == w.dtype and np.allclose(g, w) for g, w in zip(map(anp.asarray, got), wanted, strict=True)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equations_apply_again(name: str) -> None:
    function, primitives = FUNCTIONS[name]
    closed = adze.make_jaxpr(function)(X)
    assert isinstance(closed, jax.core.ClosedJaxpr) and isinstance(closed.jaxpr, jax.core.Jaxpr)
    known = set(primitives.split())
    assert known <= {eqn.primitive.name for eqn in closed.eqns}, closed.eqns
    wanted = adze.tree.leaves(function(anp.asarray(X)))
    assert same(walked(closed.jaxpr, closed.literals, X), wanted)
    traced = adze.trace(lambda x: walked(closed.jaxpr, closed.consts, x), X)
    assert len(traced.program.result_types) == len(wanted)
    assert same(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, X), wanted)
    others = [anp.asarray(np.array(c)) for c in closed.consts]
    assert same(jax.core.eval_jaxpr(closed.jaxpr, others, X), wanted)
    assert same(jax.core.jaxpr_as_fun(closed)(X), wanted)


def test_attributes_are_those_of_jax() -> None:
    (eqn,) = adze.make_jaxpr(lambda x, y: x @ y)(
        np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    ).eqns
    assert eqn.primitive is adze.lax.dot_general_p
    assert eqn.params["dimension_numbers"] == (((1,), (0,)), ((), ()))
    assert [v.aval.shape for v in eqn.invars] == [(2, 3), (3, 4)]
    assert (eqn.outvars[0].aval.shape, eqn.outvars[0].aval.dtype) == ((2, 4), np.float32)
    (eqn,) = adze.make_jaxpr(lambda x: x.astype("int32"))(X).eqns
    assert (eqn.primitive.name, eqn.params["new_dtype"]) == ("convert_element_type", np.int32)
    (eqn,) = adze.make_jaxpr(lambda x: lax.scan(lambda c, y: (c + y, c), np.float32(0), x))(X).eqns
    assert (eqn.params["num_carry"], eqn.params["length"]) == (1, 3)
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["add"]


def test_jaxprs_within_jaxprs_are_found() -> None:
    def function(x: Any) -> Any:
        return lax.cond(x[0] > 0, lambda y: lax.map(anp.sin, y), lambda y: y - 1, x)

    def names(jaxpr: Any) -> set[str]:
        inner = [names(sub) for sub in jax.core.subjaxprs(jaxpr)]
        return {eqn.primitive.name for eqn in jaxpr.eqns}.union(*inner)

    assert {"cond", "scan", "sin", "sub"} <= names(adze.make_jaxpr(function)(X).jaxpr)


def test_primitives_that_call_functions_are_those_that_rules_are_kept_for() -> None:
    from adze.compat.jax.api_util import shaped_abstractify
    from adze.compat.jax.extend.core.primitives import cond_p, jit_p, scan_p

    def function(x: Any) -> Any:
        inner = adze.jit(lambda y: lax.map(anp.sin, y))
        return lax.cond(x[0] > 0, inner, lambda y: y - 1, x)

    (eqn,) = (e for e in adze.make_jaxpr(function)(X).eqns if e.primitive is cond_p)
    inner = [e for branch in eqn.params["branches"] for e in branch.eqns]
    (called,) = (e for e in inner if e.primitive is jit_p)
    assert [e.primitive for e in called.params["jaxpr"].eqns] == [scan_p]
    assert shaped_abstractify(1.0) == adze.typeof(1.0)


def test_numbers_are_float32_where_that_makes_no_difference() -> None:
    closed = adze.make_jaxpr(lambda x: anp.exp(anp.tanh(x)) * 2)(1.0)
    assert [eqn.primitive.name for eqn in closed.eqns] == ["tanh", "exp", "mul"]
    assert closed.eqns[-1].invars[1].val == 2.0
    wide = adze.make_jaxpr(lambda s, x: s * x)(0.1, np.float64([1.0]))
    assert jax.core.eval_jaxpr(wide.jaxpr, wide.consts, 0.1, np.float64([1.0]))[0].dtype == np.float64
    half = adze.make_jaxpr(lambda s, x: s * x)(0.1, np.float16([1.0]))
    assert half.out_avals[0].dtype == np.float16


def test_static_arguments_are_left_out() -> None:
    closed, shape = adze.make_jaxpr(lambda n, x: x**n, static_argnums=0, return_shape=True)(2, X)
    assert len(closed.jaxpr.invars) == 1 and shape.shape == (3,)
    assert adze.make_jaxpr(lambda x, n: x * n, static_argnums=(-1,))(X, 3).in_avals[0].shape == (3,)


def test_what_a_traced_function_captures_is_a_constant() -> None:
    @adze.jit
    def outer(w: Any) -> Any:
        closed = adze.make_jaxpr(lambda x: x * w + W)(X)
        assert [v.aval.shape for v in closed.jaxpr.constvars] == [(), (3,)]
        return walked(closed.jaxpr, closed.consts, X)[0]

    assert outer(np.float32(2)).tolist() == [2.0, 5.0, 8.0]


def test_arrays_of_rank_0_are_closed_over_as_in_jax() -> None:
    """They are constants, once for all uses, in the order of their first uses; numbers are literals."""
    weak, strong = anp.asarray(2.0), anp.sum(np.ones(3, np.float32))
    rows = anp.asarray(np.ones(3, np.float32))
    inside = adze.make_jaxpr(lambda x: (x * strong + rows) * strong - weak - 1.0)(X)
    assert [c.shape for c in inside.consts] == [(), (3,), ()]
    assert inside.consts[0] is strong
    assert inside.consts[2] is weak
    others = [np.float32(5), np.zeros(3, np.float32), np.float32(1)]
    np.testing.assert_array_equal(jax.core.eval_jaxpr(inside.jaxpr, others, X)[0], [23, 48, 73])
    np.testing.assert_array_equal(jax.core.eval_jaxpr(inside.jaxpr, inside.consts, X)[0], [9, 18, 27])


def test_axis_env_binds_names_that_collectives_are_equations_over() -> None:
    closed, shape = jax.make_jaxpr(
        lambda x: lax.pmean(x, "i") + lax.pmax(x, ("i", "j")),
        axis_env=[("i", 4), ("j", 2)],
        return_shape=True,
    )(X)
    sums = [e for e in closed.eqns if e.primitive.name in ("psum", "pmax")]
    assert [(e.primitive.name, e.params["axes"]) for e in sums] == [
        ("psum", ("i",)),
        ("pmax", ("i",)),
        ("pmax", ("j",)),
    ]
    assert (shape.shape, shape.dtype) == ((3,), np.float32)


def test_the_gradient_of_a_sum_over_an_axis_of_axis_env_is_one_sum() -> None:
    closed = jax.make_jaxpr(adze.grad(lambda x: lax.psum(x, "i") * 2), axis_env=[("i", 4)])(1.0)
    assert [e.primitive.name for e in closed.eqns].count("psum") == 2  # that of the value, and of the slope


def test_what_axis_env_binds_is_not_bound_afterwards() -> None:
    jax.make_jaxpr(lambda x: lax.axis_index("i"), axis_env=[("i", 4)])(1.0)
    with pytest.raises(NameError, match="'i' is not bound"):
        jax.make_jaxpr(lambda x: lax.axis_index("i"))(1.0)


@pytest.mark.parametrize("axis_env", [[("i", 0)], ["i"], [(3, 4)], [("i", True)]])
def test_axis_env_has_names_and_sizes(axis_env: Any) -> None:
    with pytest.raises(TypeError, match="expected a name and a size"):
        jax.make_jaxpr(lambda x: x, axis_env=axis_env)(1.0)
