"""Loops over arrays whose sizes are known only when the program runs: compiled equals NumPy, or evaluated.

`map(batch_size=)` and `associative_scan` along a dynamic axis take other ways than along a static one, and
what loops carry is packed by IREE at offsets that are computed from the sizes.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze import numpy as xp
from adze.runtime.errors import CallError

SIZES: Final = (0, 1, 2, 5, 8, 13)


def close(actual: Any, expected: Any, what: str = "") -> None:
    for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        assert np.shape(a) == np.shape(b), what
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11, atol=1e-11, err_msg=what)


def array(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def compiled(function: Callable[..., Any], *shape: Any) -> Any:
    return adze.trace(function, ShapeDtype(shape, np.float64)).lower().compile()


# -- prefixes --------------------------------------------------------------------------------------------


def affine(a: Any, b: Any) -> Any:
    """`b` after `a`, of maps ``x -> m x + c``: not commutative, so that the order matters."""
    return a[0] * b[0], a[1] * b[0] + b[1]


def prefixes(x: Any) -> Any:
    return {
        "sums": lax.associative_scan(xp.add, x),
        "largest, from the end": lax.associative_scan(xp.maximum, x, reverse=True),
        "maps": lax.associative_scan(affine, (x, 0.3 * x + 1)),
        "maps, from the end": lax.associative_scan(affine, (x, 0.3 * x + 1), reverse=True),
    }


def prefixes_in_numpy(x: np.ndarray) -> Any:
    def maps(rows: np.ndarray) -> Any:
        first, second = [], []
        for row in rows:
            last = (first[-1], second[-1]) if first else (np.ones_like(row), np.zeros_like(row))
            m, c = affine(last, (row, 0.3 * row + 1))
            first.append(m)
            second.append(c)
        return np.reshape(first, rows.shape), np.reshape(second, rows.shape)

    return {
        "sums": np.cumsum(x, axis=0),
        "largest, from the end": np.maximum.accumulate(x[::-1], axis=0)[::-1],
        "maps": maps(x),
        "maps, from the end": tuple(v[::-1] for v in maps(x[::-1])),
    }


def loss_of_prefixes(x: Any) -> Any:
    first, second = lax.associative_scan(affine, (x, 0.3 * x + 1))
    return xp.sum(xp.sin(first) * second) + xp.sum(lax.associative_scan(xp.multiply, x, reverse=True) ** 2)


def test_prefixes_along_a_dynamic_axis_are_those_of_numpy() -> None:
    program = compiled(prefixes, "n", 2)
    for n in SIZES:
        close(program(array(n, 2)), prefixes_in_numpy(array(n, 2)), f"{n} slices")


def test_prefixes_along_a_dynamic_axis_that_is_not_the_first() -> None:
    program = compiled(lambda x: lax.associative_scan(xp.add, x, axis=-1), 2, "n")
    for n in SIZES[1:]:
        close(program(array(2, n)), np.cumsum(array(2, n), axis=1), f"{n} slices")


@pytest.mark.thorough
def test_derivatives_of_prefixes_along_a_dynamic_axis_are_those_along_a_static_one() -> None:
    gradient = adze.grad(loss_of_prefixes)
    program = compiled(lambda x: (gradient(x), adze.jvp(loss_of_prefixes, (x,), (x + 1,))), "n", 2)
    for n in SIZES[1:]:
        x = array(n, 2)
        close(program(x), (gradient(x), adze.jvp(loss_of_prefixes, (x,), (x + 1,))), f"{n} slices")


# -- map -------------------------------------------------------------------------------------------------


def mapped(x: Any) -> Any:
    return lax.map(lambda row: {"sin": xp.sin(row) * xp.sum(row), "sum": xp.sum(row)}, x, batch_size=4)


def mapped_in_numpy(x: np.ndarray) -> Any:
    return {"sin": np.sin(x) * x.sum(axis=1, keepdims=True), "sum": x.sum(axis=1)}


def test_map_takes_a_dynamic_number_of_slices_in_batches() -> None:
    program = compiled(mapped, "n", 3)
    for n in SIZES:
        close(program(array(n, 3)), mapped_in_numpy(array(n, 3)), f"{n} slices")


@pytest.mark.thorough
def test_derivatives_of_map_in_batches_of_a_dynamic_number_of_slices() -> None:
    def loss(x: Any) -> Any:
        result = mapped(x)
        return xp.sum(result["sin"] ** 2) + xp.sum(result["sum"] ** 3)

    program = compiled(adze.grad(loss), "n", 3)
    for n in SIZES:
        x = array(n, 3)
        total = x.sum(axis=1, keepdims=True)
        expected = 2 * np.sin(x) * np.cos(x) * total**2 + 2 * total * (np.sin(x) ** 2).sum(
            axis=1, keepdims=True
        )
        close(program(x), expected + 3 * total**2, f"{n} slices")


# -- what loops carry ------------------------------------------------------------------------------------


def columns(xs: Any) -> Any:
    """Carries and results of several sizes."""

    def step(c: Any, x: Any) -> Any:
        row, total = c
        return (row + x, total + xp.sum(x)), (xp.sum(row), row * x, xp.concatenate([x, x]))

    return lax.scan(step, (xs[0], np.float64(0)), xs)


def iterated(xs: Any) -> Any:
    def body(s: Any) -> Any:
        i, a, b, c = s
        return i + 1, a * 2 + xp.sum(b), b + 1, c @ c.T @ c

    return lax.while_loop(lambda s: s[0] < 3, body, (np.int32(0), xs, xs[0], xs * 0.1))


def shortened(xs: Any) -> Any:
    """The sizes of what is carried are differences."""
    return lax.scan(lambda c, x: (c + x, (c * x, xp.sum(c))), xs[0, :-1], xs[:-1, 1:])


def chosen(xs: Any) -> Any:
    return lax.cond(
        xs[0, 0] > 0, lambda v: (v[1:], xp.sum(v, axis=0), v.T), lambda v: (v[:-1] * 2, v[0], v.T * 3), xs
    )


def loss_of_columns(xs: Any) -> Any:
    return sum(xp.sum(v**2) for v in adze.tree.leaves(columns(xs)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "function",
    [
        columns,
        pytest.param(adze.grad(loss_of_columns), marks=pytest.mark.thorough),
        iterated,
        shortened,
        pytest.param(chosen, marks=pytest.mark.thorough),
    ],
    ids=lambda f: f.__name__,
)
def test_what_a_loop_carries_may_have_several_dynamic_sizes(function: Callable[..., Any]) -> None:
    program = compiled(function, "n", "m")
    for n, m in ((2, 3), (5, 4), (3, 40)):
        close(program(array(n, m)), function(array(n, m)), f"{n} x {m}")


def test_a_size_beyond_what_offsets_can_be_computed_of_is_an_error() -> None:
    program = compiled(
        lambda xs: lax.scan(lambda c, x: (c + x, None), xs[:, :1].sum(axis=0), xs)[0], "n", "m"
    )
    with pytest.raises(CallError, match="a dynamic size is above 67108864, the most for loops over arrays"):
        np.asarray(program(np.zeros((0, 2**29))))


def test_stacked_results_have_the_names_of_sizes() -> None:
    rows, columns = ShapeDtype(("n", 3)), ShapeDtype((4, "n"))

    def stacked(x: Any) -> Any:
        return adze.lax.scan(lambda c, row: (c + row.sum(), row * c), np.float32(0), x)[1]

    assert adze.eval_shape(stacked, rows).shape == ("n", 3)
    assert adze.eval_shape(stacked, columns).shape == (4, "n")
    assert adze.eval_shape(lambda x: adze.lax.map(lambda row: row[:1], x), rows).shape == ("n", 1)
    assert adze.eval_shape(lambda x: adze.lax.map(lambda row: row[1:], x), columns).shape == (4, None)
    traced = adze.trace(adze.jit(stacked), columns)
    assert "tensor<4x?xf32>" in traced.mlir()


def test_prefixes_have_the_named_size_of_their_elements() -> None:
    traced = adze.trace(lambda x: adze.associative_scan(lambda a, b: a + b, x), adze.ShapeDtype(("n",)))
    assert repr(traced).endswith("(x: f32[n]) -> (f32[n]))")


def test_what_is_joined_has_the_sum_of_named_sizes() -> None:
    def joined(x: Any, y: Any) -> Any:
        both = xp.concatenate([x, y])
        assert str(both.shape[0]) == "m + n"
        return both + xp.ones(x.shape[0] + y.shape[0], dtype=x.dtype)

    adze.trace(joined, adze.ShapeDtype(("n",)), adze.ShapeDtype(("m",)))


# -- fori_loop -------------------------------------------------------------------------------------------


def powers(x: Any, **options: Any) -> Any:
    """A loop from 1 to the number of rows."""
    return lax.fori_loop(1, x.shape[0], lambda i, v: xp.sin(v) * i + x[i], x[0], **options)


@pytest.mark.parametrize("options", [{}, {"saved_states": 2}])
def test_a_loop_to_a_size_has_a_gradient(options: dict[str, int]) -> None:
    f = compiled(adze.value_and_grad(lambda x: xp.sum(powers(x, **options))), "n", 2)
    for n in (1, 2, 5):
        x = array(n, 2)
        close(f(x), adze.value_and_grad(lambda x: xp.sum(powers(x)))(x), f"{n} rows")


def test_a_loop_to_a_size_is_not_unrolled() -> None:
    with pytest.raises(adze.AdzeError, match="fori_loop: unroll needs static bounds"):
        adze.trace(lambda x: powers(x, unroll=2), ShapeDtype(("n", 2)))
