"""Derivatives and batches of functions whose shapes are known only when the program runs: one module.

What a derivative needs of a shape it takes from the primal value: the names of dimensions survive, so that
`x - grad(f)(x)` is well typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn, tree
from adze import numpy as xp

from ...selection import part

W = np.random.default_rng(0).standard_normal((3, 3))


def descent(x: Any) -> Any:
    return x - 0.1 * adze.grad(lambda x: xp.sum(xp.sin(x) * x))(x)


def parameters(x: Any) -> Any:
    return adze.grad(lambda w: xp.mean(xp.tanh(x @ w) ** 2))(W)


def per_example(x: Any) -> Any:
    return adze.vmap(adze.grad(lambda w, x: xp.sum(xp.tanh(x @ w))), (None, 0))(W, x)


def softmax(x: Any) -> Any:
    return adze.grad(lambda x: xp.sum(nn.softmax(x) ** 2))(x)


def pushed(x: Any) -> Any:
    return adze.vmap(lambda v: adze.jvp(xp.sin, (v,), (v,))[1])(x) + x


def moved(x: Any) -> Any:
    return adze.grad(lambda x: xp.sum(xp.concatenate([x[1:], x[:1]]) * xp.pad(x, ((1, 0), (0, 0)))[:-1]))(x)


def again(x: Any) -> Any:
    return adze.vmap(adze.grad(adze.checkpoint(lambda v: xp.sum(xp.exp(xp.sin(v))))))(x)


def chosen(x: Any) -> Any:
    return adze.vmap(lambda v: lax.cond(v[0] > 0, lambda v: v * v, lambda v: -v, v))(x)


def running(x: Any) -> Any:
    """First and second derivatives of running products, from either end."""
    results = []
    for reverse in (False, True):

        def total(x: Any, reverse: bool = reverse) -> Any:
            return xp.sum(xp.sin(lax.cumprod(x, axis=0, reverse=reverse)) * x)

        slope = adze.grad(total)
        results += [*adze.jvp(slope, (x,), (x + 1,)), adze.vmap(slope, 1)(x)]
    return xp.concatenate([xp.reshape(g, (-1,)) for g in results])


def branching(x: Any) -> Any:
    """Each branch keeps residuals of other sizes, one has no derivative; all are chosen in the batch."""

    def f(v: Any) -> Any:
        rows = xp.outer(xp.sum(x, axis=1), v)
        index = xp.sum((v > 0).astype(np.int32))
        branches = [xp.ones_like, lambda y: xp.exp(y) * xp.sin(y), longer]
        return xp.sum(lax.switch(index, branches, rows) ** 2)

    def longer(y: Any) -> Any:
        return y * xp.sum(xp.sin(xp.concatenate([y, y[1:]])) ** 2)

    return adze.vmap(adze.grad(f))(x), adze.grad(f)(x[0])


def stated(x: Any) -> Any:
    """Rules that close over sizes and arrays, and call their own function."""
    n = x.shape[0]

    @adze.custom_jvp
    def f(v: Any) -> Any:
        return xp.sum(xp.sin(v)) * n + xp.sum(x)

    @f.defjvp
    def f_rule(primals: Any, tangents: Any) -> Any:
        (v,), (dv,) = primals, tangents
        return f(v), 3 * n * xp.sum(xp.cos(v) * dv) * xp.sum(xp.ones((n, 3)) * x)

    @adze.custom_vjp
    def g(v: Any) -> Any:
        return xp.sum(xp.cos(v)) * n

    def forward(v: Any) -> Any:
        return g(v), (v, xp.full((n,), 2.0))

    def backward(residuals: Any, cotangent: Any) -> Any:
        v, twos = residuals
        return (cotangent * xp.sin(v) * xp.sum(twos) * xp.sum(x, axis=0),)

    g.defvjp(forward, backward)

    def both(v: Any) -> Any:
        return f(v) * g(v)

    again = adze.grad(lambda v: xp.sum(adze.grad(both)(v) ** 2))
    return again(x[0]), adze.jvp(both, (x[0],), (x[1],))[1], adze.vmap(adze.grad(both))(x)


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    *(descent, parameters, per_example, softmax, pushed, moved, again, chosen, running, branching, stated),
)


@pytest.fixture(scope="module")
def compiled() -> Any:
    """All functions in one program, for any number of rows."""
    everything = adze.jit(lambda x: [f(x) for f in FUNCTIONS])
    return everything.trace(adze.ShapeDtype(("rows", 3), np.float64)).lower().compile()


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [2, 5])
def test_compiled_derivatives_of_any_size_are_the_evaluated_ones(compiled: Any, rows: int) -> None:
    x = np.random.default_rng(rows).standard_normal((rows, 3))
    x[1, 0] = x[-1, 0] = x[0, 1] = 0
    for function, results in zip(FUNCTIONS, compiled(x), strict=True):
        for have, want in zip(tree.leaves(results), tree.leaves(function(x)), strict=True):
            np.testing.assert_allclose(
                np.asarray(have), np.asarray(want), rtol=1e-10, atol=1e-11, err_msg=function.__name__
            )


KERNEL = np.random.default_rng(1).standard_normal((4, 2, 3, 2))
EVERY_WINDOW: dict[str, dict[str, Any]] = {
    "strides": {"window_strides": (2, 1), "padding": ((1, 2), (0, 1))},
    "dilation of the kernel": {"rhs_dilation": (2, 1), "padding": ((2, 2), (1, 1))},
    "dilation of the image": {
        **{"lhs_dilation": (2, 3), "window_strides": (3, 2), "padding": ((1, 0), (2, 2))},
    },
    "groups": {"feature_group_count": 2, "window_strides": (2, 2), "padding": ((-1, 2), (3, -1))},
}
WINDOWS = {name: EVERY_WINDOW[name] for name in part(list(EVERY_WINDOW), ["groups"])}


def convolutions(image: Any, kernel: Any) -> list[Any]:
    """For each window both gradients, and how the kernel's changes with the image."""
    results = []
    for window in WINDOWS.values():
        given = {"window_strides": (1, 1), **window}
        used = kernel[:, :1] if "feature_group_count" in window else kernel

        def total(x: Any, k: Any, given: Any = given) -> Any:
            return xp.sum(xp.sin(lax.conv_general_dilated(x, k, **given)))

        results += adze.grad(total, (0, 1))(image, used)
        results.append(adze.jvp(adze.grad(total, 1), (image, used), (image * image, used))[1])
    return results


