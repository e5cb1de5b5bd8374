"""Which drivers of GPUs this machine has, for tests that need one."""

from __future__ import annotations

import pytest

from adze.runtime.execute.devices import list_devices

HAS_VULKAN = any(device.kind.value == "vulkan" for device in list_devices())
needs_vulkan = pytest.mark.skipif(not HAS_VULKAN, reason="no Vulkan driver (Debian: mesa-vulkan-drivers)")
