"""Programs of four ranks and their arguments, each differentiable, written once for adze and for JAX.

`test_jax_behaviours.py` compares their values, derivatives and batches with JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from .four_devices import Library

X: Final = np.sin(np.arange(32, dtype=np.float32)).reshape(8, 4)
V: Final = np.cos(np.arange(8, dtype=np.float32))
A: Final = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
B: Final = np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)
RING: Final = [(0, 1), (1, 2), (2, 3), (3, 0)]


def varying(m: Library, x: Any) -> Any:
    return m.lax.pcast(x, "d", to="varying")


def doubled(m: Library) -> Any:
    """A function whose tangent is three times its argument's, and says so forwards."""

    @m.custom_jvp
    def f(x: Any) -> Any:
        return 2 * x

    f.defjvp(lambda primals, tangents: (f(*primals), 3 * tangents[0]))
    return f


def doubled_backwards(m: Library, backward: Any) -> Any:
    """Twice its argument, with a rule of its own for cotangents."""

    @m.custom_vjp
    def f(x: Any) -> Any:
        return 2 * x

    f.defvjp(lambda x: (f(x), None), lambda _, g: (backward(g),))
    return f


# -- products of divided matrices, as JAX's documentation divides them ------------------------------


def gathered_product(m: Library, a: Any, b: Any) -> Any:
    return m.lax.all_gather(a, "d", axis=1, tiled=True) @ m.lax.all_gather(b, "d", axis=0, tiled=True)


def overlapped_product(m: Library, a: Any, b: Any) -> Any:
    """Blocks of `b` go round while they are multiplied."""
    width = b.shape[0]
    here = m.lax.axis_index("d")

    def block(turn: int) -> Any:
        return m.lax.dynamic_slice_in_dim(a, ((here - turn) % 4) * width, width, axis=1)

    total = block(0) @ b
    for turn in range(1, 4):
        b = m.lax.ppermute(b, "d", RING)
        total = total + block(turn) @ b
    return total


def scattered_product(m: Library, a: Any, b: Any) -> Any:
    return m.lax.psum_scatter(a @ b, "d", scatter_dimension=0, tiled=True)


def pipelined_scatter(m: Library, a: Any, b: Any) -> Any:
    """The sum of products, a block of rows after the other, passed on to the rank that keeps it."""
    here = m.lax.axis_index("d")
    rows = a.shape[0] // 4

    def block(turn: int) -> Any:
        return m.lax.dynamic_slice_in_dim(a, ((here + 3 - turn) % 4) * rows, rows, axis=0) @ b

    total = block(0)
    for turn in range(1, 4):
        total = m.lax.ppermute(total, "d", RING) + block(turn)
    return total


def pipelined_layers(m: Library, w: Any, x: Any) -> Any:
    """A layer a rank; batches go from rank to rank in a scan."""
    here = m.lax.axis_index("d")

    def turn(state: Any, x: Any) -> Any:
        state = m.np.where(here == 0, x, state)
        state = m.np.tanh(state @ w[0])
        return m.lax.ppermute(state, "d", RING), state

    start = varying(m, m.np.zeros_like(x[0]))
    return m.lax.scan(turn, start, x)[1]


def moved(m: Library, x: Any) -> Any:
    """A carry that varies from its first step on."""

    def step(carry: Any, _: Any) -> Any:
        a, b = carry
        return (m.lax.ppermute(b, "d", RING), a * 2), m.np.sum(a)

    (a, b), sums = m.lax.scan(step, (x, m.np.cos(x)), None, length=3)
    return a * b + m.np.sum(sums)


def counted(m: Library, x: Any) -> Any:
    """A loop that ends in each rank when its own values say so."""
    return m.lax.while_loop(lambda s: m.np.max(m.np.abs(s)) < 3, lambda s: s * 2, x)


def counted_together(m: Library, x: Any) -> Any:
    """A loop with a collective, which all ranks end together."""

    def unfinished(state: Any) -> Any:
        return m.np.logical_and(state[1] < 100, state[0] < 5)

    def step(state: Any) -> Any:
        turn, _, x = state
        x = x * 2
        return turn + 1, m.lax.psum(m.np.sum(m.np.abs(x)), "d"), x

    return m.lax.while_loop(unfinished, step, (0, m.lax.psum(m.np.sum(m.np.abs(x)), "d"), x))[2]


