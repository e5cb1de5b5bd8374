"""Named axes of `vmap`: every collective equals JAX's, with derivatives on both sides of the map."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp

X: Final = np.arange(12.0).reshape(4, 3) / 5
RING: Final = [(0, 1), (1, 2), (2, 3), (3, 0)]

Case = Callable[[Any, Any, Any], Callable[[Any], Any]]


def normalised(x: Any, p: Any, n: Any) -> Any:
    centred = x - p.pmean(x, "i")
    return centred / n.sqrt(1e-3 + p.pmean(centred**2, "i"))


def in_grid(f: Callable[[Any], Any], m: Any) -> Any:
    """`f` mapped over both axes of a matrix, which are called i and j."""
    return m.vmap(m.vmap(f, axis_name="j"), axis_name="i")


CASES: Final[dict[str, Case]] = {
    "psum": lambda m, p, n: m.vmap(lambda x: x / p.psum(x, "i"), axis_name="i"),
    "pmean": lambda m, p, n: m.vmap(lambda x: x - p.pmean(x, "i"), axis_name="i"),
    "pmax and pmin": lambda m, p, n: m.vmap(lambda x: p.pmax(x, "i") / (1 + p.pmin(x, "i")), axis_name="i"),
    "all_gather": lambda m, p, n: m.vmap(lambda x: n.sin(p.all_gather(x, "i")) * x, axis_name="i"),
    "all_gather along 1": lambda m, p, n: m.vmap(lambda x: p.all_gather(x, "i", axis=1), axis_name="i"),
    "all_gather tiled": lambda m, p, n: m.vmap(lambda x: p.all_gather(x, "i", tiled=True), axis_name="i"),
    "ppermute": lambda m, p, n: m.vmap(lambda x: p.ppermute(x, "i", RING), axis_name="i"),
    "axis_index": lambda m, p, n: m.vmap(lambda x: x * p.axis_index("i"), axis_name="i"),
    "numbers": lambda m, p, n: m.vmap(lambda x: x * p.psum(1, "i"), axis_name="i"),
    "trees": lambda m, p, n: m.vmap(lambda x: p.psum({"a": x, "b": (x[0],)}, "i"), axis_name="i"),
    "gradient inside": lambda m, p, n: m.vmap(
        m.grad(lambda x: n.sum(n.sin(p.psum(x, "i")) * x)), axis_name="i"
    ),
    "gradient of a gather inside": lambda m, p, n: m.vmap(
        m.grad(lambda x: n.sum(n.sin(p.all_gather(x, "i")) * x)), axis_name="i"
    ),
    "gradient of a permutation inside": lambda m, p, n: m.vmap(
        m.grad(lambda x: n.sum(n.sin(p.ppermute(x, "i", RING)) * x)), axis_name="i"
    ),
    "gradient outside": lambda m, p, n: m.grad(
        lambda X: n.sum(m.vmap(lambda x: normalised(x, p, n), axis_name="i")(X) ** 3)
    ),
    "tangent outside": lambda m, p, n: (
        lambda X: m.jvp(m.vmap(lambda x: normalised(x, p, n), axis_name="i"), (X,), (X**2,))
    ),
    "several axes at once": lambda m, p, n: in_grid(
        lambda s: (
            p.psum(s, ("i", "j")) + p.pmax(s, ("j", "i")) * p.axis_index(("i", "j")) + p.axis_size(("i", "j"))
        ),
        m,
    ),
    "one axis of two": lambda m, p, n: in_grid(
        lambda s: p.psum(s, "j") * p.psum(s, "i") + p.axis_index("i") + 10 * p.axis_index("j"), m
    ),
    "both axes": lambda m, p, n: in_grid(lambda s: s / p.psum(s, ("i", "j")), m),
    "an inner axis of the same name": lambda m, p, n: m.vmap(
        lambda x: m.vmap(lambda s: s / p.psum(s, "i"), axis_name="i")(x) * p.psum(x, "i"), axis_name="i"
    ),
    "inside scan": lambda m, p, n: m.vmap(
        lambda x: p.scan(lambda c, y: (c + p.pmean(y, "i") * p.axis_index("i"), c), 0.0 * x[0], x),
        axis_name="i",
    ),
    "of what is not mapped, inside scan": lambda m, p, n: m.vmap(
        lambda x: p.scan(lambda c, y: (c + p.psum(y, "i"), c), 0.0 * x[0], n.arange(3.0)), axis_name="i"
    ),
    "inside cond": lambda m, p, n: m.vmap(
        lambda x: p.cond(p.psum(x[0], "i") > 0, lambda v: v - p.pmean(v, "i"), lambda v: v, x), axis_name="i"
    ),
    "inside jit": lambda m, p, n: m.vmap(m.jit(lambda x: x / p.psum(x, "i")), axis_name="i"),
}


def close(result: Any, expected: Any) -> None:
    actual, wanted = adze.tree.leaves(result), adze.tree.leaves(expected)
    assert len(actual) == len(wanted)
    for a, b in zip(actual, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6, atol=1e-9)


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(CASES))
def test_collective_is_that_of_jax(name: str) -> None:
    jax = pytest.importorskip("jax", reason="the oracle of collectives")
    with jax.enable_x64(True):
        expected = adze.tree.map(np.asarray, CASES[name](jax, jax.lax, jax.numpy)(X))
    close(CASES[name](adze, lax, xp)(X), expected)


@pytest.mark.thorough
def test_compiled_collectives_are_the_evaluated_ones(thorough: bool) -> None:
    chosen = list(CASES.values())[:: 1 if thorough else 3]

    def everything(x: Any) -> list[Any]:
        return [adze.tree.leaves(case(adze, lax, xp)(x)) for case in chosen]

    close(adze.jit(everything)(X), everything(X))


def test_positions_that_receive_nothing_get_zeros() -> None:
    result = adze.vmap(lambda x: lax.ppermute(x, "i", [(0, 2), (3, 1)]), axis_name="i")(X)
    close(result, np.stack([0 * X[0], X[3], X[0], 0 * X[0]]))


def test_axis_of_dynamic_size_is_summed() -> None:
    def f(x: Any) -> Any:
        return adze.vmap(lambda v: v / lax.psum(v, "i") + lax.pmean(v, "i"), axis_name="i")(x)

    compiled = adze.trace(f, adze.ShapeDtype(("n", 3), np.float64)).lower().compile()
    close(compiled(X), f(X))


def test_unbound_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(AdzeError) as raised:
        adze.vmap(lambda x: lax.psum(x, "rows"), axis_name="i")(X)
    assert str(raised.value).startswith("axis name 'rows' is not bound here (bound: 'i')\n  at ")
    assert str(raised.value).endswith("hint: map the function with adze.vmap(..., axis_name='rows')")
    with pytest.raises(AdzeError, match=r"axis name 'i' is not bound here \(bound: none\)"):
        lax.axis_index("i")


def test_error_of_several_names_where_one_is_taken() -> None:
    gather: Any = lax.all_gather
    permute: Any = lax.ppermute
    for call in (lambda x: gather(x, ("i", "j")), lambda x: permute(x, ("i", "j"), [(0, 1)])):
        with pytest.raises(AdzeError, match=r"axis_name is tuple: \('i', 'j'\), expected one name, a str"):
            in_grid(call, adze)(X)


def test_sum_over_no_axis_is_the_array_itself() -> None:
    np.testing.assert_array_equal(adze.vmap(lambda x: lax.psum(x, ()), axis_name="i")(X), X)


@pytest.mark.parametrize("perm", [[(0, 4)], [(0, 1), (0, 2)], [(0, 1), (2, 1)]])
def test_permutation_must_pair_distinct_positions(perm: list[tuple[int, int]]) -> None:
    with pytest.raises(AdzeError, match=r"must pair distinct positions of axis 'i', which has 4"):
        adze.vmap(lambda x: lax.ppermute(x, "i", perm), axis_name="i")(X)


def test_a_jitted_function_in_batches_of_other_sizes() -> None:
    """One function for each size of the axis: a sum of a number over it is a constant of its program."""
    counted = adze.jit(lambda x: x * lax.psum(1, "v"))

    def both(a: Any, b: Any) -> Any:
        return adze.vmap(counted, axis_name="v")(a), adze.vmap(counted, axis_name="v")(b)

    three, five = adze.jit(both)(np.ones(3), np.ones(5))
    np.testing.assert_array_equal(three, np.full(3, 3.0))
    np.testing.assert_array_equal(five, np.full(5, 5.0))
