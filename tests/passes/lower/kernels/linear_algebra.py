"""Routines of linear algebra as small modules, whose kernels the interpreter runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np

from adze.dialects import mlir
from adze.dialects.types import TensorType
from adze.passes.lower.kernels.linalg import matrices
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ..programs import build
from .interpreter import counts_of, of_numbers, run_kernel

TARGETS = ("cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v4")
"""Vectors of 128, 256 and 512 bits; the first one has no fused products."""
WORKGROUPS = 3
"""The most of them that share matrices where the call counts these."""


def run_routine(
    kernel: str,
    arrays: Sequence[np.ndarray],
    results: Sequence[TensorType],
    target: str,
    *,
    named: int = 0,
    alone: int | None = None,
) -> tuple[np.ndarray, ...]:
    """The results of the kernel of a routine that is compiled for a target.

    `named`: how many of the first axes have sizes that show at the call. `alone`: the only result in use.
    """
    types, named_results = ([_named(x.shape, x.dtype, named) for x in each] for each in (arrays, results))

    def body(b: Any, *xs: Any) -> Any:
        # What the callee computes does not matter, nor with which sizes.
        size = b.dim(xs[0], axis=0) if named else 0
        shapes = [tuple(size if n is None else n for n in r.shape) for r in named_results]
        return [b.full(0, shape, r.dtype) for shape, r in zip(shapes, results, strict=True)]

    def main(b: Any, *xs: Any) -> Any:
        if "solve" in kernel or "fft" in kernel:
            names = {"transposed": "_callee", "transposed_kernel": kernel}
            return b.linear_routine(
                *xs, callee="_callee", kernel=kernel, results=tuple(named_results), **names
            )
        all_results = b.routine(*xs, callee="_callee", kernel=kernel, results=tuple(named_results))
        return all_results if alone is None else [all_results[alone]]

    module, _ = build({"_callee": (body, types), "main": (main, types)})
    with mock.patch.object(matrices, "MOST_WORKGROUPS", WORKGROUPS if named else matrices.MOST_WORKGROUPS):
        lower(module, parse_target(target))
    text = str(module)
    results = results if alone is None else [results[alone]]
    assert text.count("flow.dispatch @") == 1 and "_callee" not in text
    symbol = text.split("flow.dispatch @")[1].split("::")[0]
    workload, scalars = scalars_of(module, arrays)
    if 0 in workload:  # nothing runs
        return tuple(np.zeros(r.static_shape, r.dtype) for r in results)
    operands: list[Any] = [*(of_parts(a) for a in (*arrays, *constants_of(module))), *scalars]
    written = run_kernel(module, symbol, operands, counts_of(module, symbol, workload))
    written = written[: len(results)]
    return tuple(w.view(r.dtype) if w.dtype != r.dtype else w for w, r in zip(written, results, strict=True))


def _named(shape: Sequence[int | None], dtype: np.dtype, named: int) -> TensorType:
    """A type whose first axes have sizes that show at the call."""
    return TensorType((*(None for _ in shape[:named]), *shape[named:]), dtype)


def scalars_of(module: Any, arrays: Sequence[np.ndarray]) -> tuple[list[int], list[int]]:
    """The workload and the sizes that the one dispatch of a program is called with."""
    function = next(o for o in module.body.operations if o.operation.name == "func.func")
    block = function.regions[0].blocks[0]
    (dispatch,) = (o.operation for o in block.operations if o.operation.name == "flow.dispatch")
    workload, passed, *_ = dispatch.attributes["operandSegmentSizes"]
    operands = list(dispatch.operands)
    index = mlir.ir.IndexType.get(module.context)

    def number(value: Any) -> Any:
        owner = value.owner
        if owner.name == "tensor.dim":
            return np.int64(arrays[owner.operands[0].arg_number].shape[number(owner.operands[1])])
        return of_numbers(owner, owner.name.split(".")[1])(*map(number, owner.operands))

    rest = (v for v in operands[workload : workload + passed] if v.type == index)
    return [int(number(v)) for v in operands[:workload]], [int(number(v)) for v in rest]


def of_parts(array: np.ndarray) -> np.ndarray:
    """A complex array as an array of its parts; others as they are."""
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array).view(f"f{array.dtype.itemsize // 2}")


def constants_of(module: Any) -> list[np.ndarray]:
    """The constant arrays that a dispatch takes."""
    function = next(o for o in module.body.operations if o.operation.name == "func.func")
    operations = [o.operation for o in function.regions[0].blocks[0].operations]
    values = (o.attributes["value"] for o in operations if o.name == "arith.constant")
    return [np.array(v) for v in values if isinstance(v, mlir.ir.DenseElementsAttr)]
