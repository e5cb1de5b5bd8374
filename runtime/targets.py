"""Compile targets as values.

Input: text such as `cpu`, `cpu:x86-64-v3`, `vulkan:ampere`, `cuda:sm_80` or `cuda:sm_80+nccl`. Output: a
frozen `Target`: its canonical name, the flags that make IREE compile for it, and the facts that the lowering
decides by. Text is parsed once, here; a name that IREE would abort the process for never reaches it.
"""

from __future__ import annotations

import enum
from typing import Final

from ..dialects.dataclass import dataclass
from .cpu import ARM_MODELS, RISCV_MODELS, X86_MODELS, CpuModel, host_cpu
from .errors import TargetError


class TargetKind(enum.Enum):
    CPU = "cpu"
    VULKAN = "vulkan"
    CUDA = "cuda"
    ROCM = "rocm"
    METAL = "metal"


@dataclass(frozen=True, slots=True)
class Target:
    """What a program is compiled for.

    `fingerprint` names the very machine where that matters (`cpu` alone) and is empty otherwise: it belongs
    in every cache key. `missing_dtypes` are the dtypes that the target has no arithmetic for, and
    `native_f64_math` says whether IREE compiles `math.sin` and its like on f64 there. With `has_channels` the
    devices of several ranks exchange arrays themselves, by NCCL; else their hosts do. `has_quick_gathers`: a
    gather of the processor is quicker than loads of its elements.
    """

    name: str
    kind: TargetKind
    architecture: str
    flags: tuple[str, ...]
    vector_bits: int
    is_host: bool = False
    native_f64_math: bool = False
    missing_dtypes: tuple[str, ...] = ()
    required_features: tuple[str, ...] = ()
    fingerprint: str = ""
    has_channels: bool = False
    has_quick_gathers: bool = False

    @property
    def is_spirv(self) -> bool:
        """Whether IREE makes the target's kernels of SPIR-V: Metal's source is written from it."""
        return self.kind in (TargetKind.VULKAN, TargetKind.METAL)

    @property
    def rounds_at_once(self) -> bool:
        """Whether the processor rounds a float to an integer in one instruction."""
        return self.kind is TargetKind.CPU and (
            self.architecture == "aarch64" or "sse4_1" in self.required_features
        )

    @property
    def multiplies_and_adds(self) -> bool:
        """Whether the processor multiplies and adds floats with one rounding."""
        return self.kind is TargetKind.CPU and (
            self.architecture == "aarch64" or "fma" in self.required_features
        )

    @property
    def flushes_subnormals(self) -> bool:
        """Whether IREE's runtime sets the processor to take subnormal numbers for zeros."""
        return self.kind is TargetKind.CPU and self.architecture in ("aarch64", "x86_64")

    @property
    def converts_halves(self) -> bool:
        """Whether the target has instructions between float16 and float32."""
        is_arm = self.architecture == "aarch64"
        return self.kind is not TargetKind.CPU or is_arm or "f16c" in self.required_features

    def __str__(self) -> str:
        return self.name


def parse_target(text: str | Target) -> Target:
    """The target that `text` names; a TargetError lists the legal ones."""
    if isinstance(text, Target):
        return text
    kind, colon, detail = text.strip().partition(":")
    if kind == f"cuda{NCCL}" and not colon:
        return _cuda_target(NCCL)
    if colon and not detail and kind in {known.value for known in TargetKind}:
        raise TargetError(
            f"target {text!r} ends with a colon: expected a detail after it",
            hint=f"write {kind!r}, or one of {', '.join(target_names())}",
        )
    if kind == "cpu":
        return _cpu_target(detail)
    if kind == "vulkan":
        return _vulkan_target(detail)
    if kind == "cuda":
        return _cuda_target(detail)
    if kind == "rocm":
        return _rocm_target(detail)
    if kind == "metal" and not detail:
        return _METAL
    if kind == "metal":
        raise TargetError(
            f"unknown target {text!r}: the target metal has no details",
            hint="write 'metal': the driver of each of Apple's GPUs compiles its kernels",
        )
    raise TargetError(
        f"unknown target {text!r}: expected cpu, vulkan, cuda or rocm, each optionally with a detail after a "
        "colon, or metal",
        hint=f"the targets are {', '.join(target_names())}",
    )


def target_names() -> list[str]:
    """Every legal target, spelt as `parse_target` takes it."""
    names = ["cpu"]
    names += [f"cpu:{name}" for name in _CPU_DETAILS]
    names += ["vulkan", *(f"vulkan:{name}" for name in (*_LAVAPIPE_SUBGROUPS, *_VULKAN_ARCHITECTURES))]
    names += ["cuda", *(f"cuda:{name}" for name in _CUDA_ARCHITECTURES)]
    names += [f"cuda:{name}{NCCL}" for name in _CUDA_ARCHITECTURES]
    names += ["rocm", *(f"rocm:{name}" for name in _ROCM_ARCHITECTURES), "metal"]
    return names


