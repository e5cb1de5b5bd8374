"""What an op of a loop takes on an NVIDIA GPU: as a dispatch of the host, and in a kernel of one workgroup.

Input: an op on static sizes. Output: nanoseconds in both forms, as `cost.py` adds them up.
Idea: a dispatch has the whole GPU, and most of its time goes into being started. A workgroup has one of its
hundred multiprocessors: 512 elements at once, each of which waits for memory, and a barrier behind each
array; what one thread does alone takes as long as that waits. The constants are rounded from calls on an H200
and an H100 (`docs/gpu_report.md`) and from latencies that NVIDIA states; kernels of loops were not timed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from .....dialects.op import Op
from .....dialects.ops.constants import Constant, Iota
from .....dialects.ops.contraction.dot_general import DotGeneral
from .....dialects.ops.indexing.dynamic_slice import DynamicUpdateSlice
from .....dialects.ops.indexing.scatter import Scatter
from .....dialects.ops.reduction import ArgumentExtremum, Cumulative, Reduction
from .....dialects.ops.shape.rearrange import Concatenate, Movement
from .....dialects.types import TensorType
from .partial_sums import parts_of
from .times import Time, elements, size_of

STEP: Final = 15_000.0
"""The host hands an iteration over and waits for it."""
LAUNCH: Final = 3000.0
"""A further dispatch of an iteration."""
BRANCH: Final = 15_000.0
"""The host waits for a number that decides what comes next."""
ELEMENT: Final = 0.001
"""One operation on one element, by the whole GPU."""
PRODUCT: Final = 0.0001
"""One multiplication and addition of a product, by the whole GPU."""
THREADS: Final = 512
ROUND: Final = 30.0
"""What every thread does for one element: it loads, computes and stores."""
BARRIER: Final = 40.0
"""All threads wait for each other."""
TERM: Final = 10.0
"""One more element that a thread adds up."""
ALONE: Final = 30.0
"""One element of what one thread does while others wait."""
SINGLE: Final = 3.0
"""One operation on one number."""
MOST_OF_FUNCTIONS: Final = 8
"""Operations of an element at most: the exponential takes that many times what an addition takes."""


def time_on_gpu(
    op: type[Op],
    operands: Sequence[TensorType],
    results: Sequence[TensorType],
    attributes: Mapping[str, Any],
) -> Time:
    """An op without functions."""
    if op in (Constant, Iota):
        return Time()
    count = max((elements(t) for t in results), default=0)
    if op is DotGeneral:
        depth = prod(size_of(operands[0].shape[axis]) for axis in attributes["contracting"][0])
        return Time(LAUNCH + count * depth * PRODUCT, _sums(count, depth))
    if op in (Scatter, DynamicUpdateSlice):
        updates = elements(operands[2] if op is Scatter else operands[1])
        alone = updates * ALONE if op is Scatter else _rounds(updates) * ROUND
        return Time(LAUNCH + count * ELEMENT, alone + BARRIER)
    if issubclass(op, (Reduction, ArgumentExtremum)):
        terms = max(map(elements, operands))
        depth = terms // max(count, 1)
        alone = depth * ALONE if issubclass(op, ArgumentExtremum) else _sums(count, depth)
        return Time(LAUNCH + terms * ELEMENT, alone)
    if issubclass(op, Cumulative):
        return Time(2 * LAUNCH + count * ELEMENT, count * ALONE + BARRIER)
    if count == 1:
        return Time(kernel=SINGLE * op.element_cost)
    if issubclass(op, Movement) and op is not Concatenate:
        return Time()  # a view, or the place where its users take elements
    cost = min(max(op.element_cost, 1), MOST_OF_FUNCTIONS)
    return Time(count * ELEMENT * cost, _rounds(count) * ROUND * cost)


def _sums(count: int, depth: int) -> float:
    """So many sums, each of `depth` terms."""
    parts = parts_of(count, depth)
    return _rounds(count * parts) * depth / parts * TERM + parts * TERM + BARRIER


def _rounds(count: int) -> int:
    """How many elements each thread has."""
    return -(-count // THREADS)
