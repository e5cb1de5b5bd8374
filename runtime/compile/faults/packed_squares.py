"""Arrays with equal sizes that are packed for products; adze's pass `distinct-sizes` leaves none.

Symptom: silently, products sum only the first 64 terms: of the other operand's rows no more were packed.
Seen in: IREE 3.13.
Smallest: `(x @ swapaxes(x, 1, 2)) @ x` of `f32[b,s,64]` with sizes above 64, without the pass.
Goes when: `tests/passes/lower/iree/test_packed_squares.py::test_squares_are_still_packed_in_part` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_PACKS: Final = "flow.tensor.encode"
_EXECUTABLES: Final = ("flow.executable", "stream.executable")


def packs_a_square(module: Any) -> bool:
    """Whether two sizes of an array that a program of the phase `flow` packs are one value."""
    return any(_has_repeated_sizes(operation) for operation in packs(module.operation))


def _has_repeated_sizes(operation: Any) -> bool:
    """The operands are the array, its sizes and those of the result, as many."""
    operands = list(operation.operands)
    sizes = operands[1 : 1 + len(operands) // 2]
    return len(set(sizes)) < len(sizes)


def packs(operation: Any) -> Iterator[Any]:
    """The operations within that pack an array, also those of loops and branches."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == _PACKS:
                    yield inner
                elif inner.name not in _EXECUTABLES:
                    yield from packs(inner)
