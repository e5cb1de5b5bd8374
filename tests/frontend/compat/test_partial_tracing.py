"""What a function computes without its inputs, as flax's loops ask it: known results are values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.compat import partial_tracing as pe


def parts(function: Callable[..., Any], *specs: adze.ShapeDtype) -> list[tuple[Any, Any]]:
    flat = pe.WrappedFun(lambda *xs: [anp.asarray(y) for y in function(*xs)])
    return pe.trace_to_jaxpr_nounits(flat, [pe.PartialVal.unknown(s) for s in specs])[1]


def test_results_without_inputs_are_values_and_others_are_types() -> None:
    weights = anp.arange(3.0)
    inner = adze.jit(lambda x: x + 1)

    def function(x: Any, n: Any) -> tuple[Any, ...]:
        twice = adze.lax.cond(n > 0, lambda v: v * 2, lambda v: v, x)
        return (
            weights * 2,
            x.sum() + weights,
            inner(weights),
            twice,
            adze.lax.fori_loop(0, 3, lambda i, c: c + i, 0),
        )

    out = parts(function, adze.ShapeDtype((3,)), adze.ShapeDtype((), "int32"))
    assert [aval is None for aval, _ in out] == [True, False, True, False, True]
    np.testing.assert_array_equal(out[0][1], [0, 2, 4])
    np.testing.assert_array_equal(out[2][1], [1, 2, 3])
    assert int(out[4][1]) == 3
    assert (out[1][0].shape, out[1][1]) == ((3,), None)


def test_values_of_a_trace_around_it_are_known() -> None:
    @adze.jit
    def outer(w: Any) -> Any:
        ((aval, known), (other, nothing)) = parts(lambda x: (w * 3, w + x), adze.ShapeDtype((2,)))
        assert aval is None and nothing is None and other.shape == (2,)
        return known

    np.testing.assert_array_equal(outer(np.float32([1, 2])), [3, 6])
    slope = adze.grad(lambda w: outer(w).sum())(np.float32([1, 2]))
    np.testing.assert_array_equal(slope, [3, 3])


def test_nothing_is_called_where_all_results_have_inputs() -> None:
    ((aval, value),) = parts(lambda x: (x,), adze.ShapeDtype((2,)))
    assert aval.shape == (2,) and value is None
    assert parts(lambda x: (), adze.ShapeDtype((2,))) == []


def test_known_inputs_are_refused() -> None:
    with pytest.raises(adze.AdzeError, match="takes inputs of which only the type is known"):
        pe.PartialVal.known(3.0)


def test_functions_of_trees_become_functions_of_leaves() -> None:
    structure = adze.tree.structure(({"a": 0, "b": 0},))
    flat, out_tree = pe.flatten_fun_nokwargs(pe.wrap_init(lambda d: {"sum": d["a"] + d["b"]}), structure)
    assert flat.call_wrapped(1, 2) == [3]
    assert adze.tree.unflatten(out_tree(), [3]) == {"sum": 3}


# -- traced functions that are called ---------------------------------------------------------------


def test_a_traced_function_is_called_with_what_it_closes_over() -> None:
    import adze.compat.jax as jax

    def call(traced: Any, *args: Any) -> Any:
        return jax.core.eval_jaxpr(traced.jaxpr, traced.consts, *args)

    weights = anp.arange(3.0)
    outside = jax.make_jaxpr(lambda x: {"a": x * weights, "b": x.sum()})(np.ones(3, np.float32))
    assert [r.tolist() for r in call(outside, np.float32([1, 2, 3]))] == [[0, 2, 6], 6]
    assert "mul" in str(outside) and [c.tolist() for c in outside.consts] == [[0, 1, 2]]
    others = [np.float32([1, 1, 1])]
    assert [r.tolist() for r in jax.core.eval_jaxpr(outside.jaxpr, others, np.float32([1, 2, 3]))] == [
        [1, 2, 3],
        6,
    ]

    @adze.jit
    def outer(w: Any) -> Any:
        inside = jax.make_jaxpr(lambda x: x * w)(jax.ShapeDtypeStruct((2,), "float32"))
        assert len(inside.consts) == 1 and [str(t) for t in inside.out_avals] == ["f32[2]"]
        once = jax.extend.core.jaxpr_as_fun(inside)(np.float32([1, 2]))[0]
        (again,) = jax.core.eval_jaxpr(inside, [w * 10], np.float32([1, 2]))
        return once, again

    once, again = outer(np.float32(3))
    assert (once.tolist(), again.tolist()) == ([3, 6], [30, 60])
    with pytest.raises(adze.AdzeError, match="expected 1 consts and 1 arguments, got 1 and 2"):
        call(outside, 1.0, 2.0)


def test_functions_of_arguments_and_keywords_become_functions_of_leaves() -> None:
    structure = adze.tree.structure(((0,), {"b": 0}))
    flat, out_tree = pe.flatten_fun(pe.wrap_init(lambda a, b: [a, b]), structure)
    assert flat.call_wrapped(1, 2) == [1, 2]
    assert adze.tree.unflatten(out_tree(), [3, 4]) == [3, 4]
