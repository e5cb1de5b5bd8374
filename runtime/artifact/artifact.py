"""Programs as files.

Input: a compiled program with its manifest. Output: one `.vmfb`, a plain IREE module, which any IREE host
runs; behind it stand the adze IR that it was compiled from (where that is kept), the manifest, the modules
for other targets, a signature (where somebody signed it), and a trailer of lengths and checksum, see
`trailer.py`. Nothing of the file is given to IREE before the checksum and the manifest say that it is whole
and can run here: a damaged module crashes IREE's loader or computes wrong numbers. The checksum guards
against damage; against malice, the signature does, for those who load with a key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from ...dialects.communicator import DistributedError
from ...dialects.dataclass import dataclass
from ..cpu import host_cpu
from ..distributed.programs import check_division, enter_job, job_from
from ..errors import ArtifactError, MissingArtifactError, OtherVersionError, UnreadableArtifactError
from ..execute.architectures import OLDEST_CUDA, runs
from ..execute.devices import Device, DeviceKind, get_device
from ..execute.native import runtime_version
from ..execute.program import NO_OLDER_CODE, Executable
from . import signing
from .files import write_atomically
from .manifest import Manifest, Variant, manifest_from_json
from .shared_bytes import patch_of, patched
from .signing import PrivateKey, PublicKey, Signature
from .trailer import joined, message_of, taken_apart
from .variants import choose, fitting_setting, open_device, part_of
from .weights import source_of

_OWN_PARTS: Final = ("module", "ir", "manifest")
_PATCH: Final = "patch."
"""Before the name of a part that is stored as a patch of the module."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The parts of a file: an IREE module, what it says of itself, and its adze IR (empty: not kept).

    `parts` are further ones by name, such as the modules of the manifest's further variants. A `signature` is
    of the parts that the file had when it was signed.
    """

    module: bytes
    manifest: Manifest
    ir: bytes = b""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    signature: Signature | None = None

    def to_bytes(self) -> bytes:
        """The file with these contents."""
        return joined(self._all(), b"" if self.signature is None else self.signature.to_bytes())

    def module_of(self, variant: Variant) -> bytes:
        """The module of one of the manifest's variants."""
        is_first = variant is self.manifest.variants[0]
        return self.module if is_first else self.parts.get(part_of(variant), b"")

    def signed(self, key: PrivateKey) -> Contents:
        """These contents with the signature of `key`, in place of any other."""
        return replace(self, signature=signing.sign(message_of(self._all()), key))

    def _all(self) -> dict[str, bytes]:
        """Every part in the order of the file; the module comes first, for other IREE hosts.

        Weights that the module and another part have are stored once: the other one is a patch of the module.
        """
        manifest = {"manifest": self.manifest.to_json().encode()}
        stored = dict(map(self._stored, ({"ir": self.ir} | dict(self.parts)).items()))
        return {"module": self.module, **manifest, **stored}

    def _stored(self, part: tuple[str, bytes]) -> tuple[str, bytes]:
        """A part as it stands in the file: name and bytes."""
        name, content = part
        patch = patch_of(self.module, content)
        return (name, content) if patch is None else (f"{_PATCH}{name}", patch)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a file is, found out without running or loading any of it."""

    path: Path
    file_bytes: int
    module_bytes: int
    ir_bytes: int
    sha256: str
    manifest: Manifest
    signature: Signature | None = None
    parts: Mapping[str, int] = field(default_factory=dict)


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
    path: str | os.PathLike[str],
    device: str | Device | None = None,
    key: PublicKey | None = None,
    target: str | None = None,
    parameters: str | Path | Mapping[str, Any] | None = None,
) -> LoadedProgram:
    """The program in the file, ready to run on `device` (by default the cheapest one of its target).

    With a `key` only a file that is signed by it is loaded: no other is parsed, and no native code sees it.
    Of a file with several variants the best one is loaded that this machine can run, or that for `target`.
    `parameters` replace the arrays that the program has outside: a file, or arrays by name.
    """
    location, contents, _ = _read(path, key)
    return load_contents(contents, location, device, target, parameters)


def load_contents(
    contents: Contents,
    location: Path,
    device: str | Device | None = None,
    target: str | None = None,
    parameters: str | Path | Mapping[str, Any] | None = None,
) -> LoadedProgram:
    """As `load`, of the contents of the file at `location`, whose folder may have its parameters.

    Raises `OtherVersionError`, an `ArtifactError`, where only the version of IREE is in the way.
    """
    try:
        _check_version(contents)
        manifest, module, chosen, reason = _chosen(contents, device, target)
        check_runnable(manifest)
        _check_device(manifest, chosen)
        source = source_of(manifest.parameters, parameters, location.parent)
        imported = [] if source is None else [source.module]
        job = job_from(manifest.extra)
        if job is not None:
            check_division(job, manifest.signatures)
        sites = () if job is None else enter_job(job, (manifest.ir_sha256 or manifest.to_json()).encode())
        work = manifest.work if _is_free(manifest, device) else None
        executable = Executable(module, chosen, manifest.loaded_signatures, imported, sites, work)
    except ArtifactError as error:
        kind = OtherVersionError if isinstance(error, OtherVersionError) else ArtifactError
        raise kind(f"{location}: {error.message}", hint=error.hint) from error
    except DistributedError as error:
        raise DistributedError(f"{location}: {error.message}", hint=error.hint) from None
    return LoadedProgram(executable, manifest, chosen, contents.ir, reason)


def _is_free(manifest: Manifest, device: str | Device | None) -> bool:
    """Whether each call may choose between the drivers of the CPU: nobody named one, and no array is kept."""
    named = (device, fitting_setting(manifest.target))
    return all(name in (None, "cpu") for name in named) and manifest.parameters is None


def _chosen(
    contents: Contents, device: str | Device | None, target: str | None
) -> tuple[Manifest, bytes, Device, str]:
    """The variant to run, as manifest and module, its device, and why."""
    manifest = contents.manifest
    if not manifest.variants:
        if target is not None and target != manifest.target:
            raise ArtifactError(f"the file has no variant for {target}: it has {manifest.target}")
        check_runnable(manifest)
        wanted = device or fitting_setting(manifest.target) or _default_device(manifest)
        return manifest, contents.module, get_device(wanted, work=manifest.work), ""
    verdict = choose(manifest, device, target, check_runnable)
    module = contents.module_of(verdict.variant)
    return manifest.of(verdict.variant), module, open_device(verdict, device), verdict.reason


def read(path: str | os.PathLike[str], key: PublicKey | None = None) -> Contents:
    """The parts of the file, which need not be a program for this machine; nothing of it is loaded."""
    return _read(path, key)[1]


def inspect(path: str | os.PathLike[str], key: PublicKey | None = None) -> Inspection:
    """What the file says of itself, after its checksum was found right; no native code is touched."""
    location, contents, whole = _read(path, key)
    sizes = len(whole), len(contents.module), len(contents.ir)
    digest = hashlib.sha256(whole).hexdigest()
    parts = {name: len(part) for name, part in contents.parts.items()}
    return Inspection(location, *sizes, digest, contents.manifest, contents.signature, parts)


def _check_version(contents: Contents) -> None:
    """As `check_runnable` of versions; where the IR is kept, it says so."""
    try:
        check_version(contents.manifest)
    except OtherVersionError as error:
        if not contents.ir:
            raise
        hint = "the file keeps its adze IR: adze transform FILE -o NEW compiles it again"
        raise OtherVersionError(error.message, hint=hint) from None


def check_version(manifest: Manifest) -> None:
    """Raise the OtherVersionError for a program of another version of IREE than the runtime here."""
    built = manifest.versions.get("iree_compiler", "")
    runtime = runtime_version()
    if _minor(built) != _minor(runtime):
        raise OtherVersionError(
            f"built with IREE {built or 'of unknown version'}, and the runtime here is {runtime}: "
            "IREE runs only programs of its own minor version",
            hint="build the program again, or install the runtime of that version",
        )


def check_runnable(manifest: Manifest) -> None:
    """Raise the ArtifactError for a program that this machine or this runtime cannot run."""
    check_version(manifest)
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


def _read(path: str | os.PathLike[str], key: PublicKey | None) -> tuple[Path, Contents, bytes]:
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
        return location, from_bytes(content, key), content
    except ArtifactError as error:
        raise type(error)(f"{location}: {error.message}", hint=error.hint) from None


def from_bytes(content: bytes, key: PublicKey | None = None) -> Contents:
    """The parts of a file, checked; an ArtifactError says what it is instead.

    With a `key` its signature is verified before anything but the trailer is parsed.
    """
    found = taken_apart(content)
    signature = signing.signature_from_bytes(found.signature) if found.signature else None
    if key is not None:
        signing.verify(found.message, signature, key)
    parts = _whole_parts(found.parts)
    for name in _OWN_PARTS:
        if name not in parts:
            raise ArtifactError(f"the file is damaged: it has no part {name!r}")
    try:
        text = parts["manifest"].decode()
    except UnicodeDecodeError:
        raise ArtifactError("its manifest cannot be read: it is not a text in UTF-8") from None
    others = {name: part for name, part in parts.items() if name not in _OWN_PARTS}
    manifest = manifest_from_json(text)
    contents = Contents(parts["module"], manifest, parts["ir"], others, signature)
    for variant in manifest.variants:
        if len(contents.module_of(variant)) != variant.bytes:
            raise ArtifactError(f"the file is damaged: its module for {variant.target} has another length")
    return contents


def _whole_parts(stored: Mapping[str, bytes]) -> dict[str, bytes]:
    """The parts of a file, those as a whole that are stored as patches."""
    parts: dict[str, bytes] = {}
    for name, content in stored.items():
        whole = name.removeprefix(_PATCH)
        if whole in parts:
            raise ArtifactError(f"the file is damaged: it has two parts {whole!r}")
        parts[whole] = content if whole == name else patched(parts["module"], content)
    return parts


def _default_device(manifest: Manifest) -> str:
    return manifest.target.partition(":")[0]


def _check_device(manifest: Manifest, device: Device) -> None:
    kind = manifest.target.partition(":")[0]
    if device.kind.value != kind:
        raise ArtifactError(
            f"built for {manifest.target}, which {device.name} cannot run",
            hint=f"load it on a {kind} device, or build it with -t {device.kind.value}",
        )
    here, built = device.architecture, manifest.architecture
    if device.kind is DeviceKind.CUDA and not runs(kind, here, built):
        raise ArtifactError(
            f"built for {manifest.target}, and {device.name} is {device.description}, a cuda:{here} device: "
            "its driver compiles code for older GPUs, not for newer ones",
            hint=f"build it with -t cuda:{OLDEST_CUDA}" if runs(kind, here, OLDEST_CUDA) else NO_OLDER_CODE,
        )
    # IREE does not notice: code for another subgroup size runs and computes wrong numbers
    is_lavapipe = device.kind is DeviceKind.VULKAN and "lavapipe" in f"{here} {built}"
    if is_lavapipe and here != built:
        raise ArtifactError(
            f"built for {manifest.target}, and {device.name} is {device.description}, "
            f"{'a vulkan:' + here if here else 'another'} device: the numbers would be wrong",
            hint=f"build it with -t vulkan:{here}" if here else None,
        )


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])
