"""Lowering of ops with effects: run-time assertions and traces.

Both survive IREE's optimiser. `cf.assert` becomes a failing status with our text (unless a build strips
assertions). `flow.tensor.trace` passes arrays to the runtime's debug sink, which by default writes them to
standard error under their label. The sink knows neither unsigned nor complex numbers, so these are passed as
wider signed integers and as pairs of reals.
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX, COMPLEX64, FLOAT32, FLOAT64, INT64
from ..builder import LinalgBuilder, Value
from ..lowering import LoweringContext
from .tensor_ops import convert_elements


def lower_check(ctx: LoweringContext, predicate: Value, *, message: str) -> None:
    """`cf.assert` on the only element of `predicate`."""
    mlir.cf.assert_(mlir.tensor.extract(predicate, []), message)


def lower_print(ctx: LoweringContext, *values: Value, format: str) -> None:
    """`flow.tensor.trace` of the arrays under the label `format`."""
    b = ctx.builder
    shown = [_printable(b, v, t.dtype) for v, t in zip(values, ctx.operand_tensors, strict=True)]
    dims = [n for value in shown for n in dynamic_sizes_of(b, value)]
    mlir.flow.tensor_trace(format, shown, dims)


def _printable(b: LinalgBuilder, value: Value, dtype: np.dtype) -> Value:
    """`value` in a dtype that the debug sink prints as its numbers (ui64 above 2**63: negative)."""
    if dtype in COMPLEX:
        return _real_pairs(b, value, FLOAT32 if dtype == COMPLEX64 else FLOAT64)
    if dtype.kind == "u":
        return convert_elements(b, dtype, INT64, value)
    return value


def _real_pairs(b: LinalgBuilder, value: Value, part: np.dtype) -> Value:
    """Real and imaginary parts along a new last axis."""
    shape = [*b.shape(value), 2]
    rank = len(shape)

    def body(element: Value, _: Value) -> Value:
        is_real = mlir.arith.cmpi(
            mlir.arith.CmpIPredicate.eq, mlir.linalg.IndexOp(rank - 1).result, b.size_value(0)
        )
        return mlir.arith.select(is_real, mlir.complex.re(element), mlir.complex.im(element))

    maps = [b.axes_map(rank, range(rank - 1)), b.identity_map(rank)]
    return b.generic([value], [b.empty(shape, part)], maps, ["parallel"] * rank, body)


def dynamic_sizes_of(b: LinalgBuilder, value: Value) -> list[Value]:
    type_ = mlir.ir.RankedTensorType(value.type)
    return [b.size_value(n) for axis, n in enumerate(b.shape(value)) if type_.is_dynamic_dim(axis)]