NEVER_RUN: Final = "compiled, never run"
_SEEN: Final = {
    "vulkan:lavapipe": "run on Mesa's lavapipe",
    "vulkan:ampere": "run on an NVIDIA H200",
    "cuda:sm_80": "run on an NVIDIA H100 and an H200",
    "cuda:sm_80+nccl": "run on an NVIDIA H200 by one rank",
    "cuda:sm_90": "some reductions run on an NVIDIA H200",
}
"""Where programs for GPUs were run; docs/gpu.md says what they did there."""
_SEEN_OF_PROCESSORS: Final = {"aarch64": "run under QEMU", "riscv64": NEVER_RUN}
"""The same of processors beside x86-64, where the tests run; docs/testing.md says how to run them there."""


def seen_of(target: Target) -> str | None:
    """Where programs for the target were run so far, `NEVER_RUN` where nowhere; None where the tests run."""
    if target.kind is TargetKind.CPU:
        return None if target.is_host else _SEEN_OF_PROCESSORS.get(target.architecture)
    return _SEEN.get(target.name, NEVER_RUN)


DEVICE_NAME: Final = "__device_0"
"""What IREE calls the device of a program; where one is described by an attribute, it must be told so."""

# --- CPU ---------------------------------------------------------------------------------------------------

_LLVM_CPU: Final = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
)
_NO_GATHERS: Final = ("+prefer-no-gather", "+prefer-no-scatter")
# Linux's names of what a processor of ARM has, and LLVM's.
_ARM_FEATURES: Final = {"asimddp": "dotprod", "atomics": "lse", "bf16": "bf16", "i8mm": "i8mm"}
_WITHOUT_SVE: Final = "neoverse-n1"
"""What code for processors with scalable vectors is compiled for: adze's vectors have 128 bits, and where
IREE hears of scalable ones, the compile of a product of f64[2,3,4] and f64[3,2,5] takes all memory."""
_NO_HALVES: Final = ("-fullfp16",)
"""IREE's runtime sets ARM's processors to take subnormal numbers for zeros, those of float16 too where they
have instructions for it: all below 6e-5. So float16 is computed in float32 there, as elsewhere; what converts
between the two keeps them."""
_RISCV_FEATURES: Final = "+m,+a,+f,+d,+c"


def _cpu_details() -> dict[str, CpuModel]:
    details: dict[str, CpuModel] = dict(X86_MODELS)
    for prefix, models in (("aarch64", ARM_MODELS), ("riscv64", RISCV_MODELS)):
        for name, model in models.items():
            is_plain = name in ("generic", "generic-rv64")
            details[prefix if is_plain else f"{prefix}:{name}"] = model
    return details


_CPU_DETAILS: Final = _cpu_details()


def _cpu_target(detail: str) -> Target:
    if detail in ("", "host"):
        return _host_target()
    if detail not in _CPU_DETAILS:
        raise TargetError(
            f"unknown CPU {detail!r} in target 'cpu:{detail}': expected one of {', '.join(_CPU_DETAILS)}",
            hint="'cpu' alone compiles for this machine's own processor",
        )
    model = _CPU_DETAILS[detail]
    return Target(
        name=f"cpu:{detail}",
        kind=TargetKind.CPU,
        architecture=model.architecture,
        flags=(*_LLVM_CPU, *_cpu_flags(model)),
        vector_bits=model.vector_bits,
        required_features=model.required_features,
        has_quick_gathers=model.has_quick_gathers,
    )


def _host_target() -> Target:
    cpu = host_cpu()
    model = cpu.known_model  # IREE takes no features beside `host`
    return Target(
        name="cpu",
        kind=TargetKind.CPU,
        architecture=cpu.architecture,
        flags=(*_LLVM_CPU, *(_cpu_flags(model) if model else ["--iree-llvmcpu-target-cpu=host"])),
        vector_bits=cpu.vector_bits,
        is_host=True,
        required_features=cpu.codegen_features,
        fingerprint=cpu.fingerprint,
        has_quick_gathers=cpu.has_quick_gathers,
    )


