"""Loops in reverse mode: every way to save less has the gradient of the loop written out, in less memory.

The loop written out is the oracle, for values, gradients and second derivatives in every combination of modes
and batches. Then the schedule itself (Revolve is optimal), what is kept (bytes alive, by the program's own
cost), effects that happen once, and the errors with their texts.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import AdzeError, ShapeDtype, lax
from adze import numpy as xp
from adze.frontend.tracing.interpreter import ops
from adze.passes.autodiff.revolve import _distance

from ...selection import quick_first

Loss = Callable[..., Any]
WEIGHTS: Final = np.array([0.9, 1.1, 0.7])
START: Final = np.array([0.3, -0.5, 0.8])


def step(w: Any, x: Any) -> Any:
    return xp.tanh(x * w) + 0.3 * xp.roll(x, 1)


def counted(w: Any, x: Any, n: Any, **options: Any) -> Any:
    """`n` steps by a while loop, beside a count, a flag and a part that nothing changes."""

    def body(s: Any) -> Any:
        return {"i": s["i"] + 1, "x": step(w, s["x"]) * s["c"], "odd": ~s["odd"], "c": s["c"]}

    start = {"i": np.int32(0), "x": x, "odd": np.bool_(False), "c": np.float64(1)}
    return lax.while_loop(lambda s: s["i"] < n, body, start, **options)["x"]


def written_out(w: Any, x: Any, n: int) -> Any:
    for _ in range(n):
        x = step(w, x)
    return x


def loss_of(loop: Loss, n: int, **options: Any) -> Loss:
    return lambda w, x: xp.sum(loop(w, x, n, **options) ** 2)


def close(actual: Any, expected: Any, what: str = "", tolerance: float = 1e-11) -> None:
    pairs = zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True)
    for a, b in pairs:
        assert np.shape(a) == np.shape(b), what
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance, err_msg=what)


# -- while loops with a number of states ------------------------------------------------------------------


@pytest.mark.each_value
@pytest.mark.parametrize("states", [2, 3, 5, 9, 40])
@pytest.mark.parametrize("steps", [0, 1, 2, 7, 23])
def test_gradient_is_that_of_the_loop_written_out(steps: int, states: int) -> None:
    gradient = adze.value_and_grad(loss_of(counted, steps, saved_states=states), (0, 1))(WEIGHTS, START)
    close(gradient, adze.value_and_grad(loss_of(written_out, steps), (0, 1))(WEIGHTS, START))


BATCH: Final = np.stack([START, 2 * START, -START])

DERIVATIVES: Final[dict[str, Callable[[Loss], Any]]] = {
    "hessian": lambda f: adze.hessian(f, (0, 1))(WEIGHTS, START),
    "reverse over reverse": lambda f: adze.jacrev(adze.jacrev(f, (0, 1)), (0, 1))(WEIGHTS, START),
    "reverse over forward": lambda f: adze.jacrev(adze.jacfwd(f))(WEIGHTS, START),
    "forward": lambda f: adze.jvp(f, (WEIGHTS, START), (START, WEIGHTS)),
    "mixed": lambda f: adze.grad(lambda w, x: xp.sum(adze.grad(f, 1)(w, x) ** 2))(WEIGHTS, START),
    "third": lambda f: adze.grad(
        lambda x: xp.sum(adze.grad(lambda w: xp.sum(adze.grad(f, 1)(w, x) ** 2))(WEIGHTS) ** 2)
    )(START),
    "linearize": lambda f: adze.linearize(f, WEIGHTS, START)[1](START, WEIGHTS),
    "batch of gradients": lambda f: adze.vmap(adze.grad(f, (0, 1)), (None, 0))(WEIGHTS, BATCH),
    "batch of weights": lambda f: adze.vmap(adze.grad(f, (0, 1)), (0, None))(BATCH, START),
    "gradient of a batch": lambda f: adze.grad(
        lambda w: xp.sum(adze.vmap(lambda x: f(w, x))(BATCH)),
    )(WEIGHTS),
    "gradient of a batch of gradients": lambda f: adze.grad(
        lambda w: xp.sum(adze.vmap(lambda x: adze.grad(f, 1)(w, x))(BATCH) ** 2)
    )(WEIGHTS),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name",
    quick_first(sorted(DERIVATIVES, key=["third", "hessian", "reverse over forward"].__contains__), 8),
)
def test_derivatives_of_all_orders_and_batches_are_those_of_the_loop_written_out(name: str) -> None:
    expected = DERIVATIVES[name](loss_of(written_out, 5))
    close(DERIVATIVES[name](loss_of(counted, 5, saved_states=4)), expected, name)


@pytest.mark.thorough
def test_elements_of_a_batch_do_their_own_numbers_of_steps() -> None:
    counts = np.array([0, 3, 7], np.int32)

    def f(x: Any, n: Any) -> Any:
        return xp.sum(counted(WEIGHTS, x, n, saved_states=3) ** 2)

    expected = [
        adze.grad(loss_of(written_out, int(n)), 1)(WEIGHTS, x) for x, n in zip(BATCH, counts, strict=True)
    ]
    close(adze.vmap(adze.grad(f))(BATCH, counts), xp.stack(expected))
    close(adze.vmap(adze.hessian(f))(BATCH, counts)[1], adze.hessian(lambda x: f(x, 3))(BATCH[1]))


def test_finished_elements_poison_no_gradient() -> None:
    def halve(x: Any) -> Any:  # sqrt has no slope where the loop ends
        def body(s: Any) -> Any:
            return s[0] - 0.25, s[1] + xp.sqrt(s[0] - 0.5)

        return lax.while_loop(lambda s: s[0] > 0.5, body, (x, x * 0), saved_states=3)[1]

    starts = np.array([0.5, 1.0, 2.0, 0.3])
    expected = [
        sum(0.5 / np.sqrt(x - 0.25 * i - 0.5) for i in range(9) if x - 0.25 * i > 0.5) for x in starts
    ]
    close(adze.vmap(adze.grad(halve))(starts), np.array(expected))
    close(adze.grad(lambda x: xp.sum(adze.vmap(halve)(x)))(starts), np.array(expected))


def test_finished_elements_poison_no_gradient_of_what_the_body_captures() -> None:
    def up_to(limit: Any, x: Any) -> Any:  # the body is undefined above the limit
        def body(s: Any) -> Any:
            return s[0] + 0.5, s[1] + xp.sqrt(limit - s[0])

        return lax.while_loop(lambda s: s[0] < limit, body, (x, x * 0), saved_states=3)[1]

    limits = np.array([1.0, 2.25, 0.0, 3.5])
    expected = [sum(0.5 / np.sqrt(a - 0.5 * i) for i in range(9) if 0.5 * i < a) for a in limits]
    zero = np.float64(0)
    close(adze.vmap(adze.grad(up_to), (0, None))(limits, zero), np.array(expected))
    close(adze.grad(lambda a: xp.sum(adze.vmap(up_to, (0, None))(a, zero)))(limits), np.array(expected))


def test_loops_in_loops_are_reversed() -> None:
    def nested(w: Any, x: Any, n: Any, **options: Any) -> Any:
        def outer(s: Any) -> Any:
            i, x = s
            x = lax.cond(i > 0, lambda v: counted(w, v, i, **options), lambda v: v * w, x)
            return i + 1, lax.scan(lambda c, y: (xp.sin(c + y * w), None), x, START)[0]

        return lax.while_loop(lambda s: s[0] < n, outer, (np.int32(0), x), **options)[1]

    def straight(w: Any, x: Any, n: int) -> Any:
        for i in range(n):
            x = written_out(w, x, i) if i > 0 else x * w
            for y in START:
                x = xp.sin(x + y * w)
        return x

    gradient = adze.grad(loss_of(nested, 4, saved_states=2), (0, 1))(WEIGHTS, START)
    close(gradient, adze.grad(loss_of(straight, 4), (0, 1))(WEIGHTS, START))


def test_a_traced_bound_of_fori_loop_is_reversed() -> None:
    def f(x: Any, n: Any) -> Any:
        return xp.sum(lax.fori_loop(1, n, lambda i, v: xp.sin(v) * i, x, saved_states=3))

    def straight(x: Any) -> Any:
        for i in range(1, 6):
            x = xp.sin(x) * i
        return xp.sum(x)

    close(adze.jit(adze.grad(f))(START, np.int32(6)), adze.grad(straight)(START))


@pytest.mark.thorough
def test_the_state_may_have_dynamic_sizes() -> None:
    def f(x: Any) -> Any:
        return xp.sum(lax.while_loop(lambda c: c.sum() < 40, lambda c: c * 1.5 + 1, x, saved_states=3) ** 2)

    compiled = adze.trace(adze.grad(f), ShapeDtype(("n", 2), np.float64)).lower().compile()
    for n in (1, 4):
        x = np.linspace(0.1, 1.0, 2 * n).reshape(n, 2)
        close(compiled(x), adze.grad(f)(x))


def test_compiled_gradients_are_those_of_the_loop_written_out(thorough: bool) -> None:
    states = (2, 6, 40) if thorough else (2,)

    def everything(w: Any, x: Any, n: Any) -> Any:
        first = [adze.grad(loss_of(counted, n, saved_states=s), (0, 1))(w, x) for s in states]
        if not thorough:
            return first, ()
        return first, adze.grad(lambda w: xp.sum(adze.grad(loss_of(counted, n, saved_states=3))(w, x)))(w)

    compiled = adze.jit(everything)
    for n in (0, 1, 11):
        plain = loss_of(written_out, n)
        expected = adze.grad(plain, (0, 1))(WEIGHTS, START)
        second = adze.grad(lambda w, f=plain: xp.sum(adze.grad(f)(w, START)))(WEIGHTS)
        close(
            compiled(WEIGHTS, START, np.int32(n)),
            ([expected] * len(states), second if thorough else ()),
            f"{n} steps",
            1e-10,
        )


# -- scans ----------------------------------------------------------------------------------------------


def summed(w: Any, x: Any, ys: Any, **options: Any) -> Any:
    """A scan with results."""
    last, rows = lax.scan(lambda c, y: (step(w, c) + y, (c * y, xp.sum(c))), x, ys, **options)
    return xp.sum(last**2) + xp.sum(rows[0] * w) + xp.sum(rows[1] ** 2)


SCANS: Final = {
    "every": {"checkpoint_every": 3},
    "every step": {"checkpoint_every": 1},
    "square root": {"checkpoint_every": "sqrt"},
    "one level": {"saved_states": 11},
    "two levels": {"saved_states": 7},
    "as few as can be": {"saved_states": 8},
    "bytes": {"memory_budget": 8 * 24},
}


@pytest.mark.one_in(3)
@pytest.mark.each_value
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", sorted(SCANS))
def test_a_scan_that_saves_less_has_the_same_gradient(name: str, reverse: bool) -> None:
    ys = np.linspace(-1.0, 1.0, 11)

    def gradient(ys: Any, **options: Any) -> Any:
        return adze.grad(lambda *a: summed(*a, reverse=reverse, **options), (0, 1, 2))(WEIGHTS, START, ys)

    for some in (ys, ys[:1], ys[:0]):
        close(gradient(some, **SCANS[name]), gradient(some))


@pytest.mark.thorough
def test_groups_of_a_dynamic_number_of_steps() -> None:
    f = adze.grad(lambda ys: summed(WEIGHTS, START, ys, checkpoint_every=3))
    compiled = adze.trace(f, ShapeDtype(("n",), np.float64)).lower().compile()
    for n in (1, 3, 8):
        ys = np.linspace(-1.0, 1.0, n)
        close(compiled(ys), adze.grad(summed, 2)(WEIGHTS, START, ys))


def test_a_bounded_while_takes_the_options_of_a_scan() -> None:
    expected = adze.grad(loss_of(written_out, 9), (0, 1))(WEIGHTS, START)
    for options in ({}, {"checkpoint_every": "sqrt"}, {"saved_states": 8}, {"memory_budget": 2000}):
        f = loss_of(counted, 9, max_steps=14, **options)
        close(adze.grad(f, (0, 1))(WEIGHTS, START), expected, str(options))


# -- the schedule ---------------------------------------------------------------------------------------


@cache
def least(chunks: int, slots: int) -> int:
    """The least number of chunks to compute again, by dynamic programming: Griewank's recursion."""
    if chunks <= 1:
        return 0
    if slots == 0:
        return chunks * (chunks - 1) // 2
    return min(m + least(chunks - m, slots - 1) + least(m, slots) for m in range(1, chunks))


