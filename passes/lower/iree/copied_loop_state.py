"""What a loop carries, stated to be on the device already.

IREE forgets where the arguments of blocks are while it converts to streams, and transfers them to where they
are. The barrier of `flow` with the device as its target tells it.

Symptom: each iteration of a loop copies all that the loop carries.
Seen in: IREE 3.13.
Smallest: `scan(lambda c, _: (c * 0.5, c), x, None, length=4)`.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_carried_values_are_still_copied` fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....runtime.targets import DEVICE_NAME
from ...ir.aliases import Value

RESIDENT: Final = "flow.tensor.barrier"


def resident(value: Value, sizes: Sequence[int | Value]) -> Value:
    """`value`, an argument of the block of a loop, known to be on the device: without this it is copied.

    `sizes` are the dynamic ones. What is behind this may be written in place: only its owner may do so.
    """
    device = mlir.ir.Attribute.parse(f"#hal.device.promise<@{DEVICE_NAME}>", value.context)
    return mlir.ir.Operation.create(
        RESIDENT, results=[value.type], operands=[value, *sizes], attributes={"target": device}
    ).results[0]