def branched(m: Library, x: Any) -> Any:
    """Each rank goes its own way."""
    return m.lax.cond(m.np.sum(x) > 0, lambda x: m.np.sin(x), lambda x: x * 3, x)


def branched_together(m: Library, x: Any) -> Any:
    """All ranks go one way, on which they exchange arrays."""
    p = m.lax.psum(m.np.sum(x), "d") > 0
    return m.lax.cond(p, lambda x: x * varying(m, m.lax.psum(x, "d")), lambda x: x * 3, x)


def switched(m: Library, x: Any) -> Any:
    here = m.lax.axis_index("d")
    return m.lax.switch(here, [lambda x: x, lambda x: x * x, lambda x: -x, lambda x: m.np.exp(x)], x)


ROWS: Final = ("d",)
"""The spec of rows that four ranks divide; () is what all ranks have."""


def of(
    f: Callable[..., Any], args: tuple[Any, ...], ins: tuple[Any, ...], out: Any, **options: Any
) -> Callable[[Library], tuple[Any, tuple[Any, ...]]]:
    """`f` on four ranks and its arguments; specs are written as tuples."""

    def case(m: Library) -> tuple[Any, tuple[Any, ...]]:
        def spec(entries: Any) -> Any:
            return m.P(*entries)

        over = m.ranks(partial(f, m), tuple(map(spec, ins)), spec(out), **options)
        return over, args

    return case


