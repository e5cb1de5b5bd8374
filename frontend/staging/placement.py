"""Where arrays live: putting arrays on a device, and the device that a program runs on."""

from __future__ import annotations

from typing import Any

from ...runtime.execute.array import from_host
from ...runtime.execute.devices import DeviceInfo
from ...runtime.settings import read_settings
from ...runtime.targets import Target
from .. import tree
from ..errors import ArgumentError
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.interpreter import as_value
from ..tracing.locations import located, user_location_text


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> Any:
    """The arrays of the pytree `x` on `device` (by default the CPU), copied there where they are not yet.

    `device` is an entry of `devices()`, its name, a sharding of one device, or a tree of them that is a
    prefix of `x`. `src` and `may_alias` mean
    nothing here, and an array with `donate` lives on. A call of a compiled function with arrays of its own
    device copies nothing. Inside a trace, arrays stay where the program runs. Raises `DeviceError` for a
    device that this machine does not have.
    """
    del src, donate, may_alias
    if isinstance(device, (dict, list, tuple)) and not _is_place(device):
        places = tree.broadcast(device, x, is_leaf=_is_place)
        return tree.map(device_put, x, places)
    check = getattr(device, "check_array", None)
    if check is not None:
        tree.map(check, x)
    device = getattr(device, "one_device", device)
    name = device.name if isinstance(device, DeviceInfo) else device
    if name is not None and not isinstance(name, str):
        raise ArgumentError(
            f"device is {type(name).__name__}: {name!r}, expected an entry of adze.devices() or its name",
            where=user_location_text(),
        )
    with located():
        return tree.map(lambda leaf: _put(leaf, name), x)


def _is_place(entry: Any) -> bool:
    """Whether an entry of a tree of places is one: a specification of a sharding is itself a tuple."""
    return entry is None or hasattr(type(entry), "one_device")


def _put(leaf: Any, device: str | None) -> Any:
    value = as_value(leaf)
    if isinstance(value, Tracer):
        return value
    if value.buffer is not None:
        return Array(value.buffer.to(device or "cpu"))
    return Array(from_host(value.numpy(), device or "cpu"))


def device_kind(device: str) -> str:
    """The kind of target that code for the device called `device` is made for: cpu, vulkan or cuda."""
    driver = device.partition(":")[0]
    return "cpu" if driver.startswith("local-") else driver


def default_device(target: Target) -> str:
    """Where code for `target` runs when nobody says: ADZE_DEVICE where it fits, else any of the kind."""
    wanted = read_settings().device
    return wanted if wanted and device_kind(wanted) == target.kind.value else target.kind.value
