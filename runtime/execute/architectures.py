"""Which architecture a GPU has, and which programs it runs.

Input: what its driver says of it. Output: names as targets have them (`sm_80`, `ampere`). Idea: neither IREE
nor a driver says clearly that a program is for another GPU. CUDA's compiles what is for older ones, and
Vulkan's runs what is for others, with wrong numbers where the subgroups differ.
"""

from __future__ import annotations

import re
from typing import Final

# First match wins. Only for devices whose family follows from the marketing name beyond doubt.
_VULKAN_DEVICE_NAMES: Final = (
    (r"RTX 40\d\d|RTX \d+ Ada|\bL4\b|\bL40", "ada"),
    # IREE has no family for Hopper, which runs what is compiled for the family before it.
    (r"RTX 30\d\d|RTX A\d{4}|\bA100|\bA10\b|\bA40\b|\bH[12]00\b", "ampere"),
    (r"RTX 20\d\d|GTX 16\d\d|Tesla T4|Quadro RTX", "turing"),
    (r"RX 90\d\d|GFX12", "rdna4"),
    (r"RX 7\d\d\d|GFX110|NAVI3", "rdna3"),
    (r"RX 6\d\d\d|GFX103|NAVI2", "rdna2"),
    (r"RX 5\d\d\d|GFX101|NAVI1", "rdna1"),
    (r"Adreno", "adreno"),
    (r"Mali-G(6[12]5|7[12][05]|310|510)", "valhall4"),
    (r"Mali-G(57|68|77|78)", "valhall1"),
)
OLDEST_CUDA: Final = "sm_80"
"""What IREE compiles for at least."""
_CAPABILITY: Final = re.compile(r"sm_(\d+)(\d)")


def is_lavapipe(description: str) -> bool:
    """Whether a device that its driver calls so is Mesa's lavapipe, which runs Vulkan on the CPU."""
    return "llvmpipe" in description


def vulkan_architecture_of(description: str) -> str | None:
    """The name of the `vulkan:<name>` target for a device that its driver calls so, where adze knows it."""
    lavapipe = re.search(r"llvmpipe.*?(\d+) bits", description)
    if lavapipe:
        return {128: "lavapipe4", 256: "lavapipe", 512: "lavapipe16"}.get(int(lavapipe[1]))
    for pattern, architecture in _VULKAN_DEVICE_NAMES:
        if re.search(pattern, description, re.IGNORECASE):
            return architecture
    return None


def cuda_architecture_of(capability: tuple[int, int] | None) -> str | None:
    """The name that `cuda:<name>` targets have for devices of a compute capability."""
    return None if capability is None else f"sm_{capability[0]}{capability[1]}"


def runs(kind: str, here: str | None, wanted: str) -> bool:
    """Whether a device of the architecture `here` runs programs for the architecture `wanted`.

    CUDA's driver compiles PTX for its own device and for newer ones than it was made for; what is not known
    is left to it. A Vulkan device runs what is for its own family.
    """
    if kind != "cuda":
        return here == wanted
    device, program = _capability(here), _capability(wanted)
    return device is None or program is None or program <= device


def _capability(architecture: str | None) -> tuple[int, int] | None:
    found = _CAPABILITY.fullmatch(architecture or "")
    return (int(found[1]), int(found[2])) if found else None
