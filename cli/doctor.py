"""`adze doctor`: everything about this machine and installation that an answer to a question needs.

Versions, processor, devices, the compile cache, and each setting with its origin. What is wrong is listed
under problems, and the command then leaves with 1, so that a CI job may ask it first.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from .reporting import JsonOption, command, print_json, print_rows, print_text, readable_bytes

_DISTRIBUTIONS = (
    "adze-compiler",
    "iree-base-compiler",
    "iree-base-runtime",
    "numpy",
    "ml_dtypes",
    "optree",
    "opt_einsum",
)


@command
def doctor(json: JsonOption = False) -> None:
    """Show versions, devices, the cache and the settings; exit with 1 when something is wrong.

    Example: adze doctor --json
    """
    report = examine()
    if json:
        print_json(report)
    else:
        show(report)
    if report["problems"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """What there is to know, as values that JSON can carry."""
    from ..runtime.compile.cache import CompileCache
    from ..runtime.cpu import host_cpu
    from ..runtime.distribution import conflict, installed
    from ..runtime.errors import SettingError
    from ..runtime.execute.devices import list_devices
    from ..runtime.settings import describe_settings, read_settings, unknown_variables
    from ..runtime.targets import parse_target

    problems: list[str] = []
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    both = conflict(installed())
    problems += [both] if both else []
    problems += [f"{name} is not installed" for name, version in versions.items() if version is None]
    compiler, runtime = versions["iree-base-compiler"], versions["iree-base-runtime"]
    if compiler and runtime and _minor(compiler) != _minor(runtime):
        problems.append(
            f"IREE's compiler is {compiler} and its runtime {runtime}: the minor versions must be equal"
        )
    try:
        cache = asdict(CompileCache.from_settings(read_settings()).stats())
    except SettingError as error:
        cache = None
        problems.append(error.message)
    problems += [f"{name} is set and means nothing to adze" for name in unknown_variables()]
    host = host_cpu()
    return {
        "versions": {"python": platform.python_version(), **versions},
        "machine": {
            "system": platform.platform(),
            "architecture": host.architecture,
            "vector_bits": parse_target("cpu").vector_bits,
        },
        "devices": [
            {"name": device.name, "kind": device.kind.value, "description": device.description}
            for device in list_devices()
        ],
        "cache": cache,
        "settings": [asdict(setting) for setting in describe_settings()],
        "cmake_package": str(_cmake_package()) if _cmake_package() else None,
        "problems": problems,
    }


def show(report: dict[str, Any]) -> None:
    """The report for people, one block a topic."""
    _block("versions", [(name, version or "not installed") for name, version in report["versions"].items()])
    _block(
        "machine",
        [
            ("system", report["machine"]["system"]),
            ("architecture", report["machine"]["architecture"]),
            ("vectors", f"{report['machine']['vector_bits']} bit"),
            ("CMake package", report["cmake_package"] or "not installed"),
        ],
    )
    _block("devices", [(device["name"], device["description"]) for device in report["devices"]])
    cache = report["cache"]
    if cache is not None:
        size = f"{readable_bytes(cache['bytes'])} of at most {readable_bytes(cache['max_bytes'])}"
        state = "on" if cache["enabled"] else "off"
        _block(
            "compile cache",
            [("folder", cache["folder"]), ("state", state), ("entries", cache["entries"]), ("size", size)],
        )
    _block(
        "settings",
        [
            (setting["variable"], f"{setting['value']} ({_origin(setting)}): {setting['meaning']}")
            for setting in report["settings"]
        ],
    )
    print_text("problems" if report["problems"] else "no problems found")
    for problem in report["problems"]:
        print_text(f"  {problem}")


def _block(title: str, rows: list[tuple[str, object]]) -> None:
    print_text(title)
    print_rows([(f"  {name}", value) for name, value in rows])
    print_text()


def _origin(setting: dict[str, Any]) -> str:
    return "from the environment" if setting["from_environment"] else "default"


def _version(distribution: str) -> str | None:
    from importlib import metadata  # slow to import, and needed only here

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


def _cmake_package() -> Path | None:
    """The folder for CMake's adze_DIR, where this environment has it."""
    folder = Path(sys.prefix) / "share" / "cmake" / "adze"
    return folder if (folder / "adzeConfig.cmake").is_file() else None
