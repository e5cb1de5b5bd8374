"""What a loop carries, on its way to a function of the host: a copy, which the host waits for.

IREE's `iree-stream-propagate-timepoints` hands the timepoint at which a value that a loop carries is there
through the loop beside it, and does not wait for it where the body exports the value to an imported function.
Where nothing else waits for the timepoint, what computes the initial value is dropped.

Symptom: a Python function, or a collective, that is called in a loop with what the loop carries gets memory
    that nobody has written, or not yet: zeros, or numbers of other arrays.
Seen in: IREE 3.13.
Smallest: `scan(lambda c, _: (pure_callback(f, c, c), None), cos(x), None, length=3)`: `f` gets zeros.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_exported_loop_state_is_still_not_awaited` fails.
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ...ir.functions import is_private
from ..builder import Value
from ..lowering import LoweringContext
from .overwritten_arguments import VIEWS, copied


def awaited(ctx: LoweringContext, x: Value, dtype: np.dtype) -> Value:
    """`x`, or a copy of it where it may be (a view of) what a loop carries."""
    source = x
    while not isinstance(source.owner, mlir.ir.Block) and source.owner.operation.name in VIEWS:
        source = source.owner.operation.operands[0]
    return copied(ctx, x, dtype) if _is_of_a_body(source) else x


def _is_of_a_body(value: Value) -> bool:
    """Whether it is an argument of a private function: of the body of a loop, or of a branch in one."""
    if not isinstance(value.owner, mlir.ir.Block):
        return False
    return is_private(value.owner.owner.operation)
