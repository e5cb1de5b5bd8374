"""Programs as files.

Input: a compiled program with its manifest. Output: one `.vmfb`, a plain IREE module, which any IREE host
runs; behind it stand the modules for other targets, the adze IR that they were compiled from (where that is
kept), the manifest, and a trailer of lengths and checksum. Nothing of the file is given to IREE before the
checksum and the manifest say that it is whole and can run here: a damaged module crashes IREE's loader or
computes wrong numbers. The checksum guards against damage, not against malice.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..cpu import host_cpu
from ..errors import ArtifactError, MissingArtifactError, UnreadableArtifactError
from ..execute.devices import Device, DeviceKind, get_device, vulkan_architecture_of
from ..execute.program import Executable
from .files import write_atomically
from .manifest import Manifest, manifest_from_json, versions
from .variants import choose, open_device

# Behind module, IR and manifest: magic, trailer version, the lengths of the three, SHA-256 of everything
# before the checksum. Fixed size, at the very end.
_MAGIC: Final = b"ADZEVMFB"
_TRAILER_VERSION: Final = 2
_HEAD: Final = struct.Struct("<8sIQQQ")
_TRAILER_BYTES: Final = _HEAD.size + 32
_ZIP_MAGIC: Final = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Contents:
    """The parts of a file: an IREE module, what it says of itself, and its adze IR (empty: not kept).

    `others` are the modules of the manifest's variants but the first, which is `module`.
    """

    module: bytes
    manifest: Manifest
    ir: bytes = b""
    others: tuple[bytes, ...] = ()

    def to_bytes(self) -> bytes:
        """The file with these contents."""
        text = self.manifest.to_json().encode()
        modules = b"".join((self.module, *self.others))
        head = _HEAD.pack(_MAGIC, _TRAILER_VERSION, len(modules), len(self.ir), len(text))
        content = modules + self.ir + text + head
        return content + hashlib.sha256(content).digest()


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a file is, found out without running or loading any of it."""

    path: Path
    file_bytes: int
    module_bytes: int
    ir_bytes: int
    sha256: str
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """A program from a file, on a device; `reason` says why this variant, where the file has several."""

    executable: Executable
    manifest: Manifest
    device: Device
    ir: bytes = b""
    reason: str = ""


def save(path: str | os.PathLike[str], contents: Contents) -> Path:
    """Write the program to `path`, whole or not at all."""
    target = Path(path)
    if target.is_dir():
        raise ArtifactError(
            f"cannot write {target}: it is a directory", hint="name a file, such as program.vmfb"
        )
    try:
        write_atomically(target, contents.to_bytes())
    except OSError as error:
        raise UnreadableArtifactError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def load(
    path: str | os.PathLike[str], device: str | Device | None = None, target: str | None = None
) -> LoadedProgram:
    """The program in the file, ready to run on `device` (by default the cheapest one of its target).

    Of a file with several variants the best one that this machine can run; `target` names another.
    """
    location, contents, _ = _read(path)
    try:
        manifest, module, chosen, reason = _chosen(contents, device, target)
        check_runnable(manifest)
        _check_device(manifest, chosen)
        executable = Executable(module, chosen, manifest.signatures)
    except ArtifactError as error:
        raise ArtifactError(f"{location}: {error.message}", hint=error.hint) from error
    return LoadedProgram(executable, manifest, chosen, contents.ir, reason)


def _chosen(
    contents: Contents, device: str | Device | None, target: str | None
) -> tuple[Manifest, bytes, Device, str]:
    """The variant to run, as manifest and module, its device, and why."""
    manifest = contents.manifest
    if not manifest.variants:
        if target is not None and target != manifest.target:
            raise ArtifactError(f"the file has no variant for {target}: it has {manifest.target}")
        check_runnable(manifest)
        chosen = get_device(device or _default_device(manifest), work=manifest.work)
        return manifest, contents.module, chosen, ""
    verdict = choose(manifest, device, target, check_runnable)
    position = manifest.variants.index(verdict.variant)
    module = (contents.module, *contents.others)[position]
    return manifest.of(verdict.variant), module, open_device(verdict, device), verdict.reason


def read(path: str | os.PathLike[str]) -> Contents:
    """The parts of the file, which need not be a program for this machine; nothing of it is loaded."""
    return _read(path)[1]


def inspect(path: str | os.PathLike[str]) -> Inspection:
    """What the file says of itself, after its checksum was found right; no native code is touched."""
    location, contents, whole = _read(path)
    sizes = len(whole), len(contents.module), len(contents.ir)
    return Inspection(location, *sizes, hashlib.sha256(whole).hexdigest(), contents.manifest)


