"""What drivers of GPUs say of themselves and of what is missing, from IREE's own texts."""

from __future__ import annotations

import pytest

from adze.dialects.errors import OutOfMemoryError
from adze.runtime.errors import DeviceError, LostDeviceError
from adze.runtime.execute import gpu_faults
from adze.runtime.execute.gpu_drivers import absence_of, parse_facts

VULKAN = """name: llvmpipe (LLVM 15.0.6, 256 bits)
driver: llvmpipe
driver_info: Mesa 22.3.6 (LLVM 15.0.6)
memory_heaps: 2
  [0] size=2147483648 flags=0x00000001
  [1] size=4096 flags=0x00000000
"""
NO_LIBRARY = (
    "Error creating driver: c/runtime/src/iree/hal/drivers/cuda/cuda_dynamic_symbols.c:66: UNAVAILABLE; CUDA "
    "driver library 'libcuda.so'/'nvcuda.dll' not available; please ensure installed and in dynamic library "
    "search path"
)
NO_SYMBOL = (
    "Error creating driver: c/runtime/src/iree/base/internal/dynamic_library_posix.c:320: NOT_FOUND; symbol "
    "'cuGetProcAddress' not found in library"
)
NO_LOADER = (
    "Error creating driver: c/runtime/src/iree/hal/drivers/vulkan/util/libvulkan.c:641: NOT_FOUND; Vulkan "
    "loader library not found; ensure it is installed"
)
NO_VULKAN = (
    "Error querying devices: c/runtime/src/iree/hal/drivers/vulkan/physical_device.c:441: UNAVAILABLE; "
    "[vkCreateInstance] VK_ERROR_INCOMPATIBLE_DRIVER"
)


@pytest.mark.parametrize(
    ("driver", "text", "reason", "hint"),
    [
        ("cuda", NO_LIBRARY, "NVIDIA's driver is not installed (there is no libcuda.so)", "install NVIDIA's"),
        ("cuda", NO_SYMBOL, "NVIDIA's driver is too old: it lacks cuGetProcAddress", "CUDA 11.6 or newer"),
        ("cuda", "strange", "NVIDIA's driver cannot be used: strange", "nvidia-smi"),
        ("vulkan", NO_LOADER, "the Vulkan loader is not installed (there is no lib", "mesa-vulkan-drivers"),
        ("vulkan", NO_VULKAN, "the Vulkan loader is here and finds no driver", "VK_DRIVER_FILES"),
        ("vulkan", "a.c:3: INTERNAL; odd", "the Vulkan driver cannot be used: INTERNAL; odd", "Debian"),
    ],
)
def test_a_missing_driver_is_named_with_what_helps(driver: str, text: str, reason: str, hint: str) -> None:
    absence = absence_of(driver, RuntimeError(text))
    assert absence.reason.startswith(reason) and hint in absence.hint


def test_facts_are_in_the_text_of_the_driver() -> None:
    facts = parse_facts(VULKAN)
    assert facts.driver == "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)" and facts.memory == 1 << 31
    assert facts.peak_flops is None
    hopper = parse_facts(
        "- gpu-compute-capability: 9.0\n- driver-max-cuda-version: 12.8\n- gpu-multiprocessor-count: 132\n"
        "- gpu-clock-rate: 1980000 kHz\n"
    )
    assert (hopper.driver, hopper.memory) == ("CUDA 12.8", None)
    assert hopper.peak_flops == 2 * 128 * 132 * 1.98e9  # NVIDIA states 67 Tflop/s for the H100 SXM
    unknown = parse_facts("- gpu-compute-capability: 99.0\n- gpu-multiprocessor-count: 1\n")
    assert unknown.capability == (99, 0) and unknown.peak_flops is None
    assert parse_facts("").driver is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x.c:1: RESOURCE_EXHAUSTED; no more; while", OutOfMemoryError),
        ("x.c:1: INTERNAL; VK_ERROR_OUT_OF_DEVICE_MEMORY", OutOfMemoryError),
        ("x.c:1: INTERNAL; [vkQueueSubmit] VK_ERROR_DEVICE_LOST", LostDeviceError),
        ("x.c:1: ABORTED; CUDA error 'CUDA_ERROR_LAUNCH_FAILED' (719): unspecified", LostDeviceError),
        ("x.c:1: INVALID_ARGUMENT; something else", DeviceError),
    ],
)
def test_copies_fail_by_what_the_driver_says(text: str, kind: type) -> None:
    error = gpu_faults.transfer_error(RuntimeError(text), "vulkan:0", "an array of 8 bytes", "to")
    assert type(error) is kind
    assert str(error).startswith("an array of 8 bytes cannot be copied to vulkan:0: ")
    assert (".c:" in error.message) is False
