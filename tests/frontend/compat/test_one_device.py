"""Shardings of one device, and what JAX's top level has of devices."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze import sharding


def test_arrays_are_put_on_the_device_of_a_sharding() -> None:
    device = adze.devices()[0]
    mesh = sharding.Mesh(np.array([device]), ("rows",))
    for place in (
        sharding.SingleDeviceSharding(device),
        adze.NamedSharding(mesh, adze.P("rows")),
        adze.NamedSharding(sharding.AbstractMesh(), sharding.PartitionSpec()),
    ):
        array = adze.device_put({"x": np.ones(3)}, place, may_alias=True)["x"]
        assert array.tolist() == [1.0, 1.0, 1.0]
    assert adze.P("rows", None) == sharding.PartitionSpec("rows", None)
    tree = adze.device_put({"a": np.ones(2), "b": [1.0, 2]}, {"a": device, "b": None})
    assert tree["a"].tolist() == [1.0, 1.0]
    assert [x.dtype.kind for x in tree["b"]] == ["f", "i"]
    assert str(mesh) == "Mesh('rows': 1, axis_types=(Auto,))"
    with pytest.raises(ValueError, match="must name axes of the mesh"):
        adze.NamedSharding(mesh, adze.P("columns"))
    with pytest.raises(ValueError, match="divides 1 dimensions of an array of rank 0"):
        adze.device_put(np.float32(1), adze.NamedSharding(mesh, adze.P("rows")))
    assert sharding.Mesh([device, device], ("rows",)) == adze.make_mesh((2,), ("rows",))


def test_maps_over_one_device() -> None:
    double = adze.pmap(lambda x: x * 2)
    assert double(np.ones((1, 2), np.float32)).tolist() == [[2.0, 2.0]]
    with pytest.raises(adze.AdzeError, match="pmap over 2 devices"):
        double(np.ones((2, 2), np.float32))
    assert adze.local_devices() == adze.devices()


def test_what_is_evaluated_at_once_in_a_trace() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        with adze.ensure_compile_time_eval():
            size = int(adze.numpy.sum(adze.numpy.arange(4)))
        return x * size

    assert float(adze.jit(f)(np.float32(2))) == 12.0
