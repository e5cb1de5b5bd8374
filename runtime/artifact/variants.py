"""Files that hold several modules of one program: which of them runs here.

Input: a manifest with its variants, and the device that the user asks for, if any. Output: the variant to
load, its device, and for each variant the reason why it can or cannot run on this machine.

IREE compares neither the processor's features (a build that is too new dies with an illegal instruction)
nor the subgroup size of a Vulkan device (the numbers would be wrong), so a variant is chosen before any is
loaded. The order of preference: CUDA, a Vulkan device, the CPU build that uses most features, Vulkan in
software.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from ...dialects.dataclass import dataclass
from ..errors import ArtifactError
from ..execute.architectures import runs
from ..execute.devices import Device, DeviceInfo, get_device, list_devices
from ..settings import read_setting
from .manifest import Manifest, Variant

# What IREE calls the kernels that it makes of a function, and what adze calls those of its own.
_KINDS: Final = ("cpu", "vulkan", "cuda", "rocm", "metal")
_KERNEL: Final = re.compile(rb"[A-Za-z_][\w$.]*?_dispatch_\d+|(?<![\w$.])kernel_[a-z]\w*")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a variant can run on this machine, on which device, and why (not)."""

    variant: Variant
    device: str | None
    reason: str


def variant_of(manifest: Manifest, module: bytes) -> Variant:
    """The entry of a file for `module`, which has this manifest."""
    return Variant(
        manifest.target,
        manifest.architecture,
        manifest.required_features,
        manifest.flags,
        manifest.work,
        len(module),
        len(set(kernels_of(module)) - {signature.name for signature in manifest.signatures}),
    )


def part_of(variant: Variant) -> str:
    """The name of the part of a file that holds the module of a variant but the first."""
    return f"module.{variant.target}"


def kernels_of(module: bytes) -> list[str]:
    """The names of the kernels of a compiled module, in alphabetical order."""
    return sorted({name.decode() for name in _KERNEL.findall(module)})


def verdicts(manifest: Manifest, check: Callable[[Manifest], None]) -> list[Verdict]:
    """For each variant whether it can run here; `check` raises for what this processor or IREE cannot run."""
    here: list[DeviceInfo] | None = None
    result = []
    for variant in manifest.variants:
        try:
            check(manifest.of(variant))
        except ArtifactError as error:
            result.append(Verdict(variant, None, error.message))
            continue
        kind = kind_of(variant)
        if kind == "cpu":
            needs = len(variant.required_features)
            reason = f"uses {needs} features of this processor" if needs else "runs on any such processor"
            result.append(Verdict(variant, "cpu", reason))
            continue
        here = list_devices() if here is None else here
        result.append(_on_gpu(variant, [info for info in here if info.kind.value == kind]))
    return result


def _on_gpu(variant: Variant, devices: Sequence[DeviceInfo]) -> Verdict:
    kind = kind_of(variant)
    if not devices:
        return Verdict(variant, None, f"there is no {kind} device on this machine")
    for info in devices:
        if runs(kind, info.architecture, variant.architecture):
            return Verdict(variant, info.name, f"runs on {info.description}")
    described = ", ".join(info.description for info in devices)
    return Verdict(variant, None, f"built for another device than {described}")


def in_order(judged: Sequence[Verdict]) -> list[Verdict]:
    """Those that can run here, best first; equal ones as they stand in the file."""
    return sorted((each for each in judged if each.device is not None), key=_rank)


def _rank(verdict: Verdict) -> tuple[int, int]:
    variant, kind = verdict.variant, kind_of(verdict.variant)
    if kind == "vulkan" and "lavapipe" in variant.architecture:
        return 3, 0
    return ("cuda", "vulkan", "cpu").index(kind), -len(variant.required_features)


def choose(
    manifest: Manifest, device: str | Device | None, target: str | None, check: Callable[[Manifest], None]
) -> Verdict:
    """The best variant that runs here, of those for `device` and `target` where they are given.

    Without a device, ADZE_DEVICE decides where the file has a variant for it. Raises `ArtifactError` with the
    reason for each variant where none can run.
    """
    judged = [v for v in verdicts(manifest, check) if target is None or v.variant.target == target]
    if not judged:
        names = ", ".join(variant.target for variant in manifest.variants)
        raise ArtifactError(f"the file has no variant for {target}: it has {names}")
    wanted = device or read_setting("device")
    kind = _kind_of_device(wanted) if wanted else None
    if device is None and kind not in (None, *_KINDS):
        get_device(wanted)  # raises: there is no such device
    fitting = [verdict for verdict in judged if kind in (None, kind_of(verdict.variant))]
    if device is None and not fitting:
        fitting, wanted = judged, None
    usable = in_order(fitting)
    if not usable:
        reasons = "; ".join(f"{v.variant.target}: {v.reason}" for v in fitting or judged)
        where = f" on {wanted}" if wanted else ""
        raise ArtifactError(
            f"no variant of the program can run here{where}: {reasons}",
            hint="build it with one more -t: adze build -t cpu makes a program for this machine",
        )
    best = usable[0]
    name = wanted.name if isinstance(wanted, Device) else wanted
    return Verdict(best.variant, name or best.device, best.reason)


def fitting_setting(target: str) -> str | None:
    """The device that ADZE_DEVICE names, where it is of the kind of a target; raises for one that is none."""
    name = read_setting("device")
    if name is None:
        return None
    fits = _kind_of_device(name) == target.partition(":")[0]
    if not fits and _kind_of_device(name) not in _KINDS:
        get_device(name)  # which says what there is
    return str(name) if fits else None


def _kind_of_device(device: str | Device) -> str:
    if isinstance(device, Device):
        return device.kind.value
    driver = device.partition(":")[0]
    return "cpu" if driver.startswith("local-") else driver


def kind_of(variant: Variant) -> str:
    """cpu, vulkan, cuda, rocm or metal."""
    return variant.target.partition(":")[0]


def open_device(verdict: Verdict, device: str | Device | None) -> Device:
    """The device to load the chosen variant on."""
    chosen = device if isinstance(device, Device) else verdict.device
    return get_device(chosen, work=verdict.variant.work)
