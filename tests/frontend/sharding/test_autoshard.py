"""Layouts that are found: the known ones for known programs, and what they send when they run."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax, nn
from adze.passes.partition.choices import Machine
from adze.passes.partition.choose import NoLayoutError
from adze.passes.partition.layouts import Grid
from adze.sharding import NamedSharding, ShardingPlan
from adze.sharding import PartitionSpec as P

from ...passes.partition.ranks import function_on_ranks

pytest.importorskip("scipy", reason="integer programs are SciPy's")

MACHINE = Machine(flops=4e10, memory=1e10, network=1e9, latency=3e-5)


def loss(w: Any, v: Any, x: Any) -> Any:
    return xp.mean((nn.relu(x @ w) @ v) ** 2)


GRADIENT = adze.grad(loss, argnums=(0, 1))


def plan(f: Any, mesh: Any, shapes: list[tuple[int, ...]], memory: float | None = None) -> ShardingPlan:
    specs = [adze.ShapeDtype(shape, np.float32) for shape in shapes]
    found = adze.autoshard(f, mesh, memory=memory, machine=MACHINE)(*specs)
    assert found.is_best
    return found


def specs(found: ShardingPlan) -> list[P]:
    return [s.spec for s in adze.tree.leaves(found.in_shardings)]


def test_a_large_batch_is_divided() -> None:
    mesh = adze.make_mesh((4,), ("d",))
    found = plan(GRADIENT, mesh, [(64, 256), (256, 64), (4096, 64)])
    assert specs(found)[2] == P("d")
    assert [s.spec for s in found.out_shardings] == [P(), P()]
    assert "all-reduce" not in str(found)
    assert str(found).splitlines()[2].split() == ["x:", "f32[4096,64]", "P('d',)"]


def test_large_weights_are_divided_by_columns_and_rows() -> None:
    """Megatron's layout (Shoeybi et al., 2019): one sum in the forward pass."""
    mesh = adze.make_mesh((4,), ("m",))
    found = plan(loss, mesh, [(2048, 8192), (8192, 2048), (16, 2048)])
    assert specs(found)[:2] == [P(None, "m"), P("m")]
    arrays = [np.ones(s, np.float32) for s in ((16, 32), (32, 16), (4, 16))]
    grid = Grid((4,), ("m",))
    stated = [((), ("m",)), (("m",), ()), ((), ())]
    assert function_on_ranks(loss, arrays, grid, stated).collectives == ["all_reduce"]


def test_rows_of_attention_are_divided_where_the_sequence_is_long() -> None:
    def attention(q: Any, k: Any, v: Any) -> Any:
        return nn.softmax(q @ k.T / 8.0, axis=-1) @ v

    found = plan(attention, adze.make_mesh((4,), ("s",)), [(8192, 64)] * 3)
    assert specs(found)[0] == P("s")
    assert found.out_shardings.spec == P("s")


def test_a_bound_of_memory_divides_more() -> None:
    def update(w: Any, x: Any) -> Any:
        return w - 0.1 * adze.grad(lambda w: xp.mean((x @ w) ** 2))(w)

    mesh = adze.make_mesh((4,), ("d",))
    shapes = [(512, 512), (16384, 512)]
    free, bound = plan(update, mesh, shapes), plan(update, mesh, shapes, memory=30e6)
    assert bound.memory <= 30e6 < free.memory
    assert specs(bound)[1] == P("d")
    assert bound.seconds >= free.seconds
    with pytest.raises(NoLayoutError, match="no layout of the program fits into 1000 bytes a rank"):
        plan(update, mesh, shapes, memory=1000)


def test_a_plan_is_what_jit_takes() -> None:
    def run() -> Any:
        mesh = adze.make_mesh((2,), ("d",))
        arrays = [np.ones(s, np.float32) / 8 for s in ((8, 16), (16, 8), (64, 8))]
        found = adze.autoshard(GRADIENT, mesh)(*arrays)
        f = adze.jit(GRADIENT, in_shardings=found.in_shardings, out_shardings=found.out_shardings)
        slopes = f(*arrays)
        return [np.asarray(adze.device_put(s, NamedSharding(mesh, P()))) for s in slopes], arrays

    pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")
    for slopes, arrays in adze.distributed.run(run, 2):
        for actual, expected in zip(slopes, GRADIENT(*arrays), strict=True):
            np.testing.assert_allclose(actual, np.asarray(expected), rtol=1e-5)


def test_loops_constants_and_results_without_work() -> None:
    def f(x: Any, n: Any) -> Any:
        y = lax.scan(lambda c, row: (c + row, None), xp.zeros(4), x)[0]
        return y * xp.arange(4), n, xp.ones(2), {"same": x}

    found = plan(f, adze.make_mesh((2,), ("d",)), [(8, 4), ()])
    assert len(adze.tree.leaves(found.out_shardings)) == 4


def test_speeds_are_measured_the_same_in_every_rank() -> None:
    first, second = adze.distributed.run(lambda: adze.sharding.measure_machine(1), 2)
    assert first == second
    assert min(first.flops, first.memory, first.network, first.latency) > 0
    assert adze.sharding.measure_machine(1).flops > 0


def test_what_cannot_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = adze.make_mesh((2,), ("d",))
    with pytest.raises(ValueError, match="autoshard: sizes must be static"):
        adze.autoshard(xp.sin, mesh)(adze.ShapeDtype(("n",), np.float32))
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"pip install 'adze-compiler\[scipy\]'"):
        adze.autoshard(xp.sin, mesh)(np.ones(4))
