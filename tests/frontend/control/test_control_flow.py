"""Control flow as users write it: values, derivatives and batches equal JAX's; compiled equals evaluated.

The programs are written once and get a library's namespaces. After them: what only adze has (bounds,
checkpoints, gated derivatives), effects in order, dynamic sizes, and the errors with their texts.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import AdzeError, ShapeDtype, lax
from adze import numpy as xp
from adze.dialects.ops.effects import CheckFailedError
from adze.frontend.tracing.interpreter import as_value
from adze.runtime.errors import CallError

from ...oracles import Frozen

Program = Callable[[Any], Any]


@dataclass(frozen=True)
class Library:
    """What a program uses: the module of transforms, its `numpy` and its `lax`."""

    name: str
    transforms: Any
    np: Any
    lax: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transforms, name)


def r_(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


cases: dict[str, Program] = {}


def case(f: Program) -> Program:
    cases[f.__name__] = f
    return f


rng: Final = np.random.default_rng(0)
W = rng.normal(size=(3, 3)) * 0.5
X = rng.normal(size=(5, 3))
c0 = rng.normal(size=3)
c_5 = r_(5)
w_ = np.float64(0.5)


def rnn(m, W, c, X, **k):
    def step(c, x):
        i, h = c
        h = m.np.tanh(h @ W + x * (1.0 + 0.1 * i))
        return (i + 1, h), m.np.sum(h**2)

    return m.lax.scan(step, (m.np.asarray(np.int32(0)), c), X, **k)


def loss(m, W, c, X, **k):
    (i, h), ys = rnn(m, W, c, X, **k)
    return m.np.sum(ys) + m.np.sum(h) * i


@case
def scan_val(m: Any) -> Any:
    return rnn(m, W, c0, X)


@case
def scan_rev(m: Any) -> Any:
    return rnn(m, W, c0, X, reverse=True)


@case
def scan_grad(m: Any) -> Any:
    return m.grad(lambda *a: loss(m, *a), (0, 1, 2))(W, c0, X)


@case
def scan_grad_rev(m: Any) -> Any:
    return m.grad(lambda *a: loss(m, *a, reverse=True), (0, 1, 2))(W, c0, X)


@case
def scan_jvp(m: Any) -> Any:
    return m.jvp(lambda *a: loss(m, *a), (W, c0, X), (W, c0, X))


@case
def scan_hess(m: Any) -> Any:
    return m.hessian(lambda c: loss(m, W, c, X))(c0)


@case
def scan_jvpgrad(m: Any) -> Any:
    return m.jvp(m.grad(lambda W: loss(m, W, c0, X)), (W,), (np.ones((3, 3)),))


@case
def scan_gradgrad(m: Any) -> Any:
    return m.grad(lambda c: m.np.sum(m.grad(lambda c: loss(m, W, c, X))(c) ** 2))(c0)


@case
def scan_vmap_c(m: Any) -> Any:
    return m.vmap(lambda c: loss(m, W, c, X))(r_(4, 3))


@case
def scan_vmap_W(m: Any) -> Any:
    return m.vmap(lambda W: loss(m, W, c0, X))(r_(4, 3, 3))


@case
def scan_vmap_X(m: Any) -> Any:
    return m.vmap(lambda X: loss(m, W, c0, X), in_axes=1)(r_(5, 4, 3))


@case
def scan_vmapgrad(m: Any) -> Any:
    return m.vmap(m.grad(lambda W, c: loss(m, W, c, X), (0, 1)))(r_(4, 3, 3), r_(4, 3))


@case
def scan_gradvmap(m: Any) -> Any:
    return m.grad(lambda W, X: m.np.sum(m.vmap(lambda c, X: loss(m, W, c, X))(r_(4, 3), X)), (0, 1))(
        W, r_(4, 5, 3)
    )


@case
def scan_empty(m: Any) -> Any:
    return rnn(m, W, c0, X[:0])


@case
def scan_empty_grad(m: Any) -> Any:
    return m.grad(lambda *a: loss(m, *a), (0, 1, 2))(W, c0, X[:0])


@case
def scan_ckpt(m: Any) -> Any:
    def f(W):
        @m.checkpoint
        def step(h, x):
            h = m.np.tanh(h @ W + x)
            return h, m.np.sin(h)

        h, ys = m.lax.scan(step, m.np.asarray(c0), X)
        return m.np.sum(h) + m.np.sum(ys)

    return m.grad(f)(W)


@case
def scan_unroll2(m: Any) -> Any:
    return m.grad(lambda *a: loss(m, *a, unroll=2), (0, 1, 2))(W, c0, r_(6, 3))


@case
def scan_unroll_nd(m: Any) -> Any:
    return m.grad(lambda *a: loss(m, *a, unroll=2), (0, 1, 2))(W, c0, X)


@case
def cond_grad(m: Any) -> Any:
    def f(x, w):
        return m.lax.cond(m.np.sum(x) > 0, lambda x: m.np.sin(x) * w, lambda x: x * x, x)[0] * 2

    return [m.grad(f, (0, 1))(s * np.ones(3), c0) for s in (1.0, -1.0)]


@case
def cond_vmap(m: Any) -> Any:
    def f(p, x, w):
        return m.lax.cond(p > 0, lambda x: m.np.sin(x) * w, lambda x: x * x, x)

    return (
        m.vmap(f, (0, 0, None))(r_(4), r_(4, 3), c0),
        m.vmap(f, (None, 0, None))(np.float64(1), r_(4, 3), c0),
        m.vmap(f, (0, None, None))(r_(4), c0, c0),
        m.vmap(m.grad(lambda *a: m.np.sum(f(*a)), (1, 2)), (0, None, None))(r_(4), c0, c0),
    )


@case
def cond_hess(m: Any) -> Any:
    def f(x):
        return m.lax.cond(x[0] > 0, lambda x: m.np.sum(m.np.sin(x) * x[1]), lambda x: m.np.sum(x**3), x)

    return (
        m.hessian(f)(np.array([1.0, 2.0])),
        m.hessian(f)(np.array([-1.0, 2.0])),
        m.vmap(m.hessian(f))(np.array([[-1.0, 2.0], [1, 2]])),
    )


@case
def switch_grad(m: Any) -> Any:
    def f(i, x):
        return m.lax.switch(i, [lambda x: m.np.sin(x), lambda x: m.np.zeros_like(x), lambda x: x**3], x)[1]

    return [m.grad(f, 1)(np.int32(i), c0) for i in (-1, 0, 1, 2, 5)], m.vmap(m.grad(f, 1), (0, None))(
        np.arange(3), c0
    )


@case
def while_val(m: Any) -> Any:
    def f(x):
        return m.lax.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * m.np.cos(s[1])), (m.np.asarray(np.int32(0)), x)
        )

    return f(c0), m.jit(f)(c0)


@case
def while_jvp(m: Any) -> Any:
    def f(x, w):
        return m.lax.while_loop(
            lambda s: m.np.sum(s[1]) < 50.0,
            lambda s: (s[0] + 1, s[1] * 1.5 + w),
            (m.np.asarray(np.int32(0)), x),
        )[1]

    return m.jvp(f, (np.abs(c0), np.abs(c0)), (c0, c0)), m.jacfwd(f, (0, 1))(np.abs(c0), np.abs(c0))


@case
def while_vmap(m: Any) -> Any:
    def f(x, n):
        return m.lax.while_loop(
            lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * m.np.cos(s[1])), (m.np.asarray(np.int32(0)), x)
        )[1]

    return (
        m.vmap(f)(r_(4, 3), np.array([0, 3, 5, 1], np.int32)),
        m.vmap(f, (None, 0))(c0, np.array([0, 3, 5, 1], np.int32)),
        m.vmap(f, (0, None))(r_(4, 3), np.int32(4)),
        m.vmap(m.vmap(f, (0, None)), (None, 0))(r_(4, 3), np.array([0, 3, 5, 1], np.int32)),
    )


@case
def while_poison(m: Any) -> Any:
    def f(x):
        return m.lax.while_loop(
            lambda s: s[1] > 0.5,
            lambda s: (s[0] + m.np.log(s[1] - 0.4), s[1] - 0.25),
            (m.np.asarray(np.float64(0.0)), x),
        )

    return m.vmap(f)(np.array([1.0, 2.0, 0.3]))


@case
def fori(m: Any) -> Any:
    def f(x):
        return m.lax.fori_loop(0, 6, lambda i, x: m.np.sin(x) * (i + 1.0), x)

    return (
        f(c0),
        m.jit(f)(c0),
        m.grad(lambda x: m.np.sum(f(x)))(c0),
        m.jit(m.grad(lambda x: m.np.sum(f(x))))(c0),
    )


@case
def fori_dyn(m: Any) -> Any:
    def f(n, x):
        return m.lax.fori_loop(0, n, lambda i, x: m.np.sin(x) * (i + 1.0), x)

    return (
        m.jit(f)(np.int32(3), c0),
        m.vmap(f, (0, None))(np.array([1, 4, 2]), c0),
        m.jvp(lambda x: f(np.int32(3), x), (c0,), (c0,)),
    )


@case
def fori_neg(m: Any) -> Any:
    return m.lax.fori_loop(5, 2, lambda i, x: x * 2, m.np.asarray(c0)), m.jit(
        lambda x: m.lax.fori_loop(-2, 2, lambda i, x: x * 2 + i, x)
    )(c0)


@case
def mapp(m: Any) -> Any:
    def f(x):
        return m.np.sin(x) * m.np.sum(x)

    o = [
        m.lax.map(f, X),
        m.jit(lambda X: m.lax.map(f, X))(X),
        m.grad(lambda X: m.np.sum(m.lax.map(f, X) ** 2))(X),
    ]
    sizes = (1, 2, 3, 5, 8)
    compiled = m.jit(lambda X: [m.lax.map(f, X, batch_size=b) for b in sizes])(X)
    for b, result in zip(sizes, compiled, strict=True):
        o += [m.lax.map(f, X, batch_size=b), result]
    return o


@case
def map_tree(m: Any) -> Any:
    return m.lax.map(lambda d: {"s": d["a"] + d["b"][0]}, {"a": X, "b": (c_5,)})


@case
def assoc(m: Any) -> Any:
    o = []
    lengths = (1, 2, 3, 5, 8)
    products = m.jit(lambda xs: [m.lax.associative_scan(m.np.matmul, x) for x in xs])(
        [r_(n, 2, 2) for n in lengths]
    )
    for n, product in zip(lengths, products, strict=True):
        x = r_(n, 2) + 2
        o += [m.lax.associative_scan(m.np.add, x), m.lax.associative_scan(m.np.multiply, x, reverse=True)]
        o += [m.grad(lambda x: m.np.sum(m.np.sin(m.lax.associative_scan(m.np.multiply, x))))(x)]
        o += [m.lax.associative_scan(m.np.maximum, x, axis=1)]
        o += [m.lax.associative_scan(m.np.maximum, x, axis=-1)]
        o += [product]
        o += [m.lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x * 0.3))]
    return o


@case
def nested(m: Any) -> Any:
    def f(X, w):
        def outer(c, x):
            def inner(d, y):
                return m.np.tanh(d * w + y), d * y

            d, ys = m.lax.scan(inner, c, x)
            d = m.lax.cond(
                m.np.sum(d) > 0,
                lambda d: d * 2,
                lambda d: m.lax.fori_loop(0, 2, lambda i, d: d * w + i, d),
                d,
            )
            return d, m.np.sum(ys)

        c, ys = m.lax.scan(outer, m.np.asarray(np.float64(0.3)), X)
        return m.np.sum(ys) + c

    return (
        f(X, w_),
        m.grad(f, (0, 1))(X, w_),
        m.jvp(f, (X, w_), (X, w_)),
        m.vmap(m.grad(f, (0, 1)), (0, None))(r_(3, 5, 3), w_),
        m.grad(lambda w: m.grad(f, 1)(X, w))(w_),
    )


@case
def while_in_scan(m: Any) -> Any:
    def f(X):
        def step(c, x):
            n, y = m.lax.while_loop(
                lambda s: s[1] > 1,
                lambda s: (s[0] + 1, s[1] / 2),
                (m.np.asarray(np.int32(0)), m.np.abs(x) * 10),
            )
            return c + n, y

        return m.lax.scan(step, m.np.asarray(np.int32(0)), X)

    return f(c_5), m.vmap(f)(r_(3, 5)), m.jit(f)(c_5)


@case
def none_carry(m: Any) -> Any:
    return (
        m.lax.scan(lambda c, x: (c, None), m.np.asarray(np.float64(1.0)), X),
        m.lax.scan(lambda c, x: (None, x * 2), None, X),
        m.lax.scan(lambda c, _: (c * 2, c), m.np.asarray(np.float64(1.0)), None, length=3),
    )


@case
def residual_struct(m: Any) -> Any:
    # carry only partly active
    def f(w):
        def step(c, x):
            a, b, i = c
            return (a * w + x, b + x, i + 1), a * b

        (_, b, i), ys = m.lax.scan(
            step,
            (m.np.asarray(np.float64(1.0)), m.np.asarray(np.float64(2.0)), m.np.asarray(np.int64(0))),
            c_5,
        )
        return m.np.sum(ys) * b + i

    return m.grad(f)(w_), m.grad(m.grad(f))(w_), m.jit(m.grad(f))(w_)


@case
def grow_active(m: Any) -> Any:
    # activity moves a->b->c
    def f(w):
        def step(c, x):
            a, b, d = c
            return (w * x, a * 2.0, b * b), d

        (_, _, d), ys = m.lax.scan(step, (m.np.asarray(np.float64(1.0)),) * 3, c_5)
        return m.np.sum(ys) + d

    return m.grad(f)(w_), m.jvp(f, (w_,), (w_,)), m.grad(m.grad(f))(w_)


# -- equal to JAX ----------------------------------------------------------------------------------------

ADZE: Final = Library("adze", adze, xp, lax)
# More of these than of others in one module: each compile costs half a second.
COMPILED: Final = (
    ("scan_val", "scan_grad", "scan_hess", "scan_gradvmap", "scan_empty_grad"),
    ("scan_unroll_nd", "cond_grad", "cond_vmap", "switch_grad", "cond_hess"),
    ("while_jvp", "while_vmap", "while_poison", "fori", "fori_dyn", "fori_neg"),
    ("while_in_scan", "none_carry", "residual_struct", "grow_active", "scan_ckpt"),
)
BRIEFLY: Final = ("scan_val", "cond_grad", "switch_grad", "while_jvp", "fori")
"""One of each construct, for `make test`."""


def by_jax(name: str) -> Any:
    jax = pytest.importorskip("jax", reason="the oracle of control flow")
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, cases[name](Library("jax", jax, jax.numpy, jax.lax)))


ORACLE: Final = Frozen(
    Path(__file__).with_name("control_flow.npz"), {name: partial(by_jax, name) for name in sorted(cases)}
)


def close(actual: Any, expected: Any, tolerance: float) -> None:
    results, wanted = adze.tree.leaves(actual), adze.tree.leaves(expected)
    assert len(results) == len(wanted)
    for a, b in zip(results, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(cases))
def test_evaluated_program_is_that_of_jax(name: str) -> None:
    close(cases[name](ADZE), ORACLE[name], 1e-6)


@pytest.mark.oracle
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(cases))
def test_the_frozen_value_is_that_of_jax(name: str) -> None:
    ORACLE.check_fresh(name)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "names", [BRIEFLY, *(pytest.param(n, marks=pytest.mark.thorough) for n in COMPILED)], ids=lambda n: n[0]
)
def test_compiled_programs_are_the_evaluated_ones(names: tuple[str, ...], monkeypatch: Any) -> None:
    evaluated = [adze.tree.leaves(cases[name](ADZE)) for name in names]
    inputs = {"W": W, "X": X, "c0": c0, "c_5": c_5}

    def everything(arguments: dict[str, Any]) -> list[Any]:
        for name, value in arguments.items():
            monkeypatch.setitem(globals(), name, value)
        return [adze.tree.leaves(cases[name](ADZE)) for name in names]

    compiled = adze.jit(everything)(inputs)
    monkeypatch.undo()
    close(compiled, evaluated, 1e-6)


# -- what only adze has ----------------------------------------------------------------------------------


def halve(x: Any, **options: Any) -> Any:
    """Counts down by quarters to a half, adding up roots that have no slope at the end."""

    def body(s: Any) -> Any:
        return s[0] - 0.25, s[1] + xp.sqrt(s[0] - 0.5)

    return lax.while_loop(lambda s: s[0] > 0.5, body, (x, x * 0), **options)[1]


def slope_of_halve(x: float) -> float:
    total = 0.0
    while x > 0.5:
        total, x = total + 0.5 / np.sqrt(x - 0.5), x - 0.25
    return total


START: Final = np.array([0.5, 1.0, 2.0, 0.3])


@pytest.mark.parametrize("options", [{"max_steps": 12}, {"max_steps": 12, "checkpoint_every": 4}])
def test_bounded_while_is_reversed_and_finished_elements_poison_nothing(options: dict[str, int]) -> None:
    expected = np.array([slope_of_halve(x) for x in START])

    def total(x: Any) -> Any:
        return xp.sum(adze.vmap(lambda v: halve(v, **options))(x))

    close(adze.grad(total)(START), expected, 1e-12)
    close(adze.vmap(adze.grad(lambda v: halve(v, **options)))(START), expected, 1e-12)
    close(adze.jit(adze.grad(total))(START), expected, 1e-12)


def past_its_bound(x: Any) -> Any:
    return lax.while_loop(lambda v: v < 5, lambda v: v + 1, x, max_steps=3)


BOUNDED: Final = {
    "value": past_its_bound,
    "gradient": adze.grad(past_its_bound),
    "tangent": lambda x: adze.jvp(past_its_bound, (x,), (x,)),
    "batch": lambda x: adze.vmap(past_its_bound)(xp.stack([x, x + 3])),
    "in a branch": lambda x: lax.cond(x < 3, past_its_bound, lambda v: v, x),
    "in a scan": lambda x: lax.scan(lambda c, _: (past_its_bound(c), None), x, None, length=2)[0],
}


def test_a_loop_that_is_not_done_at_its_bound_is_an_error_evaluated_or_compiled(thorough: bool) -> None:
    line = past_its_bound.__code__.co_firstlineno + 1
    text = (
        f"while_loop at {Path(__file__).name}:{line}: the condition still holds after max_steps=3 steps; "
        "give it a larger max_steps"
    )
    for name, f in BOUNDED.items():
        is_compiled = thorough or name in ("value", "gradient")
        for run, error in ((f, CheckFailedError), (adze.jit(f), CallError))[: 1 + is_compiled]:
            with pytest.raises(error) as raised:
                np.asarray(adze.tree.leaves(run(np.float64(0)))[0])
            assert text in str(raised.value), name
            results = adze.tree.leaves(run(np.float64(4)))  # one step, then it is done
            assert np.isfinite(np.asarray(results[0])).all(), name


def test_a_loop_may_be_done_exactly_at_its_bound() -> None:
    assert float(past_its_bound(np.float64(2))) == 5
    assert float(lax.while_loop(lambda v: v < 0, lambda v: v + 1, np.float64(2), max_steps=0)) == 2


def test_derivatives_of_branches_not_taken_poison_nothing() -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 0, xp.sqrt, lambda v: v * 2, x)

    gradient = adze.grad(lambda x: xp.sum(adze.vmap(f)(x)))(np.array([0.0, -1.0, 4.0]))
    close(gradient, np.array([2.0, 2.0, 0.25]), 1e-12)


@pytest.mark.each_value
@pytest.mark.parametrize("every", [1, 2, 3, 5, 7, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_checkpointed_scan_has_the_same_derivative(every: int, reverse: bool) -> None:
    xs = np.linspace(0.1, 1.0, 7)

    def f(w: Any, xs: Any, **options: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return xp.tanh(c * w + x), c * x

        c, ys = lax.scan(step, np.float64(0.2), xs, reverse=reverse, **options)
        return c + xp.sum(ys * ys)

    plain = adze.grad(f, (0, 1))(np.float64(0.7), xs)
    saved = adze.grad(lambda w, x: f(w, x, checkpoint_every=every), (0, 1))(np.float64(0.7), xs)
    close(saved, plain, 1e-12)


def test_python_numbers_take_the_dtype_of_the_carry_and_of_other_branches() -> None:
    one = np.float32(1)
    assert adze.jit(lambda x: lax.cond(x > 0, lambda v: v, lambda v: 0, x))(one).dtype == np.float32
    assert adze.jit(lambda x: lax.scan(lambda c, _: (0, c), x, None, length=2)[0])(one).dtype == np.float32
    assert adze.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, 0))(one).dtype == np.float32


NUMBERS: Final[dict[str, Callable[[Any], Any]]] = {
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, 0),
    "fori of a traced bound": lambda x: lax.fori_loop(0, xp.asarray(np.int32(3)), lambda i, c: c * x, 1),
    "scan": lambda x: lax.scan(lambda c, v: (c + v, c), 0, x * np.ones(2, np.float32)),
    "scan of no steps": lambda x: lax.scan(lambda c, v: (c + v, c), 0, x * np.ones(0, np.float32)),
    "while": lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1)),
    "bounded while": lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + x, 0, max_steps=5),
    "one after the other": lambda x: lax.fori_loop(0, 4, lambda i, s: (s[1], s[2], s[2] + x), (0, 0, 0)),
    "numbers alone": lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0),
}


def test_a_carry_that_starts_as_a_number_has_one_dtype_evaluated_and_compiled() -> None:
    compiled = adze.jit(lambda x: {name: NUMBERS[name](x) for name in NUMBERS})(np.float32(1.5))
    for name, function in NUMBERS.items():
        results, expected = function(xp.asarray(np.float32(1.5))), compiled[name]
        pairs = list(zip(adze.tree.leaves(results), adze.tree.leaves(expected), strict=True))
        assert [a.dtype for a, _ in pairs] == [b.dtype for _, b in pairs], name
        close(results, expected, 1e-6)


def test_a_step_that_only_evaluates_may_start_at_a_number() -> None:
    table = np.array([3, 1, 2])
    assert int(lax.fori_loop(0, 3, lambda i, c: c + int(table[int(i)]), 0)) == 6


def test_a_value_that_is_captured_twice_is_one_operand() -> None:
    def f(x: Any, w: Any) -> Any:
        return lax.cond(x > 0, lambda d: lax.fori_loop(0, 2, lambda i, c: c * w + w, d), lambda d: d * w, x)

    close(adze.jit(f)(2.0, 0.5), 2.0 * 0.25 + 0.25 + 0.5, 1e-6)


def test_effects_run_in_order_and_only_where_they_are(capfd: Any) -> None:
    from adze.frontend.tracing.interpreter import ops

    def step(c: Any, x: Any) -> Any:
        ops.print(x, format="x {}")
        return lax.cond(x > 1, lambda v: v + 1, lambda v: v, c), None

    assert int(np.asarray(lax.scan(step, np.int32(0), np.arange(4))[0])) == 2
    assert capfd.readouterr().out.splitlines() == [f"x {i}" for i in range(4)]


def test_carried_keys_draw_what_split_keys_draw() -> None:
    from adze import random

    def step(key: Any, _: Any) -> Any:
        key, drawn = random.split(key)
        return key, random.uniform(drawn, (2,))

    compiled = adze.jit(lambda k: lax.scan(step, k, None, length=4)[1])(random.key(3))
    key, rows = random.key(3), []
    for _ in range(4):
        key, row = step(key, None)
        rows.append(np.asarray(row))
    np.testing.assert_array_equal(np.asarray(compiled), np.stack(rows))


# -- dynamic sizes ---------------------------------------------------------------------------------------


def recurrent(xs: Any, w: Any) -> Any:
    return lax.scan(lambda c, x: (xp.tanh(c * w + x), c), xp.zeros(3, np.float32), xs)


def recurrent_loss(xs: Any, w: Any) -> Any:
    c, ys = recurrent(xs, w)
    return xp.sum(c) + xp.sum(ys * ys)


DYNAMIC: Final = {
    "value": (recurrent, ("n", 3)),
    "gradient": (adze.grad(recurrent_loss, (0, 1)), ("n", 3)),
    "unused rows": (adze.grad(lambda xs, w: xp.sum(recurrent(xs, w)[0]), (0, 1)), ("n", 3)),
    "batch": (adze.vmap(recurrent, (0, None)), ("b", 5, 3)),
    "batch and length": (adze.vmap(recurrent, (0, None)), ("b", "n", 3)),
}


@pytest.mark.parametrize("shape", sorted({shape for _, shape in DYNAMIC.values()}, key=str))
def test_sizes_may_be_dynamic(shape: tuple[str | int, ...]) -> None:
    functions = {name: function for name, (function, its_shape) in DYNAMIC.items() if its_shape == shape}
    sizes = tuple(n if isinstance(n, int) else {"n": 5, "b": 2}[n] for n in shape)
    xs, w = r_(*sizes).astype(np.float32), np.float32(0.5)

    def together(xs: Any, w: Any) -> dict[str, Any]:
        return {name: function(xs, w) for name, function in functions.items()}

    spec = ShapeDtype(shape, np.float32)
    compiled = adze.trace(together, spec, ShapeDtype((), np.float32)).lower().compile()
    close(compiled(xs, w), together(xs, w), 1e-5)


# -- errors ----------------------------------------------------------------------------------------------


V: Final = np.ones(3, np.float32)


def branch_on(x):
    if x[0] > 0:
        return x
    return -x


def loop_on(x):
    while x.sum() < 9:
        x = x * 2
    return x


def count_on(x):
    for _ in range(x.astype("int32")[0]):
        x = x * 2
    return x


ERRORS: Final = {
    "branch trees": (
        lambda x: lax.cond(x[0] > 0, lambda v: {"a": v, "b": v[0]}, lambda v: {"a": v, "c": v[0]}, x),
        "the branches of cond differ:\n    true_fun  returns {'a': f32[3], 'b': f32[]}\n"
        "    false_fun returns {'a': f32[3], 'c': f32[]}\n",
    ),
    "branch dtypes": (
        lambda x: lax.switch(0, [lambda v: v, lambda v: v.astype("int32")], x),
        "the branches of switch differ:\n    branches[0] returns f32[3]\n    branches[1] returns i32[3]\n",
    ),
    "predicate": (
        lambda x: lax.cond(x > 0, lambda v: v, lambda v: v, x),
        "the predicate of cond is i1[3], expected a 0-d array\n",
    ),
    "index": (
        lambda x: lax.switch(x[0], [lambda v: v] * 2, x),
        "the index of switch is f32[], expected a 0-d integer\n",
    ),
    "carry dtype": (
        lambda x: lax.scan(lambda c, v: ((c[0], c[1].astype("int32")), v), (x, x), x),
        "the carry of scan changes its type: carry[1] is f32[3], lambda returns i32[3]\n",
    ),
    "carry shape": (
        lambda x: lax.scan(lambda c, v: (xp.concatenate([c, c]), v), x, x),
        "the carry of scan changes its type: carry is f32[3], lambda returns f32[6]\n",
    ),
    "carry tree": (
        lambda x: lax.while_loop(lambda c: c.sum() < 3, lambda c: (c,), x),
        "the carry of while_loop changes its tree:\n    before a step: f32[3]\n"
        "    after a step:  (f32[3],)\n",
    ),
    "carry of a bounded loop": (
        lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c[:2], x, max_steps=3),
        "the carry of while_loop changes its type: carry is f32[3], body_fun returns f32[2]\n",
    ),
    "number that does not fit": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: i, 0.5),
        "the carry of fori_loop changes its type: carry is f32[], lambda returns i64[]\n",
    ),
    "condition": (
        lambda x: lax.while_loop(lambda c: c < 3, lambda c: c, x),
        "cond_fun of while_loop returns i1[3], expected one 0-d bool\n",
    ),
    "condition dtype": (
        lambda x: lax.while_loop(lambda c: np.float32(1), lambda c: c, x),
        "cond_fun of while_loop returns f32[], expected one 0-d bool\n",
    ),
    "condition that is a number": (
        lambda x: lax.while_loop(lambda c: 1, lambda c: c, x),
        "cond_fun of while_loop returns i64[], expected one 0-d bool\n",
    ),
    "branch that is not taken": (
        lambda x: lax.cond(True, lambda v: v, lambda v: v.astype("int32"), x),
        "the branches of cond differ:\n    true_fun  returns f32[3]\n    false_fun returns i32[3]\n",
    ),
    "step that never comes": (
        lambda x: lax.while_loop(lambda c: c[0] > 9, lambda c: c[:2], x),
        "the carry of while_loop changes its type: carry is f32[3], body_fun returns f32[2]\n",
    ),
    "carry of fori_loop": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c[:2], x),
        "the carry of fori_loop changes its type: carry is f32[3], lambda returns f32[2]\n",
    ),
    "carry of fori_loop with traced bounds": (
        lambda x: lax.fori_loop(0, x[0].astype("int32"), lambda i, c: c[:2], x),
        "the carry of fori_loop changes its type: carry[1] is f32[3], body_fun returns f32[2]\n",
    ),
    "0-d slices of map": (
        lambda x: lax.map(lambda v: v, x[0]),
        "map scans over the leading axis of xs, which is f32[]\n",
    ),
    "branches that are none": (
        lambda x: lax.cond(True, x, x),
        "a branch of cond is ",
    ),
    "operand twice": (
        lambda x: lax.cond(True, lambda o: o, lambda o: o, x, operand=x),
        "cond got operands both by position and as operand=\n",
    ),
    "unrolling all of a traced number of steps": (
        lambda x: lax.fori_loop(0, x[0].astype("int32"), lambda i, c: c, x, unroll=True),
        "fori_loop: unroll needs static bounds\n",
    ),
    "no pair": (
        lambda x: lax.scan(lambda c, v: c, x, x),
        "the function of scan must return a pair (carry, y), lambda returns *\n",
    ),
    "lengths": (
        lambda x: lax.scan(lambda c, v: (c, v), x, (x, x[:2])),
        "scan: numbers of steps differ: xs[0] has 3, xs[1] has 2\n",
    ),
    "negative length": (
        lambda x: lax.scan(lambda c, v: (c, v), x, None, length=-1),
        "scan: length -1 is negative\n",
    ),
    "no length": (lambda x: lax.scan(lambda c, v: (c, v), x), "scan without xs needs a length\n"),
    "traced length": (
        lambda x: lax.scan(lambda c, v: (c, v), x, None, length=x[0]),
        "scan: length is Tracer<f32[]>, expected an integer that is known while tracing\n",
    ),
    "unroll": (
        lambda x: lax.scan(lambda c, v: (c, v), x, x, unroll=-1),
        "scan: unroll -1 is negative\n",
    ),
    "bounds": (
        lambda x: lax.fori_loop(0, 2.5, lambda i, c: c, x),
        "the upper bound of fori_loop is f32[], expected a 0-d integer\n",
    ),
    "batch size": (
        lambda x: lax.map(lambda v: v, x, batch_size=0),
        "map: batch_size is 0, expected at least 1\n",
    ),
    "axis": (
        lambda x: lax.associative_scan(xp.add, x, axis=3),
        "associative_scan: axis 3 is out of range for elems, which is f32[3]\n",
    ),
    "sizes": (
        lambda x: lax.associative_scan(xp.add, (x, x[:2])),
        "associative_scan: sizes of axis 0 differ: elems[0] has 3, elems[1] has 2\n",
    ),
    "if": (branch_on, ", in `if x[0] > 0:`\n"),
    "while": (loop_on, ", in `while x.sum() < 9:`\n"),
    "for": (count_on, ', in `for _ in range(x.astype("int32")[0]):`\n'),
}
HINTS: Final = {
    "carry dtype": "hint: convert what the body returns: .astype('float32'), or start with i32[3]",
    "predicate": "hint: reduce it (.all(), .any()), or map over it with adze.vmap",
    "if": "hint: use adze.cond for a branch",
    "while": "hint: use adze.while_loop",
    "for": "hint: use adze.fori_loop",
    "traced length": "hint: for a number of steps that is computed, use adze.fori_loop or adze.while_loop",
}


ONLY_TRACED: Final = {"if", "while", "for"}


@pytest.mark.parametrize("how", ["traced", "eager"])
@pytest.mark.parametrize("name", sorted(ERRORS))
def test_error_says_what_was_given_and_what_to_do(name: str, how: str) -> None:
    function, text = ERRORS[name]
    if how == "eager" and name in ONLY_TRACED:
        function(V)
        return
    with pytest.raises(AdzeError) as raised:
        adze.trace(function, V) if how == "traced" else function(as_value(V))
    if name == "traced length" and how == "eager":
        text = "scan: length is Array(1., dtype=f32), expected an integer that is known while tracing\n"
    assert text in str(raised.value)
    assert f"  at {__file__}:" in str(raised.value)
    assert HINTS.get(name, "") in str(raised.value)


def test_reversing_an_unbounded_loop_names_the_ways_out() -> None:
    with pytest.raises(AdzeError, match=r"give it a memory_budget \(bytes\) or saved_states, or max_"):
        adze.grad(halve)(2.0)


@pytest.mark.parametrize(
    ("unroll", "has_loop"), [(0, False), (True, False), (False, True), (1, True), (3, False)]
)
def test_unroll_says_how_many_steps_a_step_of_the_loop_does(unroll: Any, has_loop: bool) -> None:
    def sums(x):
        return lax.scan(lambda c, v: (c + v, c), 0.0, x, unroll=unroll)

    program = adze.trace(sums, V)
    assert ("adze.scan" in program.mlir()) == has_loop
    for results in (sums(V), adze.vmap(sums)(xp.stack([V, V]))):
        assert np.asarray(results[0]).ravel()[0] == 3
    assert lax.fori_loop(0, 3, lambda i, c: c + i, 0, unroll=unroll) == 3
    assert lax.fori_loop(3, 0, lambda i, c: c + i, 7, unroll=unroll) == 7


def test_a_single_operand_may_be_given_by_name() -> None:
    assert lax.cond(True, lambda pair: pair[0], lambda pair: pair[1], operand=(1.0, 2.0)) == 1
    assert lax.switch(1, [lambda _: 1.0, lambda _: 2.0], operand=None) == 2


def test_an_eager_branch_that_reads_values_runs_though_it_cannot_be_traced() -> None:
    assert float(lax.cond(V[0] > 0, lambda v: float(np.asarray(v)[0]) + 1, lambda v: -1.0, V)) == 2
    assert lax.cond(True, lambda v: v[v > 2], lambda v: v, V).shape == (0,)


def test_an_eager_branch_gives_the_dtype_that_it_has_beside_the_other() -> None:
    for given in (True, False):
        assert lax.cond(given, lambda: 1, lambda: 2.5).dtype == np.float32
        assert lax.cond(given, lambda: V[0], lambda: 2).dtype == np.float32


def test_an_eager_construct_is_traced_once_for_its_checks() -> None:
    class Calls:
        count = 0

    def branch(x):
        Calls.count += 1
        return x

    for _ in range(3):
        lax.cond(True, branch, lambda x: x, V)
    assert Calls.count == 1 + 3


class _Converted:
    """A callable object, and its method: what they return depends on the object."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __call__(self, x: Any) -> Any:
        return xp.asarray(x).astype(self.dtype)

    def method(self, x: Any) -> Any:
        return self(x)


