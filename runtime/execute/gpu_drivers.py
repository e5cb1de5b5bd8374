"""Drivers of GPUs: why one is not to be had here, and what it tells of a device.

Input: what IREE says when it opens a driver, or of a device. Output: a sentence and a way out; `GpuFacts`.
Idea: IREE names symbols and codes of the driver; a person wants to know what to install.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ...dialects.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Absence:
    """Why the driver of a kind of device cannot be used here, and what helps."""

    reason: str
    hint: str


NEWER_DRIVER: Final = (
    "install a driver for CUDA 11.6 or newer (`nvidia-smi` shows what is installed), 12.0 for cuda:sm_90"
)
"""IREE 3.13 asks `cuGetProcAddress` for functions of 11.3; its code is PTX 7.6, and 8.0 for sm_90."""
_VULKAN_PACKAGES: Final = (
    "install the driver of the GPU, or Mesa's, which has one for the CPU (Debian: mesa-vulkan-drivers)"
)
_NVIDIA_DRIVER: Final = (
    "install NVIDIA's driver for the GPU of this machine; `nvidia-smi` shows whether it works"
)
_SYMBOL: Final = re.compile(r"symbol '(\w+)' not found|when resolving (\w+)")
_CODE: Final = re.compile(r"CUDA error '(\w+)' \(\d+\): ([^;\n]+)")


def absence_of(driver: str, error: BaseException | None) -> Absence:
    """Why `driver` offers no device: it failed with `error`, or None where it listed none."""
    text = "" if error is None else str(error)
    return _cuda_absence(text) if driver == "cuda" else _vulkan_absence(text)


def _cuda_absence(text: str) -> Absence:
    code = _CODE.search(text)
    missing = _SYMBOL.search(text)
    if missing:
        name = missing[1] or missing[2]
        return Absence(
            f"NVIDIA's driver is too old: it lacks {name}, which IREE needs",
            NEWER_DRIVER,
        )
    if "not available" in text or "libcuda" in text:
        return Absence("NVIDIA's driver is not installed (there is no libcuda.so)", _NVIDIA_DRIVER)
    if not text or (code and code[1] == "CUDA_ERROR_NO_DEVICE") or "allocations must be >0" in text:
        return Absence(
            "NVIDIA's driver sees no GPU", "look at CUDA_VISIBLE_DEVICES, and at what `nvidia-smi` lists"
        )
    if code:
        return Absence(f"NVIDIA's driver cannot be used: {code[2]} ({code[1]})", _NVIDIA_DRIVER)
    return Absence(f"NVIDIA's driver cannot be used: {_last_line(text)}", _NVIDIA_DRIVER)


def _vulkan_absence(text: str) -> Absence:
    if "loader library not found" in text:
        return Absence("the Vulkan loader is not installed (there is no libvulkan.so)", _VULKAN_PACKAGES)
    if not text or "VK_ERROR_INCOMPATIBLE_DRIVER" in text:
        return Absence(
            "the Vulkan loader is here and finds no driver",
            f"{_VULKAN_PACKAGES}; look at VK_DRIVER_FILES where it is installed",
        )
    return Absence(f"the Vulkan driver cannot be used: {_last_line(text)}", _VULKAN_PACKAGES)


def _last_line(text: str) -> str:
    return re.sub(r"^.*?\.c:\d+: ", "", text.strip().splitlines()[-1])


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """What a driver tells of a GPU; what it does not tell is None.

    `memory` in bytes, `bandwidth` in bytes a second, `clock` in Hz, `units`: multiprocessors of CUDA,
    `capability`: CUDA's of the device.
    """

    driver: str | None
    memory: int | None
    units: int | None = None
    clock: float | None = None
    capability: tuple[int, int] | None = None
    bandwidth: float | None = None

    @property
    def peak_flops(self) -> float | None:
        """Operations a second in float32 outside of matrix units, a multiply-add as two; None: not known."""
        lanes = None if self.capability is None else _LANES.get(self.capability)
        if lanes is None or not self.units or not self.clock:
            return None
        return 2.0 * lanes * self.units * self.clock


# Multiply-adds in float32 that a multiprocessor begins in a cycle, by compute capability: NVIDIA's
# programming guide, "Arithmetic Instructions".
_LANES: Final = {
    (7, 0): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (12, 0): 128,
}


def facts_of(driver: Any, device_id: int, *, cuda_position: int | None = None) -> GpuFacts:
    """The facts in the text that IREE writes of a device; of a CUDA device its driver is asked for more."""
    facts = parse_facts(str(driver.dump_device_info(device_id)))
    return facts if cuda_position is None else replace(facts, **_cuda_memory(cuda_position))


_CURRENT: Final[dict[int, Callable[[], object]]] = {}


def enter_cuda(position: int) -> None:
    """Let the thread that calls use a CUDA device.

    IREE makes the device's context current in one thread only, and loads kernels and allocates memory in
    whatever context a thread has.
    """
    enter = _CURRENT.get(position)
    if enter is None:
        library, context, device = ctypes.CDLL("libcuda.so"), ctypes.c_void_p(), ctypes.c_int()
        library.cuDeviceGet(ctypes.byref(device), position)
        library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)  # for as long as the process lives
        enter = _CURRENT[position] = functools.partial(library.cuCtxSetCurrent, context)
    enter()


@functools.cache
def are_peers(position: int, other: int) -> bool:
    """Whether a CUDA device reaches the memory of another one."""
    try:
        library = ctypes.CDLL("libcuda.so")
        devices, can = (ctypes.c_int(), ctypes.c_int()), ctypes.c_int()
        failed = library.cuDeviceGet(ctypes.byref(devices[0]), position)
        failed = failed or library.cuDeviceGet(ctypes.byref(devices[1]), other)
        failed = failed or library.cuDeviceCanAccessPeer(ctypes.byref(can), *devices)
    except (OSError, AttributeError):
        return False
    return not failed and bool(can.value)


_MEMORY_CLOCK, _BUS_WIDTH = 36, 37


def _cuda_memory(position: int) -> dict[str, Any]:
    """The size of a device's memory and what its bus moves, which IREE does not say."""
    try:
        library = ctypes.CDLL("libcuda.so")
        device, size = ctypes.c_int(), ctypes.c_size_t()
        clock, width = ctypes.c_int(), ctypes.c_int()
        failed = library.cuDeviceGet(ctypes.byref(device), position)
        failed = failed or library.cuDeviceTotalMem_v2(ctypes.byref(size), device)
        failed = failed or library.cuDeviceGetAttribute(ctypes.byref(clock), _MEMORY_CLOCK, device)
        failed = failed or library.cuDeviceGetAttribute(ctypes.byref(width), _BUS_WIDTH, device)
    except (OSError, AttributeError):
        return {}
    if failed:
        return {}
    # The clock is in kHz, and moves the bits of the bus twice a cycle.
    return {"memory": size.value, "bandwidth": 2e3 * clock.value * width.value / 8 or None}


