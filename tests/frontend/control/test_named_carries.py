"""Loops and branches of arrays of named sizes: what goes through them keeps its names, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.frontend.errors import TraceError

N, M, SQUARE = adze.ShapeDtype(("n",)), adze.ShapeDtype(("m",)), adze.ShapeDtype(("n", "n"))


def shapes(function: Callable[..., Any], *specs: Any) -> list[str]:
    """The shapes of the results as text, as the function that is traced sees them."""
    found: list[str] = []

    def seen(*arrays: Any) -> Any:
        results = function(*arrays)
        found.extend(str(x.shape) for x in adze.tree.leaves(results))
        return results

    adze.trace(seen, *specs)
    return found


def test_results_of_loops_have_the_sizes_of_what_they_carry() -> None:
    def repeated(x: Any, y: Any) -> Any:
        return lax.while_loop(lambda c: c[0].sum() < 9, lambda c: (c[0] * 2 + c[1].sum(), c[1] + 1), (x, y))

    assert shapes(repeated, N, M) == ["(n,)", "(m,)"]
    assert shapes(lambda x: lax.fori_loop(0, 3, lambda _, y: y @ y, x), SQUARE) == ["(n, n)"]
    assert shapes(lambda x: lax.scan(lambda c, u: (c @ c, u + 1), x, x), SQUARE) == ["(n, n)", "(n, n)"]


def test_results_of_branches_have_sizes_that_all_branches_state() -> None:
    def chosen(x: Any, y: Any) -> Any:
        return lax.cond(
            x.sum() > 0,
            lambda x, y: (x * 2, xp.concatenate([x, y]), y),
            lambda x, y: (x + 1, xp.concatenate([y, x]), y[1:]),
            x,
            y,
        )

    first, joined, last = shapes(chosen, N, M)
    assert (first, joined) == ("(n,)", "(m + n,)") and "?" in last
    program = adze.trace(lambda x, y: chosen(x, y)[:2], N, M).lower().compile()
    for n, m in ((1, 3), (4, 2)):
        x, y = np.ones(n, np.float32), np.zeros(m, np.float32)
        got = program(x, y)
        np.testing.assert_array_equal(got[0], 2 * x)
        np.testing.assert_array_equal(got[1], np.concatenate([x, y]))


def test_a_loop_goes_on_as_a_square_matrix() -> None:
    def function(x: Any) -> Any:
        y = lax.fori_loop(0, 2, lambda _, y: xp.linalg.inv(y + 3 * xp.eye(y.shape[0])), x)
        return xp.linalg.solve(y, x)

    program = adze.trace(function, SQUARE).lower().compile()
    for n in (1, 5):
        x = np.random.default_rng(n).standard_normal((n, n)).astype(np.float32) / 4
        np.testing.assert_allclose(program(x), function(x), rtol=1e-4, atol=1e-4)


GROWING = {
    "fori_loop": lambda x: lax.fori_loop(0, 2, lambda i, y: xp.concatenate([y, y]), x),
    "while_loop": lambda x: lax.while_loop(lambda y: y.sum() < 9, lambda y: xp.concatenate([y, y]), x),
    "scan": lambda x: lax.scan(lambda y, u: (xp.concatenate([y, y]), u), x, x),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_carry_of_another_size_is_refused(name: str) -> None:
    """It was written beyond the place of the first one."""
    with pytest.raises(TraceError, match=rf"carry of {name} changes its size: carry is \[n\], .* \[2\*n\]"):
        adze.trace(GROWING[name], N)
    with pytest.raises(TraceError, match=r"carry\[0\] is \[n\], .* returns \[m\]"):
        adze.trace(lambda x, y: lax.fori_loop(0, 2, lambda i, c: (c[1], c[0]), (x, y)), N, M)


UNNAMED, UNNAMED_MATRIX = adze.ShapeDtype((None,)), adze.ShapeDtype((None, None))


def rolled(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda _, c: xp.concatenate([c[1:], c[:1]]), x)


def test_carries_of_sizes_without_names_are_checked_when_they_run_compiled() -> None:
    x, matrix = np.arange(3, dtype=np.float32), np.ones((2, 3), np.float32)
    growing = (
        (lambda x: lax.fori_loop(0, 3, lambda _, c: xp.concatenate([c, c[:1]]), x), UNNAMED, x, "fori_loop"),
        (lambda x: lax.scan(lambda c, _: (c[1:], c.sum()), x, None, length=2), UNNAMED, x, "scan"),
        (
            lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: xp.repeat(c, 2), x),
            UNNAMED,
            x,
            "while_loop",
        ),
        (lambda x: lax.fori_loop(0, 3, lambda _, c: c.T, x), UNNAMED_MATRIX, matrix, "fori_loop"),
        (lambda x: lax.scan(lambda c, _: (x[:2], c), x[:1], None, length=2)[0], N, x, "scan"),
    )
    for function, spec, argument, name in growing:
        program = adze.trace(function, spec).lower().compile()
        with pytest.raises(adze.AdzeError, match=f"the carry of {name} changes its size along axis 0"):
            program(argument)


def test_carries_of_sizes_without_names_keep_them_compiled() -> None:
    for spec in (UNNAMED, N):
        both = adze.trace(lambda x: (rolled(x), adze.grad(lambda x: rolled(x * x)[0])(x)), spec)
        program = both.lower().compile()
        for n in (1, 3, 5):
            x = np.arange(n, dtype=np.float32)
            moved, slope = program(x)
            np.testing.assert_array_equal(moved, np.roll(x, -4))
            np.testing.assert_array_equal(slope, 2 * x * (np.arange(n) == 4 % n))
    turned = adze.trace(lambda x: lax.fori_loop(0, 3, lambda _, c: c.T * 2, x), UNNAMED_MATRIX)
    square = turned.lower().compile()
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    np.testing.assert_array_equal(square(x), 8 * x.T)


def test_an_inner_size_without_a_name_is_no_outer_one() -> None:
    def inside(x: Any) -> Any:
        texts: list[str] = []

        def step(_: Any, c: Any) -> Any:
            chosen = lax.cond(c.sum() > 0, lambda c: c[1:], lambda c: c[:1], c)
            texts.extend((str(c.shape[0]), str(chosen.shape[0])))
            return c

        lax.fori_loop(0, 2, step, x)
        assert texts[0] != texts[1]
        return x

    adze.trace(inside, UNNAMED)
