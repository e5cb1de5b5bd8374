"""`jax.experimental.hijax.VJPHiPrimitive`: the rules of a class are the ones that are used."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.compat.jax.experimental import hijax
from adze.compat.jax.experimental.hijax import VJPHiPrimitive, Zero, instantiate_zeros
from adze.frontend.errors import TraceError, UnsupportedError


class Unary(VJPHiPrimitive):
    def __init__(self, aval: Any, **params: Any) -> None:
        self.in_avals, self.out_aval, self.params = (aval,), aval, params
        super().__init__()

    def expand(self, x: Any) -> Any:
        return jnp.sin(x)


class Reverse(Unary):  # a derivative that is none of sin's, so that its use shows
    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        assert nzs_in == (True,)
        return self(*args), args[0]

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        return (self.scale * res * outgrad,) if res > 0 else (-outgrad,)


class Forward(Unary):
    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(*primals), 5 * tangents[0]


class Linear(Unary):
    def lin(self, nzs_in: Any, *primals: Any) -> Any:
        return self(*primals), 7 * primals[0]

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        return residuals * tangents[0]


class Batched(Forward):
    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        assert axis_data.size == 3
        return jnp.stack([args[0], args[0]], axis=0)[0] + 10, dims[0]


def apply(kind: type[Unary], x: Any, **params: Any) -> Any:
    return kind(jax.typeof(jnp.asarray(x)), **params)(x)


def test_reverse_mode_asks_the_class_and_knows_values() -> None:
    def f(x: Any) -> Any:
        return apply(Reverse, x, scale=2.0)

    assert jax.grad(f)(3.0) == 6 and jax.grad(f)(-3.0) == -1
    assert f(0.0) == 0


@pytest.mark.parametrize(("kind", "expected"), [(Forward, 5), (Linear, 21)])
def test_forward_mode_and_its_transpose(kind: type[Unary], expected: float) -> None:
    def f(x: Any) -> Any:
        return apply(kind, x)

    assert jax.jvp(f, (3.0,), (1.0,))[1] == expected
    assert jax.grad(f)(3.0) == expected == jax.jit(jax.grad(f))(3.0)
    assert jax.linearize(f, 3.0)[1](2.0) == 2 * expected


def test_batches() -> None:
    x = jnp.arange(3.0)
    assert jax.vmap(lambda e: apply(Batched, e))(x).tolist() == [10, 11, 12]
    assert jax.vmap(jax.grad(lambda e: apply(Forward, e)))(x).tolist() == [5, 5, 5]


class Point(NamedTuple):
    x: Any
    y: Any


class OfTrees(VJPHiPrimitive):
    def __init__(self, aval: Any) -> None:
        self.in_avals, self.out_aval, self.params = (Point(aval, aval),), {"a": aval, "b": aval}, {}
        super().__init__()

    def expand(self, point: Any) -> Any:
        return {"a": point.x * point.y, "b": point.x}

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        return self(*args), args[0]

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        g = jax.tree.map(instantiate_zeros, outgrad, is_leaf=lambda leaf: isinstance(leaf, Zero))
        (into,) = arg_accums
        into.x.accum(res.y * g["a"])
        into.x.accum(100 * g["b"])
        into.y.accum(res.x * g["a"])


def test_cotangents_are_accumulated_over_trees() -> None:
    call = OfTrees(jax.typeof(jnp.float32(0)))
    assert jax.grad(lambda p: call(p)["a"])(Point(2.0, 3.0)) == (3, 2)
    assert jax.grad(lambda p: call(p)["a"] + call(p)["b"])(Point(2.0, 3.0)) == (103, 2)


def test_classes_that_are_not_complete() -> None:
    class NoTypes(VJPHiPrimitive):
        def __init__(self) -> None:
            super().__init__()

    class Nothing(Unary):
        expand = VJPHiPrimitive.expand

    class Half(Forward):
        vjp_fwd = Reverse.vjp_fwd

    class Both(Reverse):
        vjp_bwd = OfTrees.vjp_bwd

    with pytest.raises(AttributeError, match=r"NoTypes.__init__ must set self.in_avals"):
        NoTypes()
    with pytest.raises(AttributeError, match="Both overrides both vjp_bwd and vjp_bwd_retval"):
        apply(Both, 1.0)
    with pytest.raises(UnsupportedError, match="Nothing does not define expand"):
        apply(Nothing, 1.0)
    with pytest.raises(UnsupportedError, match="Half does not define vjp_bwd or vjp_bwd_retval"):
        jax.grad(lambda x: apply(Half, x))(1.0)
    with pytest.raises(TraceError, match=r"Forward takes 1 arguments \(in_avals\), got 2"):
        Forward(jax.typeof(jnp.float32(0)))(1.0, 2.0)


def test_types_of_libraries_are_declared_and_not_used() -> None:
    class Box(hijax.MutableHiType):
        get = hijax.aval_method(lambda self: None)
        size = hijax.aval_property(lambda self: 1)

    class GetBox(hijax.HiPrimitive):
        multiple_results = True

    class BoxEffect(jax.extend.core.Effect):
        pass

    hijax.register_hitype(object, lambda x: Box())
    hijax.control_flow_allowed_effects.add_type(BoxEffect)
    assert BoxEffect() is not None and not hijax.is_undefined_primal(1.0)
    with pytest.raises(UnsupportedError, match=r"get_box is an op on a type that a library defines"):
        GetBox("get_box").bind(Box())
