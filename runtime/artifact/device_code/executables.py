"""What a compiled module embeds for each device: PTX, SPIR-V, machine code.

Input: the bytes of a module, which is a ZIP of flatbuffers. Output: its executables, and of those for GPUs
the kernels with their code. Idea: the numbers of fields are those of IREE's schemas
(`cuda_executable_def.fbs`, `vulkan_executable_def.fbs`, `hip_executable_def.fbs`), and every executable
begins with a header of 64 bytes whose first four name its schema.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Final

from ....dialects.dataclass import dataclass
from ...errors import ArtifactError
from .flatbuffers import Table, root_of
from .metal import SOURCE

_HEADER: Final = 64
_CUDA: Final = b"CDA1"
_VULKAN: Final = b"VKE1"
_HIP: Final = b"HIP1"
_METAL: Final = b"MTL1"


@dataclass(frozen=True, slots=True)
class Export:
    """A kernel as IREE launches it; what its code does not say itself."""

    name: str
    module: int
    threads: tuple[int, ...] = ()
    dynamic_shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CudaCode:
    """An executable for CUDA: its kernels, and the PTX of each of its modules."""

    exports: tuple[Export, ...]
    ptx: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VulkanCode:
    """An executable for Vulkan: its kernels, and the SPIR-V of each of its modules."""

    exports: tuple[Export, ...]
    spirv: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AmdCode:
    """An executable for ROCm: its code objects."""

    code_objects: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class MetalCode:
    """An executable for Metal: the sources of its kernels."""

    sources: tuple[str, ...]


Code = CudaCode | VulkanCode | AmdCode | MetalCode


def executables_of(module: bytes) -> list[Code]:
    """The executables of a module for GPUs, in the order of the file.

    Raises `ArtifactError` where the bytes are no module, or an executable is not of a schema that is known.
    """
    return [_executable(name, data) for name, data in _files(module) if _magic(data) in _READERS]


def _files(module: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(BytesIO(module)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
    except zipfile.BadZipFile as error:
        raise ArtifactError(f"the module holds no executables that can be read: {error}") from error


def _magic(data: bytes) -> bytes:
    return data[:4]


def _executable(name: str, data: bytes) -> Code:
    try:
        return _READERS[_magic(data)](root_of(data, _HEADER))
    except ValueError as error:
        raise ArtifactError(f"the executable {name!r} is damaged: {error}") from error


def _cuda(root: Table) -> CudaCode:
    exports = tuple(
        Export(export.text(1), export.u32(0), export.u32s(2, 3), export.u32(3)) for export in root.tables(0)
    )
    return CudaCode(exports, tuple(module.text(0) for module in root.tables(1)))


def _vulkan(root: Table) -> VulkanCode:
    exports = tuple(Export(export.text(1), export.u32(0)) for export in root.tables(0))
    return VulkanCode(exports, tuple(module.raw(0, 4) for module in root.tables(3)))


def _amd(root: Table) -> AmdCode:
    return AmdCode(tuple(module.raw(0) for module in root.tables(1)))


def _metal(root: Table) -> MetalCode:
    return MetalCode(tuple(text.decode(errors="replace") for text in SOURCE.findall(root.data)))


_READERS: Final[dict[bytes, Callable[[Table], Code]]] = {
    _CUDA: _cuda,
    _VULKAN: _vulkan,
    _HIP: _amd,
    _METAL: _metal,
}