@pytest.mark.thorough
def test_convolutions_of_images_of_any_number_and_size_are_differentiated() -> None:
    spec = adze.ShapeDtype(("images", 2, "height", "width"), np.float64)
    compiled = adze.trace(convolutions, spec, adze.ShapeDtype(KERNEL.shape, KERNEL.dtype)).lower().compile()
    for shape in ((1, 2, 5, 6), (3, 2, 8, 5)):
        image = np.random.default_rng(2).standard_normal(shape)
        names = [f"{name}, {what}" for name in WINDOWS for what in ("image", "kernel", "tangent")]
        for name, result, expected in zip(
            names, compiled(image, KERNEL), convolutions(image, KERNEL), strict=True
        ):
            np.testing.assert_allclose(result, np.asarray(expected), rtol=1e-9, atol=1e-9, err_msg=name)


def test_gradients_of_a_kernel_for_each_of_any_number_of_images() -> None:
    def loss(kernel: Any, image: Any) -> Any:
        return xp.sum(xp.sin(lax.conv(image[None], kernel, (1, 2), "SAME")))

    each = adze.vmap(adze.grad(loss), (None, 0))
    compiled = (
        adze.jit(each).trace(KERNEL, adze.ShapeDtype(("images", 2, 5, 6), np.float64)).lower().compile()
    )
    for count in (1, 4):
        images = np.random.default_rng(count).standard_normal((count, 2, 5, 6))
        np.testing.assert_allclose(compiled(KERNEL, images), each(KERNEL, images), rtol=1e-9, atol=1e-9)
