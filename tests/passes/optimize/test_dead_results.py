"""Dead-result elimination: loops and branches without unused results return the same values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze import numpy as xp
from adze.dialects.errors import AdzeError
from adze.frontend.tracing.interpreter import ops

X = np.linspace(0.5, 2.0, 3)
XS = np.linspace(-1.0, 1.0, 15).reshape(5, 3)


def simplified(f: Callable[..., Any], *arguments: Any) -> str:
    return str(adze.trace(f, *arguments).mlir("simplified"))


def operands_and_results(line: str) -> tuple[int, int]:
    """How many values an op of one line of text takes and returns."""
    taken, given = re.search(r" : \((.*)\) -> (.*)$", line).groups()  # type: ignore[union-attr]
    return taken.count("tensor<"), given.count("tensor<")


def only(text: str, op: str) -> str:
    (line,) = [line for line in text.splitlines() if f'"adze.{op}"' in line]
    return line


def agrees(f: Callable[..., Any], *arguments: Any) -> None:
    results, expected = adze.jit(f)(*arguments), f(*arguments)
    for a, b in zip(adze.tree.leaves(results), adze.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_results_of_a_scan_that_nothing_reads_are_not_stacked() -> None:
    def f(x: Any, xs: Any) -> Any:
        return lax.scan(lambda c, v: (c + v, (xp.sin(c), xp.cos(c))), x, xs)[1][1]

    text = simplified(f, X, XS)
    assert operands_and_results(only(text, "scan")) == (2, 2)
    assert "adze.sin" not in text and "adze.cos" in text
    agrees(f, X, XS)


def test_a_carry_that_only_feeds_itself_goes_with_what_it_reads() -> None:
    def f(x: Any, xs: Any, w: Any) -> Any:
        def step(carry: Any, v: Any) -> Any:
            a, b, count = carry
            return (a * 2 + v[0], b * w + v[1], count + 1), None

        return lax.scan(step, (x, x, np.int32(0)), (xs, xs + 1))[0][0]

    text = simplified(f, X, XS, np.float64(3))
    assert operands_and_results(only(text, "scan")) == (2, 1)
    agrees(f, X, XS, np.float64(3))


def test_a_carry_that_feeds_what_is_read_stays() -> None:
    def f(x: Any, xs: Any) -> Any:
        def step(carry: Any, v: Any) -> Any:
            a, b, c = carry
            return (a + b, b * c, c + v), a

        return lax.scan(step, (x, x, x), xs)[1]

    assert operands_and_results(only(simplified(f, X, XS), "scan")) == (4, 4)
    agrees(f, X, XS)


def test_branches_give_and_take_what_is_read() -> None:
    def f(flag: Any, x: Any, y: Any, z: Any) -> Any:
        results = lax.cond(flag, lambda: (xp.sin(x), xp.exp(z)), lambda: (y * 2, xp.log(z)))
        return results[0]

    text = simplified(f, np.bool_(True), X, X, X)
    assert operands_and_results(only(text, "cond")) == (3, 1)
    assert "adze.exp" not in text and "adze.log" not in text
    agrees(f, np.bool_(False), X, X, X)


def test_a_while_loop_keeps_what_its_condition_asks_for() -> None:
    def f(x: Any, w: Any) -> Any:
        def body(s: Any) -> Any:
            n, limit, value, aside = s
            return n + 1, limit * 2, value * 3, aside * w

        return lax.while_loop(lambda s: s[0] < s[1], body, (np.float64(1), np.float64(1), x, x))[2]

    def g(x: Any, w: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * w), (np.int32(0), x))[0]

    assert operands_and_results(only(simplified(f, X, X), "while"))[1] == 3
    assert operands_and_results(only(simplified(g, X, X), "while"))[1] == 1
    agrees(lambda x, w: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * w), (0, x))[0], X, X)


def test_inner_loops_are_narrowed_with_outer_ones() -> None:
    def f(x: Any, xs: Any) -> Any:
        def outer(c: Any, v: Any) -> Any:
            def inner(d: Any, _: Any) -> Any:
                return (d[0] + v, d[1] * 2), (d[0], xp.tan(d[1]))

            (a, b), (rows, more) = lax.scan(inner, (c[0], c[1]), None, length=4)
            return (a, b), (rows, more)

        return lax.scan(outer, (x, x), xs)[1][0]

    text = simplified(f, X, XS)
    assert "adze.tan" not in text
    assert {operands_and_results(line)[1] for line in text.splitlines() if '"adze.scan"' in line} == {2}
    agrees(f, X, XS)


def test_checks_in_a_body_stay_with_what_they_read() -> None:
    def f(x: Any, xs: Any) -> Any:
        def step(carry: Any, v: Any) -> Any:
            a, b = carry
            ops.check(b < 4, message="b grew")
            return (a + v, b + 1), xp.sin(b)

        return lax.scan(step, (x, np.float64(0)), xs)[0][0]

    assert operands_and_results(only(simplified(f, X, XS), "scan"))[1] == 3
    with pytest.raises(AdzeError, match="b grew"):
        adze.jit(f)(X, XS)


def test_sizes_that_are_not_read_go_too() -> None:
    def f(xs: Any, ys: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            return (c[0] + row, c[1] + xp.sum(ys)), xp.broadcast_to(xp.sum(row), ys.shape)

        return lax.scan(step, (xs[0], np.float64(0)), xs)[0][0]

    shapes = ShapeDtype((5, "n"), np.float64), ShapeDtype(("m",), np.float64)
    assert operands_and_results(only(simplified(f, *shapes), "scan")) == (2, 1)
    compiled = adze.trace(f, *shapes).lower().compile()
    np.testing.assert_allclose(compiled(XS, X), f(XS, X))


def test_a_gradient_of_groups_of_steps_saves_no_steps_in_its_forward_pass() -> None:
    def loss(x: Any) -> Any:
        return xp.sum(lax.scan(lambda c, _: (xp.sin(c), None), x, None, length=16, checkpoint_every=4)[0])

    text = simplified(adze.grad(loss), X)
    scans = [operands_and_results(line)[1] for line in text.splitlines() if '"adze.scan"' in line]
    # Forward the carry and its groups; inside only the carry. Backward: again with cosines, and the sum.
    assert sorted(scans) == [1, 1, 1, 2, 2]
    np.testing.assert_allclose(adze.jit(adze.grad(loss))(X), adze.grad(loss)(X), rtol=1e-12)
