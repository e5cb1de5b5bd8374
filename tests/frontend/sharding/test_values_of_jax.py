"""`shard_map` and its collectives on four ranks: every value and gradient is that of JAX on four devices.

JAX's values are frozen beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adze

from ...oracles import Frozen
from .four_devices import ADZE, Library, values_of_jax, write_values

X: Final = np.sin(np.arange(64, dtype=np.float32)).reshape(16, 4)
RING: Final = [(0, 1), (1, 2), (2, 3), (3, 0)]
CHAIN: Final = [(0, 1), (1, 2), (2, 3)]


def divided(f: Callable[[Library, Any], Any]) -> Callable[[Library], Any]:
    """`f` of a fourth of the rows, its results divided the same way."""
    return lambda m: m.ranks(partial(f, m), m.P("d"), m.P("d"))


def same(f: Callable[[Library, Any], Any]) -> Callable[[Library], Any]:
    """`f` of a fourth of the rows, whose result is the same in all ranks."""
    return lambda m: m.ranks(partial(f, m), m.P("d"), m.P())


def gridded(f: Callable[[Library, Any], Any], *out: Any) -> Callable[[Library], Any]:
    """`f` of a block of rows and columns."""
    return lambda m: m.grid(partial(f, m), m.P("a", "b"), m.P(*out))


def _loop(m: Library, x: Any) -> Any:
    def step(state: Any, _: Any) -> Any:
        here, total = state
        here = m.lax.ppermute(here, "d", RING)
        return (here, total + m.np.sin(here)), m.np.sum(here)

    (_, total), sums = m.lax.scan(step, (x, x), None, length=3)
    return total * m.np.sum(sums)


COLLECTIVES: Final[dict[str, Callable[[Library], Any]]] = {
    "psum": same(lambda m, x: m.lax.psum(m.np.sin(x), "d")),
    "pmean": same(lambda m, x: m.lax.pmean(x * x, "d")),
    "psum meets its operand": divided(lambda m, x: x * m.lax.psum(x, "d")),
    "all_gather": divided(lambda m, x: m.np.sum(m.np.sin(m.lax.all_gather(x, "d")), axis=0)),
    "all_gather along 1": divided(lambda m, x: m.np.sum(m.lax.all_gather(x, "d", axis=1) ** 2, axis=1)),
    "all_gather tiled": divided(lambda m, x: m.lax.all_gather(x, "d", tiled=True)[::4] ** 2),
    "all_gather tiled along 1": divided(lambda m, x: m.lax.all_gather(x, "d", axis=1, tiled=True) ** 2),
    "psum_scatter": divided(lambda m, x: m.lax.psum_scatter(m.np.sin(x), "d")[None]),
    "psum_scatter along 1": divided(
        lambda m, x: m.lax.psum_scatter(x * x, "d", scatter_dimension=1, tiled=True)
    ),
    "all_to_all": divided(lambda m, x: m.lax.all_to_all(m.np.sin(x), "d", 0, 0)),
    "all_to_all tiled": divided(lambda m, x: m.lax.all_to_all(m.np.sin(x), "d", 1, 0, tiled=True)),
    "all_to_all back": divided(lambda m, x: m.lax.all_to_all(x * x, "d", 0, 1, tiled=True)),
    "ppermute": divided(lambda m, x: x * m.lax.ppermute(m.np.sin(x), "d", RING)),
    "ppermute to some": divided(lambda m, x: m.np.cos(m.lax.ppermute(x, "d", CHAIN))),
    "pshuffle": divided(lambda m, x: x * m.lax.pshuffle(x, "d", [2, 0, 3, 1])),
    "axis_index": divided(lambda m, x: x**2 * m.lax.axis_index("d")),
    "a ring in a scan": divided(_loop),
    "gradient inside": divided(
        lambda m, x: m.grad(lambda x: m.lax.psum(m.np.sum(x * m.lax.psum(x, "d")), "d"))(x)
    ),
    "checkpoint": divided(lambda m, x: m.checkpoint(lambda x: x * m.np.sin(m.lax.psum(x, "d")))(x)),
    "vmap inside": divided(lambda m, x: m.vmap(lambda row: row * m.lax.psum(row, "d"))(x)),
    "sums along a grid": gridded(lambda m, x: m.lax.psum(x * m.lax.psum(x, "b"), ("a", "b"))),
    "rows of a grid": gridded(lambda m, x: m.lax.psum(m.np.sin(x), "b"), "a"),
    "gather in a grid": gridded(lambda m, x: m.lax.all_gather(x, "a", axis=1, tiled=True) ** 2, "a", "b"),
    "positions in a grid": gridded(lambda m, x: x**2 * m.lax.axis_index(("a", "b")), "a", "b"),
    "exchange in a grid": gridded(
        lambda m, x: m.np.sin(m.lax.all_to_all(x, "b", 0, 1, tiled=True)), "a", "b"
    ),
}
"""Functions of `X`, differentiable."""

OTHERS: Final[dict[str, Callable[[Library], Any]]] = {
    "extrema": lambda m: m.ranks(lambda x: (m.lax.pmax(x, "d"), m.lax.pmin(x, "d")), m.P("d"), m.P()),
    "both axes divide the rows": lambda m: m.grid(
        lambda x: (x * m.lax.axis_index("a"), m.lax.psum(x, "a")),
        m.P(("a", "b")),
        (m.P(("a", "b")), m.P("b")),
    ),
    "columns first": lambda m: m.grid(lambda x: x * m.lax.axis_index("a"), m.P(("b", "a")), m.P(("b", "a"))),
    "mapped outside": lambda m: m.vmap(
        m.ranks(lambda x: x * m.lax.psum(x, "d"), m.P("d"), m.P("d")), in_axes=1, out_axes=1
    ),
    "second derivatives": lambda m: m.jvp(
        lambda x: m.grad(
            lambda x: m.np.sum(
                m.ranks(lambda x: x * m.lax.psum(m.np.sin(x), "d"), m.P("d"), m.P("d"))(x) ** 2
            )
        )(x),
        (X,),
        (X + 1,),
    ),
}


def value(name: str, m: Library) -> Any:
    """The value of a case, and the gradient of a function of it."""
    if name == "second derivatives":
        return OTHERS[name](m)
    if name in OTHERS:
        return OTHERS[name](m)(X)
    f = COLLECTIVES[name](m)

    def scalar(x: Any) -> Any:
        y = f(x)
        return m.np.sum(y * m.np.cos(m.np.arange(y.size, dtype=y.dtype).reshape(y.shape)))

    return f(X), m.grad(scalar)(X), m.jvp(scalar, (X,), (X + 1,))[1]


NAMES: Final = sorted({**COLLECTIVES, **OTHERS})


ORACLE: Final = Frozen(
    Path(__file__).with_name("values_of_jax.npz"),
    {name: partial(lambda name: values_of_jax(__name__)[name], name) for name in NAMES},
)


def check(actual: dict[str, Any]) -> None:
    """Every case has JAX's value."""
    for name in NAMES:
        for a, b in zip(adze.tree.leaves(actual[name]), ORACLE[name], strict=True):
            assert np.asarray(a).dtype == b.dtype, name
            np.testing.assert_allclose(np.asarray(a), b, rtol=2e-5, atol=2e-5, err_msg=name)


@pytest.mark.oracle
def test_local_ranks_compute_what_jax_does() -> None:
    check({name: value(name, ADZE) for name in NAMES})


@pytest.mark.oracle
def test_ranks_of_threads_compute_what_jax_does() -> None:
    for of_rank in adze.distributed.run(lambda: {name: value(name, ADZE) for name in NAMES}, 4):
        check(of_rank)


@pytest.mark.oracle
@pytest.mark.thorough
def test_the_frozen_values_are_those_of_jax() -> None:
    for name in NAMES:
        ORACLE.check_fresh(name)


if __name__ == "__main__":
    write_values(NAMES, value)
