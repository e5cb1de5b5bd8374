"""What a batch computes for elements that did not ask for it is not felt: checks hold, loops end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError
from adze import numpy as xp
from adze.frontend.tracing.interpreter import ops

from ...selection import quick_first

A = np.array([1.0, 4.0, -1.0, 9.0])
ROOTS = np.array([1.0, 2.0, -1.0, 3.0])


def root(x: Any) -> Any:
    """A square root that stops the program below zero."""
    ops.check(x >= 0, message="a negative number has no root")
    return xp.sqrt(x)


def where_positive(f: Callable[[Any], Any], least: float = 0) -> Callable[[Any], Any]:
    return lambda x: adze.cond(x >= least, f, lambda x: x, x)


def down(x: Any, **options: Any) -> Any:
    """0 for what is not negative; for the rest a loop without end."""
    return adze.while_loop(
        lambda s: s != 0, lambda s: xp.where(s > 0, xp.maximum(s - 1, 0), s - 1), x, **options
    )


def check_returns(f: Callable[..., Any], expected: Any, *arguments: Any) -> None:
    """The function, evaluated and compiled, returns `expected`."""
    for call in (f, adze.jit(f)):
        np.testing.assert_allclose(np.asarray(call(*arguments)), expected, rtol=1e-12)


def stops(f: Callable[..., Any], message: str, *arguments: Any) -> None:
    for call in (f, adze.jit(f)):
        with pytest.raises(AdzeError, match=message):
            call(*arguments)


THROUGH: dict[str, Callable[[Any], Any]] = {
    "itself": root,
    "jit": adze.jit(root),
    "checkpoint": adze.checkpoint(root),
    "cond": lambda x: adze.cond(x < 1e9, root, lambda x: x, x),
    "map": lambda x: adze.map(root, x[None])[0],
    "batch": lambda x: adze.vmap(root)(x[None])[0],
    "while": lambda x: adze.while_loop(lambda s: s[1], lambda s: (root(s[0]), s[1] & False), (x, x < 1e9))[0],
}


@pytest.mark.parametrize(
    "through", quick_first(["cond", "while", "jit", "itself", "checkpoint", "map", "batch"], 3)
)
def test_check_holds_for_elements_that_did_not_choose_its_branch(through: str) -> None:
    check_returns(adze.vmap(where_positive(THROUGH[through])), ROOTS, A)
    stops(adze.vmap(where_positive(THROUGH[through], -2)), "a negative number has no root", A)


def test_check_of_a_shared_value_counts_where_any_element_chose_it() -> None:
    def f(x: Any, shared: Any, least: Any) -> Any:
        return adze.vmap(lambda x: adze.cond(x >= least, lambda: root(shared), lambda: x))(x)

    check_returns(f, A, A, np.float64(-1), np.float64(10))
    stops(f, "a negative number has no root", A, np.float64(-1), np.float64(9))


def test_checks_in_branches_of_branches() -> None:
    def f(limit: float) -> Callable[[Any], Any]:
        inner = where_positive(lambda x: root(x - limit), least=3)
        return adze.vmap(where_positive(inner))

    check_returns(f(4), [1, 0, -1, np.sqrt(5)], A)
    stops(f(5), "a negative number has no root", A)


def test_batches_of_batches_and_of_dynamic_size() -> None:
    f = where_positive(root)
    check_returns(adze.vmap(adze.vmap(f)), ROOTS.reshape(2, 2), A.reshape(2, 2))
    compiled = adze.trace(adze.vmap(f), adze.ShapeDtype(("n",), np.float64)).lower().compile()
    np.testing.assert_allclose(np.asarray(compiled(A)), ROOTS)


def test_derivatives_on_both_sides() -> None:
    f, slopes = where_positive(root), np.array([1 / 2, 1 / 4, 1, 1 / 6])
    check_returns(adze.vmap(adze.grad(f)), slopes, A)
    check_returns(adze.grad(lambda a: xp.sum(adze.vmap(f)(a))), slopes, A)


def test_loop_that_would_not_end_is_not_entered_for_other_elements() -> None:
    ended = np.where(A >= 0, 0, A)
    check_returns(adze.vmap(where_positive(down)), ended, A)
    check_returns(adze.vmap(where_positive(lambda x: down(x, max_steps=20))), ended, A)
    stops(adze.vmap(lambda x: down(x, max_steps=20)), "the condition still holds after max_steps=20", A)


def test_loop_checks_no_element_that_is_done() -> None:
    def count(x: Any) -> Any:
        def step(s: Any) -> Any:
            ops.check(s <= x, message="past the end")
            return s + 1

        return adze.while_loop(lambda s: s <= x, step, xp.zeros_like(x))

    check_returns(adze.vmap(count), np.abs(A) + 1, np.abs(A))


def test_loop_in_a_loop_stands_still_for_elements_that_are_done() -> None:
    def outer(x: Any) -> Any:
        return adze.while_loop(
            lambda s: s < x,
            lambda s: adze.while_loop(lambda t: (t < s + 1.5) | (s >= x), lambda t: t + 1, s),
            xp.zeros_like(x),
        )

    check_returns(adze.vmap(outer), [2, 4, 0, 10], A)


def test_functions_that_stop_nothing_take_no_predicate() -> None:
    text = adze.trace(adze.vmap(where_positive(adze.jit(xp.exp))), A).mlir("traced")
    assert "predicated" not in text
    assert "predicated" in adze.trace(adze.vmap(where_positive(adze.jit(root))), A).mlir("traced")
