"""Jaxprs in JAX's syntax: what JAX 0.10 prints for the same functions, where adze has the same equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adze
import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.compat.jax import lax

X = jnp.ones(8)

BRANCHES = """\
{ lambda ; a:f32[]. let
    b:bool[] = ge a 0.0:f32[]
    c:i32[] = convert_element_type[new_dtype=int32 weak_type=False] b
    d:f32[] = cond[
      branches=(
        { lambda ; e:f32[]. let f:f32[] = sub e 3.0:f32[] in (f,) }
        { lambda ; g:f32[]. let h:f32[] = add g 3.0:f32[] in (h,) }
      )
    ] c a
  in (d,) }"""
LONG = """\
{ lambda ; a:f32[8] b:f32[8]. let
    c:f32[8] = sin b
    d:f32[8] = mul c 3.0:f32[]
    e:f32[8] = add a d
    f:f32[8] = cos e
  in (f,) }"""
SCAN = """\
{ lambda ; a:f32[8]. let
    b:f32[] c:f32[8] = scan[
      jaxpr={ lambda ; d:f32[] e:f32[]. let f:f32[] = add d e in (f, d) }
      length=8
      num_carry=1
      num_consts=0
      reverse=False
      unroll=1
    ] 0.0:f32[] a
  in (b, c) }"""
CALL = """\
{ lambda ; a:f32[8]. let
    b:f32[8] = jit[
      name=double
      jaxpr={ lambda ; a:f32[8]. let b:f32[8] = add a a in (b,) }
    ] a
  in (b,) }"""
GRADIENT = """\
{ lambda ; a:f32[]. let
    b:f32[] = exp a
    c:f32[] = add 1.0:f32[] b
    _:f32[] = log c
    d:f32[] = div 1.0:f32[] c
    e:f32[] = mul d b
  in (e,) }"""
NUMBERS = """\
{ lambda ; a:f32[]. let
    b:f32[] = log a
    c:f32[] = log 2.0:f32[]
    d:f32[] = div b c
  in (d,) }"""
PRODUCT = """\
{ lambda ; a:f32[3,4] b:f32[4]. let
    c:f32[3,4] = add a 1.0:f32[]
    d:f32[4] = add b 1.0:f32[]
    e:f32[3] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
      preferred_element_type=float32
    ] c d
  in (e,) }"""
NESTED = """\
{ lambda ; a:f32[8]. let
    b:f32[8] = jit[
      name=<lambda>
      jaxpr={ lambda ; a:f32[8]. let
          c:f32[8] = jit[
            name=double
            jaxpr={ lambda ; a:f32[8]. let c:f32[8] = add a a in (c,) }
          ] a
          b:f32[8] = mul c 3.0:f32[]
        in (b,) }
    ] a
    d:f32[8] = mul b 2.0:f32[]
  in (d,) }"""
REDUCED = """\
{ lambda ; a:f32[8]. let
    b:f32[4] = slice[limit_indices=(4,) start_indices=(0,) strides=None] a
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] a
    d:f32[] = reduce_max[axes=(0,)] a
    e:f32[] = add c d
    f:f32[4] = mul b e
  in (f,) }"""


def double(x: Any) -> Any:
    return x + x


@pytest.mark.parametrize(
    ("function", "args", "text"),
    [
        (jnp.sin, (X,), "{ lambda ; a:f32[8]. let b:f32[8] = sin a in (b,) }"),
        (lambda x: x, (X,), "{ lambda ; a:f32[8]. let  in (a,) }"),
        (lambda x, y: jnp.cos(x + jnp.sin(y) * 3.0), (X, X), LONG),
        (lambda x: lax.cond(x >= 0.0, lambda t: t + 3.0, lambda f: f - 3.0, x), (jnp.float32(5),), BRANCHES),
        (lambda x: lax.scan(lambda c, e: (c + e, c), jnp.float32(0), x), (X,), SCAN),
        (lambda x: jax.jit(double)(x), (X,), CALL),
        (lambda x: jax.jit(lambda a: jax.jit(double)(a) * 3)(x) * 2, (X,), NESTED),
        (jax.grad(lambda x: jnp.log(1.0 + jnp.exp(x))), (100.0,), GRADIENT),
        (lambda x: jnp.log(x) / jnp.log(2.0), (3.0,), NUMBERS),
        (lambda x, y: jnp.dot(x + 1, y + 1), (jnp.ones((3, 4)), X[:4]), PRODUCT),
        (lambda x: x[:4] * (jnp.sum(x) + jnp.max(x)), (X,), REDUCED),
        (
            lambda x: x + jnp.array([1.0, 2.0]),
            (X[:2],),
            "{ lambda a:f32[2]; b:f32[2]. let c:f32[2] = add b a in (c,) }",
        ),
    ],
)
def test_texts(function: Callable[..., Any], args: Any, text: str) -> None:
    jaxpr = jax.make_jaxpr(function)(*args)
    assert str(jaxpr) == text == str(jaxpr.jaxpr)


def test_equations_have_texts_and_apply_again() -> None:
    assert str(jax.make_jaxpr(jnp.sin)(X).eqns[0]) == "a:f32[8] = sin b"
    (call,) = jax.make_jaxpr(lambda x: jax.jit(double)(x))(X).eqns
    assert call.params["name"] == "double"
    assert call.primitive.bind(X, **call.params)[0].tolist() == [2] * 8


def test_other_code_sees_ops_of_adze() -> None:
    scope: dict[str, Any] = {}
    exec("text = lambda f, x: str(make(f)(x))", {"make": adze.make_jaxpr}, scope)
    assert "%1: f32[8] = sin(%0)" in scope["text"](jnp.sin, X)


def test_a_rule_that_calls_its_function_is_written_by_name() -> None:
    @jax.custom_vjp
    def product(x, y):
        return x * y

    product.defvjp(lambda x, y: (product(x, y), (x, y)), lambda r, g: (g * r[1], g * r[0]))
    text = str(jax.make_jaxpr(product)(2.0, 3.0))
    assert text.startswith("{ lambda ; a:f32[] b:f32[]. let") and "custom_vjp_call[" in text
    assert "call_jaxpr={ lambda ; d:f32[] e:f32[]. let f:f32[] = mul d e in (f,) }" in text and "fwd=" in text
    spec = jax.ShapeDtypeStruct((), "float32")
    assert str(jax.jit(product).trace(spec, spec).jaxpr) == text


def test_names_after_z() -> None:
    def many(x):
        for _ in range(30):
            x = jnp.sin(x)
        return x

    text = str(jax.make_jaxpr(many)(X))
    assert "z:f32[8] = sin y" in text and "ba:f32[8] = sin z" in text and "in (be,) }" in text


def test_few_short_equations_are_on_one_line() -> None:
    text = str(jax.make_jaxpr(lambda x: lax.exp(lax.tanh(x)))(jnp.ones(5)))
    assert text == "{ lambda ; a:f32[5]. let b:f32[5] = tanh a; c:f32[5] = exp b in (c,) }"
    long = str(jax.make_jaxpr(lambda x: lax.exp(lax.tanh(x)))(jax.ShapeDtypeStruct((100, 100), "float32")))
    assert long.count("\n") == 3