def test_pushes_are_at_the_distances_that_cost_least() -> None:
    @cache
    def cost(chunks: int, slots: int) -> int:
        if chunks <= 1:
            return 0
        if slots == 0:
            return chunks * (chunks - 1) // 2
        m = int(np.asarray(_distance(ops, 4, xp.asarray(np.int32(chunks)), xp.asarray(np.int32(slots)))))
        assert 1 <= m < chunks
        return m + cost(chunks - m, slots - 1) + cost(m, slots)

    for slots in range(1, 4):
        for chunks in range(2, 50):
            assert cost(chunks, slots) == least(chunks, slots), (chunks, slots)
    # No chunk is computed more often than the least r with C(slots + 1 + r, r) >= chunks.
    assert comb(4 + 3, 3) >= 35 and cost(35, 3) <= 3 * 35


def test_what_is_kept_is_what_was_asked_for() -> None:
    steps, state = 10_000, 8 * 256
    w, x = np.linspace(0.1, 0.9, 256), np.linspace(-1, 1, 256)

    def peak(loop: str = "scan", **options: Any) -> int:
        def f(w: Any, x: Any) -> Any:
            if loop == "while":
                return xp.sum(
                    lax.while_loop(
                        lambda s: s[0] < steps,
                        lambda s: (s[0] + 1, xp.tanh(s[1] * w)),
                        (np.int32(0), x),
                        **options,
                    )[1]
                )
            return xp.sum(lax.scan(lambda c, _: (xp.tanh(c * w), None), x, None, length=steps, **options)[0])

        return adze.trace(adze.grad(f), w, x).cost().peak_bytes

    assert peak() > steps * state
    assert peak(checkpoint_every=100) < 500 * state
    assert peak(checkpoint_every="sqrt") < 500 * state
    assert peak(saved_states=66) < 120 * state
    assert peak(loop="while", saved_states=30) < 60 * state
    assert peak(loop="while", memory_budget=30 * state) < 60 * state