def check_runnable(manifest: Manifest) -> None:
    """Raise the ArtifactError for a program that this machine or this runtime cannot run."""
    built = manifest.versions.get("iree_compiler", "")
    runtime = versions().get("iree_runtime", "")
    if _minor(built) != _minor(runtime):
        raise ArtifactError(
            f"built with IREE {built or 'of unknown version'}, and the runtime here is {runtime}: "
            "IREE runs only programs of its own minor version",
            hint="build the program again, or install the runtime of that version",
        )
    if not manifest.target.startswith("cpu"):
        return
    cpu = host_cpu()
    if manifest.architecture != cpu.architecture:
        raise ArtifactError(
            f"built for {manifest.target}, a program for {manifest.architecture}, and this machine is "
            f"{cpu.architecture}",
            hint="build it for this machine: adze build -t cpu",
        )
    missing = cpu.missing(manifest.required_features)
    if missing:
        raise ArtifactError(
            f"built for {manifest.target}, whose code uses processor features that this machine lacks: "
            f"{', '.join(missing)}",
            hint="build it for an older processor, for instance -t cpu:x86-64-v3",
        )


def _read(path: str | os.PathLike[str]) -> tuple[Path, Contents, bytes]:
    location = Path(path)
    try:
        if location.is_dir():
            raise ArtifactError(f"{location}: a directory, expected a .vmfb file")
        if not stat.S_ISREG(location.stat().st_mode):  # a FIFO would be waited on for ever
            raise ArtifactError(f"{location}: no ordinary file, expected a .vmfb file")
        content = location.read_bytes()
    except ArtifactError:  # which is a ValueError
        raise
    except FileNotFoundError:
        raise MissingArtifactError(f"{location}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise UnreadableArtifactError(
            f"{location}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    except MemoryError:
        raise ArtifactError(f"{location}: too large for the memory of this machine") from None
    try:
        return location, from_bytes(content), content
    except ArtifactError as error:
        raise ArtifactError(f"{location}: {error.message}", hint=error.hint) from None


def from_bytes(content: bytes) -> Contents:
    """The parts of a file, checked; an ArtifactError says what it is instead."""
    if not content:
        raise ArtifactError("the file is empty")
    trailer = content[-_TRAILER_BYTES:]
    if len(content) < _TRAILER_BYTES or not trailer.startswith(_MAGIC):
        raise ArtifactError(*_what_else(content))
    _, version, *lengths = _HEAD.unpack(trailer[: _HEAD.size])
    if version != _TRAILER_VERSION:
        raise ArtifactError(
            f"the file has format version {version}, and this adze reads {_TRAILER_VERSION}",
            hint="build the program again with this version of adze",
        )
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        raise ArtifactError(
            "the file is damaged: its contents do not match its checksum",
            hint="copy or build it again",
        )
    if sum(lengths) + _TRAILER_BYTES != len(content):
        raise ArtifactError("the file is damaged: its parts do not add up to its length")
    first, second, third = itertools.accumulate(lengths)
    try:
        text = content[second:third].decode()
    except UnicodeDecodeError:
        raise ArtifactError("its manifest cannot be read: it is not a text in UTF-8") from None
    manifest = manifest_from_json(text)
    module, *others = _modules(content[:first], manifest)
    return Contents(module, manifest, content[first:second], tuple(others))


def _modules(content: bytes, manifest: Manifest) -> list[bytes]:
    """The modules, one behind the other, whose lengths the manifest has."""
    if not manifest.variants:
        return [content]
    ends = list(itertools.accumulate(variant.bytes for variant in manifest.variants))
    if ends[-1] != len(content):
        raise ArtifactError("the file is damaged: its modules do not add up to their lengths")
    return [content[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _what_else(content: bytes) -> tuple[str]:
    if content.startswith(_ZIP_MAGIC) and b"module.fb" in content[:200]:
        if _MAGIC in content:
            return ("the file is damaged: its trailer is incomplete",)
        return (
            "an IREE module without adze's trailer: either cut short or not built by adze, and so there is "
            "no telling whether it is whole",
        )
    return ("not a program built by adze",)


def _default_device(manifest: Manifest) -> str:
    return manifest.target.partition(":")[0]


def _check_device(manifest: Manifest, device: Device) -> None:
    kind = manifest.target.partition(":")[0]
    if device.kind.value != kind:
        raise ArtifactError(
            f"built for {manifest.target}, which {device.name} cannot run",
            hint=f"load it on a {kind} device, or build it with -t {device.kind.value}",
        )
    if device.kind is not DeviceKind.VULKAN:
        return
    here = vulkan_architecture_of(device.description)
    # IREE does not notice: code for another subgroup size runs and computes wrong numbers
    is_lavapipe = "lavapipe" in f"{here}"
    if here != manifest.architecture and (is_lavapipe or "lavapipe" in manifest.architecture):
        raise ArtifactError(
            f"built for {manifest.target}, and {device.name} is {device.description}, "
            f"{'a vulkan:' + here if here else 'another'} device: the numbers would be wrong",
            hint=f"build it with -t vulkan:{here}" if here else None,
        )


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])