def test_branches_that_are_objects_of_one_call_are_not_confused() -> None:
    """Outside a trace the types of a construct are known by its functions: not by their addresses alone."""
    for k in range(60):
        dtype = (np.float32, np.float64, np.int32)[k % 3]
        for yes, no in ((_Converted(dtype), _Converted(dtype)), (_Converted(dtype).method,) * 2):
            assert lax.cond(True, yes, no, np.float32(2)).dtype == dtype


def test_cond_takes_an_operand_for_each_branch() -> None:
    def f(p: Any, x: Any, y: Any) -> Any:
        return adze.cond(p, (x, y), lambda t: t[0] + t[1], x, lambda v: v * 10)

    for pred, expected in ((True, 3.0), (False, 10.0)):
        assert float(f(pred, 1.0, 2.0)) == expected
        assert float(adze.jit(f)(pred, 1.0, 2.0)) == expected
    assert float(adze.grad(f, argnums=1)(False, 1.0, 2.0)) == 10.0


def test_a_branch_widens_where_another_one_returns_float64() -> None:
    x, wide = np.float32([1, 2, 3]), np.float64([0.5, 1, 1.5])
    same, other = (lambda v: (v, 2 * v)), (lambda v: (v * wide, 3 * v))
    for name, run in {
        "cond": lambda v, i: lax.cond(i > 0, same, other, v),
        "switch": lambda v, i: lax.switch(i, [other, same, lambda v: (wide, 4 * v)], v),
    }.items():
        for index, expected in ((0, [x * wide, 3 * x]), (1, [x, 2 * x])):
            for results in (run(x, index), adze.jit(run)(x, index)):
                assert [r.dtype for r in results] == [np.float64, np.float32], name
                for result, want in zip(results, expected, strict=True):
                    np.testing.assert_array_equal(np.asarray(result), want)
    slope = adze.grad(lambda v: xp.sum(lax.cond(v[0] > 0, same, other, v)[0]))(x)
    assert (slope.dtype, slope.tolist()) == (np.float32, [1, 1, 1])
    for others in (lambda v: v * (1 + 1j), lambda v: v.astype("int32")):
        with pytest.raises(TypeError, match="the branches of cond differ"):
            adze.jit(lambda v, f=others: lax.cond(v[0] > 0, f, lambda v: wide, v))(x)
    with pytest.raises(TypeError, match="the carry of fori_loop changes its type"):
        adze.jit(lambda v: lax.fori_loop(0, 2, lambda i, c: c + wide, v))(np.int32([1, 2, 3]))
    with adze.debug.widening(), pytest.raises(adze.debug.WideningError, match="becomes float64"):
        adze.jit(lambda v: lax.cond(v[0] > 0, lambda v: v, lambda v: wide, v))(x)


