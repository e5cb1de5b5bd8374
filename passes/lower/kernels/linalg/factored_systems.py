"""Systems solved with LU factors by one kernel, or with their transposes.

Input: packed factors `[..., n, n]`, the order of rows `[..., n]` and right-hand sides `[..., n, m]`. Output:
the solutions. Idea: a panel of columns stays in scratch for both triangles (`triangular.py`); its rows are
put in order on the way in, or on the way out of transposed systems.
"""

from __future__ import annotations

from collections.abc import Sequence

from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, ceil_divided, index
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .triangular import Form, Panel, System
from .vectors import Machine, Matrix, lead_of

LOWER, UPPER = Form(is_lower=True, is_unit=True), Form(is_lower=False, is_unit=False)


def factored_solve(*, is_transposed: bool) -> MakeKernel:
    """The kernel of a routine: factors, orders and right-hand sides to solutions."""
    forms = [UPPER.transposed, LOWER.transposed] if is_transposed else [LOWER, UPPER]

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        right = types[2]
        size, columns = own_sizes(results[0])
        lanes = lanes_for(machine, right.dtype, known(columns))
        count = workgroups(batch, ceil_divided(columns, lanes.panel))

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            factors, order, given, solved, copies = map(Array, (*operands, *written))
            size, columns = given.size(right.rank - 2), given.size(right.rank - 1) // lanes.parts
            panels = ceil_divided(columns, lanes.panel)

            def one(number: Number, mine: Number) -> None:
                batch = index(number) // panels
                work = lanes.kept(Matrix(copies, (mine,)))
                panel = Panel(lanes, columns, (index(number) % panels) * lanes.panel)
                triangle, source, target = (
                    lanes.stored(Matrix(x, lead_of(x, batch, 2))) for x in (factors, given, solved)
                )
                rows = lead_of(order, batch, 1)

                def place(row: Number) -> Number:
                    return order[(*rows, row)].as_index()

                panel.copy(size, source, work, is_taken=True, place=None if is_transposed else place)
                for form in forms:
                    System(form, lanes, size, triangle, work).solve()
                panel.copy(size, target, work, is_taken=False, place=place if is_transposed else None)

            each_matrix(given, 2, one, panels)

        name = "lu_solve_transposed" if is_transposed else "lu_solve"
        copies = scratch(count, size, lanes.panel, lanes)
        return Kernel(name, (results[0], copies), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make