def _cpu_flags(model: CpuModel) -> tuple[str, ...]:
    # The triple is always given: without it IREE takes that of the machine it runs on.
    if model.architecture == "riscv64":
        features = _RISCV_FEATURES + (",+v" if "v" in model.required_features else "")
        return (
            "--iree-llvmcpu-target-triple=riscv64-linux-gnu",
            "--iree-llvmcpu-target-cpu=generic-rv64",
            "--iree-llvmcpu-target-abi=lp64d",
            f"--iree-llvmcpu-target-cpu-features={features}",
        )
    features = ",".join(_llvm_features(model))
    return (
        f"--iree-llvmcpu-target-triple={model.architecture}-linux-gnu",
        f"--iree-llvmcpu-target-cpu={_WITHOUT_SVE if _has_sve(model) else model.name}",
        *([f"--iree-llvmcpu-target-cpu-features={features}"] if features else []),
    )


def _llvm_features(model: CpuModel) -> tuple[str, ...]:
    """What LLVM is to use of a processor, or not, beside what its name says."""
    if model.has_slow_gathers:
        return _NO_GATHERS
    if model.architecture == "aarch64" and model.name == "generic":
        return tuple(f"+{_ARM_FEATURES[name]}" for name in model.required_features if name in _ARM_FEATURES)
    further = ("+bf16", "+i8mm") if _has_sve(model) else ()
    return (*further, *_NO_HALVES) if "asimdhp" in model.required_features else ()


def _has_sve(model: CpuModel) -> bool:
    """Whether LLVM's name of a processor says that it has scalable vectors."""
    return "sve" in model.required_features and model.name != "generic"


# --- Vulkan ------------------------------------------------------------------------------------------------

_NO_WIDE_TYPES: Final = ("f64", "complex<f64>", "i64", "ui64")
# Names that IREE's --iree-vulkan-target takes, with the dtypes that the profile has no arithmetic for.
# IREE's default is an Android baseline that computes f16 wrong, so a target is always given.
_VULKAN_ARCHITECTURES: Final[dict[str, tuple[str, ...]]] = {
    "turing": (),
    "ampere": (),
    "ada": (),
    "rdna1": (),
    "rdna2": (),
    "rdna3": (),
    "rdna4": (),
    "adreno": _NO_WIDE_TYPES,
    "valhall1": _NO_WIDE_TYPES,
    "valhall4": _NO_WIDE_TYPES,
}
# Mesa's software Vulkan: the subgroup is as wide as the vectors of the LLVM it runs on. A wrong subgroup size
# is not noticed by anyone and gives wrong numbers.
_LAVAPIPE_SUBGROUPS: Final = {"lavapipe": 8, "lavapipe4": 4, "lavapipe16": 16}
_LAVAPIPE: Final = (
    '#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", '
    '{{iree_codegen.target_info = #iree_gpu.target<arch = "lavapipe", features = "spirv:v1.6,cap:Shader", '
    "wgp = <compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, "
    "subgroup = shuffle|arithmetic, subgroup_size_choices = [{subgroup}], "
    "max_workgroup_sizes = [1024, 1024, 64], max_thread_count_per_workgroup = 1024, "
    "max_workgroup_memory_bytes = 32768, max_workgroup_counts = [65535, 65535, 65535]>>}}>]>"
)

# IREE's description of Adreno, with arrays of 8 bits, which the 700 series has (storageBuffer8BitAccess).
# Without, IREE 3.13 takes such elements from words of 32 bits: it has no code where a thread has four, and
# loses those behind the last whole word, silently (seen on lavapipe, described so).
_ADRENO: Final = (
    '#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", '
    '{iree_codegen.target_info = #iree_gpu.target<arch = "adreno", features = "spirv:v1.6,cap:Shader", '
    "wgp = <compute = fp32|fp16|int32|int16|int8, storage = b64|b32|b16|b8, "
    "subgroup = shuffle|arithmetic, dot = dp4xi8toi32, subgroup_size_choices = [64], "
    "max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024, "
    "max_workgroup_memory_bytes = 32768, max_workgroup_counts = [65535, 65535, 65535]>>}>]>"
)


def lanes_of_lavapipe(target: Target) -> int:
    """How many lanes share a reduction on lavapipe; 0 on all other devices."""
    return _LAVAPIPE_SUBGROUPS.get(target.architecture, 0) if target.kind is TargetKind.VULKAN else 0


def _vulkan_target(detail: str) -> Target:
    architecture = detail or _host_vulkan_architecture()
    flags: tuple[str, ...]
    if architecture in _LAVAPIPE_SUBGROUPS:
        attribute = _LAVAPIPE.format(subgroup=_LAVAPIPE_SUBGROUPS[architecture])
        flags = (f"--iree-hal-target-device={DEVICE_NAME}={attribute}",)
    elif architecture == "adreno":
        flags = (f"--iree-hal-target-device={DEVICE_NAME}={_ADRENO}",)
    elif architecture in _VULKAN_ARCHITECTURES:
        flags = ("--iree-hal-target-device=vulkan", f"--iree-vulkan-target={architecture}")
    else:
        legal = ", ".join((*_LAVAPIPE_SUBGROUPS, *_VULKAN_ARCHITECTURES))
        raise TargetError(
            f"unknown Vulkan architecture {detail!r} in target 'vulkan:{detail}': expected one of {legal}",
            hint="'vulkan' alone compiles for this machine's own Vulkan device",
        )
    return Target(
        name=f"vulkan:{architecture}",
        kind=TargetKind.VULKAN,
        architecture=architecture,
        flags=flags,
        vector_bits=128,
        is_host=not detail,
        missing_dtypes=_VULKAN_ARCHITECTURES.get(architecture, ()),
    )


