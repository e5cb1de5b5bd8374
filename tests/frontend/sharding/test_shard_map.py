"""`shard_map`: local ranks against plain programs, and ranks of threads against local ranks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.frontend.errors import ShardingError
from adze.sharding import NamedSharding, PartitionSpec
from adze.sharding import PartitionSpec as P

X: Final = (np.arange(16, dtype=np.float32).reshape(8, 2) - 7) / 8
W: Final = np.float32([[0.5, -1.0], [0.25, 2.0]])
SIZES: Final = (2, pytest.param(4, marks=pytest.mark.thorough))


def loss(x: Any, w: Any) -> Any:
    return xp.sum(xp.tanh(x @ w) ** 2)


def mapped(f: Callable[..., Any], size: int, in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    return adze.shard_map(f, mesh=adze.make_mesh((size,), ("d",)), in_specs=in_specs, out_specs=out_specs)


def total(size: int) -> Callable[..., Any]:
    return mapped(lambda x, w: lax.psum(loss(x, w), "d"), size, (P("d"), P()), P())


def train(rows: Callable[[Any], Any], mean: Callable[[Any], Any]) -> Callable[..., Any]:
    """Three steps of gradient descent in a scan."""

    def run(x: Any, w: Any) -> Any:
        def step(w: Any, _: Any) -> Any:
            value, slope = adze.value_and_grad(lambda w: mean(loss(rows(x), w)))(w)
            return w - 0.1 * slope, value

        return adze.scan(step, w, None, length=3)

    return run


@adze.custom_vjp
def doubled_backwards(x: Any, w: Any) -> Any:
    return x @ w


doubled_backwards.defvjp(
    lambda x, w: (x @ w, (x, w)), lambda saved, g: (2 * g @ saved[1].T, 2 * saved[0].T @ g)
)


def branches(x: Any, w: Any) -> Any:
    return adze.cond(xp.sum(x) > 0, lambda w: xp.sum(x @ w), lambda w: xp.sum(w), w)[None]


def plain_branches(x: Any, w: Any, size: int) -> Any:
    return xp.concatenate([branches(part, w) for part in xp.split(xp.asarray(x), size)])


def ring(x: Any, size: int) -> Any:
    """The sum over the ranks by messages to the next one, in a scan."""

    def step(state: Any, _: Any) -> Any:
        here, sum_ = state
        here = lax.ppermute(here, "d", [(i, (i + 1) % size) for i in range(size)])
        return (here, sum_ + here), None

    return adze.scan(step, (x, x), None, length=size - 1)[0][1]


def blocks(x: Any, size: int) -> Any:
    return xp.reshape(xp.asarray(x), (size, -1, *np.shape(x)[1:]))


CASES: Final[dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]]] = {
    "psum": (lambda n: total(n)(X, W), lambda n: loss(X, W)),
    "gradients inside": (
        lambda n: mapped(
            lambda x, w: adze.value_and_grad(lambda w: lax.psum(loss(x, w), "d"))(w),
            n,
            (P("d"), P()),
            P(),
        )(X, W),
        lambda n: adze.value_and_grad(loss, 1)(X, W),
    ),
    "gradients outside": (
        lambda n: adze.grad(total(n), (0, 1))(X, W),
        lambda n: adze.grad(loss, (0, 1))(X, W),
    ),
    "jvp": (
        lambda n: adze.jvp(total(n), (X, W), (X + 1, W)),
        lambda n: adze.jvp(loss, (X, W), (X + 1, W)),
    ),
    "checkpoint": (
        lambda n: mapped(
            lambda x, w: adze.grad(lambda w: lax.psum(adze.checkpoint(loss)(x, w), "d"))(w),
            n,
            (P("d"), P()),
            P(),
        )(X, W),
        lambda n: adze.grad(loss, 1)(X, W),
    ),
    "a custom rule": (
        lambda n: adze.grad(
            lambda w: xp.sum(mapped(doubled_backwards, n, (P("d"), P()), P("d"))(X, w)),
        )(W),
        lambda n: 2 * adze.grad(lambda w: xp.sum(X @ w))(W),
    ),
    "training in a scan": (
        lambda n: mapped(train(lambda x: x, lambda v: lax.pmean(v, "d")), n, (P("d"), P()), P())(X, W),
        lambda n: train(lambda x: x, lambda v: v / n)(X, W),
    ),
    "cond": (
        lambda n: mapped(branches, n, (P("d"), P()), P("d"))(X, W),
        lambda n: plain_branches(X, W, n),
    ),
    "gradient of cond": (
        lambda n: adze.grad(lambda w: xp.sum(mapped(branches, n, (P("d"), P()), P("d"))(X, w)))(W),
        lambda n: adze.grad(lambda w: xp.sum(plain_branches(X, w, n)))(W),
    ),
    "vmap": (
        lambda n: adze.vmap(lambda s: mapped(lambda x: lax.psum(x * s, "d"), n, P("d"), P())(X))(
            xp.arange(3.0)
        ),
        lambda n: adze.vmap(lambda s: xp.sum(blocks(X, n) * s, axis=0))(xp.arange(3.0)),
    ),
    "vmap inside": (
        lambda n: mapped(adze.vmap(lambda row: row / lax.psum(row, "d")), n, P("d"), P("d"))(X),
        lambda n: xp.reshape(blocks(X, n) / xp.sum(blocks(X, n), axis=0), X.shape),
    ),
    "a ring": (
        lambda n: adze.grad(lambda x: xp.sum(mapped(lambda p: ring(p, n), n, P("d"), P("d"))(x) ** 2))(X),
        lambda n: adze.grad(lambda x: n * xp.sum(xp.sum(blocks(x, n), axis=0) ** 2))(X),
    ),
    "all_gather": (
        lambda n: mapped(lambda x: xp.sum(lax.all_gather(x, "d"), axis=0), n, P("d"), P("d"))(X),
        lambda n: xp.tile(xp.sum(blocks(X, n), axis=0), (n, 1)),
    ),
    "psum_scatter": (
        lambda n: adze.grad(
            lambda x: xp.sum(
                mapped(lambda p: lax.psum_scatter(p * p, "d", tiled=True), n, P(), P("d"))(x) ** 2
            )
        )(X),
        lambda n: adze.grad(lambda x: xp.sum((n * x * x) ** 2))(X),
    ),
    "all_to_all": (
        lambda n: mapped(lambda x: lax.all_to_all(x, "d", 1, 0, tiled=True), n, P("d", None), P(None, "d"))(
            xp.reshape(X, (4, 4))
        ),
        lambda n: xp.reshape(X, (4, 4)),
    ),
    "extrema": (
        lambda n: mapped(lambda x: (lax.pmax(x, "d"), lax.pmin(x, "d")), n, P("d"), P())(X),
        lambda n: (xp.max(blocks(X, n), axis=0), xp.min(blocks(X, n), axis=0)),
    ),
    "gradient of pmax": (
        lambda n: adze.grad(lambda x: xp.sum(mapped(lambda p: lax.pmax(p, "d"), n, P("d"), P())(x) ** 2))(X),
        lambda n: adze.grad(lambda x: xp.sum(xp.max(blocks(x, n), axis=0) ** 2))(X),
    ),
    "positions": (
        lambda n: mapped(lambda x: x + lax.axis_index("d"), n, P("d"), P("d"))(X),
        lambda n: X + xp.repeat(xp.arange(n), 8 // n)[:, None],
    ),
    "shuffled": (
        lambda n: mapped(lambda x: lax.pshuffle(x, "d", list(range(n))[::-1]), n, P("d"), P("d"))(X),
        lambda n: xp.reshape(blocks(X, n)[::-1], X.shape),
    ),
    "trees": (
        lambda n: mapped(
            lambda t: {"sum": lax.psum(t["x"], "d"), "x": t["x"]},
            n,
            ({"x": P("d")},),
            {"sum": P(), "x": P("d")},
        )({"x": X}),
        lambda n: {"sum": xp.sum(blocks(X, n), axis=0), "x": X},
    ),
}


def results(size: int) -> dict[str, list[np.ndarray]]:
    found = {}
    for name, (case, _) in CASES.items():
        found[name] = [np.asarray(leaf) for leaf in adze.tree.leaves(case(size))]
    return found


def compare(actual: dict[str, list[np.ndarray]], size: int) -> None:
    for name, (_, plain) in CASES.items():
        expected = [np.asarray(leaf) for leaf in adze.tree.leaves(plain(size))]
        for a, b in zip(actual[name], expected, strict=True):
            assert a.dtype == b.dtype, name
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("size", SIZES)
def test_local_ranks_agree_with_a_plain_program(size: int) -> None:
    compare(results(size), size)


@pytest.mark.parametrize("size", SIZES)
def test_ranks_of_threads_agree_with_a_plain_program(size: int) -> None:
    for of_rank in adze.distributed.run(lambda: results(size), size):
        compare(of_rank, size)


def test_a_grid_of_compiled_ranks() -> None:
    """A product divided along both of its axes, compiled once for all ranks."""

    def product(x: Any, w: Any) -> Any:
        mesh = adze.make_mesh((2, 2), ("rows", "columns"))

        def f(x: Any, w: Any) -> Any:
            partial = lax.psum(x @ w, "columns")
            return partial, lax.psum(xp.sum(partial**2), "rows")

        specs = (P("rows", "columns"), P("columns"))
        return adze.shard_map(f, mesh=mesh, in_specs=specs, out_specs=(P("rows"), P()))(x, w)

    def both() -> Any:
        value = adze.jit(adze.value_and_grad(lambda w: product(X, w)[1]))(W)
        return adze.tree.map(np.asarray, (product(X, W)[0], value))

    expected = (X @ W, (np.sum((X @ W) ** 2), 2 * X.T @ (X @ W)))
    for actual in (both(), *adze.distributed.run(both, 4)):
        for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def collectives(f: Callable[..., Any], *args: Any) -> list[str]:
    text = adze.trace(f, *args).mlir("simplified")
    return [
        word
        for line in text.splitlines()
        for word in ("all_reduce", "all_gather")
        if f'"adze.{word}"' in line
    ]


def test_a_backward_pass_sends_nothing_twice() -> None:
    """One sum of the loss and one for each weight, as many as the method needs."""

    def count() -> list[str]:
        step = mapped(
            lambda x, w: adze.value_and_grad(lambda w: lax.psum(loss(x, w[0]) + loss(x, w[1]), "d"))(w),
            2,
            (P("d"), P()),
            P(),
        )
        return collectives(step, X, (W, W + 1))

    assert adze.distributed.run(count, 2) == [["all_reduce"] * 3] * 2


@pytest.mark.parametrize("dtype", ["bool", "uint32", "bfloat16", "complex64"])
def test_dtypes(dtype: str) -> None:
    values = xp.astype(xp.asarray(X) * 8, dtype)

    def run() -> Any:
        gathered = mapped(lambda x: lax.all_gather(x, "d", tiled=True), 2, P("d"), P("d"))(values)
        summed = mapped(lambda x: lax.psum(x, "d"), 2, P("d"), P())(values)
        return np.asarray(gathered), np.asarray(summed)

    local = run()
    np.testing.assert_array_equal(local[0], np.tile(np.asarray(values), (2, 1)))
    for of_rank in adze.distributed.run(run, 2):
        for a, b in zip(of_rank, local, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


MISTAKES: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "a result that varies": (
        lambda: mapped(lambda x: xp.sum(x), 2, P("d"), P())(X),
        "is the same along 'd', but it may vary along it",
    ),
    "a collective under a predicate": (
        lambda: mapped(
            lambda x: adze.cond(xp.sum(x) > 0, lambda: lax.psum(x, "d"), lambda: x), 2, P("d"), P("d")
        )(X),
        "a collective over 'd' in cond, whose predicate varies over it",
    ),
    "a collective in a loop of each rank's own length": (
        lambda: mapped(
            lambda x: adze.while_loop(lambda v: xp.sum(v) < 9, lambda v: v + lax.psum(v, "d"), x),
            2,
            P("d"),
            P("d"),
        )(X + 1),
        "a collective over 'd' in while_loop",
    ),
    "a size that does not divide": (
        lambda: mapped(lambda x: x, 3, P("d"), P("d"))(X),
        "which the 3 ranks along 'd'",
    ),
    "an unknown axis": (lambda: mapped(lambda x: x, 2, P("e"), P("e"))(X), "must name axes of the mesh"),
    "an axis twice": (
        lambda: NamedSharding(adze.make_mesh((2,), ("d",)), P("d", "d")),
        "each at most once",
    ),
    "no spec": (lambda: mapped(lambda x: x, 2, "d", P())(X), "is no prefix of"),
    "too few specs": (lambda: mapped(lambda x, w: x, 2, (P("d"),), P())(X, W), "in_specs has 1 entries"),
    "a mesh without names": (
        lambda: adze.make_mesh((2, 2), ("d",)),
        "expected one distinct name for each size",
    ),
    "a mesh in a mesh": (
        lambda: mapped(lambda x: mapped(lambda y: y, 2, P("d"), P("d"))(x), 2, P("d"), P("d"))(X),
        "shard_map inside shard_map",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: str) -> None:
    run, text = MISTAKES[mistake]
    with pytest.raises(ShardingError) as caught:
        run()
    assert text in str(caught.value)


def test_specifications() -> None:
    mesh = adze.make_mesh((2, 4), ("a", "b"))
    assert NamedSharding(mesh, P(("a", "b"), None)).shard_shape((16, 3)) == (2, 3)
    assert repr(PartitionSpec("a", None)) == "P('a', None)"
    assert mesh.shape == {"a": 2, "b": 4} and mesh.size == 8 and mesh.is_local


def test_device_put_of_a_specification_asks_for_its_mesh() -> None:
    spec = adze.sharding.PartitionSpec("X")
    for place in (spec, {"w": spec}):
        with pytest.raises(ShardingError) as caught:
            adze.device_put({"w": np.ones(4)}, place)
        text = str(caught.value)
        assert "device_put: P('X',) says how an array is divided, but not over which mesh" in text
        assert "name the mesh: NamedSharding(mesh, P('X',))" in text


@pytest.mark.parametrize("is_jitted", [False, True])
def test_python_functions_are_called_by_each_rank(is_jitted: bool) -> None:
    mesh = adze.make_mesh((4,), ("i",))
    seen: list[tuple[int, ...]] = []

    def sine(x: np.ndarray) -> np.ndarray:
        seen.append(x.shape)
        return np.sin(x)

    def of_rank(x: adze.Array) -> adze.Array:
        return adze.pure_callback(sine, adze.ShapeDtype(x.shape, x.dtype), x) + lax.axis_index("i")

    f = adze.shard_map(of_rank, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    x = np.arange(8, dtype=np.float32)
    result = (adze.jit(f) if is_jitted else f)(x)
    assert np.allclose(result, np.sin(x) + np.arange(4).repeat(2), atol=1e-6)
    assert seen == [(2,)] * 4


def test_specifications_with_sums() -> None:
    spec = P(None, "a", unreduced={"b"})
    assert repr(spec) == "P(None, 'a', unreduced={'b'})"
    assert spec != P(None, "a") and spec == P(None, "a", unreduced="b") and hash(spec) != hash(P(None, "a"))
    assert spec.update(unreduced=()) == P(None, "a") and spec.partitions == (None, "a")
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(ShardingError, match="'a' stands twice"):
        P("a", reduced={"a"})
    with pytest.raises(ShardingError, match="must name axes of the mesh"):
        NamedSharding(adze.make_mesh((2,), ("a",)), P(unreduced={"b"}))


def test_arguments_without_specs_are_divided_as_they_lie() -> None:
    mesh = adze.make_mesh((4,), ("i",))
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    y = np.arange(64, dtype=np.float32).reshape(4, 16)
    left, right = (adze.device_put(a, NamedSharding(mesh, s)) for a, s in ((x, P(None, "i")), (y, P("i"))))

    @adze.shard_map(mesh=mesh, out_specs=P("i"))
    def product(both: dict[str, adze.Array]) -> adze.Array:
        assert both["x"].shape == (8, 1) and both["y"].shape == (1, 16)
        return lax.psum_scatter(both["x"] @ both["y"], "i", tiled=True)

    assert np.allclose(product({"x": left, "y": right}), x @ y)
    whole = adze.shard_map(lambda a: a.sum(), mesh=mesh, out_specs=P())
    assert float(whole(x)) == float(x.sum())  # every rank has an array that lies nowhere
