"""What JAX's own tests of `shard_map` are about, written anew: values, derivatives and batches on four ranks.

Each case runs on local ranks, many on ranks of threads; values are those of JAX with four devices, frozen
beside this file.
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
from ...selection import part
from .four_devices import ADZE, Library, values_of_jax, write_values
from .programs_of_ranks import DIFFERENTIABLE, RING, A, V, X, counted, counted_together, doubled_backwards

Case = Callable[[Library], Any]


def closed_over(m: Library) -> Any:
    """Arrays of outside are what all ranks have, and have gradients."""

    def f(x: Any) -> Any:
        inner = m.ranks(lambda y: m.np.sin(y) * m.np.sum(m.np.sin(x)), m.P("d"), m.P("d"))
        return inner(m.np.asarray(V))

    return f(V), m.grad(lambda x: m.np.sum(f(x) ** 2))(V), m.jvp(f, (V,), (V + 1,))[1]


def backward_rule(m: Library, **options: Any) -> Any:
    f = doubled_backwards(m, lambda g: 3 * g)
    g = m.ranks(lambda x: f(x) * x, m.P("d"), m.P("d"), **options)
    return m.value_and_grad(lambda x: m.np.sum(g(x)))(V)


def backward_rule_in_a_scan(m: Library) -> Any:
    f = doubled_backwards(m, lambda g: 2 * g)
    step = lambda x, _: (f(x), None)  # noqa: E731
    g = m.ranks(lambda x: m.lax.scan(step, x, None, length=2)[0] * x, m.P("d"), m.P("d"))
    return m.value_and_grad(lambda x: m.np.sum(g(x)))(V)


def remat_of_it(m: Library) -> Any:
    f = m.checkpoint(m.ranks(lambda x: m.np.sin(m.np.sin(m.np.sin(m.np.sum(x)))[None]), m.P("d"), m.P("d")))
    return m.grad(lambda x: m.np.sum(f(x)))(V), m.jvp(m.grad(lambda x: m.np.sum(f(x))), (V,), (V,))[1]


def trees(m: Library) -> Any:
    """Specs that are prefixes of trees of arguments and results."""

    def f(state: Any, pair: Any) -> Any:
        return {"sum": m.lax.psum(state["w"], "d"), "more": [state["b"] * pair[0], (pair[1],)]}, None

    specs = ({"w": m.P("d"), "b": m.P()}, m.P("d"))
    out = ({"sum": m.P(), "more": m.P("d")}, None)
    return m.ranks(f, specs, out)({"w": V, "b": V[0]}, (V, X))


def mapped_outside(m: Library, **options: Any) -> Any:
    f = m.ranks(lambda x, y: x * m.lax.psum(x, "d") + y, (m.P("d"), m.P()), m.P("d"))
    ys = np.arange(4, dtype=np.float32)
    return (
        m.vmap(f, in_axes=(1, 0), out_axes=1, **options)(X, ys),
        m.vmap(f, in_axes=(1, None), **options)(X, ys[0]),
        m.vmap(m.grad(lambda x: m.np.sum(f(x, 1.0) ** 2)), in_axes=1, **options)(X),
    )


def hessian(m: Library) -> Any:
    f = m.ranks(lambda x: m.lax.psum(m.np.sum(m.np.sin(x) ** 3), "d"), m.P("d"), m.P())
    return m.jacfwd(m.jacrev(f))(V)


def linear_parts(m: Library) -> Any:
    f = m.grid(lambda x: m.np.sin(m.np.cos(x)) * m.lax.psum(x, "b"), m.P("a", "b"), m.P("a", "b"))
    y, pushforward = m.linearize(f, X)
    return y, pushforward(X + 1), m.vjp(f, X)[1](X + 1)


def some_axes(m: Library) -> Any:
    """The mesh has an axis that this function does not know."""
    f = m.grid(lambda x, w: m.lax.psum(m.np.sin(x) * w, "a"), (m.P("a"), m.P()), m.P(), axis_names={"a"})
    f = m.jit(f)
    return f(X, X[:4]), m.jit(m.grad(lambda w: m.np.sum(f(X, w) ** 2)))(X[:4])


def of_mesh(sizes: tuple[int, ...], names: tuple[str, ...], f: Any, ins: Any, out: Any, *args: Any) -> Case:
    def case(m: Library) -> Any:
        specs = tuple(m.P(*each) for each in ins)
        outs = m.P(*out)
        return m.shard_map(partial(f, m), mesh=m.make_mesh(sizes, names), in_specs=specs, out_specs=outs)(
            *args
        )

    return case


def dtypes(m: Library) -> Any:
    found = []
    for dtype in ("int32", "uint8", "int16", "float16", "complex64"):
        x = (X * 8).astype(np.float32).astype(dtype) if dtype != "uint8" else np.abs(X * 8).astype(np.uint8)
        f = m.ranks(
            lambda x: (
                m.lax.psum(x, "d"),
                m.lax.all_gather(x, "d", tiled=True),
                m.lax.ppermute(x, "d", RING),
                m.lax.psum_scatter(x, "d", scatter_dimension=1, tiled=True),
                m.lax.all_to_all(x, "d", 1, 1, tiled=True),
            ),
            m.P("d"),
            (m.P(), m.P("d"), m.P("d"), m.P("d"), m.P("d")),
        )
        found.append(f(x))
    return found


def complex_gradients(m: Library) -> Any:
    z = (X[:, 0] + 1j * X[:, 1]).astype(np.complex64)
    f = m.ranks(lambda z: m.lax.psum(m.np.sum(m.np.abs(z * z) + m.np.real(z)), "d"), m.P("d"), m.P())
    return m.grad(f)(z)


def bools(m: Library) -> Any:
    f = m.ranks(
        lambda x: (m.lax.all_gather(x, "d", tiled=True), m.lax.ppermute(x, "d", RING), m.np.logical_not(x)),
        m.P("d"),
        m.P("d"),
    )
    return f(X > 0)


def random_numbers(m: Library) -> Any:
    """A key for each rank, and one for all with the position in it."""
    keys = m.random.split(m.random.key(0), 4)
    one = m.ranks(lambda k: m.random.normal(k[0], (2,)), m.P("d"), m.P("d"))(keys)
    own = m.ranks(
        lambda: m.random.uniform(m.random.fold_in(m.random.key(3), m.lax.axis_index("d")), (2,)), (), m.P("d")
    )()
    same = m.ranks(lambda x: x * m.random.normal(m.random.key(1), (2,)), m.P("d"), m.P("d"))(V)
    return one, own, same


def no_arguments(m: Library) -> Any:
    positions = m.ranks(lambda: m.lax.axis_index("d")[None], (), m.P("d"))()
    grid = m.grid(
        lambda: (
            m.lax.axis_index("a")[None, None],
            m.lax.axis_index("b")[None, None],
            m.lax.axis_index(("a", "b"))[None, None],
        ),
        (),
        m.P("a", "b"),
    )()
    return positions, grid


def aux(m: Library) -> Any:
    """Two results, of which one is differentiated."""
    f = m.ranks(lambda x: (x * x, m.lax.psum(x, "d")), m.P("d"), (m.P("d"), m.P()))
    return m.grad(lambda x: m.np.sum(f(x)[0]))(V), m.grad(lambda x: m.np.sum(f(x)[1] ** 2))(V)


def exchanged_and_back(m: Library) -> Any:
    f = m.ranks(
        lambda x: m.lax.all_to_all(x, "d", split_axis=1, concat_axis=0, tiled=True),
        m.P("d", None),
        m.P(None, "d"),
    )
    return f(A), m.grad(lambda x: m.np.sum(f(x) * 2))(A)


def decorated(m: Library) -> Any:
    mesh = m.make_mesh((4,), ("d",))

    @m.shard_map(mesh=mesh, in_specs=(m.P("d"), m.P()), out_specs=m.P("d"))
    def f(x: Any, n: Any) -> Any:
        return x * n

    with m.set_mesh(mesh):
        g = m.shard_map(lambda x: x * m.lax.psum(1, "d"), in_specs=m.P("d"), out_specs=m.P("d"))
        return f(V, 3.0), m.jit(g)(V)


def no_specs(m: Library) -> Any:
    """None is the spec of what all ranks have."""
    return m.ranks(lambda x: x * 2, (None,), m.P())(3.0), m.ranks(lambda x: x * 2, m.P(), m.P())(3.0)


def unchecked_mapped(m: Library) -> Any:
    f = m.grid(lambda x: m.np.sin(m.lax.psum(m.np.sum(x), "b")), m.P("b"), m.P(), check_vma=False)
    x = X[:4]
    return m.vmap(m.grad(f))(x), m.vmap(m.grad(f), spmd_axis_name="a")(x)


OTHERS: Final[dict[str, Case]] = {
    "closed-over arrays": closed_over,
    "a rule backwards": backward_rule,
    "a rule backwards, unchecked": partial(backward_rule, check_vma=False),
    "a rule backwards in a scan": backward_rule_in_a_scan,
    "remat of it": remat_of_it,
    "trees": trees,
    "mapped outside": mapped_outside,
    "mapped outside along an axis of the mesh": lambda m: m.vmap(
        m.grid(lambda x: x * m.lax.psum(x, "b"), m.P("b"), m.P("b")), spmd_axis_name="a"
    )(X),
    "mapped outside with the name of the mesh": lambda m: m.vmap(
        m.ranks(lambda x: 2 * x, m.P("d"), m.P("d")), axis_name="d"
    )(A),
    "a Hessian": hessian,
    "linear parts": linear_parts,
    "some axes of a mesh": some_axes,
    "a mesh of one rank and four": of_mesh(
        (1, 4, 1),
        ("a", "b", "c"),
        lambda m, x: x * x + m.lax.psum(x, ("a", "c")),
        [("a", "b", "c")],
        ("a", "b", "c"),
        A.reshape(2, 8, 4),
    ),
    "axes of one rank": of_mesh(
        (1, 4),
        ("a", "b"),
        lambda m, x: m.lax.psum(m.lax.all_gather(x, "a", tiled=True), "a") + m.lax.ppermute(x, "a", [(0, 0)]),
        [(("a", "b"),)],
        (("a", "b"),),
        V,
    ),
    "a while loop of each rank": lambda m: m.ranks(partial(counted, m), m.P("d"), m.P("d"))(X),
    "a while loop of all ranks": lambda m: m.ranks(partial(counted_together, m), m.P("d"), m.P("d"))(X),
    "dtypes": dtypes,
    "complex gradients": complex_gradients,
    "bools": bools,
    "random numbers": random_numbers,
    "no arguments": no_arguments,
    "one of two results": aux,
    "exchanged and back": exchanged_and_back,
    "decorated": decorated,
    "no specs": no_specs,
    "unchecked and mapped": unchecked_mapped,
}


def value(name: str, m: Library) -> Any:
    """The value of a case; of a function also its derivatives, compiled, and it mapped."""
    if name in OTHERS:
        return OTHERS[name](m)
    f, args = DIFFERENTIABLE[name](m)
    floats = tuple(i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f")

    def scalar(*args: Any) -> Any:
        y = f(*args)
        return m.np.sum(y * m.np.cos(m.np.arange(y.size, dtype=y.dtype).reshape(y.shape)))

    def of_floats(*some: Any) -> Any:
        whole = list(args)
        for i, x in zip(floats, some, strict=True):
            whole[i] = x
        return scalar(*whole)

    chosen = tuple(args[i] for i in floats)
    found = [f(*args), m.grad(scalar, argnums=floats)(*args)]
    found.append(m.jvp(of_floats, chosen, tuple(x + np.float32(1) for x in chosen))[1])
    twice = tuple(np.stack([x, x * np.float32(2)]) for x in chosen)
    found.append(m.vmap(of_floats)(*twice))
    return found


NAMES: Final = sorted({**DIFFERENTIABLE, **OTHERS})
OF_THREADS: Final = part(NAMES, [*sorted(OTHERS)[::2], *NAMES[::6]])
"""Cases that ranks of threads compute too: all collectives of threads are in `test_values_of_jax.py`."""

ORACLE: Final = Frozen(
    Path(__file__).with_name("jax_behaviours.npz"),
    {name: partial(lambda name: values_of_jax(__name__)[name], name) for name in NAMES},
)


def check(name: str, actual: Any) -> None:
    """A case has JAX's values."""
    for a, b in zip(adze.tree.leaves(actual), ORACLE[name], strict=True):
        assert (np.asarray(a).dtype, np.shape(a)) == (b.dtype, b.shape), name
        rounding = 5e-3 if b.dtype == np.float16 else 2e-5
        np.testing.assert_allclose(np.asarray(a), b, rtol=rounding, atol=rounding, err_msg=name)


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_local_ranks_compute_what_jax_does(name: str) -> None:
    check(name, value(name, ADZE))


@pytest.mark.oracle
def test_ranks_of_threads_compute_what_jax_does() -> None:
    for of_rank in adze.distributed.run(lambda: {name: value(name, ADZE) for name in OF_THREADS}, 4)[::3]:
        for name in OF_THREADS:
            check(name, of_rank[name])


@pytest.mark.oracle
@pytest.mark.thorough
def test_the_frozen_values_are_those_of_jax() -> None:
    for name in NAMES:
        ORACLE.check_fresh(name)


if __name__ == "__main__":
    write_values(NAMES, value)
