"""Which drivers of GPUs this machine has, for tests that need one.

`python -m tests.gpu.drivers` says so, and leaves with 1 where there is none: `make test-gpu` asks first.
"""

from __future__ import annotations

import sys

import pytest

from adze.runtime.execute.devices import list_devices

ABSENT = "no Vulkan driver (Debian: mesa-vulkan-drivers)"
HAS_VULKAN = any(device.kind.value == "vulkan" for device in list_devices())
needs_vulkan = pytest.mark.skipif(not HAS_VULKAN, reason=ABSENT)


def main() -> None:
    """Print the devices that are no CPU."""
    found = [device for device in list_devices() if device.kind.value != "cpu"]
    for device in found:
        print(f"{device.name}: {device.description}")
    if not HAS_VULKAN:
        sys.exit(
            "error: there is no Vulkan driver here; Debian's package mesa-vulkan-drivers has one that runs "
            "on the CPU: apt-get install mesa-vulkan-drivers"
        )


if __name__ == "__main__":
    main()
