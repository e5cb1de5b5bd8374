"""Putting arrays on a device, or on the ranks of a mesh."""

from __future__ import annotations

import functools
from typing import Any

from ...runtime.execute.array import from_host
from ...runtime.execute.devices import DeviceInfo
from ...runtime.execute.transfers import together
from .. import tree
from ..errors import ArgumentError
from ..sharding.arrays import is_divided, whole_array
from ..sharding.constraints import with_sharding_constraint
from ..sharding.formats import Format
from ..sharding.named import NamedSharding, is_sharding, named_sharding
from ..sharding.ranks import Rank
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.interpreter import as_value
from ..tracing.jax_rules import Installed
from ..tracing.kinds import kind_of
from ..tracing.locations import located, user_location_text
from .jit import jit


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> Any:
    """The arrays of the pytree `x` on `device` (by default the CPU), copied there where they are not yet.

    `device` is an entry of `devices()`, its name, a sharding of one device or over the ranks of a mesh, or a
    tree of them that is a prefix of `x`. In a job a sharding leaves each rank its part of the array.
    `src` and `may_alias` mean nothing here, and an array with `donate` lives on. A call of a compiled
    function with arrays of its own device copies nothing. Inside a trace, arrays stay where the program runs.
    Raises `DeviceError` for a device that this machine does not have.
    """
    del src, donate, may_alias
    device = device.sharding if isinstance(device, Format) else device
    if isinstance(device, (dict, list, tuple)) and not _is_place(device):
        places = tree.broadcast(device, x, is_leaf=_is_place)
        return tree.map(device_put, x, places)
    sharding = named_sharding("device_put", device) if is_sharding(device) else None
    if sharding is not None:
        with located():
            return tree.map(functools.partial(_divided, sharding), x)
    check = getattr(device, "check_array", None)
    if check is not None:
        tree.map(check, x)
    device = getattr(device, "one_device", device)
    name = device.name if isinstance(device, DeviceInfo) else "cpu" if isinstance(device, Rank) else device
    if name is not None and not isinstance(name, str):
        raise ArgumentError(
            f"device is {type(name).__name__}: {name!r}, expected an entry of adze.devices() or its name",
            where=user_location_text(),
        )
    with located(), together():
        return tree.map(lambda leaf: _put(leaf, name), x)


def _is_place(entry: Any) -> bool:
    """Whether an entry of a tree of places is one: a specification of a sharding is itself a tuple."""
    return is_sharding(entry) or hasattr(type(entry), "one_device")


def _divided(sharding: NamedSharding, leaf: Any) -> Any:
    """One array as a sharding over ranks says; in a trace a statement that it lies so."""
    value = as_value(leaf)
    if isinstance(value, Tracer):
        return with_sharding_constraint(value, sharding)
    if not is_divided(value):
        return whole_array(value, sharding)
    if value.sharding.is_equivalent_to(sharding, value.ndim):
        return value
    return jit(lambda x: x, out_shardings=sharding)(value)


def _put(leaf: Any, device: str | None) -> Any:
    value = as_value(leaf)
    if isinstance(value, Tracer):
        return value
    held = value.buffer.to(device or "cpu") if value.buffer is not None else None
    result = Array(from_host(value.numpy(), device or "cpu") if held is None else held)
    if value.weak_type and Installed.is_on:
        result.weak_type = True
        result.kind = kind_of(result.shape, result.dtype, result.buffer.device, is_weak=True)
        result.call_kind = result.kind
    return result
