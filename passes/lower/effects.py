"""Forms of the ops that act on the world: run-time assertions and traces.

Both survive IREE's optimiser: `cf.assert` becomes a failing status with our text (unless a build strips
assertions), `flow.tensor.trace` hands arrays to the runtime's debug sink (standard error by default).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import mlir
from .core import LoweringCore


class EffectForms(LoweringCore):
    """Assertions and traces."""

    def check(self, predicate: Any, message: str) -> None:
        """`cf.assert` on the only element of `predicate`."""
        mlir.cf.assert_(mlir.tensor.extract(predicate, []), message)

    def trace(self, label: str, values: Sequence[Any]) -> None:
        """`flow.tensor.trace` of the arrays under `label`."""
        dims = [n for v in values for n in self._dynamic_sizes(v)]
        mlir.flow.tensor_trace(label, list(values), dims)

    def _dynamic_sizes(self, value: Any) -> list[Any]:
        type_ = mlir.ir.RankedTensorType(value.type)
        return [self.size_value(n) for axis, n in enumerate(self.shape(value)) if type_.is_dynamic_dim(axis)]