# -- effects ----------------------------------------------------------------------------------------------


def speaking(x: Any, **options: Any) -> Any:
    def body(s: Any) -> Any:
        i, v = s
        ops.print(xp.asarray(i), format="step {}")

        def inner(j: Any, u: Any) -> Any:
            ops.print(xp.asarray(j), format="inner {}")
            return u * 1.5

        v = lax.fori_loop(np.int32(0), np.int32(2), inner, v) if not options else inner(np.int32(7), v)

        def taken(u: Any) -> Any:
            ops.print(xp.asarray(i), format="taken {}")
            ops.check(u > -1e9, message="never")
            return u + 1

        return i + 1, lax.cond(i > 0, taken, lambda u: u, v)

    ops.print(format="begin")
    result = lax.while_loop(lambda s: s[0] < 3, body, (np.int32(0), x), **options)[1]
    ops.print(format="end")
    return result


def spoken(inner: list[str]) -> list[str]:
    lines = ["begin"]
    for i in range(3):
        lines += [f"step {i}", *inner, *([f"taken {i}"] if i > 0 else [])]
    return [*lines, "end"]


def printed(capfd: Any) -> list[str]:
    """The lines of evaluated prints, or those that IREE's sink wrote for the compiled ones."""
    out, err = capfd.readouterr()
    if out:
        return out.splitlines()
    lines: list[str] = []
    for line in err.splitlines():
        if line.startswith("==="):
            lines.append(line.strip("= "))
        elif "=" in line:
            lines[-1] = lines[-1].format(line.partition("=")[2])
    return lines


