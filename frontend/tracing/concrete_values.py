"""Values of traced arrays, computed beside the trace.

Input: a frame whose arguments have elements in the call at hand. Output: the elements of its SSA values.

Idea: outside `jit` the arguments of `grad`, `jvp`, `vmap` and the like have elements, but the user's
function is traced at their shapes. Where Python asks a traced array for its value (`if x > 0`, `int(n)`),
the ops that compute it are evaluated with NumPy, each once; a trace that asks for none pays nothing. A
function that asked holds for these values alone: `Frame.asked` records it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...dialects.types import INEXACT, TensorType
from ...passes.analysis.evaluate import Evaluation
from .array import Array

if TYPE_CHECKING:
    from .frames import Frame
    from .program import Program


class UnknownValueError(Exception):
    """A traced array has no value now; the text says why where that is more than that it is traced."""


@dataclass(frozen=True)
class KnownArgument:
    """What an argument is in the one call that its function is traced for.

    `value` is an array, a traced value of an enclosing frame, or a function that computes an array.
    """

    value: Any
    is_differentiated: bool = False


@dataclass(frozen=True)
class MappedArgument:
    """An argument that is another one for each element of a mapped axis."""

    reason: str


class FrameValues:
    """The values of one function under construction, of which each is computed when it is first asked for."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._known: dict[Any, Any] = {}
        self._evaluation = Evaluation(frame.program.module, effects=False)

    def of(self, value: Any) -> Any:
        """The array (or size) that an SSA value of the frame is; `UnknownValueError` if it has none."""
        known, wanted = self._known, [value]
        while wanted:
            operation = wanted[-1].owner
            if wanted[-1] in known:
                wanted.pop()
            elif isinstance(operation, mlir.ir.Block):
                argument = wanted.pop()
                known[argument] = self._argument(argument)
            elif missing := [v for v in operation.operands if v not in known]:
                wanted += missing
            else:
                self._evaluation.step(operation, known)
        return known[value]

    def _argument(self, argument: Any) -> Any:
        source = source_of(self._frame, argument)
        if source is None:
            raise UnknownValueError
        if isinstance(source, MappedArgument):
            raise UnknownValueError(source.reason)
        return value_of(source.value)


def value_of(outer: Any) -> Any:
    """The array (or size) that an operand of a call is; `UnknownValueError` if it has none now."""
    if hasattr(outer, "frame"):
        return outer.frame.values.of(outer.value)
    return outer() if callable(outer) else np.asarray(outer)


def source_of(frame: Frame, argument: Any) -> KnownArgument | MappedArgument | None:
    """What an argument of a frame stands for, of its own or captured; None where that is not known."""
    own = frame.argument_sources.get(argument)
    if own is not None:
        return own
    for outer, inner in frame.captured.values():
        if inner == argument:
            return KnownArgument(outer)
    return None


def is_differentiated(frame: Frame, value: Any) -> bool:
    """Whether a value of a frame depends on what an enclosing `grad`, `jvp`, ... differentiates by."""
    wanted, seen = [value], set()
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        kind = frame.program.codec.read_type(value.type)
        if not isinstance(kind, TensorType) or kind.dtype not in INEXACT:
            continue
        operation = value.owner
        if not isinstance(operation, mlir.ir.Block):
            wanted += [] if operation.name == "adze.stop_gradient" else operation.operands
            continue
        source = source_of(frame, value)
        if not isinstance(source, KnownArgument):
            continue
        outer = source.value
        if source.is_differentiated or (
            hasattr(outer, "frame") and is_differentiated(outer.frame, outer.value)
        ):
            return True
    return False


def depends_on_arguments(frame: Frame, value: Any) -> bool:
    """Whether a value of a frame follows from a floating argument of its function, captured ones left out."""
    captured = {inner for _, inner in frame.captured.values()}
    wanted, seen = [value], captured
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        kind = frame.program.codec.read_type(value.type)
        if not isinstance(kind, TensorType) or kind.dtype not in INEXACT:
            continue
        if isinstance(value.owner, mlir.ir.Block):
            return True
        wanted += value.owner.operands
    return False


def keep_fixed_values(frame: Frame, results: Sequence[Any]) -> None:
    """Let tracers that outlive an eager transform, in a closure that its function returns say, have their
    elements if these follow from no argument that it maps or differentiates: JAX traces no such value."""
    returned = {id(r) for r in results}
    for reference in frame.live or ():
        tracer = reference()
        if tracer is None or id(tracer) in returned or not _is_fixed(frame, tracer.value):
            continue
        with suppress(UnknownValueError):
            tracer.kept = Array(np.asarray(frame.values.of(tracer.value)))
            tracer.kept.weak_type = tracer.weak_type
    frame.live = None


def _is_fixed(frame: Frame, value: Any) -> bool:
    """Whether a value of a frame that is traced for one call follows from no argument that is mapped or
    differentiated; never within `jit`."""
    wanted, seen = [value], set()
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        operation = value.owner
        if not isinstance(operation, mlir.ir.Block):
            wanted += operation.operands
            continue
        source = source_of(frame, value)
        if not isinstance(source, KnownArgument) or source.is_differentiated:
            return False
        outer = source.value
        if hasattr(outer, "frame") and not _is_fixed(outer.frame, outer.value):
            return False
    return _is_of_one_call(frame)


def _is_of_one_call(frame: Frame) -> bool:
    """Whether a frame and all around it are traced for the elements of their arguments: no branch is."""
    enclosing: Frame | None = frame
    while enclosing is not None and enclosing.argument_sources:
        enclosing = enclosing.parent
    return enclosing is None


def results_of(program: Program, symbol: str, operands: Sequence[Any], count: int) -> list[KnownArgument]:
    """What the results of a function are at these operands; evaluated when the first is asked for."""

    @functools.cache
    def results() -> list[Any]:
        arrays = [value_of(v) for v in operands]
        return Evaluation(program.module, effects=False).call(symbol, arrays)

    return [KnownArgument(functools.partial(lambda i: results()[i], i)) for i in range(count)]


def origin_of(value: Any) -> Any:
    """The outermost traced value (or array) that a traced argument stands for."""
    while hasattr(value, "frame"):
        source = source_of(value.frame, value.value)
        if not isinstance(source, KnownArgument) or callable(source.value):
            break
        value = source.value
    return value
