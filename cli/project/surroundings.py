"""What else decides a build besides the project and its files: Python, adze, packages, the machine.

Input: the targets that are asked for. Output: names and texts to compare. Nothing is imported for it:
versions are names of folders, and adze itself, which may be edited where it stands, is compared file by
file.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from ...runtime.cpu import host_cpu
from ..reporting import FOLDERS

_DISTRIBUTIONS: Final = (
    "adze_compiler",
    "iree_base_compiler",
    "iree_base_runtime",
    "ml_dtypes",
    "numpy",
    "opt_einsum",
    "optree",
    "scipy",
)
_PACKAGE: Final = Path(__file__).resolve().parent.parent.parent


def surroundings(targets: Iterable[str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Names of what may differ, with what it is now."""
    environment = os.environ if environment is None else environment
    found = {
        "python": f"{sys.version} {platform.machine()}",
        "adze": _own_files(),
        "the search path of modules": _digest("\n".join(sys.path[1:])),
        "ADZE_LOOP_KERNELS": environment.get("ADZE_LOOP_KERNELS", ""),
        **_packages(),
    }
    for target in sorted(set(targets)):
        if target in ("cpu", "cpu:host"):
            found["the processor"] = host_cpu().fingerprint
        elif target == "vulkan":
            found["the Vulkan device"] = _vulkan_device()
    return found


def _own_files() -> str:
    """A digest of names, sizes and times of adze's own files."""
    lines: list[str] = []
    for folder in FOLDERS:
        _list_files(str(_PACKAGE / folder), folder, lines)
    return _digest("\n".join(sorted(lines)))


def _list_files(folder: str, name: str, lines: list[str]) -> None:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        _list_files(entry.path, f"{name}/{entry.name}", lines)
                elif entry.name.endswith((".py", ".pyi", ".mlir")):
                    status = entry.stat()
                    lines.append(f"{name}/{entry.name} {status.st_size} {status.st_mtime_ns}")
    except OSError as error:
        lines.append(f"{name}: {error.strerror}")


def _packages() -> dict[str, str]:
    """The installed distributions that adze computes with: version, and the time of the installation."""
    found: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            distribution, _, version = name.rpartition(".")[0].partition("-")
            distribution = distribution.lower()
            if distribution in _DISTRIBUTIONS and distribution not in found:
                found[distribution] = f"{version} {_time_of(os.path.join(folder, name, 'RECORD'))}".strip()
    return found


def _time_of(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)
    except OSError:
        return ""


def _vulkan_device() -> str:
    from ...runtime.targets import parse_target  # looks at devices

    return parse_target("vulkan").name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
