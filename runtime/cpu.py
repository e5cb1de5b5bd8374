"""CPUs: what this machine's processor can do, and what a build for a named processor needs.

IREE does not compare the features of a CPU build with the machine it runs on: a build that is too new dies
with an illegal instruction, and a misspelt CPU name ends the process. So names are looked up here first, and
every build carries the features that it needs, in the spelling of /proc/cpuinfo.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import sys
from pathlib import Path
from typing import Final

from ..dialects.dataclass import dataclass

_X86_V2: Final = ("cx16", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3")
_X86_V3: Final = (*_X86_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
_X86_V4: Final = (*_X86_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
_ICELAKE: Final = (
    *_X86_V4,
    "avx512_bitalg",
    "avx512_vbmi2",
    "avx512_vnni",
    "avx512_vpopcntdq",
    "avx512ifma",
    "avx512vbmi",
    "gfni",
)
_ZNVER4: Final = (*_ICELAKE, "avx512_bf16")
_SAPPHIRE: Final = (*_ZNVER4, "amx_bf16", "amx_int8", "amx_tile", "avx512_fp16", "avx_vnni")
_ARM_V8_2: Final = ("asimddp", "asimdhp", "atomics", "fphp")
_ARM_V1: Final = (*_ARM_V8_2, "bf16", "i8mm", "sve")
_ARM_V9: Final = (*_ARM_V1, "sve2")


# AMD's gathers and scatters (Zen 4, Zen 5) take three to five times as long as loads and stores one by one.
# AVX2's gathers are no faster than those, and slower where faults are mitigated.
_WITH_QUICK_GATHERS: Final = frozenset(
    {"skylake-avx512", "cascadelake", "icelake-server", "sapphirerapids", "graniterapids"}
)


@dataclass(frozen=True, slots=True)
class CpuModel:
    """A processor that builds can be made for: its LLVM name, what it has, and how wide its vectors are."""

    name: str
    architecture: str
    required_features: tuple[str, ...]
    vector_bits: int

    @property
    def has_quick_gathers(self) -> bool:
        """Whether a gather is quicker than loads of its elements; no, where the name does not tell."""
        return self.name in _WITH_QUICK_GATHERS

    @property
    def has_slow_gathers(self) -> bool:
        """Whether LLVM would take gathers and scatters, which loads and stores are quicker than."""
        return "avx512f" in self.required_features and not self.has_quick_gathers


def _models(architecture: str, table: dict[str, tuple[tuple[str, ...], int]]) -> dict[str, CpuModel]:
    return {
        name: CpuModel(name, architecture, tuple(sorted(features)), bits)
        for name, (features, bits) in table.items()
    }


X86_MODELS: Final = _models(
    "x86_64",
    {
        "generic": ((), 128),
        "x86-64": ((), 128),
        "x86-64-v2": (_X86_V2, 128),
        "x86-64-v3": (_X86_V3, 256),
        "x86-64-v4": (_X86_V4, 512),
        "haswell": (_X86_V3, 256),
        "skylake": (_X86_V3, 256),
        "alderlake": ((*_X86_V3, "avx_vnni", "gfni"), 256),
        "skylake-avx512": (_X86_V4, 512),
        "cascadelake": ((*_X86_V4, "avx512_vnni"), 512),
        "icelake-server": (_ICELAKE, 512),
        "sapphirerapids": (_SAPPHIRE, 512),
        "graniterapids": ((*_SAPPHIRE, "amx_fp16"), 512),
        "znver1": (_X86_V3, 256),
        "znver2": (_X86_V3, 256),
        "znver3": (_X86_V3, 256),
        "znver4": (_ZNVER4, 512),
        "znver5": ((*_ZNVER4, "avx512_vp2intersect", "avx_vnni"), 512),
    },
)
ARM_MODELS: Final = _models(
    "aarch64",
    {
        "generic": ((), 128),
        "cortex-a53": ((), 128),
        "cortex-a72": ((), 128),
        "cortex-a76": (_ARM_V8_2, 128),
        "neoverse-n1": (_ARM_V8_2, 128),
        "neoverse-n2": (_ARM_V9, 128),
        "neoverse-v1": (_ARM_V1, 128),
        "neoverse-v2": (_ARM_V9, 128),
        "apple-m1": (_ARM_V8_2, 128),
        "apple-m2": ((*_ARM_V8_2, "bf16", "i8mm"), 128),
    },
)
RISCV_MODELS: Final = _models("riscv64", {"generic-rv64": ((), 128), "generic-rv64-v": (("v",), 128)})

# What Linux calls some of ARM's processors: CPU implementer and CPU part.
_ARM_PARTS: Final = {
    "0x41-0xd03": "cortex-a53",
    "0x41-0xd08": "cortex-a72",
    "0x41-0xd0b": "cortex-a76",
    "0x41-0xd0c": "neoverse-n1",
    "0x41-0xd40": "neoverse-v1",
    "0x41-0xd49": "neoverse-n2",
    "0x41-0xd4f": "neoverse-v2",
}
_MODELS_BY_ARCHITECTURE: Final = {"x86_64": X86_MODELS, "aarch64": ARM_MODELS, "riscv64": RISCV_MODELS}
# What LLVM may use on this machine, and therefore what a build for `host` may need elsewhere.
_CODEGEN_FEATURES: Final = frozenset(
    feature
    for models in _MODELS_BY_ARCHITECTURE.values()
    for model in models.values()
    for feature in model.required_features
)
_MACHINE_NAMES: Final = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True, slots=True)
class HostCpu:
    """The processor of this machine. `features` is None where the system does not tell."""

    architecture: str
    model: str
    features: frozenset[str] | None

    @property
    def codegen_features(self) -> tuple[str, ...]:
        """The features that a build for this very processor may rely on."""
        return tuple(sorted((self.features or frozenset()) & _CODEGEN_FEATURES))

    @property
    def fingerprint(self) -> str:
        """Short text that differs where builds for `host` may differ; it goes into cache keys."""
        digest = hashlib.sha256(" ".join(self.codegen_features).encode()).hexdigest()[:12]
        return f"{self.architecture}/{self.model}/{digest}"

    @property
    def known_model(self) -> CpuModel | None:
        """The model of AMD's or ARM's that this processor is, with all of its features.

        Of another one of ARM's it is what that has of those: IREE takes no flags beside a processor that it
        finds itself, and those of ARM need one (`targets.py`).
        """
        if self.architecture == "aarch64":
            name = _ARM_PARTS.get(self.model, "apple-m1" if sys.platform == "darwin" else "generic")
            if name != "generic" and not self.missing(ARM_MODELS[name].required_features):
                return ARM_MODELS[name]
            return CpuModel("generic", "aarch64", self.codegen_features, 128)
        vendor, _, rest = self.model.partition("-")
        name = {"25": "znver4", "26": "znver5"}.get(rest.partition("-")[0], "")
        if vendor != "AuthenticAMD" or not name or self.missing(X86_MODELS[name].required_features):
            return None
        return X86_MODELS[name]

    @property
    def has_quick_gathers(self) -> bool:
        """Whether a gather is quicker than loads of its elements."""
        return "avx512f" in (self.features or ()) and self.model.startswith("GenuineIntel")

    @property
    def vector_bits(self) -> int:
        features = self.features or frozenset()
        if "avx512f" in features:
            return 512
        return 256 if "avx" in features else 128

    def missing(self, required: tuple[str, ...]) -> tuple[str, ...]:
        """The `required` features that this processor lacks (none, where the system does not tell)."""
        if self.features is None:
            return ()
        return tuple(feature for feature in required if feature not in self.features)


@functools.cache
def host_cpu() -> HostCpu:
    """This machine's processor, read once."""
    machine = platform.machine().lower()
    architecture = _MACHINE_NAMES.get(machine, machine)
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return HostCpu(architecture, platform.processor() or machine, None)
    cpu = parse_cpuinfo(text, architecture)
    tiles = {name for name in cpu.features or () if name.startswith("amx_")}
    if cpu.features is None or not tiles or may_use_tiles():
        return cpu
    return HostCpu(cpu.architecture, cpu.model, cpu.features - tiles)


def may_use_tiles() -> bool:
    """Ask Linux for the processor's matrix tiles, which a process and its threads get only so.

    It refuses where it is older than 5.16, or where a thread has a stack for signals that is too small.
    """
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    return ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data) == 0


def parse_cpuinfo(text: str, architecture: str) -> HostCpu:
    """The first processor described by the text of a Linux /proc/cpuinfo."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.partition(":")
        if separator:
            fields.setdefault(key.strip(), value.strip())
    features = (fields.get("flags") or fields.get("Features") or "").split()
    if architecture == "riscv64":
        # rv64imafdcv_zicsr_...: single letters, then named extensions
        base, *named = fields.get("isa", "").removeprefix("rv64").split("_")
        features = [*base, *named]
    identity = ("vendor_id", "cpu family", "model", "stepping", "CPU implementer", "CPU part", "uarch")
    model = "-".join(fields[name] for name in identity if name in fields) or "unknown"
    return HostCpu(architecture, model, frozenset(features) if features else None)
