"""Which op computed the first NaN? A watch for the evaluator, and a pass that adds checks to a program.

Input: evaluated ops, or a module. Output: a `NanError` with the op, its operands, the user's line, and the
phase of differentiation. Idea: the results of each op that computes floats are tested. An op that a transform
derived carries the user's line fused with the transform's name. Ops that only move elements compute no NaN
and are not tested, and neither are constants: a NaN that the user writes is intended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.op import Op
from ...dialects.types import COMPLEX, INEXACT, INT32, TensorType
from ..base import Pass
from ..ir.aliases import Location, Operation, Value
from ..ir.functions import body, functions, is_private
from .verify import location_text


class NanError(AdzeError, FloatingPointError):
    """An op computed NaN while `adze.debug.nans()` was on; `where` is the user's line of the forward pass."""


_TRANSFORM: Final = re.compile(r'fused<"([a-z]+)">')
_REPORT: Final = re.compile(r"(NaN in the .*?) of (\S.*?:\d+): (.*)", re.DOTALL)
_DOUBLE_WHERE: Final = (
    "the derivative is infinite there and meets a zero; where a `where` drops this branch, put another "
    "`where` inside it that keeps the argument in the domain"
)


@dataclass(frozen=True)
class Origin:
    """The user's line of an op, and the transforms that derived the op from it, in order."""

    where: str
    transforms: tuple[str, ...] = ()

    @property
    def is_backward(self) -> bool:
        """Whether the op belongs to a derivative that runs backward."""
        return "transpose" in self.transforms or "linearize" in self.transforms

    @property
    def phase(self) -> str:
        """Where the op stands, as messages say it: `backward pass (transpose)`."""
        phase = (
            "backward pass" if self.is_backward else "tangent" if "jvp" in self.transforms else "forward pass"
        )
        # What is transposed was linearized before.
        named = [t for t in self.transforms if t != "linearize" or "transpose" not in self.transforms]
        return f"{phase} ({', '.join(named)})" if named else phase


def origin_of(location: mlir.ir.Location) -> Origin:
    """The origin that the location of an op tells."""
    return Origin(location_text(location), tuple(reversed(_TRANSFORM.findall(str(location)))))


# -- evaluated programs --------------------------------------------------------------------------------


class NanWatch:
    """Looks at the results of each op that is evaluated; raises `NanError` for the first NaN.

    It remembers which op last computed an infinity from finite operands: most NaN result from one.
    """

    def __init__(self) -> None:
        self._infinity: str | None = None

    def __call__(
        self,
        op: type[Op],
        operands: Sequence[ArrayLike],
        results: Sequence[ArrayLike],
        location: Location | str,
    ) -> None:
        """`location` is an MLIR location, or the user's `file:line`."""
        if not computes(op):
            return
        floats = [np.asarray(r) for r in results if _is_inexact(r)]
        if not floats:
            return
        if any(np.isnan(r).any() for r in floats):
            self._report(op, operands, _origin(location))
        if any(np.isinf(r).any() for r in floats) and not any(_has_infinity(v) for v in operands):
            origin = _origin(location)
            self._infinity = f"{_application(op, operands)} in the {origin.phase} of {origin.where}"

    def _report(self, op: type[Op], operands: Sequence[ArrayLike], origin: Origin) -> None:
        hints = []
        if self._infinity is not None and any(map(_has_infinity, operands)):
            hints.append(f"the infinity comes from {self._infinity}")
            if origin.is_backward and any(_has_zero(v) for v in operands):
                hints.append(_DOUBLE_WHERE)
        raise NanError(
            f"NaN in the {origin.phase}: {_application(op, operands)}",
            where=origin.where,
            hint="; ".join(hints) or None,
        )


def _origin(location: Location | str) -> Origin:
    return Origin(location) if isinstance(location, str) else origin_of(location)


def computes(op: type[Op]) -> bool:
    """Whether an op computes, as opposed to moving elements, stating constants or calling functions."""
    return bool(op.operands) and not op.is_movement and not op.refers_to_functions


def _is_inexact(value: ArrayLike) -> bool:
    return hasattr(value, "dtype") and value.dtype in INEXACT


def _has_infinity(value: ArrayLike) -> bool:
    return _is_inexact(value) and bool(np.isinf(value).any())


def _has_zero(value: ArrayLike) -> bool:
    return _is_inexact(value) and bool((np.asarray(value) == 0).any())


def _application(op: type[Op], operands: Sequence[ArrayLike]) -> str:
    return f"{op.name}({', '.join(map(_summary, operands))})"