def test_a_carry_widens_where_float64_meets_it() -> None:
    start, step = np.zeros(3, np.float32), np.float64([1, 2, 3])
    loops = {
        "fori_loop": lambda x: lax.fori_loop(0, 2, lambda i, c: c + step, x),
        "while_loop": lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: c + step, x, max_steps=2),
        "scan": lambda x: lax.scan(lambda c, y: (c + y * step, None), x, np.ones(2))[0],
        "a reset": lambda x: lax.fori_loop(0, 2, lambda i, c: xp.zeros(3) + 2, x + step) * step,
    }
    for name, loop in loops.items():
        for result in (loop(start), adze.jit(loop)(start)):
            assert (result.dtype, result.tolist()) == (np.float64, [2, 4, 6]), name
        (derivative,) = adze.jit(adze.vjp(loop, start)[1])(np.ones(3))
        assert derivative.dtype == np.float32, name
    with adze.debug.widening(), pytest.raises(adze.debug.WideningError, match="becomes float64"):
        loops["scan"](start)


def test_steps_may_return_nodes_whose_static_data_differ() -> None:
    """A node that counts calls: recorded, there is one step; eager, the first step says what the node is."""
    counts = iter(range(10))

    def step(c: Any, x: Any) -> Any:
        return c + x, adze.tree_util.Partial(max, **{f"x_{next(counts)}": x})

    carry, ys = adze.scan(step, np.float32(0), np.arange(3, dtype=np.float32))
    assert float(carry) == 3 and [v.tolist() for v in ys.keywords.values()] == [[0.0, 1.0, 2.0]]
