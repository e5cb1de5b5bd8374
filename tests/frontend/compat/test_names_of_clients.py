"""Names that brax, orbax, jax-md, e3nn and penzai import or ask for: what they mean, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.frontend.errors import ShardingError, UnsupportedError


def test_listeners_hear_what_is_recorded_until_they_are_cleared() -> None:
    from adze.compat.jax import monitoring

    heard: list[Any] = []
    monitoring.register_event_listener(lambda *args, **tags: heard.append((args, tags)))
    monitoring.register_scalar_listener(lambda *args, **tags: heard.append(args))
    monitoring.register_event_duration_secs_listener(lambda *args, **tags: heard.append(args))
    monitoring.register_event_time_span_listener(lambda *args, **tags: heard.append(args))
    for _ in range(2):
        monitoring.record_event("/step", kind="a")
        monitoring.record_scalar("/loss", 0.5)
        monitoring.record_event_duration_secs("/save", 2.0)
        monitoring.record_event_time_span("/run", 1.0, 2.0)
        monitoring.clear_event_listeners()
    assert heard == [(("/step",), {"kind": "a"}), ("/loss", 0.5), ("/save", 2.0), ("/run", 1.0, 2.0)]


def test_a_listener_that_is_unregistered_hears_nothing() -> None:
    from adze.compat.jax import monitoring

    heard: list[Any] = []

    def listener(*args: Any, **tags: Any) -> None:
        heard.append(args)

    for kind in ("event", "event_duration", "event_time_span", "scalar"):
        unit = "_secs" if kind == "event_duration" else ""
        unregister = getattr(monitoring, f"unregister_{kind}_listener")
        getattr(monitoring, f"register_{kind}{unit}_listener")(listener)
        unregister(listener)
        with pytest.raises(ValueError, match="is no registered listener"):
            unregister(listener)
    monitoring.record_event("/step")
    monitoring.record_scalar("/loss", 0.5)
    assert heard == []


def test_a_process_that_joined_no_job() -> None:
    assert not jax.distributed.is_initialized()
    jax.distributed.shutdown()
    assert callable(jax.distributed.initialize)
    x = {"a": jnp.ones(2)}
    assert jax.copy_to_host_async(x) is x


def test_one_level_of_a_tree() -> None:
    from adze.compat.jax._src.tree_util import flatten_one_level

    children, _ = flatten_one_level({"a": 1, "b": (2, 3)})
    assert [*children] == [1, (2, 3)]
    with pytest.raises(ValueError, match="leaf"):
        flatten_one_level(1)


def test_devices_say_what_they_are_and_arrays_where_they_lie() -> None:
    from adze.compat.jax.extend import backend

    device = jax.devices()[0]
    assert device.client is jax.devices()[0].client
    assert [m.kind for m in device.addressable_memories()] == ["device"]
    assert backend.backends()["cpu"].devices() == jax.devices() and "tpu" not in backend.backends()
    assert backend.get_backend().platform == "cpu" and backend.get_default_device() == device
    sharding = jnp.ones((2, 3)).sharding
    assert sharding.device_set == {device} and sharding.shard_shape((2, 3)) == (2, 3)
    assert sharding.devices_indices_map((2, 3)) == {device: (slice(None), slice(None))}
    assert sharding.is_equivalent_to(jax.sharding.SingleDeviceSharding(device, memory_kind="device"), 2)
    with pytest.raises(ShardingError, match="memory_kind is 'pinned_host', expected 'device' or None"):
        jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
    assert jnp.ones(2).copy_to_host_async() is None


def test_arrays_are_put_by_formats_and_made_of_one_part() -> None:
    from adze.compat.jax.experimental.layout import Format, Layout

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    put = jax.device_put(x, Format(Layout((0, 1)), sharding))
    assert put.tolist() == jax.device_put(x, Format(None, sharding)).tolist() == x.tolist()
    with pytest.raises(UnsupportedError, match=r"major_to_minor is \(1, 0\)[\s\S]*transpose the array"):
        Layout((1, 0))
    make = jax.make_array_from_single_device_arrays
    assert make((2, 3), sharding, [put]).tolist() == x.tolist()
    with pytest.raises(ShardingError, match=r"the part has shape \(2, 3\), expected \(3, 2\)"):
        make((3, 2), sharding, [put])


def test_private_names_are_classes_or_absent() -> None:
    with pytest.raises(ImportError):
        from adze.compat.jax._src.api import _infer_argnums_and_argnames  # noqa: F401
    from adze.compat.jax._src.api_util import infer_argnums_and_argnames
    from adze.compat.jax._src.distributed import global_state

    signature = inspect.signature(lambda a, b, *c, d: None)
    assert infer_argnums_and_argnames(signature, 1, None) == ((1,), ("b",))
    assert infer_argnums_and_argnames(signature, None, ("a", "d")) == ((0,), ("a", "d"))
    assert infer_argnums_and_argnames(signature, None, None) == ((), ())
    assert (global_state.client, global_state.process_id, global_state.num_processes) == (None, 0, 1)
    assert callable(jax.Array.item)


def test_pallas_is_imported_and_refused() -> None:
    from adze.compat.jax.experimental import pallas
    from adze.compat.jax.experimental.pallas import tpu

    with pytest.raises(UnsupportedError, match="BlockSpec is a part of Pallas, which adze does not have"):
        pallas.BlockSpec((8, 8), lambda i: (i, 0))
    assert inspect.isclass(tpu.VMEM)
