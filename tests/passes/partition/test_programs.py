"""Programs divided among ranks: values of whole programs, and the collectives that they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax, nn
from adze.dialects.errors import AdzeError
from adze.passes.partition.layouts import Grid, Spec

from .ranks import function_on_ranks

pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")

GRID = Grid((2, 2), ("data", "model"))
RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


D: Spec = (("data",), ())
DM: Spec = (("data",), ("model",))
BOTH: Spec = (("data", "model"), ())
M0: Spec = (("model",), ())
M1: Spec = ((), ("model",))


def mlp(x: Any, w: Any, v: Any) -> Any:
    return xp.mean((xp.tanh(x @ w) @ v) ** 2)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = xp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(4)
    return xp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores, axis=-1), v)


def layer_norm(x: Any, gain: Any) -> Any:
    mean, variance = xp.mean(x, axis=-1, keepdims=True), xp.var(x, axis=-1, keepdims=True)
    return (x - mean) / xp.sqrt(variance + np.float32(1e-5)) * gain


def layers(x: Any, ws: Any) -> Any:
    return lax.scan(lambda c, w: (xp.tanh(c @ w), xp.sum(c)), x, ws)


def trained(w: Any, x: Any) -> Any:
    def step(w: Any, _: Any) -> Any:
        value, slope = adze.value_and_grad(lambda w: xp.mean((x @ w) ** 2))(w)
        return w - np.float32(0.1) * slope, value

    return lax.scan(step, w, None, length=3)


def embedded(table: Any, rows: Any) -> Any:
    return xp.sum(xp.take(table, rows, axis=0) ** 2, axis=-1)


def doubled_until(x: Any) -> Any:
    return lax.while_loop(lambda s: xp.sum(xp.abs(s)) < 1000, lambda s: s * 2 + xp.mean(s, axis=0), x)


def chosen(x: Any) -> Any:
    return lax.cond(xp.sum(x) > 0, lambda y: xp.flip(y, 0), lambda y: y @ y.T @ y, x)


def convolved(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(x, k, (1, 1), "SAME")


HEADS: Spec = (("data",), (), ("model",), ())
X, W, V = normal(8, 16), normal(16, 32), normal(32, 4)
Q = normal(4, 6, 4, 8)

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], list[Spec | None]]] = {
    "mlp": (mlp, (X, W, V), [D, M1, M0]),
    "gradient of an mlp": (adze.grad(mlp, argnums=(0, 1, 2)), (X, W, V), [D, M1, M0]),
    "parameters divided over all": (adze.grad(mlp, argnums=(1, 2)), (X, W, V), [BOTH, BOTH, BOTH]),
    "attention": (attention, (Q, Q, Q), [HEADS, HEADS, None]),
    "gradient of attention": (
        adze.grad(lambda *a: xp.sum(attention(*a) ** 2), argnums=(0, 2)),
        (Q, Q, Q),
        [HEADS, HEADS, HEADS],
    ),
    "layer norm": (layer_norm, (X, normal(16)), [DM, (("model",),)]),
    "scan over layers": (layers, (X, normal(3, 16, 16)), [D, ((), (), ("model",))]),
    "gradient of a scan": (
        adze.grad(lambda x, ws: xp.sum(layers(x, ws)[0]), argnums=(0, 1)),
        (X, normal(3, 16, 16)),
        [D, ((), ("data",), ("model",))],
    ),
    "steps of training": (trained, (W, X), [M1, D]),
    "elements of a stack along its first axis": (layers, (X, normal(4, 16, 16)), [D, (("data",), (), ())]),
    "embedding": (embedded, (normal(12, 8), np.int32([[0, 3], [11, 5], [2, 2], [7, 1]])), [M1, D]),
    "gradient of an embedding": (
        adze.grad(lambda t, r: xp.sum(embedded(t, r))),
        (normal(12, 8), np.int32([[0, 3], [11, 5], [2, 2], [7, 1]])),
        [M1, D],
    ),
    "updates that are added": (
        lambda x, rows, u: (x.at[rows].add(u), x.at[rows].max(u), x.at[rows].min(u), x.at[rows].multiply(u)),
        (normal(12, 8), np.int32([3, 3, 11, 0, 3, 5, 0, 20]), normal(8, 8)),
        [M1, (("data", "model"),), D],
    ),
    "updates that are added to parts": (
        lambda x, rows, u: x.at[rows].add(u),
        (normal(12, 8), np.int32([3, 3, 11, 0]), normal(4, 8)),
        [D, (("data",),), (("data",), ("model",))],
    ),
    "products that are added": (
        lambda x, y, z, u: (x @ y + (z @ u).T + y[:8] + x @ y[:, ::-1], xp.sum(x @ y) / 3, xp.sum(z @ u)),
        (X, normal(16, 8), normal(8, 16), normal(16, 8)),
        [M1, M0, M1, M0],
    ),
    "rows of a divided table": (embedded, (normal(12, 8), np.int32([[0, 3], [11, 5]])), [M0, D]),
    "rows of a table that all divide": (embedded, (normal(12, 8), np.int8([[0, 3], [11, 5]])), [BOTH, None]),
    "rows out of range": (
        lambda x, i: [
            xp.take(x, i, axis=0, mode="fill"),
            xp.take(x, i, axis=0, mode="fill", fill_value=2),
            xp.take(x, i, axis=0, mode="clip"),
            x.at[i, i].get(mode="fill", fill_value=-1),
            x.at[i, 1].get(mode="clip"),
            xp.take_along_axis(x, i[:4, None], axis=1, mode="clip"),
        ],
        (normal(4, 8), np.int64([0, 3, 9, 2, -7, 1])),
        [(("model",), ("data",)), None],
    ),
    "gradient of rows of a divided table": (
        adze.grad(lambda t, r: xp.sum(embedded(t, r))),
        (normal(12, 8), np.int32([[0, 3], [11, 3]])),
        [M0, D],
    ),
    "while": (doubled_until, (normal(4, 6),), [DM]),
    "cond": (chosen, (normal(4, 4),), [DM]),
    "convolution": (convolved, (normal(4, 2, 6, 6), normal(8, 2, 3, 3)), [(("data",), (), (), ()), None]),
    "convolution of divided features": (
        convolved,
        (normal(4, 4, 6, 6), normal(8, 4, 3, 3)),
        [((), ("model",), (), ()), (("data",), ("model",), (), ())],
    ),
    "an axis in two": (lambda x: x.reshape(2, 4, 16).sum(0), (X,), [BOTH]),
    "two axes in one": (lambda x: xp.cumsum(x.reshape(-1)), (X,), [DM]),
    "no common factor": (lambda x: x.reshape(3, 4), (normal(4, 3),), [D]),
    "a part of a mesh axis": (
        lambda x: x.reshape(2, 4, 3) * np.float32([[[1.0]], [[2.0]]]),
        (normal(8, 3),),
        [(("data", "model"), ())],
    ),
    "exchanged axes": (lambda x: xp.sort(x, axis=0), (normal(8, 4),), [D]),
    "extrema": (lambda x: (x.max(0), x.min(1), x.argmax(0), xp.any(x > 2, 1)), (normal(8, 4),), [DM]),
    "products and bools": (lambda x: (xp.prod(x, 0), xp.all(x > 0, 0)), (normal(8, 4),), [DM]),
    "integers": (lambda x: x.sum(0) + x.max(), (np.arange(32).reshape(8, 4),), [DM]),
    "halves": (lambda x: (x @ x.T).sum(0), (normal(8, 4).astype(np.float16),), [DM]),
    "complex": (lambda x: xp.sum(x * xp.conj(x), 0), (normal(8, 4).astype(np.complex64),), [DM]),
    "batched products": (
        lambda x, y: x @ y,
        (normal(4, 3, 6), normal(4, 6, 2)),
        [(("data",), (), ("model",)), None],
    ),
    "padded and cut": (lambda x: xp.pad(x, ((1, 2), (0, 0)))[1:5, ::2], (normal(8, 4),), [DM]),
    "windows": (lambda x, i: lax.dynamic_slice(x, (i, 0), (3, 4)), (normal(8, 4), np.int32(2)), [DM, None]),
    "updates": (lambda x, y: x.at[2:4].set(y), (normal(8, 4), normal(2, 4)), [DM, M1]),
    "linear systems": (
        lambda a, b: xp.linalg.solve(a @ a.T + 4 * xp.eye(4), b),
        (normal(4, 4), normal(4, 2)),
        [D, D],
    ),
    "random numbers": (
        lambda x: x + adze.random.normal(adze.random.key(3), (8, 4)),
        (normal(8, 4),),
        [DM],
    ),
    "nested maps": (adze.vmap(lambda x, y: xp.outer(x, y).sum(0)), (normal(4, 6), normal(4, 2)), [DM, D]),
    "checkpoints": (
        adze.grad(adze.checkpoint(lambda x: xp.sum(xp.sin(xp.sin(x @ x.T))))),
        (normal(4, 4),),
        [DM],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_the_whole(name: str) -> None:
    function, arguments, specs = PROGRAMS[name]
    outcome = function_on_ranks(function, arguments, GRID, specs)
    expected = [np.asarray(x) for x in adze.tree.leaves(function(*map(xp.asarray, arguments)))]
    assert len(outcome.results) == len(expected)
    for actual, whole in zip(outcome.results, expected, strict=True):
        assert actual.dtype == whole.dtype
        tolerance = 2e-2 if whole.dtype == np.float16 else 2e-5
        np.testing.assert_allclose(actual, whole, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("mlp", {"all_reduce": 2}),  # of the products along model, of the mean along data
        ("gradient of attention", {}),
        ("attention", {}),
        ("an axis in two", {"all_reduce": 1}),
        ("embedding", {"all_reduce": 1}),
        ("gradient of an embedding", {"all_reduce": 1}),
    ],
)
def test_collectives_are_those_that_are_needed(name: str, expected: dict[str, int]) -> None:
    function, arguments, specs = PROGRAMS[name]
    found = function_on_ranks(function, arguments, GRID, specs).collectives
    assert {kind: found.count(kind) for kind in found} == expected


def test_small_sums_are_sent_together() -> None:
    def gradients(x: Any, *ws: Any) -> Any:
        def error(ws: Any) -> Any:
            y = x
            for w in ws:
                y = xp.tanh(y @ w)
            return xp.sum(y**2)

        return adze.value_and_grad(error)(ws)

    weights = [normal(4, 4) for _ in range(4)]
    outcome = function_on_ranks(gradients, (X[:, :4], *weights), GRID, [BOTH, *([None] * 4)])
    assert outcome.collectives == ["all_reduce"] * 5  # over both axes of the mesh at once
    assert outcome.combined == ["all_reduce"]
    value, slopes = gradients(X[:, :4], *weights)
    for actual, whole in zip(outcome.results, (value, *slopes), strict=True):
        np.testing.assert_allclose(actual, whole, rtol=2e-5, atol=2e-5)


def test_large_sums_are_sent_alone() -> None:
    x = np.ones((512, 300), np.float32)

    def products(x: Any) -> Any:
        return x.T @ x, x.T @ xp.cos(x), xp.sum(x), xp.sum(xp.cos(x))

    outcome = function_on_ranks(products, (x,), GRID, [D])
    assert outcome.collectives == ["all_reduce"] * 4
    assert outcome.combined == ["all_reduce"] * 3


def test_results_lie_as_they_are_wanted() -> None:
    outcome = function_on_ranks(lambda x: x * 2, (normal(8, 4),), GRID, [D], [M1])
    assert [[axis.name for axis in axes] for axes in outcome.layouts[0]] == [[], ["model"]]
    assert "all_gather" in outcome.collectives
    moved = function_on_ranks(lambda x: x * 2, (normal(8, 4),), GRID, [D], [((), ("data",))])
    assert moved.collectives == ["all_to_all"]
    scattered = function_on_ranks(lambda x: x.sum(0), (normal(8, 4),), GRID, [D], [(("data",),)])
    assert scattered.collectives == ["reduce_scatter"]


def test_an_axis_that_ranks_cannot_share() -> None:
    with pytest.raises(AdzeError, match=r"f32\[3,4\], which 2 ranks cannot divide equally"):
        function_on_ranks(lambda x: x * 2, (normal(3, 4),), GRID, [D])


def test_collectives_of_its_own() -> None:
    mesh = adze.make_mesh((4,), ("d",))

    def f(x: Any) -> Any:
        spec = adze.sharding.PartitionSpec("d")
        return adze.shard_map(lambda y: y * 2, mesh=mesh, in_specs=spec, out_specs=spec)(x)

    result = function_on_ranks(f, (normal(8, 4),), GRID, [D])
    assert result.results[0].shape == (8, 4)  # local ranks are ordinary ops
