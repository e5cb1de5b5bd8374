"""`adze doctor`: everything about this machine and installation that an answer to a question needs.

Versions, processor, devices, the compile cache, and each setting with its origin. What is wrong is listed
under problems, and the command then leaves with 1, so that a CI job may ask it first.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .reporting import JsonOption, command, print_json, print_rows, print_text, readable_bytes, working

_GPU_DRIVERS = ("vulkan", "cuda")

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
def doctor(
    gpu: Annotated[
        bool, typer.Option("--gpu", help="Look at GPUs too: compute products on each, and time them.")
    ] = False,
    small: Annotated[
        bool, typer.Option("--small", help="With --gpu: small products, for a GPU that is imitated.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show versions, devices, the cache and the settings; exit with 1 when something is wrong.

    With --gpu, for each GPU: its driver and memory, products that are compared with NumPy's and timed, and
    what part that is of what the device can do.

    Example: adze doctor --gpu
    """
    if small and not gpu:
        raise typer.BadParameter("--small is about the products of --gpu: write --gpu --small")
    report = examine()
    if gpu:
        with working("computing on the GPUs"):
            rows, problems = examine_gpus(small=small)
        report |= {"gpus": rows, "problems": report["problems"] + problems}
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


def examine_gpus(*, small: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
    """What each GPU is and does, and what is wrong with them; `small` as in `check_gpu`."""
    from ..dialects.errors import AdzeError
    from ..frontend.report.gpus import check_gpu
    from ..runtime.execute.devices import absence, list_devices

    rows: list[dict[str, Any]] = []
    problems = []
    here = [info for info in list_devices() if info.kind.value in _GPU_DRIVERS]
    for driver in _GPU_DRIVERS:
        why = absence(driver)
        if why is not None:
            rows.append({"driver": driver, "missing": why.reason, "hint": why.hint})
    if not here:
        problems += [f"{row['driver']}: {row['missing']}: {row['hint']}" for row in rows]
    for info in here:
        try:
            row = check_gpu(info.name, small=small).to_json()
        except AdzeError as error:
            problems.append(f"{info.name}: {error.message}")
            continue
        rows.append(row)
        problems += [f"{info.name}: {failure}" for failure in row["failures"]]
        problems += [
            f"{info.name}: a product of {each['dtype']} is wrong by {each['error']:.1g} of its most"
            for each in row["products"]
            if not each["is_right"]
        ]
    return rows, problems


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
    if "gpus" in report:
        _block("GPUs", [fact for row in report["gpus"] for fact in _gpu_facts(row)])
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


def _gpu_facts(row: dict[str, Any]) -> list[tuple[str, object]]:
    if "missing" in row:
        return [(row["driver"], f"{row['missing']}; {row['hint']}")]
    memory = "not told" if row["memory"] is None else readable_bytes(row["memory"])
    return [
        (row["device"], row["description"]),
        ("  driver", row["driver"] or "not told"),
        ("  memory", f"{memory}, {_peak_text(row['bandwidth'], 'B/s')}"),
        ("  times by", row["clock"]),
        ("  peak", f"{_peak_text(row['peak'], 'flop/s in float32')}"),
        *[(f"  {each['dtype']}", _product_text(each, row["peak"])) for each in row["products"]],
    ]


def _peak_text(peak: dict[str, Any] | None, unit: str) -> str:
    return "not measured" if peak is None else f"{_rate(peak['value'], unit)} ({peak['source']})"


def _product_text(product: dict[str, Any], peak: dict[str, Any] | None) -> str:
    size, flops = product["size"], product["flops"]
    if not product["is_right"]:
        return f"product {size} x {size}: WRONG (off by {product['error']:.1g})"
    rate = "not timed" if flops is None else _rate(flops, "flop/s")
    if flops is not None and peak is not None:
        rate += f", {flops / peak['value']:.0%} of the peak in float32"
    return f"product {size} x {size}: right (off by {product['error']:.1g}), {rate}"


def _rate(value: float, unit: str) -> str:
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


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
