"""Passes by name: all that `adze opt` runs, groups of them, and the text of a pipeline.

`simplify,lower{target=cpu}` names passes and groups, with options in braces. A group stands for several
passes of the pipeline and forwards its options to those that have them. A wrong name or option is a
`PipelineError` that lists what exists.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Final

from ..dialects import mlir
from ..dialects.dataclass import dataclass
from ..dialects.errors import AdzeError
from .analysis.check_nans import CheckNans
from .analysis.verify import invalid, verify
from .base import Pass
from .lower.iree.limited_operands import LimitOperands
from .lower.iree.numbered_lanes import ConstantNumbers
from .lower.iree.recomputed_reductions import SeparateReductions
from .lower.iree.reduced_operands import SeparateOperands
from .lower.outline_layers import OutlineLayers
from .lower.tuning.conflicts import drop_tiles
from .pipeline import AFTER_FLOW, AFTER_FLOW_OF_GPUS, LOWER, OPTIMIZE, PIPELINE
from .transforms import TRANSFORMS


class PipelineError(AdzeError, ValueError):
    """The text of a pass pipeline is not well formed."""


@dataclass(frozen=True)
class Verify(Pass):
    """Check that the module is well-formed adze IR."""

    name = "verify"

    def run(self, module: mlir.ir.Module) -> None:
        verify(module)


@dataclass(frozen=True)
class StripTiles(Pass):
    """Remove the tiles of every op, so that IREE chooses its own."""

    name = "strip-tiles"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        drop_tiles(module)


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


def run_upstream(module: mlir.ir.Module, pipeline: str) -> None:
    """Run a pipeline of MLIR's own passes, which verify what they are given."""
    with module.context:
        try:
            mlir.passmanager.PassManager.parse(pipeline).run(module.operation)
        except mlir.ir.MLIRError as error:
            raise invalid(error) from None


PASSES: Final[tuple[type[Pass], ...]] = (
    *(type(step) for step in (*PIPELINE, *AFTER_FLOW, *AFTER_FLOW_OF_GPUS[1:])),
    Verify,
    *TRANSFORMS,
    CheckNans,
    SeparateReductions,
    ConstantNumbers,
    SeparateOperands,
    LimitOperands,
    StripTiles,
    OutlineLayers,
    Canonicalize,
    CommonSubexpressions,
)
"""Every pass: the pipeline in its order, what runs behind IREE's phase `flow`, then those beside it."""


@dataclass(frozen=True)
class Group:
    """A name for several passes in a row."""

    name: str
    passes: tuple[Pass, ...]


GROUPS: Final[tuple[Group, ...]] = (Group("optimize", OPTIMIZE), Group("lower", LOWER))


def description_of(known: type[Pass] | Group) -> str:
    """What a pass does, or which passes a group stands for."""
    if isinstance(known, Group):
        return f"A group, the same as {','.join(step.name for step in known.passes)}."
    return " ".join((known.__doc__ or "").split())


def options_of(known: type[Pass] | Group) -> dict[str, object]:
    """The options of a pass or a group as the text of a pipeline spells them, with their defaults."""
    passes = [type(step) for step in known.passes] if isinstance(known, Group) else [known]
    return {f.name.replace("_", "-"): f.default for each in passes for f in fields(each)}


_STEP: Final = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")


def parse_pipeline(text: str) -> tuple[Pass, ...]:
    """The passes that `text` names, groups replaced by theirs; `PipelineError` when it is malformed."""
    passes: list[Pass] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise PipelineError(
                f"cannot read pass pipeline {text!r} at {text[position:]!r}",
                hint="write pass names with options in braces: simplify,lower{target=cpu}",
            )
        passes += _named(match[1], match[2] or "")
        position = match.end()
    if not passes:
        raise PipelineError("the pass pipeline is empty", hint=_legal_names())
    return tuple(passes)


def _named(name: str, text: str) -> tuple[Pass, ...]:
    everything: tuple[type[Pass] | Group, ...] = (*PASSES, *GROUPS)
    for known in everything:
        if known.name == name:
            options = _options(known, text)
            passes = known.passes if isinstance(known, Group) else (known(),)
            return tuple(
                replace(step, **{key: value for key, value in options.items() if hasattr(step, key)})
                for step in passes
            )
    raise PipelineError(f"there is no pass '{name}'", hint=_legal_names())


def _legal_names() -> str:
    groups = ", ".join(group.name for group in GROUPS)
    return f"passes: {', '.join(known.name for known in PASSES)}; groups of passes: {groups}"


def _options(known: type[Pass] | Group, text: str) -> dict[str, str]:
    legal = options_of(known)
    options: dict[str, str] = {}
    for item in text.split():
        key, equals, value = item.partition("=")
        if key not in legal or not equals:
            names = ", ".join(f"{k}=..." for k in legal) or "none"
            raise PipelineError(f"pass '{known.name}' has no option {item!r}", hint=f"options: {names}")
        options[key.replace("-", "_")] = value
    return options
