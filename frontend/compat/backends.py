"""Names of `jax.extend.backend`: the kinds of devices of this machine, by JAX's names of platforms."""

from __future__ import annotations

from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..staging.inspection import clear_caches
from .devices import device_count, devices, local_device_count, local_devices, of_kind, process_index

__all__ = ["backends", "clear_backends", "get_backend", "get_default_device"]

KINDS: Final = ("cpu", "cuda", "rocm", "tpu")


@dataclass(frozen=True)
class Backend:
    """The devices of one kind: what programs ask a client of XLA for."""

    platform: str

    def devices(self) -> list[Any]:
        """The devices of the job."""
        return devices(self.platform)

    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        return local_devices(backend=self.platform)

    def device_count(self) -> int:
        """How many devices the job has."""
        return device_count(self.platform)

    def local_device_count(self) -> int:
        """How many devices this process has."""
        return local_device_count(self.platform)

    def process_index(self) -> int:
        """The number of this process in the job."""
        return process_index()


def backends() -> dict[str, Backend]:
    """The kinds of devices that this machine has, by name."""
    return {kind: Backend(kind) for kind in KINDS if kind == "cpu" or of_kind(kind)}


def get_backend(platform: str | None = None) -> Backend:
    """The devices of one kind, of the CPU by default. Raises `DeviceError` for a kind without devices."""
    backend = Backend(platform or "cpu")
    backend.devices()
    return backend


def get_default_device() -> Any:
    """The device that computes where a program names none."""
    return devices()[0]


def clear_backends() -> None:
    """Forget what `jit` has compiled."""
    clear_caches()
