"""Forms of the ops that act on the world: run-time assertions and traces.

Both survive IREE's optimiser: `cf.assert` becomes a failing status with our text (unless a build strips
assertions), `flow.tensor.trace` hands arrays to the runtime's debug sink, which by default writes them to
standard error under their label. The sink knows neither unsigned nor complex numbers, so these go as wider
signed integers and as pairs of reals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX, COMPLEX64, FLOAT32, FLOAT64, INT64, TensorType
from .rearrangement import RearrangementForms


class EffectForms(RearrangementForms):
    """Assertions and traces."""

    def check(self, predicate: Any, message: str) -> None:
        """`cf.assert` on the only element of `predicate`."""
        mlir.cf.assert_(mlir.tensor.extract(predicate, []), message)

    def trace(self, label: str, values: Sequence[Any]) -> None:
        """`flow.tensor.trace` of the arrays under `label`."""
        shown = []
        for value, type_ in zip(values, self.operand_types, strict=True):
            assert isinstance(type_, TensorType)
            shown.append(self._shown(value, type_.dtype))
        dims = [n for value in shown for n in self._dynamic_sizes(value)]
        mlir.flow.tensor_trace(label, shown, dims)

    def _shown(self, value: Any, dtype: np.dtype) -> Any:
        """`value` in a dtype that the debug sink prints as its numbers (ui64 above 2**63: negative)."""
        if dtype in COMPLEX:
            return self._pairs(value, FLOAT32 if dtype == COMPLEX64 else FLOAT64)
        if dtype.kind == "u":
            return self.convert(dtype, INT64, value)
        return value

    def _pairs(self, value: Any, part: np.dtype) -> Any:
        """Real and imaginary parts along a new last axis."""
        shape = [*self.shape(value), 2]
        rank = len(shape)

        def body(element: Any, _: Any) -> Any:
            is_real = mlir.arith.cmpi(
                mlir.arith.CmpIPredicate.eq, mlir.linalg.IndexOp(rank - 1).result, self.size_value(0)
            )
            return mlir.arith.select(is_real, mlir.complex.re(element), mlir.complex.im(element))

        maps = [self.axes_map(rank, range(rank - 1)), self.identity_map(rank)]
        return self.generic([value], [self.empty(shape, part)], maps, ["parallel"] * rank, body)

    def _dynamic_sizes(self, value: Any) -> list[Any]:
        type_ = mlir.ir.RankedTensorType(value.type)
        return [self.size_value(n) for axis, n in enumerate(self.shape(value)) if type_.is_dynamic_dim(axis)]