SPEAKING: Final = {
    "plain": (speaking, ["inner 0", "inner 1"]),
    "gradient with states": (adze.grad(lambda x: speaking(x, saved_states=2)), ["inner 7"]),
    "gradient with a bound": (adze.grad(lambda x: speaking(x, max_steps=4)), ["inner 7"]),
    "gradient with checkpoints": (
        adze.grad(lambda x: speaking(x, max_steps=4, checkpoint_every=2)),
        ["inner 7"],
    ),
}


@pytest.mark.parametrize("name", quick_first(sorted(SPEAKING), 2))
def test_effects_happen_once_and_in_order(name: str, capfd: Any) -> None:
    function, inner = SPEAKING[name]
    np.asarray(function(np.float64(1)))
    assert printed(capfd) == spoken(inner)
    np.asarray(adze.jit(function)(np.float64(1)))
    assert printed(capfd) == spoken(inner)


# -- errors -----------------------------------------------------------------------------------------------


def scanned(x: Any, **options: Any) -> Any:
    return lax.scan(lambda c, v: (c + v, None), x[0], x, **options)


def repeated(x: Any, **options: Any) -> Any:
    return lax.while_loop(lambda c: c.sum() < 3, lambda c: c * 2, x, **options)


ERRORS: Final = {
    "two options": (
        lambda x: scanned(x, checkpoint_every=2, saved_states=3),
        "scan: checkpoint_every and saved_states exclude each other\n",
    ),
    "small budget": (
        lambda x: repeated(x, memory_budget=1000),
        "while_loop: memory_budget of 1000 bytes has room for 1 states of 800 bytes, expected room for at "
        "least 2\n",
    ),
    "one state": (
        lambda x: repeated(x, saved_states=1),
        "while_loop: saved_states is 1, expected at least 2\n",
    ),
    "too few states": (
        lambda x: scanned(x, saved_states=3),
        "scan: 3 states are too few for 100 steps, expected at least 14\n",
    ),
    "no bound": (
        lambda x: repeated(x, checkpoint_every=2),
        "while_loop: checkpoint_every needs max_steps\n",
    ),
    "no number": (
        lambda x: scanned(x, checkpoint_every="cube"),
        "scan: checkpoint_every is 'cube', expected an integer that is known while tracing\n",
    ),
    "negative bound": (lambda x: repeated(x, max_steps=-1), "while_loop: max_steps -1 is negative\n"),
    "traced bounds": (
        lambda x: lax.fori_loop(0, x.astype("int32")[0], lambda i, c: c, x, checkpoint_every=2),
        "fori_loop: checkpoint_every needs static bounds\n",
    ),
    "traced unroll": (
        lambda x: lax.fori_loop(0, x.astype("int32")[0], lambda i, c: c, x, unroll=2),
        "fori_loop: unroll needs static bounds\n",
    ),
}


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_error_says_what_was_given(name: str) -> None:
    function, text = ERRORS[name]
    with pytest.raises(AdzeError) as raised:
        adze.trace(function, np.ones(100))
    assert text in str(raised.value)
    assert f"  at {__file__}:" in str(raised.value)


