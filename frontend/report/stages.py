"""The stages of a program as text whose lines know where they come from.

Input: a traced program and a target. Output: a `Stage` for the trace, each pass that changes it, and
the kernels that IREE makes. The one idea: MLIR prints each op's location behind it, and that of an op with a
region behind its end.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...passes.pipeline import SIMPLIFIED
from ...runtime.errors import CompileError
from ...runtime.targets import Target
from ..staging.kernels import KERNELS
from ..staging.lowered import Lowered
from ..staging.lowering import TRACED
from ..staging.traced import Traced
from .cost import Timeline, timelines
from .graph import Graph, graphs_of
from .provenance import NOWHERE, Locations, Provenance, without_locations

_LARGEST_ELEMENTS: Final = 16  # of a constant that is printed in full
_LAUNCH: Final = re.compile(r"\b(?:flow|stream)\.\S*dispatch @([\w$.]+)::@")
_OWN_KERNEL: Final = re.compile(r"^  stream\.executable private @([\w$.]+) \{$")
_MOST_LINES: Final = 60_000
"""What a stage shows at most: the page of a large program still opens."""


@dataclass(frozen=True)
class Stage:
    """One stage: its lines without locations, where each comes from, and what made it."""

    name: str
    about: str
    lines: list[str]
    origins: list[Provenance]
    seconds: float = 0.0
    omitted: int = 0

    @property
    def ops(self) -> int:
        """How many lines have an op."""
        return sum(1 for line in self.lines if _is_op(line))


@dataclass(frozen=True)
class Stages:
    """All stages, what was read from them, and the passes that changed nothing.

    There is a graph and a timeline for each function that is called from outside.
    """

    stages: list[Stage]
    unchanged: list[str]
    graphs: dict[str, Graph]
    timelines: dict[str, Timeline]
    lowered: Lowered
    kernels_failed: str | None

    @property
    def kernels(self) -> Stage | None:
        """The stage of the kernels."""
        return next((stage for stage in self.stages if stage.name == KERNELS), None)


def stages_of(traced: Traced, target: Target) -> Stages:
    """Run the pipeline and keep what each pass leaves."""
    texts = [(TRACED, "The function as it was traced.", _text(traced.program.module), 0.0)]
    unchanged: list[str] = []
    graphs: dict[str, Graph] = {}
    found: dict[str, Timeline] = {}

    def observe(step: Any, module: Any, seconds: float) -> None:
        text = _text(module)
        if _without_hints(text) == _without_hints(texts[-1][2]):
            unchanged.append(step.name)
        else:
            texts.append((step.name, (step.__doc__ or "").splitlines()[0], text, seconds))
        if step.name == SIMPLIFIED:
            graphs.update(graphs_of(module))
            found.update(timelines(module))

    lowered = traced.lower(target, observe)
    failed = None
    try:
        about = "Divided into kernels by IREE, with the tiles that adze gives them."
        texts.append((KERNELS, about, _reprinted(lowered.kernels(locations=True)), 0.0))
    except CompileError as error:
        failed = error.message
    stages = [stage_of(*each) for each in texts]
    for signature in lowered.manifest.signatures:
        graphs[signature.name] = graphs[signature.name].named(signature)
    return Stages(stages, unchanged, graphs, found, lowered, failed)


def stage_of(name: str, about: str, text: str, seconds: float = 0.0) -> Stage:
    """The stage in a text that MLIR printed with locations."""
    lines = text.rstrip().split("\n")
    locations = Locations(lines)
    shown: list[str] = []
    origins: list[Provenance] = []
    opened: dict[int, list[int]] = {}
    for line in lines:
        if Locations.defines(line):
            continue
        plain, location = without_locations(line)
        origin = NOWHERE if location is None else locations.of(location)
        text, indent = plain.strip(), len(plain) - len(plain.lstrip())
        if text.startswith("}") and location is not None:
            for start in opened.pop(indent, []):  # the op whose regions end here
                origins[start] = origin
        elif text.startswith("} ") and text.endswith("{"):
            opened.setdefault(indent, []).append(len(shown))  # its next region
        elif text.endswith("{") and not text.startswith("^"):
            opened[indent] = [len(shown)]
        shown.append(plain)
        origins.append(origin)
    spread_to_kernels(shown, origins)
    omitted = max(0, len(shown) - _MOST_LINES)
    return Stage(name, about, shown[:_MOST_LINES], origins[:_MOST_LINES], seconds, omitted)


def spread_to_kernels(lines: list[str], origins: list[Provenance]) -> None:
    """Give the lines of adze's own kernels, which have none, the origin of the ops that launch them."""
    launched: dict[str, Provenance] = {}
    for line, origin in zip(lines, origins, strict=True):
        launch = _LAUNCH.search(line) if origin.lines else None
        if launch is not None:
            launched.setdefault(launch[1], origin)
    current = NOWHERE
    for position, line in enumerate(lines):
        kernel = _OWN_KERNEL.match(line)
        if kernel is not None:
            current = launched.get(kernel[1], NOWHERE)
        if current.lines and not origins[position].lines:
            origins[position] = current
        if line == "  }":
            current = NOWHERE


def _text(module: Any) -> str:
    return str(module.operation.get_asm(enable_debug_info=True, large_elements_limit=_LARGEST_ELEMENTS))


def _reprinted(text: str) -> str:
    """IREE's module with its large constants left out."""
    with mlir.new_context(foreign_ops=False) as context:
        return _text(mlir.ir.Module.parse(text, context))


def _without_hints(text: str) -> str:
    """The text without attributes of the module, which tell later passes what was decided."""
    return "\n".join("module {" if line.startswith("module") else line for line in text.split("\n"))


def _is_op(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith(("}", "#", "^", "//", "module", "{-#"))
