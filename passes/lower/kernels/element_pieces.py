"""The code of kernels of one row of elements from elsewhere, whose length shows at the call: a piece of it.

Input: a `ReductionProgram` without reductions and with one loop, how many elements are done at once, and the
memrefs of its arguments.
Idea: workgroups share the row. Each does as many elements as the others, counted at the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.dataclass import dataclass
from ..tuning.kernel_sizes import LEAST, WORKGROUPS
from ..tuning.row_tiles import RowLoops
from .builder import Array, Number, Place, ceil_divided, index, most
from .element_code import Code, Scope
from .executable import workgroup_id
from .reduced_rows import Row
from .reduction_programs import ReductionProgram

_MULTIPLE: Final = 64  # elements, so that only the last piece ends within a vector


@dataclass(frozen=True, slots=True)
class Pieces:
    """The code of one workgroup: a piece of the row."""

    program: ReductionProgram
    loops: RowLoops
    arrays: Sequence[Array] = ()
    numbers: Sequence[Number] = ()

    @property
    def workgroups(self) -> tuple[Place, ...]:
        """How many workgroups there are."""
        return (ceil_divided(self._size, self._piece),)

    @property
    def _code(self) -> Code:
        return Code(self.program, self.arrays, self.loops.width, self.loops.has_gathers, self.numbers)

    @property
    def _size(self) -> Number:
        return index(self._code.size(0))

    @property
    def _piece(self) -> Place:
        """How many elements a workgroup does."""
        return most(ceil_divided(self._size, WORKGROUPS * _MULTIPLE) * _MULTIPLE, LEAST)

    def run(self) -> None:
        """The elements of the piece."""
        code, piece = self._code, self._piece
        first = Number(workgroup_id(0)) * piece
        Row(code, self.loops, Scope(code, {}), {}, part=(first, (self._size - first).least(piece))).run()
