"""The device that a program runs on when nobody says which."""

from __future__ import annotations

from ...runtime.settings import read_settings
from ...runtime.targets import Target


def device_kind(device: str) -> str:
    """The kind of target that code for the device called `device` is made for: cpu, vulkan or cuda."""
    driver = device.partition(":")[0]
    return "cpu" if driver.startswith("local-") else driver


def default_device(target: Target) -> str:
    """Where code for `target` runs when nobody says: ADZE_DEVICE where it fits, else any of the kind."""
    wanted = read_settings().device
    return wanted if wanted and device_kind(wanted) == target.kind.value else target.kind.value