def _summary(value: ArrayLike) -> str:
    """An operand as messages show it: its type and the range of its elements."""
    if not hasattr(value, "dtype"):
        return str(value)
    array = np.asarray(value)
    kind = str(TensorType(array.shape, array.dtype))
    if array.size == 0 or array.dtype.kind == "b":
        return kind
    if _is_inexact(array) and np.isnan(array).any():
        return f"{kind} with NaN"
    if array.dtype in COMPLEX:
        return kind
    low, high = float(array.min()), float(array.max())
    if array.ndim == 0:
        return f"{kind} {low:g}"
    return f"{kind} all {low:g}" if low == high else f"{kind} in [{low:g}, {high:g}]"


# -- compiled programs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckNans(Pass):
    """Stop the program at the first op that computes NaN, with the op and the user's line in the message.

    IREE does not keep the order of checks, so the order is data: each function gathers one flag an op, and of
    its checks at most the one of the first raised flag fails. NaN in arguments of a private function, or in
    results of an op with bodies, raise a flag without a check: the function that computed them reports them.
    """

    name = "check-nans"

    def run(self, module: mlir.ir.Module) -> None:
        reader = Reader(Codec(module.context))
        for operation in functions(module).values():
            _Flags(operation, reader).add()


@dataclass(frozen=True)
class _Flag:
    """A 0-d bool, true where there are NaN; and the message about the op that computed them, if it is one."""

    value: Value
    location: mlir.ir.Location
    message: str | None


class _Flags:
    """The flags of one function, in the order of its ops."""

    def __init__(self, operation: Operation, reader: Reader) -> None:
        self.operation = operation
        self.reader = reader
        self.flags: list[_Flag] = []

    def add(self) -> None:
        """Put flags after the ops, and checks of them before the return."""
        operations = list(body(self.operation).operations)
        if is_private(self.operation):
            for argument in body(self.operation).arguments:
                self._watch(argument, operations[0], self.operation.location, None)
        for child, following in pairwise(operations):
            self._after(child.operation, following)
        if any(flag.message is not None for flag in self.flags):
            self._check(operations[-1])

    def _after(self, operation: Operation, following: Operation) -> None:
        application = self.reader.read(operation)
        if application is None or not (computes(application.op) or application.op.refers_to_functions):
            return
        message = (
            None if application.op.refers_to_functions else self._message(application, operation.location)
        )
        for result in operation.results:
            self._watch(result, following, operation.location, message)

    def _message(self, application: Application, location: mlir.ir.Location) -> str:
        read = self.reader.codec.read_type
        operands = [
            str(read(v.type)) if isinstance(v, mlir.ir.Value) else str(v) for v in application.operands
        ]
        origin = origin_of(location)
        return f"NaN in the {origin.phase} of {origin.where}: {application.op.name}({', '.join(operands)})"

    def _watch(
        self, value: Value, before: Operation, location: mlir.ir.Location, message: str | None
    ) -> None:
        type_ = self.reader.codec.read_type(value.type)
        if isinstance(type_, TensorType) and type_.dtype in INEXACT:
            b = Emitter(self.reader.codec, mlir.ir.InsertionPoint(before), location)
            # Nothing but NaN differs from itself.
            has_nan = b.reduce_or(b.compare(value, value, direction="NE"), axes=tuple(range(type_.rank)))
            self.flags.append(_Flag(has_nan, location, message))

    def _check(self, terminator: Operation) -> None:
        b = Emitter(self.reader.codec, mlir.ir.InsertionPoint(terminator), self.operation.location)
        count = len(self.flags)
        raised = b.concatenate(*(b.reshape(flag.value, shape=(1,)) for flag in self.flags), axis=0)
        first = b.argmax(b.convert(raised, dtype=INT32), axis=0, index_dtype=INT32)
        places = b.iota(shape=(count,), axis=0, dtype=INT32)
        is_first = b.compare(places, b.broadcast_in_dim(first, shape=(count,), dimensions=()), direction="EQ")
        holds = b.not_(b.and_(raised, is_first))
        for position, flag in enumerate(self.flags):
            if flag.message is not None:
                b.location = flag.location
                held = b.slice(holds, start=(position,), limit=(position + 1,), strides=(1,))
                b.check(b.reshape(held, shape=()), message=flag.message)


def reported(message: str, hint: str | None = None) -> NanError | None:
    """The error that a check of this pass means, from the text of a failed call."""
    match = _REPORT.search(message)
    return None if match is None else NanError(f"{match[1]}: {match[3]}", where=match[2], hint=hint)
