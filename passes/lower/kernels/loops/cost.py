"""What a step of a loop takes on the host and in a kernel: the estimate that chooses between them.

Input: the functions of a module of adze. Output: nanoseconds, in both forms. On the host a
step launches a dispatch or more, each of which is vectorized, tiled and split over threads. In a kernel a
step launches nothing and runs as plain loops of one thread, in place. The constants are rounded from
measurements on AVX2 and AVX-512 machines (`docs/kernels.md`); what they decide differs by factors, not
by percents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Reader
from .....dialects.op import Op
from .....dialects.ops.constants import Constant, Iota
from .....dialects.ops.contraction.dot_general import DotGeneral
from .....dialects.ops.control.cond import Cond
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from .....dialects.ops.indexing.dynamic_slice import DynamicUpdateSlice
from .....dialects.ops.indexing.gather import Gather
from .....dialects.ops.indexing.scatter import Scatter
from .....dialects.ops.reduction import ArgumentExtremum, Cumulative, Reduction
from .....dialects.ops.shape.rearrange import Concatenate, Movement
from .....dialects.types import TensorType
from .....runtime.targets import TargetKind
from ....ir.aliases import Operation
from ....ir.functions import body
from . import gpu_cost
from .forms.products import vector_length
from .times import Time, elements, length_of, size_of

STEP: Final = 3000.0
"""The host starts a step: a list of commands is submitted and waited for."""
LAUNCH: Final = 1000.0
"""A further dispatch of a step."""
BRANCH: Final = 10000.0
"""The host waits for a number that decides what comes next."""
COPIED_BYTE: Final = 0.1
"""The host's loop copies an array of which a part is updated."""
ELEMENT: Final = (0.06, 0.04)
"""One operation on one element, on the host and in a kernel."""
SINGLE: Final = 1.0
"""One operation on one number in a kernel."""
GATHERED: Final = (4.0, 1.5)
"""One element of a gather or scatter."""
MOST_OF_VECTORS: Final = 16
"""Operations of an element at most: functions such as `exp` take that many times what an addition takes."""
SUMMED: Final = (0.10, 0.10)
"""One element of a reduction."""
PRODUCT: Final = (0.02, 0.40)
"""One multiplication and addition of a product; in a kernel, of numbers: vectors do as many as they have."""
LARGE: Final = 1 << 18
"""Elements from which on the host's threads and tiles are better than one plain loop."""
NARROW: Final = (4, 4.0)
"""Rows of fewer elements are no vectors in a kernel, and take that many times as long."""
UNKNOWN_STEPS: Final = 16
"""The steps that an inner loop of unknown length is taken to have."""


class StepCosts:
    """The costs of the loops of one module; each function is estimated once."""

    def __init__(
        self, by_symbol: Mapping[str, Operation], reader: Reader, kind: TargetKind = TargetKind.CPU
    ) -> None:
        on_gpu = kind is not TargetKind.CPU
        self._step = gpu_cost.STEP if on_gpu else STEP
        self._branch = gpu_cost.BRANCH if on_gpu else BRANCH
        self._simple = gpu_cost.time_on_gpu if on_gpu else _simple
        self._functions = by_symbol
        self._reader = reader
        self._known: dict[str, Time] = {}

    def step(self, loop: Application) -> Time:
        """One step of a scan or while."""
        attributes = loop.attributes
        once = Time(host=self._step) + self.function(attributes["body"])
        return once + self.function(attributes["condition"]) if loop.op is While else once

    def function(self, symbol: str) -> Time:
        """One call of a function."""
        if symbol not in self._known:
            total = Time()
            for child in body(self._functions[symbol]).operations:
                application = self._reader.read(child.operation)
                if application is not None:
                    total += self.operation(application, child.operation)
            self._known[symbol] = total
        return self._known[symbol]

    def operation(self, application: Application, operation: Operation) -> Time:
        """One op, with what it refers to."""
        op, attributes = application.op, application.attributes
        if op is Scan:
            return self.step(application).times(length_of(attributes["length"][0]))
        if op is While:
            return self.step(application).times(UNKNOWN_STEPS) + Time(host=self._branch).times(UNKNOWN_STEPS)
        if op is Cond:
            dearest = Time()
            for branch in attributes["branches"]:
                dearest = dearest.greater(self.function(branch))
            return Time(host=self._branch) + dearest
        if op.callee_attribute is not None:
            return self.function(attributes[op.callee_attribute])
        read = self._reader.codec.read_type
        operands = [t for t in (read(v.type) for v in operation.operands) if isinstance(t, TensorType)]
        results = [t for t in (read(v.type) for v in operation.results) if isinstance(t, TensorType)]
        return self._simple(op, operands, results, attributes)


def _simple(
    op: type[Op],
    operands: Sequence[TensorType],
    results: Sequence[TensorType],
    attributes: Mapping[str, object],
) -> Time:
    """An op without functions."""
    if op in (Constant, Iota):
        return Time()
    count = max((elements(t) for t in results), default=0)
    if op is DotGeneral:
        contracting: tuple[tuple[int, ...], tuple[int, ...]] = attributes["contracting"]  # type: ignore[assignment]
        terms = prod(length_of(operands[0].shape[a]) for a in contracting[0])
        batch: tuple[tuple[int, ...], tuple[int, ...]] = attributes["batch"]  # type: ignore[assignment]
        left, right = (t.static_shape for t in operands)
        theirs = [n for a, n in enumerate(right) if a not in (*contracting[1], *batch[1])]
        # Many columns are not left to kernels, whose tiles are for rows.
        flops = count * terms * prod(length_of(n) / size_of(n) for n in theirs)
        each = PRODUCT[1] / vector_length(left, right, contracting, batch, operands[0].dtype)
        return Time(LAUNCH + flops * PRODUCT[0], flops * each)
    if op in (Scatter, DynamicUpdateSlice):
        copied = count * results[0].dtype.itemsize * COPIED_BYTE
        updates = elements(operands[2] if op is Scatter else operands[1])
        windows = elements(operands[1]) if op is Scatter else 1
        return Time(LAUNCH + copied + updates * GATHERED[0], updates * ELEMENT[1] + windows * GATHERED[1])
    if op is Gather:
        return Time(LAUNCH, count * ELEMENT[1]) + _scaled(count, GATHERED)
    if issubclass(op, (Reduction, ArgumentExtremum)):
        return Time(host=LAUNCH) + _scaled(max(map(elements, operands)), SUMMED, _is_narrow(operands))
    if issubclass(op, Cumulative):
        return Time(2 * LAUNCH + count * SUMMED[0], count * SUMMED[1])
    if count == 1:
        return Time(kernel=SINGLE * op.element_cost)
    if issubclass(op, Movement) and op is not Concatenate:
        return Time()  # a view, or the place where its users take elements
    once = _scaled(count, ELEMENT, _is_narrow(results))
    return once.times(min(max(op.element_cost, 1), MOST_OF_VECTORS))


def _is_narrow(types: Sequence[TensorType]) -> bool:
    """Whether arrays of several axes have rows that are shorter than a vector."""
    return any(t.rank > 1 and 1 < size_of(t.shape[-1]) < NARROW[0] for t in types)


def _scaled(count: float, each: tuple[float, float], is_narrow: bool = False) -> Time:
    host, kernel = each
    if is_narrow:
        kernel *= NARROW[1]
    # Where arrays leave the caches, the host's threads and tiles count twice.
    return Time(count * host / (2 if count >= LARGE else 1), count * kernel * (2 if count >= LARGE else 1))
