"""What the tests of kernels of rows, columns and elements share: their kernels, run by the interpreter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

import adze
from adze.dialects import mlir
from adze.frontend.staging.kernels import KERNELS
from adze.passes.base import Pass
from adze.passes.lower.kernels.element_kernels import ElementKernels
from adze.passes.lower.kernels.reduction_kernels import ReductionKernels
from adze.passes.lower.kernels.stencil_kernels import StencilKernels
from adze.runtime.compile.compiler import divided_into_kernels
from adze.runtime.targets import parse_target

from .interpreter import counts_of, run_kernel

AVX2, AVX512, VULKAN = (parse_target(t) for t in ("cpu:x86-64-v3", "cpu:x86-64-v4", "vulkan:ampere"))


def given(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Numbers of which sums of a few hundred are exact in every float dtype."""
    return np.random.default_rng(shape).integers(-8, 9, shape).astype(dtype)


REDUCTIONS: tuple[Pass, ...] = (ReductionKernels(),)
ELEMENTS: tuple[Pass, ...] = (ElementKernels(),)
STENCILS: tuple[Pass, ...] = (StencilKernels(),)


def kernels_of(
    function: Callable[..., Any],
    *arrays: Any,
    target: Any = AVX2,
    passes: tuple[Pass, ...] = REDUCTIONS,
) -> Any:
    """The module with the kernels of our own of a program, whose small ops are left to IREE."""
    with patch.dict(os.environ, ADZE_LOOP_KERNELS="off"):
        lowered = adze.trace(function, *arrays).lower(target)
    program = divided_into_kernels(lowered.bytecode(), target, lowered.options())
    context = mlir.new_context(foreign_ops=False)
    module = mlir.ir.Module.parse(program, context)
    for step in passes:
        step.run(module)
    assert module.operation.verify()
    return module


def run_reduction(
    function: Callable[..., Any],
    *arrays: np.ndarray,
    passes: tuple[Pass, ...] = REDUCTIONS,
    bound: list[np.ndarray] | None = None,
    shapes: Sequence[tuple[int | str, ...]] | None = None,
) -> list[np.ndarray]:
    """The results of a program that is one kernel of our own, every access of which is checked.

    `bound`: what the kernel is given, where that is not what the program is given. `shapes`: those that the
    program is traced for, with names of sizes that show at the call.
    """
    named = [adze.ShapeDtype(shape, x.dtype) for shape, x in zip(shapes or (), arrays, strict=False)]
    module = kernels_of(function, *(named or arrays), passes=passes)
    (executable,) = (o for o in module.body.operations if o.operation.name == "stream.executable")
    symbol = mlir.ir.StringAttr(executable.attributes["sym_name"]).value
    (dispatch,) = (o for o in _operations(module.operation) if o.name == "flow.dispatch")
    segments = list(mlir.ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"]))
    operands = list(dispatch.operands)
    workload = [_size(value, arrays) for value in operands[: segments[0]]]
    tensors = iter(bound or arrays)
    given_to: list[Any] = []
    for value in operands[segments[0] : segments[0] + segments[1]]:
        if isinstance(value.type, mlir.ir.RankedTensorType):
            given_to += [x for x in (next(tensors, None),) if x is not None]  # behind them are results
        else:
            given_to.append(np.int64(_size(value, arrays)))
    counts = counts_of(module, symbol, workload)
    return run_kernel(module, symbol, given_to, counts)


def _operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation
                yield from _operations(child.operation)


def _size(value: Any, arrays: Sequence[np.ndarray]) -> int:
    """What a value of the host is: the size of an argument, or what is computed of some."""
    operation = value.owner.operation
    if operation.name == "hal.buffer_view.dim":
        array = mlir.ir.BlockArgument(operation.operands[0]).arg_number
        return arrays[array].shape[mlir.ir.IntegerAttr(operation.attributes["index"]).value]
    if operation.name == "arith.constant":
        return mlir.ir.IntegerAttr(operation.attributes["value"]).value
    compute: dict[str, Callable[..., int]] = {
        "arith.index_cast": int,
        "arith.index_castui": int,
        "arith.addi": int.__add__,
        "arith.subi": int.__sub__,
        "arith.muli": int.__mul__,
        "arith.minsi": min,
        "arith.maxsi": max,
        "arith.floordivsi": int.__floordiv__,
    }
    return compute[operation.name](*(_size(operand, arrays) for operand in operation.operands))


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def is_loop(
    function: Callable[[Any], Any], *shape: int | str, target: Any = AVX2, dtype: Any = np.float32
) -> bool:
    """Whether the program has a kernel of rows or columns that adze writes."""
    text = adze.trace(function, adze.ShapeDtype(shape, dtype)).at_stage(KERNELS, target)
    return re.search(r"stream.executable private @(\w*dispatch|kernel_columns)", text) is not None
