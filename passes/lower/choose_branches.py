"""The target makes its choices: of branches that depend on the target one is kept.

Input: adze IR with a plan. Output: the same without `platform_index` and `loop_preference`: constants take
their place, and the chosen branch that of a `cond`. Idea: a loop is preferred where it becomes a kernel
(`kernels/loops/select.py`), and all loops of one label together take less time by the estimate of
`kernels/loops/cost.py` than the other branches on the host. The label is on the loop of a function and on
those of its derivatives, which must choose alike: each has residuals of its own form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op
from ...dialects.ops.control.choices import LoopPreference, PlatformIndex, place
from ...dialects.ops.control.cond import Cond
from ...dialects.ops.control.scan import Scan
from ...dialects.ops.control.while_loop import While
from ...dialects.ops.shape.rearrange import Movement
from ...dialects.types import INT32, TensorType
from ...runtime.targets import TargetKind
from ..analysis.verify import location_text
from ..base import Pass, names_of
from ..ir.aliases import Operation, Value
from ..ir.functions import body, functions, referenced, refers_to_functions, split_body
from ..optimize.dead_results import eliminate_dead_results
from ..optimize.inline import inline_operation
from ..optimize.simplify import simplify
from .kernels.loops.cost import StepCosts
from .kernels.loops.select import Obstacles, why_no_kernels
from .kernels.loops.times import Time, elements
from .plan import target_of

MOVED: Final = 0.5
"""Nanoseconds for an element that is moved between the combinations of a tree: it is in no view there."""
MOVING: Final = 150.0
"""Nanoseconds for an op that moves such elements."""
PREFERRED: Final = 0.2
"""What part of the estimate a loop is taken to last: of functions of numbers it is three times too high, and
the other form takes five times as long to compile."""


@dataclass(frozen=True)
class ChooseBranches(Pass):
    """Keep of branches that depend on the target the one that it takes; `kernels=off` takes no loops."""

    name = "choose-branches"
    needs = names_of(PlatformIndex, LoopPreference)
    kernels: str = "on"

    def __post_init__(self) -> None:
        if self.kernels not in ("on", "off"):
            raise ValueError(f"choose-branches: kernels is {self.kernels!r}: expected on or off")

    def run(self, module: mlir.ir.Module) -> bool:
        kind = target_of(module).kind
        # On a GPU the form without loops occupies all of it.
        has_kernels = kind is TargetKind.CPU and why_no_kernels(module, self.kernels == "on") is None
        return choose_branches(module, kind, with_loops=has_kernels)


def choose_branches(module: mlir.ir.Module, platform: TargetKind, *, with_loops: bool) -> bool:
    """Put constants and chosen branches in the place of what asks for a choice; whether anything does."""
    choices = _Choices(module, platform.value, with_loops)
    changed = [choices.replace_in(symbol) for symbol in choices.functions]
    if not any(changed):
        return False
    simplify(module)
    eliminate_dead_results(module)
    return True


def _takes_part(op: type[Op]) -> bool:
    """Whether ops of a class ask for a choice, or are what is chosen from."""
    return op in (PlatformIndex, LoopPreference, Cond)


class _Choices:
    """The choices of one module."""

    def __init__(self, module: mlir.ir.Module, platform: str, with_loops: bool) -> None:
        self.reader = Reader(Codec(module.context))
        self.functions = functions(module)
        self._platform = platform
        self._prefers_loops = self._preferences() if with_loops else {}

    def replace_in(self, symbol: str) -> bool:
        """Put constants and chosen branches in the place of what asks for a choice; whether anything does."""
        operations, _ = split_body(self.functions[symbol])
        pending = [child.operation for child in reversed(operations)]
        chosen: dict[Value, int] = {}
        asking = []
        while pending:
            operation = pending.pop()
            application = self.reader.read_if(operation, _takes_part)
            if application is None:
                continue
            if application.op in (PlatformIndex, LoopPreference):
                chosen[operation.results[0]] = self._choice(application)
                asking.append(operation)
            elif application.op is Cond and application.operands[0] in chosen:
                branches, index = application.attributes["branches"], chosen[application.operands[0]]
                if index == len(branches):
                    raise self._no_branch(operation)
                callee = self.functions[branches[index]]
                pending += reversed(inline_operation(operation, callee, application.operands[1:]))
        for operation in asking:
            emitter = Emitter(self.reader.codec, mlir.ir.InsertionPoint(operation), operation.location)
            value = operation.results[0]
            value.replace_all_uses_with(emitter.array(np.array(chosen[value], INT32)))
            operation.erase()
        return bool(asking)

    def _choice(self, application: Application) -> int:
        if application.op is PlatformIndex:
            return place(self._platform, application.attributes["platforms"])
        return int(self._prefers_loops.get(application.attributes["label"], False))

    def _no_branch(self, operation: Operation) -> MissingRuleError:
        return MissingRuleError(
            f"the program has no branch for {self._platform}",
            where=location_text(operation.location),
            hint="give platform_dependent a default=, or build for a platform that has a branch",
        )

    def _preferences(self) -> dict[str, bool]:
        """For each label whether its loops become kernels that are estimated to be faster."""
        costs, obstacles = StepCosts(self.functions, self.reader), Obstacles(self.functions, self.reader)
        times: dict[str, Time] = defaultdict(Time)
        refused = set()
        for label, application in self._between_loops_and_others():
            other, loop = application.attributes["branches"]
            times[label] += Time(
                costs.function(other).host + self._moving(other), PREFERRED * costs.function(loop).kernel
            )
            if any(obstacles.of(*found) is not None for found in self._loops(loop)):
                refused.add(label)
        return {label: label not in refused and time.kernel <= time.host for label, time in times.items()}

    def _between_loops_and_others(self) -> Iterator[tuple[str, Application]]:
        """Each `cond` that chooses between another form and a loop, with its label."""
        for function in self.functions.values():
            labels: dict[Value, str] = {}
            for child in body(function).operations:
                application = self.reader.read_if(child.operation, _takes_part)
                if application is None:
                    continue
                if application.op is LoopPreference:
                    labels[child.operation.results[0]] = application.attributes["label"]
                elif application.op is Cond and application.operands[0] in labels:
                    yield labels[application.operands[0]], application

    def _moving(self, symbol: str) -> float:
        """Nanoseconds in which the function, and those that it refers to, take arrays apart and join them."""
        total = 0.0
        for child in body(self.functions[symbol]).operations:
            application = self.reader.read(child.operation)
            if application is None:
                continue
            total += sum(map(self._moving, referenced(application)))
            if issubclass(application.op, Movement):
                types = [self.reader.codec.read_type(v.type) for v in child.operation.results]
                total += MOVING + MOVED * sum(elements(t) for t in types if isinstance(t, TensorType))
        return total

    def _loops(self, symbol: str) -> Iterator[tuple[Operation, Application]]:
        """The loops of a function and of those that it calls, but not those within loops."""
        for child in body(self.functions[symbol]).operations:
            application = self.reader.read_if(child.operation, refers_to_functions)
            if application is None:
                continue
            if application.op in (Scan, While):
                yield child.operation, application
                continue
            for inner in referenced(application):
                yield from self._loops(inner)
