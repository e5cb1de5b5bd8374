"""Which loops become kernels: decided on adze ops, written on each loop, and printed by `adze ir --remarks`.

Input: adze IR with a plan. Output: the same, each `scan` and `while` that the host would run marked with
`adze.loop = "kernel: why"` or `"host: why"`. A loop inside of a kernel has no mark: it is part of that
kernel. A kernel has only ops that its lowering has (`forms`), without effects, and sizes that show at the
call only on a CPU, where those ops take them; and it is one only where that takes less time by the estimate
of `cost.py`. A loop that computes each element for itself is always one, of vectors that have the whole loop
in registers (`pointwise`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....dialects.op import Op
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from .....dialects.types import TensorType, ValueType
from .....runtime.targets import TargetKind
from ....base import Pass, names_of
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, is_private, referenced, refers_to_functions
from ....ir.marks import LOOP
from ...plan import target_of
from ..executable import DISPATCH
from .cost import StepCosts
from .errors import KernelError
from .forms import can_lower, takes_dynamic_sizes
from .pointwise.single import single_element
from .times import elements, length_of

KERNEL: Final = "kernel: "
ELEMENTS: Final = "kernel: each of "
HOST: Final = "host: "
MOST_OPS: Final = 2000  # of a kernel, those of nested bodies included: more take long to compile
LARGEST: Final = 1 << 31  # bytes of what a kernel is given or carries
LONGEST: Final = 1e9  # nanoseconds: drivers of Vulkan and Metal end a kernel of some seconds


@dataclass(frozen=True)
class SelectLoops(Pass):
    """Mark each loop that the host would run with the form that it gets, and why; `kernels=off` keeps all."""

    name = "select-loops"
    needs = names_of(Scan, While)
    kernels: str = "on"

    def __post_init__(self) -> None:
        if self.kernels not in ("on", "off"):
            raise ValueError(f"select-loops: kernels is {self.kernels!r}: expected on or off")

    def run(self, module: mlir.ir.Module) -> bool:
        selection = Selection(module, self.kernels == "on")
        for symbol, function in functions(module).items():
            if not is_private(function):
                selection.mark_function(symbol)
        return False


class Selection:
    """The decisions of one module."""

    def __init__(self, module: mlir.ir.Module, is_on: bool) -> None:
        self.reader = Reader(Codec(module.context))
        self.functions = functions(module)
        self._why_none = why_no_kernels(module, is_on)
        target = target_of(module)
        kind = target.kind
        self._drivers = kind.value.capitalize() if target.is_spirv else ""
        self._costs = StepCosts(self.functions, self.reader, kind)
        self._has_dynamic = kind is TargetKind.CPU
        self._obstacles = Obstacles(self.functions, self.reader, has_dynamic=self._has_dynamic)
        self._marked: set[str] = set()

    def mark_function(self, symbol: str) -> None:
        """Mark the loops of a function, and those of the functions that the host calls for it."""
        if symbol in self._marked:
            return
        self._marked.add(symbol)
        for child in list(body(self.functions[symbol]).operations):
            application = self.reader.read_if(child.operation, refers_to_functions)
            if application is None:
                continue
            if is_loop(application.op) and self._decide(child.operation, application):
                continue
            self.mark_inside(application)

    def mark_inside(self, application: Application) -> None:
        """Mark the loops of what an op on the host refers to."""
        for symbol in referenced(application):
            self.mark_function(symbol)

    def _decide(self, loop: Operation, application: Application) -> bool:
        """Mark one loop; whether it becomes a kernel."""
        if self._why_none is None:
            try:
                single = single_element(loop, self.functions, self.reader, has_dynamic=self._has_dynamic)
            except KernelError:
                pass  # its elements depend on each other
            else:
                which = "its elements" if single.count is None else f"its {single.count} elements"
                mark(loop, f"{ELEMENTS}{which} runs by itself, in registers")
                return True
        return self.decide_for_arrays(loop, application)

    def decide_for_arrays(self, loop: Operation, application: Application) -> bool:
        """Mark one loop over arrays; whether it becomes a kernel."""
        obstacle = self._why_none or self._obstacles.of(loop, application)
        if obstacle is None:
            step = self._costs.step(application)
            times = (
                f"a step takes about {time_text(step.kernel)} in a kernel, {time_text(step.host)} on the host"
            )
            is_kernel = step.kernel <= step.host
            if is_kernel and self._drivers and application.op is Scan:
                total = step.kernel * length_of(application.attributes["length"][0])
                if total > LONGEST:
                    is_kernel = False
                    drivers = f"drivers of {self._drivers}"
                    times = f"a kernel of it would take {time_text(total)}, and {drivers} end such"
            mark(loop, (KERNEL if is_kernel else HOST) + times)
            return is_kernel
        mark(loop, HOST + obstacle)
        return False


def is_loop(op: type[Op]) -> bool:
    """Whether ops of a class are loops, which may become kernels."""
    return op in (Scan, While)


def mark(loop: Operation, text: str) -> None:
    """Write the decision on a loop."""
    loop.attributes[LOOP] = mlir.ir.StringAttr.get(text, loop.context)


def marked(operation: Operation) -> str | None:
    """The decision on a loop, None where there is none."""
    attributes = operation.attributes
    return mlir.ir.StringAttr(attributes[LOOP]).value if LOOP in attributes else None


def why_no_kernels(module: mlir.ir.Module, is_on: bool) -> str | None:
    """Why a module has no kernels of loops at all; None where it may have some."""
    if not is_on:
        return "kernels of loops are switched off"
    target = target_of(module)
    has_some = target.kind in (TargetKind.CPU, TargetKind.CUDA) or target.is_spirv
    return None if has_some else f"there are no kernels of loops for {target.kind.value}"


class Obstacles:
    """Why loops cannot be kernels; each function is looked at once.

    `has_dynamic`: kernels may have sizes that show at the call.
    """

    def __init__(
        self, by_symbol: Mapping[str, Operation], reader: Reader, *, has_dynamic: bool = False
    ) -> None:
        self._has_dynamic = has_dynamic
        self._functions = by_symbol
        self._reader = reader
        self._known: dict[str, tuple[str | None, int]] = {}

    def of(self, loop: Operation, application: Application) -> str | None:
        """The first obstacle of a loop, None where there is none."""
        obstacle = self._of_operation(loop, application)
        if obstacle is not None:
            return obstacle
        count = 0
        for symbol in referenced(application):
            found, ops = self._of_function(symbol)
            count += ops
            if found is not None:
                return found
        if count > MOST_OPS:
            return f"its body has {count} ops, more than {MOST_OPS}"
        size = sum(
            t.dtype.itemsize * elements(t)
            for t in map(self._type, (*loop.operands, *loop.results))
            if isinstance(t, TensorType)
        )
        return f"it works on {size} bytes, more than {LARGEST}" if size > LARGEST else None

    def _of_function(self, symbol: str) -> tuple[str | None, int]:
        """The obstacle of a function and how many ops it has, with those of functions that it refers to."""
        if symbol not in self._known:
            count, obstacle = 0, None
            for child in body(self._functions[symbol]).operations:
                application = self._reader.read(child.operation)
                if application is None:
                    if child.operation.name == DISPATCH:
                        obstacle = obstacle or "it calls a kernel of its own in every step"
                    continue
                count += 1
                obstacle = obstacle or self._of_operation(child.operation, application)
                for inner in referenced(application):
                    found, ops = self._of_function(inner)
                    obstacle, count = obstacle or found, count + ops
            self._known[symbol] = obstacle, count
        return self._known[symbol]

    def _of_operation(self, operation: Operation, application: Application) -> str | None:
        op = application.op
        if op.has_effect:
            return f"adze.{op.name} has an effect"
        if not can_lower(op):
            return f"adze.{op.name} has no form in kernels"
        types = [self._type(v) for v in (*operation.operands, *operation.results)]
        is_static = all(isinstance(t, TensorType) and t.is_static for t in types)
        if not is_static and not (self._has_dynamic and takes_dynamic_sizes(op)):
            return f"adze.{op.name} has sizes that are known only when it runs"
        if any(isinstance(t, TensorType) and 0 in t.shape for t in types):
            return "it has arrays without elements"
        if op is Scan and application.attributes["length"][0] == 0:
            return "it has no steps"
        return None

    def _type(self, value: Value) -> ValueType:
        return self._reader.codec.read_type(value.type)


def time_text(nanoseconds: float) -> str:
    """A time as remarks print it."""
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= limit:
            return f"{nanoseconds / limit:.2g} {unit}"
    return f"{nanoseconds:.2g} ns"