def test_dynamic_sizes_need_numbers() -> None:
    spec = ShapeDtype(("n",), np.float64)
    with pytest.raises(AdzeError, match="memory_budget needs a state of static shapes, it is "):
        adze.trace(lambda x: repeated(x, memory_budget=1000), spec)
    with pytest.raises(AdzeError, match="checkpoint_every='sqrt' needs a static number of steps, it is n"):
        adze.trace(lambda x: scanned(x, checkpoint_every="sqrt"), spec)


def test_a_loop_in_the_body_must_be_reversible_too() -> None:
    def f(x: Any) -> Any:
        def body(s: Any) -> Any:
            inner = lax.while_loop(lambda c: c < 5, lambda c: c * 2 + 1, s[1])
            return s[0] + 1, xp.sin(inner)

        return lax.while_loop(lambda s: s[0] < 3, body, (np.int32(0), x), saved_states=3)[1]

    with pytest.raises(AdzeError, match=r"give it a memory_budget \(bytes\) or saved_states, or max_steps"):
        adze.grad(f)(np.float64(0.5))


def test_a_bounded_loop_saves_only_what_its_backward_pass_reads() -> None:
    """The slope of the sine, for each step; not what goes into and comes out of the branch of a step."""

    def loss(x: Any, n: Any) -> Any:
        start = (x, np.int32(0))
        return xp.sum(
            lax.while_loop(lambda s: s[1] < n, lambda s: (xp.sin(s[0]), s[1] + 1), start, max_steps=100)[0]
        )

    text = adze.trace(adze.grad(loss), np.ones(7), np.int32(3)).mlir("simplified")
    forward = next(line for line in text.splitlines() if '"adze.scan"' in line)
    _, results = forward.rsplit("->", 1)
    assert results.count("tensor<100x7xf64>") == 1
