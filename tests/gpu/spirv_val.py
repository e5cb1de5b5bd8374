"""Khronos' validator of SPIR-V, where the extra `gpu-check` is installed, and what it may say of IREE's code.

Input: the bytes of a compiled module. Output: what the validator says that is not known, a line a kernel.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from adze.runtime.artifact.device_code.kernels import spirv_of

ABSENT: Final = "spirv-val is not installed: pip install 'adze-compiler[gpu-check]'"

ALLOWED: Final = {
    r"operand NoSignedWrap\(\d+\) requires one of these extensions: SPV_KHR_no_integer_wrap_decoration": (
        "MLIR decorates signed sums by `nsw`, which SPIR-V has since 1.4 only; drivers ignore it before"
    ),
    r"In SPIR-V 1\.3 or earlier, OpEntryPoint interfaces must be OpVariables with Storage Class": (
        "MLIR lists the buffers of a kernel as its interface, as SPIR-V 1.4 demands, also for 1.3"
    ),
    r"If the Shader and CooperativeMatrixKHR capabilities are declared, the VulkanMemoryModel": (
        "IREE declares no memory model for kernels with cooperative matrices"
    ),
}
"""What the validator says of code of IREE 3.13, and why; the first error of a kernel is all that it says."""


def validator() -> Path | None:
    """The program of this environment, else one of PATH; None where there is neither."""
    beside = Path(sys.executable).parent / "spirv-val"
    found = str(beside) if beside.is_file() else shutil.which("spirv-val")
    return Path(found) if found else None


def complaints(module: bytes) -> list[str]:
    """What the validator says of the kernels of a module for Vulkan, but for what is allowed."""
    said = [message for code in spirv_of(module) if (message := message_of(code)) is not None]
    return [message for message in said if not any(re.search(known, message) for known in ALLOWED)]


def message_of(code: bytes) -> str | None:
    """The first error of a module of SPIR-V, None where it is valid."""
    tool = validator()
    assert tool is not None, ABSENT
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.spv"
        source.write_bytes(code)
        command = [str(tool), "--target-env", "vulkan1.3", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stderr or done.stdout).strip() if done.returncode else None
