"""A report of a traced program: its stages, kernels and, where this machine can run it, their times.

Input: a traced program, a target, and the sizes of named dimensions to time it with. Output: the page's text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ...dialects.errors import AdzeError
from ...passes.pipeline import PIPELINE
from ...runtime.artifact.artifact import check_runnable
from ...runtime.artifact.weights import safetensors_of
from ...runtime.execute.devices import get_device
from ...runtime.measure.profiles import Kernel, kernels, record
from ...runtime.targets import Target, TargetKind
from ..staging.compiled import Compiled
from ..staging.exports import SCOPE
from ..staging.traced import Traced
from ..staging.verification import drawn
from ..tracing.locations import is_own_file
from .kernels import kernel_rows
from .page import page
from .report_data import Report, Source
from .stages import Stages, stages_of

TEXT: Final = "-"
"""The file that the lines of kept IR belong to: MLIR's name for text that has none."""

_CALLS: Final = 10


def report_page(
    traced: Traced,
    target: Target,
    *,
    title: str,
    timed: bool = True,
    sizes: Mapping[str, int] | None = None,
    ir: str | None = None,
    parameters: Mapping[str, np.ndarray] | None = None,
) -> str:
    """The page of a program; `ir` is the text that its lines are in, where that is no Python file.

    `parameters` are the arrays that the program has outside, which it needs to be timed.
    """
    stages = stages_of(traced, target)
    measured, timing = _times(stages, target, dict(sizes or {}), timed, parameters or {})
    rows = kernel_rows(stages.kernels, measured) if stages.kernels is not None else []
    about = [
        ("target", str(target)),
        ("ops", f"{sum(g.ops for g in stages.graphs.values())} after simplification, {len(rows)} kernels"),
        *_costs(stages),
        ("passes", f"{len(PIPELINE) - len(stages.unchanged)} of {len(PIPELINE)} changed something"),
    ]
    signature = "; ".join(map(str, stages.lowered.manifest.signatures))
    sources = _sources(stages, ir)
    return page(Report(title, signature, about, sources, stages, rows, timing))


def _costs(stages: Stages) -> list[tuple[str, str]]:
    several = len(stages.timelines) > 1
    return [
        (f"cost of {name}" if several else "cost", str(line.cost)) for name, line in stages.timelines.items()
    ]


def _sources(stages: Stages, ir: str | None) -> list[Source]:
    """The files that ops have lines in, those with most ops first."""
    if ir is not None:
        return [Source(TEXT, "the kept IR", ir.rstrip().split("\n"))]
    counts: dict[str, int] = {}
    for stage in stages.stages:
        for origin in stage.origins:
            for file, _ in origin.lines:
                counts[file] = counts.get(file, 0) + 1
    sources = []
    for file in sorted(counts, key=lambda name: -counts[name]):
        if is_own_file(file):
            continue
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        sources.append(Source(file, _shown(Path(file)), text.rstrip().split("\n")))
    return sources


def _shown(path: Path) -> str:
    """A path as the page names it: no folder outside of the current one."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return path.name


def _times(
    stages: Stages,
    target: Target,
    sizes: dict[str, int],
    timed: bool,
    parameters: Mapping[str, np.ndarray],
) -> tuple[list[Kernel], str]:
    """The times of the kernels on this machine, and what they are, or why there are none."""
    if not timed:
        return [], "Not timed: --no-time."
    specs = [spec for signature in stages.lowered.manifest.signatures for spec in signature.inputs]
    missing = {n for spec in specs for n in spec.shape if not isinstance(n, int)} - sizes.keys()
    if missing:
        named = " ".join(f"--size {name}=64" for name in sorted(map(str, missing)))
        return [], f"Not timed: the sizes are stated by calls. To time it, add {named}"
    if target.kind is not TargetKind.CPU:
        return [], "Not timed: adze times the kernels of programs for this machine's processor."
    try:
        compiled = stages.lowered.compile()
        check_runnable(compiled.manifest)
        return _recorded(compiled, sizes, parameters)
    except AdzeError as error:
        return [], f"Not timed: {error.message}"


def _recorded(
    compiled: Compiled, sizes: Mapping[str, int], parameters: Mapping[str, np.ndarray]
) -> tuple[list[Kernel], str]:
    device = get_device("cpu", work=compiled.manifest.work).name
    events = []
    with tempfile.TemporaryDirectory(prefix="adze-report-") as folder:
        weights = None
        if parameters:
            file = Path(folder) / "weights.safetensors"
            file.write_bytes(safetensors_of(parameters))
            weights = f"{SCOPE}={file}"
        for signature in compiled.manifest.signatures:
            arguments = next(drawn(signature, 1, 0, sizes))
            events += record(compiled.vmfb, device, signature.name, arguments, _CALLS, weights)
    named = "".join(f", {name}={n}" for name, n in sizes.items())
    return kernels(events), f"Times are medians of {_CALLS} calls on {device}{named}, by IREE's profiler."
