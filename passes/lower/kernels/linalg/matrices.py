"""How a batch of matrices is divided among workgroups, and the scratch that each of them has."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from .....dialects import mlir
from .....dialects.types import TensorType
from ....ir.aliases import Type
from ..builder import Number, index, loop
from ..executable import workgroup_count, workgroup_id
from .vectors import Lanes

MOST_WORKGROUPS: Final = 16


def matrix_count(type_: TensorType, kept: int) -> int:
    """How many matrices (or other arrays of `kept` axes) an array has."""
    return prod(int(n or 0) for n in type_.static_shape[: type_.rank - kept])


def workgroups(type_: TensorType, kept: int, parts: int = 1) -> int:
    """How many workgroups share the matrices, each of which has independent `parts`."""
    return max(1, min(matrix_count(type_, kept) * parts, MOST_WORKGROUPS))


def scratch(count: int, rows: int, columns: int, lanes: Lanes) -> Type:
    """The type of scratch: a matrix for each workgroup."""
    return mlir.ir.RankedTensorType.get([count, rows, columns * lanes.parts], lanes.element)


def each_matrix(type_: TensorType, kept: int, one: Callable[[Number, Number], None], parts: int = 1) -> None:
    """`one(number, mine)` for every matrix (or part of one) of this workgroup, which is the `mine`th."""
    each_part(matrix_count(type_, kept) * parts, one)


def each_part(count: int, one: Callable[[Number, Number], None]) -> None:
    """The same for so many parts of any kind."""
    if count == 1:
        one(index(0), index(0))
        return
    mine = Number(workgroup_id())
    with loop(mine, count, Number(workgroup_count())) as number:
        one(number, mine)