COLUMNS: Final = (None, "d")
DIFFERENTIABLE: Final[dict[str, Callable[[Library], tuple[Any, tuple[Any, ...]]]]] = {
    "identity": of(lambda m, x: x, (X,), (ROWS,), ROWS),
    "identity of what all have": of(lambda m, x: x, (X,), ((),), ()),
    "all have it, and it is joined": of(lambda m, x: x, (X,), ((),), ROWS),
    "product of gathered parts": of(gathered_product, (A, B), (COLUMNS, ROWS), ROWS),
    "overlapped product": of(overlapped_product, (A, B), (ROWS, ROWS), ROWS),
    "scattered product": of(scattered_product, (A, B), (COLUMNS, ROWS), ROWS),
    "pipelined scatter": of(pipelined_scatter, (A, B), (COLUMNS, ROWS), ROWS),
    "pipelined layers": of(
        pipelined_layers, (A.reshape(4, 4, 4), X.reshape(4, 2, 4)), (ROWS, ()), (None, "d")
    ),
    "a sum of sums": of(lambda m, x: m.lax.psum(m.lax.psum(x, "d"), "d"), (V,), (ROWS,), ()),
    "a sum of what all have": of(lambda m, x: m.lax.psum(m.np.sin(x), "d"), (V,), ((),), ()),
    "a sum that is joined": of(lambda m, x: m.lax.psum(x * x, "d"), (V,), (ROWS,), ROWS),
    "an operand that all have": of(lambda m, x, y: x * y, (V[:1], V), ((), ROWS), ROWS),
    "0-d": of(lambda m, x: m.np.sin(x), (np.float32(0.3),), ((),), ()),
    "0-d sums": of(lambda m, x: m.lax.psum(m.np.sum(x), "d"), (V,), (ROWS,), ()),
    "a new axis is joined": of(lambda m, x: m.np.sum(x)[None], (V,), (ROWS,), ROWS),
    "a carry that varies": of(moved, (V,), (ROWS,), ROWS),
    "a branch for each rank": of(branched, (X,), (ROWS,), ROWS),
    "a branch for all": of(branched_together, (X,), (ROWS,), ROWS),
    "a branch by position": of(switched, (X,), (ROWS,), ROWS),
    "a rule forwards": of(lambda m, x: doubled(m)(x) * x, (V,), (ROWS,), ROWS),
    "a rule forwards in jit": of(lambda m, x: m.jit(doubled(m))(x) * x, (V,), (ROWS,), ROWS),
    "remat in it": of(lambda m, x: m.checkpoint(lambda x: m.np.sin(m.np.sin(x)))(x), (V,), (ROWS,), ROWS),
    "remat with a sum in it": of(
        lambda m, x: m.checkpoint(lambda x: x * varying(m, m.lax.psum(m.np.sin(x), "d")))(x),
        (V,),
        (ROWS,),
        ROWS,
    ),
    "jit in it": of(lambda m, x: m.jit(lambda x: m.np.sin(x) * 2)(x), (V,), (ROWS,), ROWS),
    "vmap in it": of(
        lambda m, x: m.vmap(lambda r: m.lax.all_gather(r, "d", tiled=True), out_axes=1)(x),
        (X,),
        ((None, "d"),),
        (None, "d"),
    ),
    "a convolution of divided channels": of(
        lambda m, x, k: m.lax.psum(
            m.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), "d"
        ),
        (A.reshape(1, 4, 4, 4), B.reshape(2, 2, 4, 2)),
        ((None, None, None, "d"), (None, None, "d", None)),
        (),
    ),
    "cumulative sums of parts": of(lambda m, x: m.np.cumsum(x), (V,), (ROWS,), ROWS),
    "sorted parts": of(lambda m, x: m.np.sort(x), (V,), (ROWS,), ROWS),
    "gather to rows of a table": of(lambda m, t, i: t[i], (X, np.int32([0, 7, 3, 3])), ((), ROWS), ROWS),
    "unchecked: a sum": of(lambda m, x: m.lax.psum(m.np.sin(x), "d"), (V,), (ROWS,), (), check_vma=False),
    "unchecked: what all have": of(
        lambda m, q, k, v: q * k[None] + v[None],
        (X, X[0], X[1]),
        (ROWS, (), ()),
        ROWS,
        check_vma=False,
    ),
    "unchecked: untouched": of(lambda m, x: x * x, (V,), ((),), (), check_vma=False),
    "unchecked: a gathered result": of(
        lambda m, x: m.lax.all_gather(x * x, "d", tiled=True), (V,), (ROWS,), (), check_vma=False
    ),
    "unchecked: scattered and exchanged": of(
        lambda m, x: m.lax.psum_scatter(m.lax.all_to_all(x, "d", 1, 0, tiled=True), "d", tiled=True),
        (np.tile(A, (4, 1)),),
        (ROWS,),
        ROWS,
        check_vma=False,
    ),
    "unchecked: gradients in it": of(
        lambda m, x: m.grad(lambda x: m.np.sum(m.lax.psum(m.np.sin(x), "d") ** 2))(x),
        (V,),
        (ROWS,),
        ROWS,
        check_vma=False,
    ),
    "unchecked: gradients of what all have": of(
        lambda m, w, x: m.lax.pmean(m.grad(lambda w: m.np.sum(m.np.sin(w * x)))(w), "d"),
        (V[:2], V),
        ((), ROWS),
        (),
        check_vma=False,
    ),
    "unchecked: gradients of closed-over arrays": of(
        lambda m, x: m.grad(lambda w: m.np.sum(w * x))(m.np.asarray(V[:2])),
        (V,),
        (ROWS,),
        ROWS,
        check_vma=False,
    ),
    "unchecked: a loop": of(moved, (V,), (ROWS,), ROWS, check_vma=False),
    "unchecked: a branch with a sum": of(
        lambda m, x: m.lax.cond(
            m.lax.psum(m.np.sum(x), "d") > 0, lambda x: m.lax.psum(x, "d"), lambda x: x * 3, x
        ),
        (V,),
        (ROWS,),
        ROWS,
        check_vma=False,
    ),
    "unchecked: remat": of(
        lambda m, x: m.checkpoint(lambda x: m.np.exp(x) + m.lax.axis_index("d"))(x),
        (V,),
        (ROWS,),
        ROWS,
        check_vma=False,
    ),
    "unchecked: a rule backwards": of(
        lambda m, x: doubled(m)(m.lax.psum(x, "d")), (V,), (ROWS,), (), check_vma=False
    ),
}
"""Functions on four ranks and their arguments; each is also differentiated, both ways, and mapped."""
