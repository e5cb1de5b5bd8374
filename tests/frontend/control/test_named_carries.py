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