def _host_vulkan_architecture() -> str:
    from .execute.devices import (
        vulkan_architecture,  # devices are looked at only where the target leaves it open
    )

    architecture = vulkan_architecture()
    if architecture is None:
        legal = ", ".join((*_LAVAPIPE_SUBGROUPS, *_VULKAN_ARCHITECTURES))
        raise TargetError(
            "target 'vulkan' means this machine's own Vulkan device, and none was found here that adze knows",
            hint=f"name the architecture: vulkan:<one of {legal}>",
        )
    return architecture


# --- CUDA --------------------------------------------------------------------------------------------------

_CUDA_ARCHITECTURES: Final = ("sm_80", "sm_86", "sm_89", "sm_90")
# IREE 3.13 has no description of sm_90 ("missing GPU target"): Ampere's, with Hopper's name, makes PTX that
# ptxas accepts for it.
_HOPPER: Final = (
    '#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", '
    '{iree_codegen.target_info = #iree_gpu.target<arch = "sm_90", features = "+ptx80", '
    "wgp = <compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, "
    "subgroup = shuffle|arithmetic, dot = dp4xi8toi32, mma = [<NV_MMA_SYNC_F32_16x8x16_F16>, "
    "<NV_MMA_SYNC_F16_16x8x16_F16>, <NV_MMA_SYNC_F32_16x8x16_BF16>, <NV_WMMA_F32_16x16x16_F16>, "
    "<NV_WMMA_F16_16x16x16_F16>], subgroup_size_choices = [32], "
    "max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024, "
    "max_workgroup_memory_bytes = 166912, max_workgroup_counts = [2147483647, 65535, 65535]>>}>]>"
)


NCCL: Final = "+nccl"
"""What follows the name of a CUDA target whose devices exchange arrays themselves."""


def _cuda_target(detail: str) -> Target:
    has_channels = detail.endswith(NCCL)
    detail = detail.removesuffix(NCCL)
    architecture = detail or "sm_80"  # PTX: the driver compiles it on for any newer GPU
    if architecture not in _CUDA_ARCHITECTURES:
        raise TargetError(
            f"unknown CUDA architecture {detail!r} in target 'cuda:{detail}': "
            f"expected one of {', '.join(_CUDA_ARCHITECTURES)}",
            hint="PTX for sm_80 also runs on every newer GPU",
        )
    if architecture == "sm_90":
        flags: tuple[str, ...] = (f"--iree-hal-target-device={DEVICE_NAME}={_HOPPER}",)
    else:
        flags = ("--iree-hal-target-device=cuda", f"--iree-cuda-target={architecture}")
    return Target(
        name=f"cuda:{architecture}{NCCL if has_channels else ''}",
        kind=TargetKind.CUDA,
        architecture=architecture,
        flags=flags,
        vector_bits=128,
        native_f64_math=True,
        has_channels=has_channels,
    )


# --- ROCm and Metal: compiled, never run -------------------------------------------------------------------

_ROCM_ARCHITECTURES: Final = ("gfx942", "gfx90a", "gfx1100", "gfx1201")


def _rocm_target(detail: str) -> Target:
    architecture = detail or "gfx942"
    if architecture not in _ROCM_ARCHITECTURES:
        raise TargetError(
            f"unknown ROCm architecture {detail!r} in target 'rocm:{detail}': "
            f"expected one of {', '.join(_ROCM_ARCHITECTURES)}",
            hint="code for ROCm runs on GPUs of its architecture alone",
        )
    return Target(
        name=f"rocm:{architecture}",
        kind=TargetKind.ROCM,
        architecture=architecture,
        flags=("--iree-hal-target-device=hip", f"--iree-rocm-target={architecture}"),
        vector_bits=128,
        native_f64_math=True,
    )


_METAL: Final = Target(
    name="metal",
    kind=TargetKind.METAL,
    architecture="metal",
    flags=("--iree-hal-target-device=metal",),
    vector_bits=128,
    missing_dtypes=("f64", "complex<f64>"),
)
"""Apple's GPUs: IREE writes the source of the kernels, which their driver compiles."""
