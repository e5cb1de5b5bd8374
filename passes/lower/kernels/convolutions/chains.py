"""The elementwise ops behind a convolution that its kernel can apply to its sums before it stores them.

Input: a convolution of adze. Output: a `Chain`, which says what the kernel applies, to which operands, and
which ops it replaces; None where nothing follows that could be applied.
Idea: the users of what has been taken so far are taken together, as long as all of them are ops that the
kernel knows, and none has another shape. A chain ends at an op whose result is the only one that others use.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Reader
from .....dialects.dataclass import dataclass
from .....dialects.op import DIALECT
from .....dialects.ops.constants import Constant
from .....dialects.ops.elementwise.comparison import Select
from .....dialects.ops.shape.rearrange import BroadcastInDim
from .....dialects.types import TensorType
from ....ir.aliases import Operation, Value
from ....ir.marks import BARRIER
from ..epilogues import CODE, COMPARE, CONSTANT, Epilogue, Step

LONGEST: Final = 24  # ops of a chain
MOST_OPERANDS: Final = 6  # arrays that a chain uses


@dataclass(frozen=True, slots=True)
class Chain:
    """What is applied to the sums, the arrays that it uses with their strides, and the ops that it replaces.

    The strides are along the axes of the result; `operations` are in order, the last one has the result.
    """

    epilogue: Epilogue
    operands: tuple[Value, ...]
    strides: tuple[tuple[int, ...], ...]
    operations: tuple[Operation, ...]


def chain_behind(convolution: Operation, reader: Reader, others: Sequence[Operation] = ()) -> Chain | None:
    """The longest chain behind a convolution of known shape, but for its first axis; None if there is none.

    `others`: ops that belong to other chains.
    """
    type_ = reader.codec.read_type(convolution.results[0].type)
    assert isinstance(type_, TensorType)
    taken: list[Operation] = []
    longest: tuple[list[Operation], Operation] | None = None
    while True:
        users = _users_beside([convolution, *taken])
        inside = {operation.results[0] for operation in (convolution, *taken)}
        inside |= {user.results[0] for user in users if len(user.results) == 1}
        if not users or len(taken) + len(users) > LONGEST:
            break
        if not all(u not in others and _is_applicable(u, inside, type_, reader) for u in users):
            break
        taken += users
        ends = [operation for operation in taken if _is_used_beside(operation, taken)]
        if len(ends) == 1:
            longest = list(taken), ends[0]
    if longest is None:
        return None
    chain = _Writer(reader, type_).written(convolution, *longest)
    return chain if len(chain.operands) <= MOST_OPERANDS else None


def _users_beside(operations: Sequence[Operation]) -> list[Operation]:
    """The ops that use one of `operations` and are none of them."""
    found: list[Operation] = []
    for operation in operations:
        for use in operation.results[0].uses:
            user = use.owner.operation
            if user not in operations and user not in found:
                found.append(user)
    return found


def _is_used_beside(operation: Operation, taken: Sequence[Operation]) -> bool:
    return any(use.owner.operation not in taken for use in operation.results[0].uses)


def _is_applicable(user: Operation, inside: set[Value], type_: TensorType, reader: Reader) -> bool:
    """Whether a kernel can apply an op: one that it knows, to arrays of the convolution's type."""
    if not user.name.startswith(f"{DIALECT}."):
        return False
    application = reader.read(user)
    if application is None or BARRIER in user.attributes:
        return False
    if application.op.name not in CODE and application.op.name != COMPARE:
        return False
    types = [reader.codec.read_type(value.type) for value in user.operands]
    if any(not isinstance(t, TensorType) or t.shape != type_.shape for t in types):
        return False
    has_dtype = [isinstance(t, TensorType) and t.dtype == type_.dtype for t in types]
    if application.op is Select:
        predicate, *chosen = user.operands
        return predicate in inside and all(has_dtype[1:]) and len(chosen) == 2
    return all(has_dtype)


class _Writer:
    """Writes the steps of a chain behind a convolution of type `type_`."""

    def __init__(self, reader: Reader, type_: TensorType) -> None:
        self.reader, self.type_ = reader, type_

    def written(self, convolution: Operation, taken: Sequence[Operation], end: Operation) -> Chain:
        """The chain of ops `taken`, of which `end` is the last one."""
        order: list[Operation] = []
        self._visit(end, taken, order)
        views = {
            value: self._view(value)
            for operation in order
            for value in operation.operands
            if value != convolution.results[0] and not any(value == o.results[0] for o in order)
        }
        arrays = [view for view in dict.fromkeys(views.values()) if not isinstance(view, float)]
        numbers = {convolution.results[0]: 0}
        numbers |= {v: 1 + arrays.index(view) for v, view in views.items() if not isinstance(view, float)}
        steps: list[Step] = []
        for value, view in views.items():
            if isinstance(view, float):
                numbers[value] = 1 + len(arrays) + len(steps)
                steps.append(Step(CONSTANT, text=repr(view)))
        for operation in order:
            application = self.reader.read(operation)
            assert application is not None
            used = tuple(numbers[value] for value in operation.operands)
            numbers[operation.results[0]] = 1 + len(arrays) + len(steps)
            steps.append(Step(application.op.name, used, application.attributes.get("direction", "")))
        return Chain(
            Epilogue(tuple(steps), len(arrays)),
            tuple(value for value, _ in arrays),
            tuple(strides for _, strides in arrays),
            tuple(order),
        )

    def _visit(self, operation: Operation, taken: Sequence[Operation], order: list[Operation]) -> None:
        """Append the ops that an op depends on, and then the op, if they are not there yet."""
        for value in operation.operands:
            owner = value.owner
            if not isinstance(owner, mlir.ir.Block) and owner.operation in taken:
                self._visit(owner.operation, taken, order)
        if operation not in order:
            order.append(operation)

    def _view(self, value: Value) -> tuple[Value, tuple[int, ...]] | float:
        """The number that an array repeats, or the array that it is a view of, with the view's strides."""
        application = self._application(value)
        if application is not None and application.op is BroadcastInDim:
            source = application.operands[0]
            number = self._number(source)
            if number is not None:
                return number
            type_ = self.reader.codec.read_type(source.type)
            assert isinstance(type_, TensorType)
            steps = [0] * self.type_.rank
            shape = type_.static_shape
            if None in shape[1:] or (None in shape and application.attributes["dimensions"][0] != 0):
                return value, _strides(self.type_.static_shape)  # repeated in memory: only images are counted
            for axis, stride in zip(application.attributes["dimensions"], _strides(shape), strict=True):
                steps[axis] = stride
            return source, tuple(steps)
        number = self._number(value)
        return (value, _strides(self.type_.static_shape)) if number is None else number

    def _number(self, value: Value) -> float | None:
        """What all elements of a constant are, if they are equal to the bit."""
        application = self._application(value)
        if application is None or application.op is not Constant:
            return None
        array: np.ndarray = np.asarray(Constant.evaluate(**application.attributes))
        first = array.reshape(-1)[:1]
        return float(first[0]) if array.tobytes() == first.tobytes() * array.size else None

    def _application(self, value: Value) -> Application | None:
        owner = value.owner
        return None if isinstance(owner, mlir.ir.Block) else self.reader.read(owner.operation)


def _strides(shape: Sequence[int | None]) -> tuple[int, ...]:
    """How far apart the elements of a dense array are along each axis; 0 along axes of size 1."""
    sizes = [n or 0 for n in shape]
    return tuple(prod(sizes[axis + 1 :]) if n > 1 else 0 for axis, n in enumerate(sizes))
