"""The sizes of the tensors in a kernel of IREE's phase `flow`, those included that show at the call.

Input: the ops of a kernel in their order. Output: for each tensor and each loop its sizes, a number or a
`Counted` one.
Idea: a call counts workgroups with the sizes that it passes, so each has a place among these numbers. Sizes
of one loop are equal, whatever values say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from .counted_sizes import Counted, Size

GENERIC: Final = "linalg.generic"
LOAD: Final = "iree_tensor_ext.dispatch.tensor.load"
STORE: Final = "iree_tensor_ext.dispatch.tensor.store"
_ORDINAL: Final = "iree_tensor_ext.dispatch.workload.ordinal"
_TIED: Final = "flow.dispatch.tie_shape"


class OfAnotherKind(Exception):
    """What is read is not a program of rows, of columns or of elements."""


def require(holds: bool) -> None:
    if not holds:
        raise OfAnotherKind


class TensorSizes:
    """What is known of the sizes in a kernel."""

    def __init__(self) -> None:
        self._numbers: dict[Value, Counted] = {}
        self._tensors: dict[Value, tuple[Size, ...]] = {}
        self._equal: dict[Size, Size] = {}
        self._sources: dict[Value, Value] = {}

    def note_number(self, operation: Operation) -> bool:
        """Whether an op says which number of the workload an argument is; it is remembered."""
        number = number_of(operation)
        if number is None:
            return False
        self._numbers[operation.results[0]] = self._numbers[operation.operands[0]] = number
        return True

    def note_array(self, operation: Operation) -> bool:
        """Whether an op says which sizes an argument has; it is remembered."""
        if operation.name != _TIED:
            return False
        source, *sizes = operation.operands
        self._sources[operation.results[0]] = source
        self._tensors[source] = tuple(self.number(size) for size in sizes)
        return True

    @property
    def numbers(self) -> Mapping[Value, Counted]:
        """The numbers of the workload, by their values."""
        return self._numbers

    def note_equal(self, one: Size, other: Size) -> None:
        """Remember that two sizes are equal."""
        self._joined(one, other)

    def number(self, value: Value) -> Counted:
        """The size that a value is."""
        require(value in self._numbers)
        return self._numbers[value]

    def dynamic_sizes(self, argument: Value) -> tuple[Counted, ...]:
        """The sizes of the dynamic axes of an argument."""
        return tuple(size for size in self._tensors.get(argument, ()) if isinstance(size, Counted))

    def argument(self, value: Value) -> Value:
        """The argument that a value is, whose sizes it may be tied to."""
        return self._sources.get(value, value)

    def note_tensor(self, operation: Operation) -> None:
        """Remember the sizes of what an op computes."""
        if operation.name == "tensor.empty":
            self._note(operation.results[0], operation.operands)
        elif operation.name == LOAD:
            self._tensors[operation.results[0]] = self._loaded(operation)
        elif operation.name in ("linalg.fill", GENERIC):
            first = len(operation.operands) - len(operation.results)
            for number, result in enumerate(operation.results):
                self._tensors[result] = self.of(operation.operands[first + number])

    def _note(self, value: Value, sizes: Sequence[Value]) -> None:
        counted = iter(sizes)
        type_ = mlir.ir.RankedTensorType(value.type)
        self._tensors[value] = tuple(
            self.number(next(counted)) if type_.is_dynamic_dim(axis) else int(size)
            for axis, size in enumerate(type_.shape)
        )

    def _loaded(self, operation: Operation) -> tuple[Size, ...]:
        """The sizes of the axes of what is loaded, of which those of one element may be dropped."""
        _, sizes, _ = self.part_of(operation)
        rank = mlir.ir.RankedTensorType(operation.results[0].type).rank
        kept = [n for n in sizes if n != 1 or len(sizes) == rank]
        require(len(kept) == rank)
        return tuple(kept)

    def of(self, tensor: Value) -> tuple[Size, ...]:
        """The sizes of a tensor."""
        require(isinstance(tensor.type, mlir.ir.RankedTensorType))
        type_ = mlir.ir.RankedTensorType(tensor.type)
        if type_.has_static_shape:
            return tuple(int(size) for size in type_.shape)
        require(tensor in self._tensors)
        return self._tensors[tensor]

    def of_argument(self, argument: Value, shape: Sequence[int]) -> tuple[Size, ...]:
        """The sizes of an array that is passed; `shape`: those of its type."""
        counted = iter(self._tensors.get(argument, ()))
        dynamic = mlir.ir.ShapedType.get_dynamic_size()
        return tuple(next(counted) if size == dynamic else int(size) for size in shape)

    def part_of(self, operation: Operation) -> tuple[list[Size], list[Size], list[int]]:
        """The offsets, sizes and strides of what a kernel loads or stores; strides may not be dynamic."""
        segments = list(mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
        *arrays, _, offsets, counted, strides = segments
        require(strides == 0 and arrays == [1] * len(arrays))
        found = [
            list(mlir.ir.DenseI64ArrayAttr(operation.attributes[f"static_{what}"]))
            for what in ("offsets", "sizes", "strides")
        ]
        values = iter(list(operation.operands)[len(operation.operands) - counted - offsets :])
        dynamic = mlir.ir.ShapedType.get_dynamic_size()
        starts, sizes = (
            [self.number(next(values)) if n == dynamic else n for n in static] for static in found[:2]
        )
        return starts, sizes, found[2]

    def of_loops(self, operation: Operation) -> tuple[Size, ...]:
        """The size of each loop of a generic."""
        sizes: dict[int, Size] = {}
        for value, loops in zip(operation.operands, access_of(operation), strict=True):
            for loop, size in zip(loops, self.of(value), strict=True):
                sizes[loop] = self._joined(sizes.get(loop, size), size)
        count = len(kinds_of(operation))
        require(sorted(sizes) == list(range(count)))
        return tuple(sizes[loop] for loop in range(count))

    def are_equal(self, some: Sequence[Size], others: Sequence[Size]) -> bool:
        """Whether sizes are known to be equal, pair by pair."""
        return [self.representative(n) for n in some] == [self.representative(n) for n in others]

    def representative(self, size: Size) -> Size:
        """The same size for all that are equal: a known one where there is one."""
        while size in self._equal:
            size = self._equal[size]
        return size

    def _joined(self, one: Size, other: Size) -> Size:
        """One of two sizes, which are equal from now on."""
        one, other = self.representative(one), self.representative(other)
        if one != other:
            require(not (isinstance(one, int) and isinstance(other, int)))
            if isinstance(other, int):
                one, other = other, one
            self._equal[other] = one
        return one


def number_of(operation: Operation) -> Counted | None:
    """The number of the workload that an op says its operand is."""
    if operation.name != _ORDINAL:
        return None
    return Counted(int(mlir.ir.IntegerAttr(operation.attributes["ordinal"]).value))


def kinds_of(operation: Operation) -> list[str]:
    text = str(operation.attributes["iterator_types"])
    return re.findall(r"parallel|reduction|window", text)


def access_of(operation: Operation) -> list[tuple[int, ...]]:
    found = []
    for attribute in mlir.ir.ArrayAttr(operation.attributes["indexing_maps"]):
        places = list(mlir.ir.AffineMapAttr(attribute).value.results)
        require(all(isinstance(place, mlir.ir.AffineDimExpr) for place in places))
        found.append(tuple(place.position for place in places))
    return found
