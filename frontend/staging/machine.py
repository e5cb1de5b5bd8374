"""The devices of this machine, for programs that are loaded where nothing is compiled too."""

from __future__ import annotations

from ...runtime.execute.devices import DeviceInfo, list_devices


def devices() -> list[DeviceInfo]:
    """The devices of this machine, CPU first; the `name` of each is what `device=` takes."""
    return list_devices()
