"""Values of traced arrays outside `jit`: Python asks for them inside grad, jvp, vmap and their kin.

All evaluated in NumPy: nothing here is compiled.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from math import sin as sine
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, custom_batching, lax
from adze import numpy as xp
from adze.frontend.errors import ConcretizationError, LeakedTracerError
from adze.frontend.tracing.interpreter import ops

from ...random_programs import random_program, seeds

X = np.array([0.5, -1.5, 2.0])
Transform = Callable[[Callable[[Any], Any], Any], Any]

TRANSFORMS: dict[str, Transform] = {
    "grad": lambda f, x: adze.grad(f)(x),
    "value_and_grad": lambda f, x: adze.value_and_grad(f)(x)[1],
    "jvp": lambda f, x: adze.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f, x: adze.vjp(f, x)[1](1.0)[0],
    "linearize": lambda f, x: adze.linearize(f, x)[1](1.0),
    "jacfwd": lambda f, x: adze.jacfwd(f)(x),
    "jacrev": lambda f, x: adze.jacrev(f)(x),
    "grad of checkpoint": lambda f, x: adze.grad(adze.checkpoint(f))(x),
    "grad of sequential_vmap": lambda f, x: adze.grad(custom_batching.sequential_vmap(f))(x),
    "in vmap": lambda f, x: adze.vmap(lambda y: adze.grad(f)(x) + 0 * y)(np.ones(1))[0],
}


def branch(x: Any) -> Any:
    return x * x if x > 0 else -x


def loop(x: Any) -> Any:
    while x < 10:
        x = x * 2
    return x


def counted(x: Any) -> Any:
    return sum(x for _ in range(int(x) + 3))


def listed(x: Any) -> Any:
    return x * [1.0, 2.0, 5.0][xp.sign(x).astype(int)]


def formatted(x: Any) -> Any:
    return x * float(f"{x:.1f}")


def converted(x: Any) -> Any:
    return x * (float(x) + x.item() + complex(x).real)


def detached(x: Any) -> Any:
    still = adze.stop_gradient(x)
    return x * np.asarray(still).item() * still.tolist() * math.exp(0 * still)


CASES: list[tuple[Callable[[Any], Any], float, float]] = [
    (branch, 3.0, 6.0),
    (branch, -3.0, -1.0),
    (loop, 1.5, 8.0),
    (counted, 2.5, 5.0),
    (listed, 2.0, 2.0),
    (listed, -2.0, 5.0),
    (formatted, 2.0, 2.0),
    (converted, 2.0, 6.0),
    (detached, 3.0, 9.0),
]


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize(("f", "x", "slope"), CASES)
def test_python_takes_values_inside_a_transform(
    transform: Transform, f: Callable[[Any], Any], x: float, slope: float
) -> None:
    assert float(transform(f, np.float64(x))) == slope


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_values_of_every_dtype(dtype: str) -> None:
    def f(x: Any) -> Any:
        return xp.real(x * x if x.real > 1 else x)

    assert adze.grad(f)(xp.asarray(2, dtype)).astype("complex64").item() == 4
    assert adze.grad(f)(xp.asarray(1, dtype)).astype("complex64").item() == 1


def test_derivatives_nest() -> None:
    def f(x: Any) -> Any:
        return x**4 if x > 0 else -x

    assert adze.grad(adze.grad(adze.grad(f)))(np.float64(2)).item() == 48
    assert adze.hessian(f)(np.float64(2)).item() == 48
    assert adze.jvp(adze.grad(f), (np.float64(2),), (1.0,))[1].item() == 48

    def slope_first(x: Any) -> Any:
        return x * adze.grad(f)(x) if adze.grad(f)(x) > 1 else x

    assert adze.grad(slope_first)(np.float64(1)).item() == 16
    assert adze.grad(slope_first)(np.float64(-1)).item() == 1


def test_values_of_outer_functions() -> None:
    def f(x: Any) -> Any:
        y = x * 2

        def body(i: Any, c: Any) -> Any:
            return c * x if y > 0 else -c

        return lax.fori_loop(0, 3, body, 1.0) + adze.vmap(lambda z: z * x if x > y - 9 else z)(X).sum()

    assert adze.grad(f)(np.float64(3)).item() == 28


def test_values_that_vmap_does_not_map() -> None:
    def power(x: Any, n: Any) -> Any:
        result = x
        for _ in range(n - 1):
            result = result * x
        return result

    assert np.array_equal(adze.vmap(power, in_axes=(0, None))(X, 3), X**3)
    assert np.array_equal(adze.vmap(adze.grad(power), in_axes=(0, None))(X, 3), 3 * X**2)
    of_array = adze.vmap(lambda x, n: adze.vmap(lambda y: power(y, int(n)))(x[None])[0], in_axes=(0, None))
    assert np.array_equal(of_array(X, np.array(2)), X**2)


def test_shapes_from_values() -> None:
    def f(x: Any) -> Any:
        positive = x[x > 0]
        rest = x[xp.nonzero(x < 0)]
        return positive.sum() * rest[: xp.sum(x < 0)].prod() * xp.ones(xp.sum(x > 0)).sum()

    assert adze.grad(f)(X).tolist() == [-3.0, 5.0, -3.0]
    counts = np.arange(2.0)
    assert adze.grad(lambda x: (xp.unique_values(x) * counts).sum())(X[[0, 1, 0]]).tolist() == [1.0, 0.0, 0.0]
    repeated = adze.grad(lambda x: xp.repeat(x, (x > 0).astype(int)).sum())
    assert repeated(X).tolist() == [1.0, 0.0, 1.0]
    power = adze.grad(lambda x: lax.fori_loop(0, x.astype(int), lambda i, c: c * x, 1.0))
    assert power(np.float64(3)).item() == 27


def test_a_rule_and_its_function_see_values() -> None:
    @adze.custom_jvp
    def forward(x: Any) -> Any:
        return x * 2 if x > 0 else -x

    @forward.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return forward(x), (3 * dx if x > 0 else -4 * dx)

    @adze.custom_vjp
    def backward(x: Any) -> Any:
        return x * 2 if x > 0 else -x

    backward.defvjp(
        lambda x: (x * 2 if x > 0 else -x, {"x": x}), lambda kept, g: (3 * g if kept["x"] > 0 else -4 * g,)
    )
    for f in (forward, backward):
        assert adze.grad(f)(2.0).item() == 3
        assert adze.grad(f)(-2.0).item() == -4
        assert adze.grad(lambda x, f=f: f(x) * x if f(x) > 3 else f(-x))(2.0).item() == 10
        assert adze.grad(lambda x, f=f: f(x) * x if f(x) > 3 else f(-x))(1.0).item() == 4


def test_a_rule_that_calls_its_function_elsewhere() -> None:
    @adze.custom_jvp
    def f(x: Any) -> Any:
        return x * 2 if x > 0 else -x

    f.defjvp(lambda primals, tangents: (f(primals[0]), f(primals[0] - 9) * tangents[0]))
    with pytest.raises(AdzeError, match="a rule of f calls f at other values, and f or its"):
        adze.grad(f)(2.0)


def test_a_jitted_function_is_not_used_for_other_values() -> None:
    def f(x: Any) -> Any:
        choose = adze.jit(lambda y: y * 2 if x > 0 else y * 3)
        first = choose(x)
        x = -x
        return first + choose(x)

    assert adze.grad(f)(1.0).item() == -1


@pytest.mark.parametrize("seed", seeds(15, 60))
def test_values_are_those_of_the_traced_program(seed: int) -> None:
    program = random_program(seed, "plain", "rounded")
    beside: list[np.ndarray] = []

    def f(*inputs: Any) -> Any:
        results = program.build(ops, *inputs)
        beside.extend(np.asarray(adze.stop_gradient(v)) for v in results)
        return results

    traced, _ = adze.vjp(f, *program.arguments(0))
    for value, expected in zip(beside, traced, strict=True):
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(value, np.asarray(expected), err_msg=str(program))


def test_a_value_is_computed_once_and_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from adze.dialects.dialect import BY_NAME

    calls: list[str] = []
    original = BY_NAME["sin"].evaluate

    def counting(x: Any) -> Any:
        calls.append("sin")
        return original(x)

    monkeypatch.setattr(BY_NAME["sin"], "evaluate", staticmethod(counting))

    def f(x: Any) -> Any:
        y = xp.sin(x)
        unused = xp.sin(y)
        seen = [float(y), y.item(), bool(y > 0)]
        assert len(calls) == 1
        return y * seen[0] + 0 * unused

    adze.grad(f)(1.0)


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    def body(i: Any, c: Any) -> Any:
        ops.print(i, format="step {}")
        return c * 2

    def f(x: Any) -> Any:
        y = lax.fori_loop(0, 2, body, x)
        return y * y if y > 0 else y

    assert adze.grad(f)(1.0).item() == 32
    assert capsys.readouterr().out == "step 0\nstep 1\n"


# -- what has no value -------------------------------------------------------------------------------------


def text_of(call: Callable[[], Any], kind: type[AdzeError] = ConcretizationError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_error_of_a_mapped_value() -> None:
    for f in (adze.vmap(branch), adze.vmap(adze.grad(branch)), adze.vmap(adze.checkpoint(branch))):
        text = text_of(lambda f=f: f(X))
        assert text.startswith(
            "bool() of a traced array: i1[] has no single value: it depends on argument 'x', which vmap maps "
            "along axis 0 (it comes from "
        )
        assert "hint: use adze.numpy.where for a choice of values" in text


def test_error_under_jit_and_in_bodies() -> None:
    def in_body(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: branch(c), x)

    for f in (adze.jit(adze.grad(branch)), adze.grad(adze.jit(branch)), adze.grad(in_body)):
        assert "bool() of a traced array: i1[] has no value while tracing" in text_of(lambda f=f: f(1.0))


@pytest.mark.parametrize(
    ("convert", "what"),
    [
        (np.asarray, r"numpy.asarray() of f64[]"),
        (lambda x: x.tolist(), "tolist() of f64[]"),
        (lambda x: math.sin(x), "a Python float of f64[]"),
        (lambda x: sine(x), "a Python float of f64[]"),
        (lambda x: sum(map(float, [x])), "a Python float of f64[]"),
        (lambda x: cmath.exp(x), "a Python complex number of f64[]"),
        (lambda x: np.asarray(adze.grad(xp.sin)(x)), "numpy.asarray() of f64[]"),
    ],
)
def test_error_where_a_derivative_would_be_lost(convert: Callable[[Any], Any], what: str) -> None:
    text = text_of(lambda: adze.grad(lambda x: x * convert(x))(np.float64(1)))
    assert text.startswith(f"{what}, which is differentiated (it comes from ")
    assert text.endswith("hint: use adze.numpy; where no derivative is wanted, convert adze.stop_gradient(x)")


def test_no_derivative_is_lost_where_there_is_none() -> None:
    def f(w: Any, x: Any) -> Any:
        labels = np.asarray(w > 0)
        return (w * np.asarray(x) * labels).sum() + adze.vmap(lambda v: v * np.asarray(x).sum())(w).sum()

    assert adze.grad(f)(X, np.ones(3)).tolist() == [4.0, 3.0, 4.0]


def test_error_of_a_value_whose_trace_has_ended() -> None:
    kept: list[Any] = []
    adze.grad(lambda x: kept.append(x) or x)(1.0)
    assert "was used after its trace had ended" in text_of(lambda: float(kept[0]), LeakedTracerError)
