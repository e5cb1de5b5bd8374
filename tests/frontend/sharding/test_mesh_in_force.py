"""Functions that ask for the mesh in force: what is known of them under one is not used under another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.sharding import AxisType, Mesh
from adze.sharding import PartitionSpec as P

X = np.ones(8, np.float32)
CALLS = 3
"""The second call of a function outside `jit` keeps its trace, the third one uses it."""


def ranks() -> int:
    return int(adze.sharding.get_mesh().size)


def scaled(x: Any) -> Any:
    return x * ranks()


def divided(x: Any) -> Any:
    return adze.shard_map(lambda v: v * adze.lax.axis_size("data"), in_specs=P("data"), out_specs=P("data"))(
        x
    )


def looped(x: Any) -> Any:
    return adze.fori_loop(0, 1, lambda _, y: scaled(y), x)


jitted = adze.jit(scaled)
jitted_divided = adze.jit(divided)
donating = adze.jit(scaled, donate_argnums=0)
nested = adze.jit(lambda x: jitted(x))


def under_two_meshes(x: Any) -> Any:
    here = jitted(x)
    with adze.set_mesh(adze.make_mesh((2 * ranks(),), ("data",))):
        return jitted(x) - here


cases: dict[str, Callable[[Any], Any]] = {
    "grad": adze.grad(lambda x: scaled(x).sum()),
    "grad of shard_map": adze.grad(lambda x: divided(x).sum()),
    "vmap": adze.vmap(scaled),
    "a loop": looped,
    "a loop of a scan": lambda x: adze.scan(lambda c, y: (scaled(c), y), x, None, length=1)[0],
    "jit": jitted,
    "jit of shard_map": jitted_divided,
    "jit with donation": lambda x: donating(adze.device_put(x)),
    "jit in jit": nested,
    "two meshes in one trace": adze.jit(under_two_meshes),
}


@pytest.mark.parametrize("name", cases)
def test_follows_mesh(name: str) -> None:
    for count in (2, 4, 2):
        with adze.set_mesh(adze.make_mesh((count,), ("data",))):
            for x in [adze.device_put(X)] * CALLS:
                np.testing.assert_array_equal(cases[name](x), count * X)


def test_no_mesh_is_another_mesh() -> None:
    asks = adze.jit(lambda x: x + ranks())
    with adze.set_mesh(adze.make_mesh((4,), ("data",))):
        assert asks(X)[0] == 5
    assert asks(X)[0] == 1


def test_types_of_axes_are_part_of_the_mesh() -> None:
    def is_explicit(x: Any) -> Any:
        return x * (adze.sharding.get_mesh().axis_types[0] is AxisType.Explicit)

    gradient = adze.grad(lambda x: is_explicit(x).sum())
    for kind, expected in ((AxisType.Auto, 0), (AxisType.Explicit, 1)):
        with adze.set_mesh(adze.make_mesh((2,), ("data",), kind)):
            assert [float(gradient(X)[0]) for _ in range(CALLS)] == [expected] * CALLS


def test_sharding_is_not_stale() -> None:
    stated = adze.jit(lambda x: adze.reshard(x * 2, P("data")))
    for count in (2, 4, 2):
        with adze.set_mesh(adze.make_mesh((count,), ("data",), AxisType.Explicit)):
            assert [stated(X).sharding.mesh.size for _ in range(CALLS)] == [count] * CALLS


def test_reason_of_retrace_names_meshes() -> None:
    asks = adze.jit(scaled)
    for mesh in (None, Mesh(range(2), ("data",))):
        with adze.set_mesh(mesh):
            asks(anp.asarray(X))
    reason = adze.explain_retrace(asks)
    assert "the mesh in force changed from none to Mesh('data': 2, axis_types=(Auto,))" in reason
