"""Elementwise ops of so many arrays, or parts of them, that their kernel could not be passed all of them.

Input: a lowered module. Output: the same, where what would be computed of more than `MOST` arrays, sizes and
places has parts of it written to memory before. It is tried where a kernel had too many
(`runtime/compile/faults/too_many_operands.py`).

Symptom: a program cannot be loaded, or called: "binding count 45 > 32", "dispatch requiring 70 constants
exceeds limit of 64".
Seen in: IREE 3.13.
Smallest: the sum of 45 arrays; the sum of 70 parts `x[k:k + n - 70]` of f32[n].
Goes when: `tests/runtime/compile/test_kernels.py::test_the_runtime_still_takes_few_operands` fails.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import functions
from ..barriers import compute_barrier
from ..linalg_ops import RESHAPES

MOST: Final = 24
"""Different arrays and numbers of a kernel, of which 32 can be passed, with those of its results."""
_FUSED: Final = ("linalg.generic", "tensor.extract_slice", "tensor.pad", "tensor.cast")
_SIZES: Final = ("arith.", "tensor.dim")


@dataclass(frozen=True)
class LimitOperands(Pass):
    """Put barriers between elementwise ops that would be one kernel of too many arrays, sizes and places."""

    name = "limit-operands"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            for function in functions(module).values():
                for region in function.operation.regions:
                    for block in region.blocks:
                        _limit(block)


def _limit(block: mlir.ir.Block) -> None:
    """Limit what is fused of the ops of a block, and of those within them."""
    numbers = _Numbers()
    for operation in [each.operation for each in block.operations]:
        if operation.name in (*_FUSED, *RESHAPES):
            _limit_operands(operation, numbers)
        elif operation.name.startswith(("scf.", "util.", "flow.")):
            for region in operation.regions:
                for inner in region.blocks:
                    _limit(inner)


def _limit_operands(operation: Operation, numbers: _Numbers) -> None:
    """Let operands come through a barrier, those of the most numbers first, until there are few enough."""
    found = {n: numbers.of(v) for n, v in enumerate(operation.operands) if _is_array(v)}
    own = frozenset(numbers.key(v) for v in operation.operands if not _is_array(v))
    while len(own.union(*found.values())) > MOST:
        most = max(found, key=lambda n: len(found[n]))
        value = operation.operands[most]
        if len(found[most]) <= len(numbers.stored(value)):
            break
        with mlir.ir.InsertionPoint(operation), operation.location:
            apart = compute_barrier(value)
        operation.operands[most] = apart
        found[most] = numbers.stored(apart)
    kept = own.union(*found.values())
    for result in operation.results:
        if _is_array(result):
            numbers.known[result] = kept


def _is_array(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.RankedTensorType)


class _Numbers:
    """The arrays, sizes and places that what is fused with an array is computed of."""

    def __init__(self) -> None:
        self.known: dict[Value, frozenset[Hashable]] = {}
        self._keys: dict[Value, Hashable] = {}

    def of(self, value: Value) -> frozenset[Hashable]:
        """Those of an array, as far as it is computed where it is used."""
        found = self.known.get(value)
        return self.stored(value) if found is None else found

    def stored(self, value: Value) -> frozenset[Hashable]:
        """Those of an array in memory: itself, and its sizes."""
        type_ = mlir.ir.RankedTensorType(value.type)
        dynamic = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
        return frozenset((value, axis) for axis in (-1, *dynamic))

    def key(self, value: Value) -> Hashable:
        """What is equal for numbers that are computed equally."""
        if value not in self._keys:
            owner = None if isinstance(value.owner, mlir.ir.Block) else value.owner.operation
            if owner is not None and owner.name.startswith(_SIZES) and not owner.regions:
                attributes = tuple((name, str(owner.attributes[name])) for name in owner.attributes)
                self._keys[value] = (owner.name, attributes, tuple(map(self.key, owner.operands)))
            else:
                self._keys[value] = value
        return self._keys[value]
