"""Rules that ask for symbolic zeros see which tangents and cotangents are zero, and may return such zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.custom_derivatives import CustomVJPPrimal, SymbolicZero

X, Y, XS = np.float32(3), np.float32(5), np.arange(3, dtype=np.float32)
Seen = list[tuple[Any, ...]]


def with_jvp(seen: Seen) -> Callable[..., Any]:
    """`(x * y, 2 * y)`, whose derivative of the first result is ten times what it should be."""

    @adze.custom_jvp
    def f(x: Any, y: Any, n: Any) -> Any:
        return x * y, y * 2

    def rule(primals: Any, tangents: Any) -> Any:
        (x, y, _), (dx, dy, _) = primals, tangents
        zeros = tuple(type(t) is SymbolicZero for t in tangents)
        seen.append(zeros)
        assert all((t.shape, t.dtype) == (p.shape, p.dtype) for p, t in zip(primals, tangents, strict=True))
        first = sum(10 * t * p for t, p, zero in zip((dx, dy), (y, x), zeros, strict=False) if not zero)
        second = SymbolicZero.from_primal_value(y) if zeros[1] else dy * 2
        return (x * y, y * 2), (first, second)

    f.defjvp(rule, symbolic_zeros=True)
    return f


def with_vjp(seen: Seen) -> Callable[..., Any]:
    """`(sin(x) * y, x + y)`; the cotangent of the first result counts ten times."""

    @adze.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return anp.sin(x) * y, x + y

    def fwd(x: CustomVJPPrimal, y: CustomVJPPrimal) -> Any:
        seen.append((x.perturbed, y.perturbed))
        needed = x.value if y.perturbed else None
        return (anp.sin(x.value) * y.value, x.value + y.value), (needed, y.value, x.value)

    def bwd(residuals: Any, cotangents: Any) -> Any:
        (needed, y, x), (first, second) = residuals, cotangents
        seen.append(tuple(type(c) is SymbolicZero for c in cotangents))
        of_x = of_y = np.float32(0)
        if type(first) is not SymbolicZero:
            of_x += first * anp.cos(x) * y * 10
            of_y += 0 if needed is None else first * anp.sin(needed) * 10
        if type(second) is not SymbolicZero:
            of_x, of_y = of_x + second, of_y + second
        return of_x, SymbolicZero.from_primal_value(y) if needed is None else of_y

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    return f


BY_X, BY_Y, BY_BOTH = (False, True, True), (True, False, True), (False, False, True)

# What is done with f, the result, and the zeros that the rule saw.
JVP_USES: dict[str, tuple[Callable[[Any], Any], Any, tuple[bool, ...]]] = {
    "one argument": (lambda f: adze.grad(lambda x: f(x, Y, 2)[0])(X), 50, BY_X),
    "the other": (lambda f: adze.grad(lambda y: sum(f(X, y, 2)))(Y), 32, BY_Y),
    "jvp of both": (lambda f: adze.jvp(lambda x, y: f(x, y, 2), (X, Y), (X, Y))[1], [300, 10], BY_BOTH),
    "jit": (lambda f: adze.jit(adze.grad(lambda x: f(x, Y, 2)[0]))(X), 50, BY_X),
    "vmap of grad": (lambda f: adze.vmap(adze.grad(lambda x: f(x, Y, 2)[0]))(XS), [50] * 3, BY_X),
    "grad of vmap": (
        lambda f: adze.grad(lambda v: adze.vmap(lambda x: f(x, Y, 2)[0])(v).sum())(XS),
        [50] * 3,
        BY_X,
    ),
    "a loop": (
        lambda f: adze.jit(
            adze.grad(lambda v: adze.scan(lambda c, x: (c + f(x, Y, 2)[0], None), np.float32(0), v)[0])
        )(XS),
        [50] * 3,
        BY_X,
    ),
    "the second derivative": (lambda f: adze.grad(adze.grad(lambda x: f(x, Y, 2)[0] * x))(X), 55, BY_X),
    "an outer function": (
        lambda f: adze.jit(adze.grad(lambda x: adze.jit(lambda z: f(z, Y, 2)[0])(x)))(X),
        50,
        BY_X,
    ),
}


@pytest.mark.parametrize("name", JVP_USES)
def test_a_jvp_rule_sees_zeros(name: str) -> None:
    use, wanted, zeros = JVP_USES[name]
    seen: Seen = []
    result = use(with_jvp(seen))
    assert [np.asarray(leaf).tolist() for leaf in adze.tree.leaves(result)] in (wanted, [wanted])
    assert set(seen) == {zeros}


VJP_USES: dict[str, tuple[Callable[[Any], Any], Any, tuple[bool, bool], tuple[bool, bool]]] = {
    "one argument": (lambda f: adze.grad(lambda x: f(x, Y)[0])(X), "cos", (True, False), (False, True)),
    "the other": (lambda f: adze.grad(lambda y: f(X, y)[1])(Y), 1, (False, True), (True, False)),
    "both": (
        lambda f: adze.jit(adze.grad(lambda x, y: f(x, y)[1], argnums=(0, 1)))(X, Y),
        (1, 1),
        (True, True),
        (True, False),
    ),
    "vmap of grad": (
        lambda f: adze.vmap(adze.grad(lambda x: f(x, Y)[1]))(XS),
        [1] * 3,
        (True, False),
        (True, False),
    ),
    "grad of vmap": (
        lambda f: adze.grad(lambda v: adze.vmap(lambda x: f(x, Y)[1])(v).sum())(XS),
        [1] * 3,
        (True, False),
        (True, False),
    ),
    "a pullback in another program": (
        lambda f: adze.jit(adze.vjp(lambda x: f(x, Y)[1], X)[1])(np.float32(2)),
        (2,),
        (True, False),
        (True, False),
    ),
    "a loop": (
        lambda f: adze.jit(
            adze.grad(lambda v: adze.scan(lambda c, x: (c + f(x, Y)[1], None), np.float32(0), v)[0])
        )(XS),
        [1] * 3,
        (True, False),
        (True, False),
    ),
}


@pytest.mark.parametrize("name", VJP_USES)
def test_vjp_rules_see_what_is_perturbed_and_what_is_zero(name: str) -> None:
    use, wanted, perturbed, zeros = VJP_USES[name]
    seen: Seen = []
    result = use(with_vjp(seen))
    if wanted == "cos":
        assert np.allclose(result, 10 * np.cos(X) * Y)
    else:
        assert np.array_equal(np.ravel(adze.tree.leaves(result)), np.ravel(wanted))
    assert perturbed in seen and zeros in seen


def test_a_rule_may_refuse_a_derivative() -> None:
    @adze.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y

    @lambda rule: f.defjvp(rule, symbolic_zeros=True)
    def _(primals: Any, tangents: Any) -> Any:
        if type(tangents[1]) is not SymbolicZero:
            raise ValueError("y has no derivative")
        return primals[0] * primals[1], tangents[0] * primals[1]

    assert adze.grad(f)(X, Y).item() == 5
    with pytest.raises(ValueError, match="y has no derivative"):
        adze.grad(f, argnums=1)(X, Y)
    assert adze.jit(f)(X, Y).item() == 15


def test_without_symbolic_zeros_rules_get_arrays() -> None:
    @adze.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        assert all(hasattr(t, "astype") for t in tangents)
        return primals[0] * primals[1], tangents[0] * primals[1] + tangents[1] * primals[0]

    assert adze.grad(f)(X, Y).item() == 5
