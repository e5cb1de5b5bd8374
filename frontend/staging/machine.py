"""The devices of this machine and their memory, for programs that are loaded where none is compiled too."""

from __future__ import annotations

from ...runtime.execute.devices import DeviceInfo, list_devices
from ...runtime.execute.devices import release_memory as release_of_devices


def devices() -> list[DeviceInfo]:
    """The devices of this machine, CPU first; the `name` of each is what `device=` takes."""
    return list_devices()


local_devices = devices


def release_memory() -> None:
    """Give the memory of arrays that are gone back to the system.

    CPU devices keep it for later results: up to `ADZE_UNUSED_MAX_BYTES` each, and one array more. For copies
    from and to GPUs up to 256 MiB of pinned memory are kept. What is in use is not touched.
    """
    release_of_devices()