def parse_facts(text: str) -> GpuFacts:
    """As `facts_of`, from the text: `- gpu-clock-rate: 1410000 kHz`, or `driver_info: Mesa 22.3.6`."""

    def found(pattern: str) -> str | None:
        match = re.search(pattern, text, re.MULTILINE)
        return match[1].strip() if match else None

    cuda = found(r"^- driver-max-cuda-version: ([\d.]+)")
    name, info = found(r"^driver: (.+)$"), found(r"^driver_info: (.+)$")
    # The first bit says that a heap is the device's own.
    heaps = [
        int(size) for size, flags in re.findall(r"size=(\d+) flags=(0x[0-9a-f]+)", text) if int(flags, 16) & 1
    ]
    units, clock = found(r"^- gpu-multiprocessor-count: (\d+)"), found(r"^- gpu-clock-rate: (\d+) kHz")
    capability = re.search(r"^- gpu-compute-capability: (\d+)\.(\d+)", text, re.MULTILINE)
    return GpuFacts(
        driver=f"CUDA {cuda}" if cuda else " ".join(filter(None, (name, info))) or None,
        memory=sum(heaps) or None,
        units=int(units) if units else None,
        clock=int(clock) * 1e3 if clock else None,
        capability=(int(capability[1]), int(capability[2])) if capability else None,
    )
