"""The kernels of a module for GPUs, with their counts.

Input: the bytes of a module. Output: `KernelCounts`, in the order of the file; none for code of a processor.
"""

from __future__ import annotations

from .amdgpu import amd_counts
from .counts import KernelCounts
from .executables import AmdCode, CudaCode, VulkanCode, executables_of
from .metal import metal_counts
from .ptx import ptx_counts
from .spirv import spirv_counts


def gpu_kernels(module: bytes) -> list[KernelCounts]:
    """The kernels for GPUs of a module. Raises `ArtifactError` where the bytes are no module."""
    found: list[KernelCounts] = []
    for executable in executables_of(module):
        if isinstance(executable, CudaCode):
            shared = {export.name: export.dynamic_shared_bytes for export in executable.exports}
            found += [kernel for text in executable.ptx for kernel in ptx_counts(text, shared)]
        elif isinstance(executable, VulkanCode):
            found += [kernel for code in executable.spirv for kernel in spirv_counts(code)]
        elif isinstance(executable, AmdCode):
            found += [kernel for code in executable.code_objects for kernel in amd_counts(code)]
        else:
            found += [kernel for source in executable.sources for kernel in metal_counts(source)]
    return found


def ptx_of(module: bytes) -> list[str]:
    """The PTX modules of a compiled module."""
    return [text for found in executables_of(module) if isinstance(found, CudaCode) for text in found.ptx]


def spirv_of(module: bytes) -> list[bytes]:
    """The SPIR-V modules of a compiled module."""
    return [code for found in executables_of(module) if isinstance(found, VulkanCode) for code in found.spirv]
