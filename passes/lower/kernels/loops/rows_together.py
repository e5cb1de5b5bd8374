"""Neighbouring rows of a stencil at once, so that what several of them read is loaded once.

Input: the steps of an innermost loop. Output: whether two steps of the loop around it are to be done at once,
and what that loop computes for each of them. Idea: a five-point stencil loads five vectors for one that it
stores. Of two rows each is beside the other, and eight vectors do for both.
"""

from __future__ import annotations

from typing import Final

from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Value
from ..builder import Array, Number
from ..element_code import applied
from .steps import LOAD, Access, Steps
from .windows import base_of, number_of, offset_of

TOGETHER: Final = 2
"""Rows at once. Four load less yet, but what they read and write is in one set of a cache, if rows lie 4 KB
apart."""
LEAST_SAVED: Final = 0.2
"""Of the loads: those of a seven-point stencil, an eighth, may cost more time than they save."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The steps of a loop with known bounds around an innermost one, which store apart from each other."""

    steps: Steps
    loop: Operation
    first: int
    stop: int

    @property
    def load_less_together(self) -> bool:
        """Whether rows at once load fewer vectors and numbers than one after the other."""
        together, alone = self._loads(TOGETHER), TOGETHER * self._loads(1)
        return self.stop - self.first >= TOGETHER and together <= (1 - LEAST_SAVED) * alone

    def values(self, row: Number) -> dict[Value, Number]:
        """What the loop computes in one step beside the inner loop."""
        known = {self.loop.regions[0].blocks[0].arguments[0]: row}
        for operation in _beside(self.loop, self.steps.operation):
            operands = [known.get(v, Number(v)) for v in operation.operands]
            if operation.name == LOAD:
                known[operation.results[0]] = Array(operation.operands[0])[tuple(operands[1:])]
            else:
                known[operation.results[0]] = applied(operation, operands)
        return known

    def _loads(self, rows: int) -> int:
        """How many vectors and numbers are loaded for so many rows, each once."""
        number = self.loop.regions[0].blocks[0].arguments[0]
        found: set[tuple[object, ...]] = set()
        for access in self.steps.accesses:
            if access.is_store:
                continue
            offsets = list(map(offset_of, access.places))
            moving = [o.sign if o.value is not None and o.value == number else 0 for o in offsets]
            for row in range(rows):
                where = (
                    (hash(o.value), o.sign, o.number + m * row) for o, m in zip(offsets, moving, strict=True)
                )
                found.add((hash(access.buffer), *where))
        return len(found)


def rows_around(steps: Steps) -> Rows | None:
    """The loop around; None where its steps may not be done at once."""
    around = steps.operation.parent
    if around is None or around.operation.name != "scf.for":
        return None
    around = around.operation
    first, stop, step = (number_of(value) for value in list(around.operands)[:3])
    if first is None or stop is None or step != 1 or len(around.results):
        return None
    number = around.regions[0].blocks[0].arguments[0]
    stored = [access for access in steps.accesses if access.is_store]
    written = [access.base for access in stored]
    if not all(_may_be_repeated(each, written) for each in _beside(around, steps.operation)):
        return None
    rows = Rows(steps, around, first, stop)
    return rows if all(_is_of_own_row(access, number) for access in stored) else None


def _beside(loop: Operation, inner: Operation) -> list[Operation]:
    """The ops of a step of `loop`, without the inner loop and the last one."""
    inside = [child.operation for child in loop.regions[0].blocks[0].operations][:-1]
    return [each for each in inside if each != inner]


def _may_be_repeated(operation: Operation, written: list[Value]) -> bool:
    if operation.name == LOAD:
        return base_of(operation.operands[0]) not in written
    return operation.name.startswith("arith.") and len(operation.results) == 1


def _is_of_own_row(access: Access, number: Value) -> bool:
    """Whether what is stored lies one further, along one axis, in each row."""
    offsets = list(map(offset_of, access.places[:-1]))
    return any(o.value is not None and o.value == number for o in offsets)
