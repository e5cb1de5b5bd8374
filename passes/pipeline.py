"""The pipeline: the ordered tuple of named stages, the passes by name, and the one loop that runs them.

A pass is a frozen dataclass whose fields are its options; `parse_pipeline` reads the text
`simplify,lower{target=cpu}` and lists what exists when a name is wrong. The verifier runs after every
pass that leaves adze IR. Nothing else in adze knows the order of the stages.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

from ..dialects import mlir
from ..dialects.errors import AdzeError, OutOfMemoryError
from ..runtime.targets import parse_target
from .analysis.check_nans import CheckNans
from .analysis.verify import invalid, verify
from .base import Pass
from .lower.convert import lower
from .optimize.dead_results import narrow
from .optimize.inline import inline
from .optimize.simplify import simplify
from .transforms import TRANSFORMS

Observer = Callable[["Pass", mlir.ir.Module, float], None]


class PipelineError(AdzeError, ValueError):
    """The text of a pass pipeline is not well formed."""


@dataclass(frozen=True)
class Verify(Pass):
    """Check that the module is well-formed adze IR."""

    name = "verify"

    def run(self, module: mlir.ir.Module) -> None:
        verify(module)


@dataclass(frozen=True)
class Simplify(Pass):
    """Fold constants, apply op algebra, share equal ops, drop unused ops and functions."""

    name = "simplify"

    def run(self, module: mlir.ir.Module) -> None:
        simplify(module)
        narrow(module)


@dataclass(frozen=True)
class Inline(Pass):
    """Replace calls of private functions by their bodies."""

    name = "inline"

    def run(self, module: mlir.ir.Module) -> None:
        inline(module)


@dataclass(frozen=True)
class Lower(Pass):
    """Rewrite adze to linalg on tensors for a target; adze is illegal afterwards."""

    name = "lower"
    leaves_adze = False
    target: str = "cpu"

    def __post_init__(self) -> None:
        parse_target(self.target)  # a wrong one is a mistake in the pipeline, whatever the module is

    def run(self, module: mlir.ir.Module) -> None:
        lower(module, parse_target(self.target))


@dataclass(frozen=True)
class Canonicalize(Pass):
    """MLIR's own canonicalizer."""

    name = "canonicalize"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        run_upstream(module, "builtin.module(canonicalize)")


@dataclass(frozen=True)
class CommonSubexpressions(Pass):
    """MLIR's own common-subexpression elimination."""

    name = "cse"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        run_upstream(module, "builtin.module(cse)")


PASSES: Final[tuple[type[Pass], ...]] = (
    Verify,
    Inline,
    Simplify,
    *TRANSFORMS,
    CheckNans,
    Lower,
    Canonicalize,
    CommonSubexpressions,
)
TO_SIMPLIFIED: Final[tuple[Pass, ...]] = (Inline(), Simplify())
"""From a traced program to the one that is lowered, cached, differentiated again or evaluated."""


def run_upstream(module: mlir.ir.Module, pipeline: str) -> None:
    """Run a pipeline of MLIR's own passes, which verify what they are given."""
    with module.context:
        try:
            mlir.passmanager.PassManager.parse(pipeline).run(module.operation)
        except mlir.ir.MLIRError as error:
            raise invalid(error) from None


def run_pipeline(
    module: mlir.ir.Module,
    passes: Sequence[Pass],
    *,
    check: bool = True,
    observer: Observer | None = None,
) -> None:
    """Run `passes` in order, verifying after each that leaves adze IR unless `check` is false."""
    in_adze = True
    for step in passes:
        started = time.perf_counter()
        try:
            step.run(module)
        except MemoryError as error:
            if isinstance(error, AdzeError):
                raise
            raise OutOfMemoryError(f"pass '{step.name}': there is not enough memory: {error}") from None
        seconds = time.perf_counter() - started
        in_adze = in_adze and step.leaves_adze
        if check and in_adze:
            verify(module)
        if observer is not None:
            observer(step, module, seconds)


_STEP: Final = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")


def parse_pipeline(text: str) -> tuple[Pass, ...]:
    """The passes that `text` names: `simplify,lower{target=cpu}`; `PipelineError` when it is malformed."""
    passes: list[Pass] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise PipelineError(
                f"cannot read pass pipeline {text!r} at {text[position:]!r}",
                hint="write pass names with options in braces: simplify,lower{target=cpu}",
            )
        passes.append(_make(match[1], match[2] or ""))
        position = match.end()
    if not passes:
        raise PipelineError("the pass pipeline is empty", hint=f"passes: {', '.join(p.name for p in PASSES)}")
    return tuple(passes)


def _make(name: str, options: str) -> Pass:
    for candidate in PASSES:
        if candidate.name == name:
            return candidate(**_options(candidate, options))
    raise PipelineError(f"there is no pass '{name}'", hint=f"passes: {', '.join(p.name for p in PASSES)}")


def _options(pass_: type[Pass], text: str) -> dict[str, object]:
    known = {f.name.replace("_", "-"): f for f in fields(pass_)}
    given: dict[str, object] = {}
    for item in text.split():
        key, equals, value = item.partition("=")
        if key not in known or not equals:
            legal = ", ".join(f"{k}=..." for k in known) or "none"
            raise PipelineError(f"pass '{pass_.name}' has no option {item!r}", hint=f"options: {legal}")
        given[known[key].name] = value
    return given
