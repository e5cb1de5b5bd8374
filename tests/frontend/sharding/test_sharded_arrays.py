"""Divided arrays, and jitted functions of them: ranks of threads against one process."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.frontend.errors import DeletedArrayError, ShardingError
from adze.frontend.staging.jitted import Jitted
from adze.passes.partition import shardy
from adze.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
from adze.sharding import PartitionSpec as P

pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")

RNG = np.random.default_rng(3)
X, W, V = (RNG.standard_normal(s).astype(np.float32) for s in ((8, 6), (6, 4), (4, 2)))


def loss(w: Any, v: Any, x: Any) -> Any:
    return xp.mean((xp.tanh(x @ w) @ v) ** 2)


def step(w: Any, v: Any, x: Any) -> Any:
    slopes = adze.grad(loss, argnums=(0, 1))(w, v, x)
    return w - np.float32(0.1) * slopes[0], v - np.float32(0.1) * slopes[1]


def mesh_of_four() -> Any:
    return adze.make_mesh((2, 2), ("data", "model"))


def in_job(f: Callable[[], Any], size: int = 4) -> list[Any]:
    return adze.distributed.run(f, size)


def whole(x: Any) -> np.ndarray:
    """All elements, gathered over the mesh that the array lies on."""
    return np.asarray(adze.device_put(x, NamedSharding(x.sharding.mesh, P())))


def test_steps_of_training_keep_parameters_divided() -> None:
    def run() -> Any:
        mesh = mesh_of_four()
        of_w, of_v, of_x = (NamedSharding(mesh, s) for s in (P(None, "model"), P("model"), P("data")))
        update = adze.jit(step, in_shardings=(of_w, of_v, of_x), out_shardings=(of_w, of_v))
        w, v, x = adze.device_put((W, V, X), (of_w, of_v, of_x))
        for _ in range(3):
            w, v = update(w, v, x)
        assert update.cache_size() == 1
        assert w.shape == (6, 4)
        assert w.addressable_data(0).shape == (6, 2)
        return whole(w), float(adze.jit(loss)(w, v, x)), w.sharding.spec, update(W, V, X)[1].shape

    w, v = W, V
    for _ in range(3):
        w, v = map(np.asarray, step(w, v, X))
    for actual, value, spec, shape in in_job(run):
        np.testing.assert_allclose(actual, w, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(value, loss(w, v, X), rtol=1e-5)
        assert spec == P(None, "model")
        assert shape == (4, 2)


def test_a_jitted_function_follows_how_its_arguments_lie() -> None:
    def run() -> Any:
        mesh = mesh_of_four()
        f = adze.jit(lambda x, w: (x @ w, xp.sum(x), x * 2))
        x = adze.device_put(X, NamedSharding(mesh, P("data")))
        y, total, doubled = f(x, W)
        assert not y.is_fully_addressable
        assert total.is_fully_replicated
        again = f(adze.device_put(X, NamedSharding(mesh, P(None, "model"))), W)[2]
        reason = adze.explain_retrace(f).splitlines()[1]
        return whole(y), float(total), doubled.sharding.spec, again.sharding.spec, reason

    for y, total, doubled, again, reason in in_job(run):
        np.testing.assert_allclose(y, X @ W, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(total, X.sum(), rtol=1e-4)
        assert (doubled, again) == (P("data"), P(None, "model"))
        assert "changed from f32[8,6] as P('data',) to f32[8,6] as" in reason


def test_shards_of_a_rank() -> None:
    def run() -> Any:
        mesh = mesh_of_four()
        x = adze.device_put(X, NamedSharding(mesh, P(("model", "data"))))
        (shard,) = x.addressable_shards
        np.testing.assert_array_equal(np.asarray(shard.data), X[shard.index])
        replicated = adze.device_put(X, NamedSharding(mesh, P(None, "data")))
        return shard.device, shard.index[0], replicated.addressable_shards[0].replica_id

    expected = [(0, slice(0, 2), 0), (1, slice(4, 6), 1), (2, slice(2, 4), 0), (3, slice(6, 8), 1)]
    assert in_job(run) == expected


def test_local_ranks_hold_whole_arrays() -> None:
    mesh = mesh_of_four()
    sharding = NamedSharding(mesh, P("data", "model"))
    x = adze.device_put(W, sharding)
    np.testing.assert_array_equal(np.asarray(x), W)
    assert [s.data.shape for s in x.addressable_shards] == [(3, 2)] * 4
    np.testing.assert_array_equal(np.asarray(x.addressable_data(3)), W[3:, 2:])
    assert x.is_fully_addressable
    f = adze.jit(lambda x: x * 2, in_shardings=sharding, out_shardings=NamedSharding(mesh, P("model")))
    y = f(x)
    np.testing.assert_array_equal(np.asarray(y), W * 2)
    assert y.sharding.spec == P("model")
    np.testing.assert_array_equal(np.asarray(x + x), W * 2)
    assert xp.ones(3).sharding == SingleDeviceSharding(xp.ones(3).device)
    assert np.asarray(x.copy()).shape == W.shape
    assert sharding.shard_shape((6, 4)) == (3, 2)
    assert sharding.devices_indices_map((6, 4))[1] == (slice(0, 3), slice(2, 4))
    assert sharding.is_equivalent_to(NamedSharding(mesh, P("data", ("model",))), 2)


def test_arrays_from_parts() -> None:
    def run() -> Any:
        mesh = adze.make_mesh((2,), ("d",))
        rows = NamedSharding(mesh, P("d"))
        seen = []

        def rows_at(index: Any) -> np.ndarray:
            seen.append(index)
            return X[index]

        made = adze.make_array_from_callback(X.shape, rows, rows_at)
        rank = adze.distributed.process_index()
        own = X[4:] if rank else X[:4]
        local = adze.make_array_from_process_local_data(rows, own)
        single = adze.make_array_from_single_device_arrays(X.shape, rows, [own])
        assert local.shape == single.shape == X.shape
        same = adze.jit(lambda a, b, c: (a == b).all() & (b == c).all())(made, local, single)
        return whole(made), len(seen), bool(same)

    for made, count, same in in_job(run, 2):
        np.testing.assert_array_equal(made, X)
        assert (count, same) == (1, True)
    local = NamedSharding(adze.make_mesh((2,), ("d",)), P("d"))
    np.testing.assert_array_equal(np.asarray(adze.make_array_from_callback(X.shape, local, X.__getitem__)), X)
    np.testing.assert_array_equal(np.asarray(adze.make_array_from_process_local_data(local, X)), X)
    with pytest.raises(ShardingError, match=r"the part at .* has shape \(1, 6\), expected \(4, 6\)"):
        adze.make_array_from_callback(X.shape, local, lambda index: X[:1])
    with pytest.raises(ValueError, match="got 1 arrays, this process has 2 ranks"):
        adze.make_array_from_single_device_arrays(X.shape, local, [X])
    with pytest.raises(ShardingError, match="is no sharding over a mesh of ranks"):
        adze.make_array_from_callback(X.shape, SingleDeviceSharding(), X.__getitem__)  # type: ignore[arg-type]


def test_constraints_and_the_mesh_in_force() -> None:
    def f(x: Any) -> Any:
        y = lax.with_sharding_constraint(xp.sin(x), P(P.UNCONSTRAINED, "model"))
        return lax.with_sharding_constraint((y, y.sum(0)), (None, P("model")))

    def run() -> Any:
        with adze.set_mesh(mesh_of_four()) as mesh:
            assert adze.sharding.get_mesh() == mesh
            y, total = adze.jit(f, in_shardings=P("data"))(X[:, :4])
            constrained = lax.with_sharding_constraint(X, P("data"))
        assert adze.sharding.get_mesh().empty
        return y.sharding.spec, total.sharding.spec, whole(y), constrained.addressable_data(0).shape

    for first, second, y, shape in in_job(run):
        assert (first, second, shape) == (P("data", "model"), P("model"), (4, 6))
        np.testing.assert_allclose(y, np.sin(X[:, :4]), rtol=1e-5, atol=1e-6)
    with mesh_of_four():
        y, total = adze.jit(f)(X[:, :4])
        _, slope = adze.value_and_grad(lambda x: f(x)[0].sum())(X[:, :4])
        mapped = adze.vmap(lambda x: lax.with_sharding_constraint(x, P("model")))(X[:, :4])
    np.testing.assert_allclose(np.asarray(total), np.sin(X[:, :4]).sum(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.asarray(slope), np.cos(X[:, :4]), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(mapped), X[:, :4])


def test_constraints_alone_divide_a_program_of_a_job() -> None:
    def run() -> Any:
        sharding = NamedSharding(adze.make_mesh((2,), ("d",)), P("d"))
        y = adze.jit(lambda x: lax.with_sharding_constraint(x * 2, sharding))(X)
        return y.sharding.spec, whole(y)

    for spec, y in in_job(run, 2):
        assert spec == P("d")
        np.testing.assert_array_equal(y, X * 2)


def test_shardings_inside_other_functions() -> None:
    def run() -> Any:
        mesh = adze.make_mesh((2,), ("d",))
        inner = adze.jit(lambda x: xp.sin(x) * 2, in_shardings=NamedSharding(mesh, P("d")))
        x = adze.device_put(X, NamedSharding(mesh, P("d")))
        slope = adze.jit(adze.grad(lambda x: inner(x).sum()))(x)
        rows = adze.jit(adze.vmap(inner))(X[:, :4])
        return whole(slope), rows.shape

    for slope, shape in in_job(run, 2):
        np.testing.assert_allclose(slope, 2 * np.cos(X), rtol=1e-5, atol=1e-6)
        assert shape == (8, 4)


def test_donated_arrays_are_used_up() -> None:
    def run() -> Any:
        rows = NamedSharding(adze.make_mesh((2,), ("d",)), P("d"))
        x = adze.device_put(X, rows)
        f = adze.jit(lambda x: x + 1, donate_argnums=0, in_shardings=rows, out_shardings=rows)
        y = f(x)
        with pytest.raises(DeletedArrayError):
            x.numpy()
        return x.is_deleted(), y.is_deleted()

    assert in_job(run, 2) == [(True, False)] * 2


def test_what_needs_all_elements_says_how_to_get_them() -> None:
    def run() -> Any:
        x = adze.device_put(X, NamedSharding(adze.make_mesh((2,), ("d",)), P("d")))
        errors = []
        for use in (np.asarray, float, lambda x: x + 1, xp.sum, adze.grad(xp.sum)):
            with pytest.raises(ShardingError) as caught:
                use(x)
            errors.append(str(caught.value))
        return errors, str(x), repr(x)

    for errors, text, shown in in_job(run, 2):
        assert text == shown == "ShardedArray(f32[8, 6], P('d',), part [4, 6])"
        for error in errors:
            assert "f32[8, 6] that lies on the ranks as P('d',): this rank has [4, 6]" in error
            assert "adze.device_put(x, NamedSharding(mesh, PartitionSpec()))" in error


def jitted(**shardings: Any) -> Jitted:
    function = adze.jit(lambda x, y: (x, y), **shardings)
    assert isinstance(function, Jitted)
    return function


@pytest.mark.parametrize(
    "shardings, text",
    [
        (
            {"in_shardings": (P("data"), P())},
            "jit: in_shardings: P('data',) says how an array is divided, but not over which mesh",
        ),
        ({"in_shardings": {"x": None}}, "jit: in_shardings: {'x': None} is no prefix of (*, *)"),
        ({"in_shardings": ("data", None)}, "jit: in_shardings: 'data' is str, expected a NamedSharding"),
        (
            {"in_shardings": NamedSharding(mesh_of_four(), P("model", "data"))},
            "jit: in_shardings: dimension 0 has 3 elements, which the 2 ranks along 'model' cannot share",
        ),
        (
            {"out_shardings": (NamedSharding(mesh_of_four(), P("data")),)},
            "jit: out_shardings: (NamedSharding(mesh=Mesh('data': 2, 'model': 2, axis_types=(Auto, Auto)), "
            "spec=P('data',), memory_kind=device),) is no",
        ),
    ],
)
def test_shardings_that_do_not_fit(shardings: dict[str, Any], text: str) -> None:
    with pytest.raises(ShardingError, match=re.escape(text)) as caught:
        jitted(**shardings)(np.ones((3, 4)), np.ones((3, 4)))
    assert __file__ in str(caught.value)


def test_arrays_that_do_not_fit_a_call() -> None:
    def run() -> Any:
        mesh, other = mesh_of_four(), adze.make_mesh((4,), ("d",))
        x = adze.device_put(X, NamedSharding(mesh, P("data")))
        y = adze.device_put(X, NamedSharding(other, P("d")))
        with pytest.raises(ShardingError) as wrong:
            jitted(in_shardings=NamedSharding(mesh, P("model")))(x, X)
        with pytest.raises(ShardingError) as mixed:
            jitted()(x, y)
        gathered = adze.jit(lambda x: x.reshape(3, 16) * 2)(x)  # no factor divides both shapes
        return str(wrong.value), str(mixed.value), gathered.sharding.spec

    for first, second, third in in_job(run):
        assert "argument 'x' lies on the ranks as P('data',), in_shardings says" in first
        assert "arrays of one program lie on different meshes: {'d': 4} and {'data': 2, 'model': 2}" in second
        assert third == P()


def test_without_shardy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise shardy.MissingShardyError("no Shardy", hint="pip install 'adze-compiler[shard]'")

    monkeypatch.setattr(shardy, "_bindings", missing)

    def run() -> Any:
        x = adze.device_put(X, NamedSharding(adze.make_mesh((2,), ("d",)), P("d")))
        with pytest.raises(ImportError) as caught:
            adze.jit(lambda x: x * 3)(x)
        return str(caught.value)

    for text in in_job(run, 2):
        assert "pip install 'adze-compiler[shard]'" in text


def test_the_program_of_one_rank_is_shown_with_what_it_sends() -> None:
    mesh = adze.make_mesh((2, 4), ("data", "model"))
    shardings = [NamedSharding(mesh, s) for s in (P(None, "model"), P("model"), P("data"))]
    gradient = adze.jit(adze.grad(loss, argnums=(0, 1)), in_shardings=tuple(shardings))
    specs = [adze.ShapeDtype(s, np.float32) for s in ((16, 32), (32, 4), (8, 16))]
    text = adze.trace(gradient, *specs).mlir("partitioned")
    lines = [line for line in text.splitlines() if line.startswith("//")]
    assert [re.sub(r", \S*test_sharded_arrays.py:\d+", "", line) for line in lines] == [
        "// all_reduce f32[4,4] over 'model' (4 ranks), once: 96 bytes sent",
        "// all_reduce f32[8,4] over 'data' (2 ranks), once: 128 bytes sent",
        "// all_reduce f32[16,8] over 'data' (2 ranks), once: 512 bytes sent",
        "// a rank sends 736 bytes a call, in 2 collectives",
    ]

    def repeated(x: Any) -> Any:
        x = lax.with_sharding_constraint(x, shardings[2])
        x = lax.scan(lambda c, _: (c * xp.sum(c), None), x, None, length=5)[0]
        return lax.while_loop(lambda c: xp.sum(c) < 1, lambda c: c + 1, x)

    text = adze.trace(repeated, specs[2]).mlir("partitioned")
    told = [line for line in text.splitlines() if line.startswith("//")]
    assert "f32[] over 'data' (2 ranks), 5 times: 4 bytes sent" in told[0]
    assert "in a while: 4 bytes sent" in told[1]
    assert told[-1] == "// a rank sends 24 bytes a call, in 6 collectives"
    with pytest.raises(ValueError, match="names no mesh of ranks"):
        adze.trace(xp.sin, specs[0]).mlir("partitioned")


def test_a_mesh_is_a_context_and_a_specification_has_open_dimensions() -> None:
    assert repr(PartitionSpec(PartitionSpec.UNCONSTRAINED)) == "P(UNCONSTRAINED,)"
    with pytest.raises(ValueError, match="set_mesh expects a mesh, got int"):
        adze.set_mesh(4)  # type: ignore[arg-type]
    mesh = mesh_of_four()
    with mesh, adze.make_mesh((2,), ("d",)) as inner:
        assert adze.sharding.get_mesh() == inner
        assert adze.sharding.get_abstract_mesh() == inner.abstract_mesh
    assert adze.sharding.get_abstract_mesh().empty
    assert mesh.devices.tolist() == [[0, 1], [2, 3]]
