"""`vmap` as users call it: axes, trees, sizes, nesting with derivatives and jit, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp

A = np.arange(12.0).reshape(3, 4) / 7
B = np.arange(12.0)[::-1].reshape(3, 4) / 5


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-14)


def norm_of(x: Any) -> Any:
    return xp.sqrt(xp.sum(x * x))


# -- axes ------------------------------------------------------------------------------------------------


def test_function_is_mapped_over_the_leading_axis() -> None:
    same(adze.vmap(lambda x: x[0] * x)(A), A[:, :1] * A)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_any_axis_is_mapped(axis: int) -> None:
    result = adze.vmap(lambda x: x - x[0], in_axes=axis)(A)
    moved = np.moveaxis(A, axis, 0)
    same(result, moved - moved[:, :1])


@pytest.mark.parametrize("out_axis", [0, 1, 2, -1, -3])
def test_mapped_axis_goes_anywhere_in_the_result(out_axis: int) -> None:
    result = adze.vmap(lambda x: lax.mul(xp.outer(x, x), 2.0), out_axes=out_axis)(A)
    same(result, np.moveaxis(2 * A[:, :, None] * A[:, None, :], 0, out_axis))


def test_shared_argument_is_seen_whole() -> None:
    result = adze.vmap(lambda x, y: x + y, in_axes=(0, None))(A, np.arange(4.0))
    same(result, A + np.arange(4.0))
    result = adze.vmap(lambda x, y: x + y, in_axes=(None, 1))(A[0, :3], A)
    same(result, (A[0, :3, None] + A).T)


def test_axes_are_a_tree_prefix() -> None:
    def f(p: Any, x: Any) -> Any:
        return p["w"] * x + p["b"][0] + p["b"][1]

    p = {"w": A, "b": [np.arange(3.0), np.float64(2)]}
    result = adze.vmap(f, in_axes=({"w": 0, "b": [0, None]}, None))(p, np.arange(4.0))
    same(result, A * np.arange(4.0) + np.arange(3.0)[:, None] + 2)


def test_results_are_trees_with_axes_of_their_own() -> None:
    def f(x: Any) -> Any:
        return {"row": x, "sum": xp.sum(x)}

    result = adze.vmap(f, out_axes={"row": 1, "sum": 0})(A)
    same(result["row"], A.T)
    same(result["sum"], A.sum(1))


def test_result_that_is_not_mapped_stays_single_on_demand() -> None:
    shared = np.arange(2.0)
    results = adze.vmap(lambda x, y: (x * 2, y * 2), in_axes=(0, None), out_axes=(0, None))(A, shared)
    same(results[1], 2 * shared)
    repeated = adze.vmap(lambda x, y: y * 2, in_axes=(0, None))(A, shared)
    same(repeated, np.tile(2 * shared, (3, 1)))


def test_keyword_arguments_are_mapped_along_their_leading_axis() -> None:
    same(adze.vmap(lambda x, *, y: x * y)(A, y=B), A * B)


def test_arguments_that_are_no_arrays_are_shared() -> None:
    def f(x: Any, how: str, function: Callable[..., Any], nothing: None) -> Any:
        assert how == "twice" and nothing is None
        return function(x) * 2

    same(adze.vmap(f, in_axes=(0, None, None, None))(A, "twice", xp.sin, None), 2 * np.sin(A))


def test_objects_that_are_no_arrays_are_shared() -> None:
    class Scale:
        factor = 3.0

    same(adze.vmap(lambda x, s: x * s.factor, (0, None))(A, Scale()), 3 * A)
    same(adze.vmap(lambda x, s: x * s.factor)(A, Scale()), 3 * A)


def test_axes_may_be_integers_of_numpy() -> None:
    same(adze.vmap(lambda x: x, in_axes=np.int64(1), out_axes=np.int32(1))(A), A)


def test_size_may_be_a_dynamic_dimension() -> None:
    spec = adze.ShapeDtype(("n", 4), np.float64)
    repeated = adze.trace(
        lambda x, y: adze.vmap(lambda y: y * 2, in_axes=None, axis_size=x.shape[0])(y), spec, A[0]
    )
    same(repeated.lower().compile()(A, A[0]), np.stack([2 * A[0]] * 3))


def test_size_is_stated_when_nothing_is_mapped() -> None:
    result = adze.vmap(lambda x: x + 1, in_axes=None, axis_size=2)(np.float64(3))
    same(result, [4, 4])


def test_decorator_form() -> None:
    @adze.vmap(in_axes=1)
    def total(x: Any) -> Any:
        """Sum."""
        return xp.sum(x)

    same(total(A), A.sum(0))
    assert total.__doc__ == "Sum."


def test_dtype_stays() -> None:
    for dtype in (np.float16, np.int8, np.bool_, np.complex64):
        assert adze.vmap(lambda x: x)(np.ones((2, 3), dtype)).dtype == dtype


def test_shared_operand_is_not_copied_along_the_batch() -> None:
    text = adze.trace(adze.vmap(lambda x, w: x + w * w, (0, None)), A, A[0]).mlir("simplified")
    assert '"adze.mul"(%arg1, %arg1) : (tensor<4xf64>, tensor<4xf64>)' in text


# -- nesting -------------------------------------------------------------------------------------------


def test_maps_nest() -> None:
    outer = adze.vmap(adze.vmap(lambda x, y: x * y, (0, None)), (None, 0))
    same(outer(np.arange(3.0), np.arange(4.0)), np.outer(np.arange(4.0), np.arange(3.0)))
    same(adze.vmap(adze.vmap(lambda x: x * x), in_axes=1, out_axes=1)(A), A * A)


def test_per_example_gradients() -> None:
    def loss(w: Any, x: Any) -> Any:
        return xp.sum(xp.tanh(w * x))

    w = np.arange(4.0) / 3
    result = adze.vmap(adze.grad(loss), (None, 0))(w, A)
    same(result, A / np.cosh(w * A) ** 2)


def test_gradient_of_a_mapped_function() -> None:
    def loss(w: Any) -> Any:
        return xp.sum(adze.vmap(lambda x: xp.sum(x * x * w))(A))

    same(adze.grad(loss)(np.arange(4.0)), (A * A).sum(0))


def test_second_derivatives_through_maps() -> None:
    f = lambda x: xp.sum(xp.sin(x) * x)  # noqa: E731
    by_row = adze.vmap(adze.hessian(f))(A)
    for k, row in enumerate(A):
        same(by_row[k], np.diag(2 * np.cos(row) - row * np.sin(row)))


def test_map_of_jit_and_jit_inside_trace() -> None:
    same(adze.vmap(adze.jit(lambda x: x * 2))(A), 2 * A)
    traced = adze.trace(adze.vmap(adze.jit(lambda x: x * 2)), A)
    assert "tensor<3x4xf64>" in traced.mlir("simplified")


def test_closure_over_an_outer_tracer() -> None:
    def f(w: Any) -> Any:
        return adze.vmap(lambda x: x * w)(A)

    value, tangent = adze.jvp(f, (np.float64(2),), (np.float64(1),))
    same(value, 2 * A)
    same(tangent, A)
    same(adze.vmap(f)(np.arange(2.0)), np.stack([0 * A, A]))


def test_map_of_forward_derivatives() -> None:
    result = adze.vmap(lambda x, dx: adze.jvp(xp.sin, (x,), (dx,))[1])(A, B)
    same(result, np.cos(A) * B)


def test_map_of_a_pullback() -> None:
    _, pull = adze.vjp(lambda x: x * x, A[0])
    same(adze.vmap(pull)(B)[0], 2 * A[0] * B)


def f_batched(x: Any) -> Any:
    return xp.cos(x)


def test_functions_may_have_the_names_that_transforms_give() -> None:
    def f(x: Any) -> Any:
        return xp.sin(x)

    same(adze.jit(lambda a: adze.vmap(f)(a) + adze.vmap(f_batched)(a))(A), np.sin(A) + np.cos(A))


def test_dynamic_batch() -> None:
    spec = adze.ShapeDtype(("n", 4), np.float64)
    inner = adze.jit(lambda x: xp.exp(x) + 1)
    text = adze.trace(adze.vmap(lambda x: xp.sum(inner(x))), spec).mlir("simplified")
    assert "tensor<?xf64>" in text
    text = adze.trace(adze.vmap(adze.grad(lambda x: xp.sum(xp.sin(x)))), spec).mlir("simplified")
    assert "adze.cos" in text and "tensor<?x4xf64>" in text


def test_dynamic_batch_of_custom_derivatives() -> None:
    @adze.custom_vjp
    def f(x: Any) -> Any:
        return xp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * 2 * x,))
    spec = adze.ShapeDtype(("n",), np.float64)
    text = adze.trace(adze.vmap(adze.grad(f)), spec).mlir("simplified")
    assert "tensor<?xf64>" in text and "adze.sin" not in text


# -- errors ------------------------------------------------------------------------------------------------


def check(call: Callable[[], Any], message: str) -> AdzeError:
    with pytest.raises(AdzeError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.where is not None and "test_batching.py" in caught.value.where
    return caught.value


def test_error_of_sizes_that_differ() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    check(
        lambda: adze.vmap(product, in_axes=(0, 1))(A, B),
        "vmap of product: mapped axes differ in size: axis 0 of 'x' is 3, axis 1 of 'y' is 4",
    )
    check(
        lambda: adze.vmap(product, axis_size=5)(A, B),
        "vmap of product: mapped axes differ in size: axis_size is 5, axis 0 of 'x' is 3, axis 0 of 'y' is 3",
    )


def test_error_of_an_axis_that_does_not_exist() -> None:
    error = check(
        lambda: adze.vmap(norm_of, in_axes=2)(A),
        "in_axes maps axis 2 of 'x', which is f64[3,4] of rank 2",
    )
    assert error.hint == "give None for an argument that is not mapped"
    check(
        lambda: adze.vmap(norm_of)(np.float64(1)),
        "in_axes maps axis 0 of 'x', which is f64[] of rank 0",
    )
    check(lambda: adze.vmap(xp.sin, out_axes=2)(A), "out_axes 2 is out of range for a result of rank 2")


def test_error_of_too_few_axes() -> None:
    error = check(
        lambda: adze.vmap(norm_of, in_axes=(0, 0))(A),
        "in_axes has 2 entries, norm_of was called with 1 positional arguments",
    )
    assert error.hint == "give one entry for each argument: an int, None or a tree of them"


def test_error_of_axes_that_do_not_fit_the_tree() -> None:
    check(
        lambda: adze.vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": A}),
        "in_axes {'b': 0} is not a prefix of the tree {'a': *}",
    )
    check(lambda: adze.vmap(norm_of, in_axes="0")(A), "in_axes is str, expected an int, None or a tuple")
    check(lambda: adze.vmap(norm_of, in_axes=True)(A), "in_axes is bool, expected an int, None or a tuple")
    check(
        lambda: adze.vmap(norm_of, in_axes=(1.5,))(A),
        "in_axes 1.5 is float, expected an int, None or a tree of them",
    )
    check(
        lambda: adze.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(A),
        "out_axes of lambda (0, 0, 0) is not a prefix of the tree (*, *)",
    )


def test_error_of_sizes_that_differ_inside_a_tree_or_by_keyword() -> None:
    def f(p: Any, *, x: Any) -> Any:
        return x

    check(
        lambda: adze.vmap(f)({"w": A, "b": A.T}, x=A),
        "vmap of f: mapped axes differ in size: axis 0 of 'p['b']' is 4, axis 0 of 'p['w']' is 3, "
        "axis 0 of 'x' is 3",
    )


def test_error_of_dynamic_sizes_that_differ_when_the_program_runs() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    specs = [adze.ShapeDtype((name, 4), np.float64) for name in ("n", "m")]
    mapped = adze.trace(adze.vmap(product), *specs).lower().compile()
    same(mapped(A, B), A * B)
    with pytest.raises(AdzeError) as caught:
        mapped(A, B[:2])
    assert (
        "vmap of product: mapped axes differ in size: axis 0 of 'x' is n, axis 0 of 'y' is m"
        in caught.value.message
    )


@pytest.mark.parametrize("size", [-1, 2.0, "3"])
def test_error_of_a_size_that_is_none(size: Any) -> None:
    check(
        lambda: adze.vmap(norm_of, in_axes=None, axis_size=size)(A),
        f"axis_size is {size!r}, expected a size: an int that is not negative",
    )


def test_error_of_a_name_that_is_none() -> None:
    error = check(
        lambda: adze.vmap(norm_of, axis_name=("i", "j"))(A),  # type: ignore[arg-type]
        "axis_name is tuple: ('i', 'j'), expected a str",
    )
    assert error.hint == "nest one vmap for each name"


def test_error_of_something_that_is_no_function() -> None:
    check(lambda: adze.vmap(3)(A), "vmap expects a function, got int: 3")  # type: ignore[arg-type]


def test_error_of_a_result_that_is_no_array() -> None:
    check(
        lambda: adze.vmap(lambda x: "text")(A),
        "lambda returns str ('text') at result, expected an array",
    )


def test_error_of_nothing_mapped() -> None:
    error = check(lambda: adze.vmap(norm_of, in_axes=None)(A), "vmap of norm_of: no argument is mapped")
    assert error.hint == "give an axis in in_axes, or axis_size"


def test_error_of_a_mapped_result_without_axis() -> None:
    error = check(
        lambda: adze.vmap(xp.sin, out_axes=None)(A),
        "out_axes of sin is None for a result that depends on the mapped axis",
    )
    assert error.hint == "give the axis where the mapped axis should go"


# -- compiled ------------------------------------------------------------------------------------------


def test_compiled_maps_are_the_evaluated_ones() -> None:
    def everything(a: Any, b: Any) -> Any:
        rows = adze.vmap(lambda x, y: xp.sum(x * y) * x)(a, b)
        columns = adze.vmap(adze.grad(norm_of), in_axes=1, out_axes=1)(a + 1)
        table = adze.vmap(adze.vmap(lambda x, y: xp.maximum(x, y), (None, 0)), (0, None))(a[0], b[0])
        return rows, columns, table

    for actual, expected in zip(adze.jit(everything)(A, B), everything(A, B), strict=True):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-13)


# -- results that do not depend on the mapped axis -----------------------------------------------------------

ROW = np.arange(3.0)
ONE = np.float64(1)

UNBATCHED: dict[str, Callable[[Any], Any]] = {
    "scan": lambda v: lax.scan(lambda c, y: ((c[0] + y, c[1] * v), y), (0.0, v), ROW),
    "fori_loop": lambda v: (lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] + v), (ONE, v)), ROW),
    "while_loop": lambda v: (
        lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] * 2, c[1] + v), (ONE, v)),
        ROW,
    ),
    "bounded while_loop": lambda v: (
        lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] * 2, c[1] + v), (ONE, v), max_steps=4),
        ROW,
    ),
    "cond": lambda v: (lax.cond(ROW[1] > 0, lambda v: (ONE, v), lambda v: (ROW[0], ONE), v), ROW),
    "switch": lambda v: (lax.switch(1, [lambda v: (ROW[0], ONE), lambda v: (ONE, v)], v), ROW),
    "map": lambda v: ((lax.map(lambda y: y * 2, ROW), v), ROW),
    "checkpoint": lambda v: (adze.checkpoint(lambda v: (ROW * 2, v))(v), ROW),
}


@pytest.mark.parametrize("name", sorted(UNBATCHED))
def test_results_that_do_not_depend_on_the_mapped_axis_may_go_without_it(name: str) -> None:
    function = UNBATCHED[name]
    (first, second), rest = adze.vmap(function, out_axes=((None, 0), None))(ROW)
    for position, v in enumerate(ROW):
        (one, other), last = function(v)
        np.testing.assert_allclose(first, one)
        np.testing.assert_allclose(second[position], other)
        np.testing.assert_allclose(rest, last)


def test_branches_of_a_dynamic_batch_may_give_what_does_not_depend_on_it() -> None:
    def function(v: Any) -> Any:
        return lax.cond(ROW[1] > 0, lambda v: (v, ONE, v), lambda v: (ONE, ROW[0], v * 2), v)

    traced = adze.trace(adze.vmap(function, out_axes=(0, None, 0)), adze.ShapeDtype(("n",), np.float64))
    assert repr(traced).endswith("-> (f64[n], f64[], f64[n]))")
    for result, expected in zip(traced.lower().compile()(ROW), (ROW, 1, ROW), strict=True):
        np.testing.assert_allclose(result, expected)


def test_a_result_that_depends_on_the_mapped_axis_cannot_go_without_it() -> None:
    with pytest.raises(AdzeError, match="out_axes of lambda is None for a result that depends on the mapped"):
        adze.vmap(lambda v: lax.cond(v > 0, lambda: ONE, lambda: ONE), out_axes=None)(ROW)


def test_results_without_an_axis_are_summed_over_it_where_that_is_asked_for() -> None:
    total = adze.vmap(lambda x: (2 * x, x, 1.5), out_axes=(None, 0, None), sum_match=True)
    for stage in (lambda f: f, adze.jit):
        twice, same_, known = stage(total)(A)
        same(twice, 2 * A.sum(axis=0))
        same(same_, A)
        same(known, 1.5)
    same(adze.vmap(sum_match=True, out_axes=None)(lambda x: x)(np.arange(3)), 3)
