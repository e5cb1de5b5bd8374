"""How a batch of matrices is divided among workgroups, and the scratch that each of them has.

A count of matrices is a number or, where it shows at the call, a value of the program that calls the kernel;
the kernel itself multiplies the sizes of the leading axes of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from .....dialects import mlir
from .....dialects.types import TensorType
from ....ir.aliases import Type
from ..builder import Array, Number, Place, index, loop, product
from ..executable import Kernel, Result, Size, workgroup_count, workgroup_id
from .vectors import MANY, Lanes, Machine, Matrix

MakeKernel: TypeAlias = Callable[[Machine, Size, Sequence[TensorType], Sequence[Result]], Kernel]
"""Makes the kernel of a routine for a machine, a count of matrices or rows, types of operands and results."""

MOST_WORKGROUPS: Final = 16


def matrix_count(array: Array, kept: int) -> Place:
    """Inside a kernel: how many matrices (or other arrays of `kept` axes) an array has."""
    return product(array.size(axis) for axis in range(len(array.type.shape) - kept))


def workgroups(count: Size, parts: Place = 1) -> Size:
    """How many workgroups share so many matrices, each of which has independent `parts`."""
    if isinstance(count, int) and isinstance(parts, int):
        return max(1, min(count * parts, MOST_WORKGROUPS))
    shared = Number(count) if not isinstance(count, int) else index(count)
    return (shared * parts).least(MOST_WORKGROUPS).value


def scratch(count: Size, rows: Place, columns: Place, lanes: Lanes) -> Result:
    """Scratch: a matrix for each of so many workgroups."""
    return scratch_of(count, (rows, columns * lanes.parts), lanes.element)


def scratch_of(count: Size, shape: Sequence[Place], element: Type) -> Result:
    """Scratch: an array for each of so many workgroups."""
    sizes = [count, *(n if isinstance(n, int) else n.value for n in shape)]
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    type_ = mlir.ir.RankedTensorType.get([n if isinstance(n, int) else dynamic for n in sizes], element)
    return Result(type_, tuple(n for n in sizes if not isinstance(n, int)))


def stacked(count: Size, rows: Sequence[Place], columns: Place, lanes: Lanes) -> Result:
    """Scratch: matrices of these rows below each other, for each of so many workgroups.

    A kernel is passed a number for each dynamic size and each array, 64 of 32 bits at most.
    """
    return scratch(count, _sum(rows), columns, lanes)


def parts_of(stack: Matrix, rows: Sequence[Place]) -> list[Matrix]:
    """The matrices of a stack."""
    return [replace(stack, above=_sum(rows[:n])) for n in range(len(rows))]


def _sum(places: Sequence[Place]) -> Place:
    total: Place = 0
    for place in places:
        total = place if isinstance(total, int) and not total else total + place
    return total


def own_sizes(result: Result, kept: int = 2) -> list[Place]:
    """Outside of a kernel: the sizes of the last `kept` axes of a result."""
    shape = mlir.ir.RankedTensorType(result.type).shape
    dynamic = iter(result.sizes)
    sizes = [Number(next(dynamic)) if n == mlir.ir.ShapedType.get_dynamic_size() else n for n in shape]
    return sizes[len(sizes) - kept :]


def known(size: Place, otherwise: int = MANY) -> int:
    """A size, or what it is taken to be where it shows at the call."""
    return size if isinstance(size, int) else otherwise


def each_matrix(array: Array, kept: int, one: Callable[[Number, Number], None], parts: Place = 1) -> None:
    """`one(number, mine)` for every matrix (or part of one) of this workgroup, which is the `mine`th.

    `array` has these matrices, in its last `kept` axes.
    """
    each_part(product([matrix_count(array, kept), parts]), one)


def each_part(count: Place, one: Callable[[Number, Number], None]) -> None:
    """The same for so many parts of any kind."""
    if isinstance(count, int) and count == 1:
        one(index(0), index(0))
        return
    mine = Number(workgroup_id())
    with loop(mine, count, Number(workgroup_count())) as number:
        one(number, mine)
