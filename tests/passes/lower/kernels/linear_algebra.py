"""Routines of linear algebra as small modules, whose kernels the interpreter runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adze.dialects import mlir
from adze.dialects.types import TensorType
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ..programs import build
from .interpreter import counts_of, run_kernel

TARGETS = ("cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v4")
"""Vectors of 128, 256 and 512 bits; the first one has no fused products."""
WORKGROUPS = 3
"""Which share the matrices where the call counts these."""


def run_routine(
    kernel: str, arrays: Sequence[np.ndarray], results: Sequence[TensorType], target: str, *, named: int = 0
) -> tuple[np.ndarray, ...]:
    """The results of the kernel of a routine that is compiled for a target.

    `named`: how many of the first axes have sizes that show at the call.
    """
    sizes = arrays[0].shape[:named]
    results = [TensorType((*(None for _ in sizes), *r.shape[named:]), r.dtype) for r in results]
    types = [TensorType((*(None for _ in sizes), *a.shape[named:]), a.dtype) for a in arrays]

    def body(b: Any, *xs: Any) -> Any:
        # What the callee computes does not matter.
        shapes = [(*(b.dim(xs[0], axis=a) for a in range(named)), *r.shape[named:]) for r in results]
        return [b.full(0, shape, r.dtype) for shape, r in zip(shapes, results, strict=True)]

    def main(b: Any, *xs: Any) -> Any:
        if kernel.startswith("solve") or "fft" in kernel:
            names = {"transposed": "_callee", "transposed_kernel": kernel}
            return b.linear_routine(*xs, callee="_callee", kernel=kernel, results=tuple(results), **names)
        return b.routine(*xs, callee="_callee", kernel=kernel, results=tuple(results))

    module, _ = build({"_callee": (body, types), "main": (main, types)})
    lower(module, parse_target(target))
    text = str(module)
    assert text.count("flow.dispatch @") == 1 and "_callee" not in text
    symbol = text.split("flow.dispatch @")[1].split("::")[0]
    operands: list[Any] = [of_parts(a) for a in (*arrays, *constants_of(module))]
    workload = [WORKGROUPS] if named else []
    operands += [*sizes, *workload]
    written = run_kernel(module, symbol, operands, counts_of(module, symbol, workload))
    written = written[: len(results)]
    return tuple(w.view(r.dtype) if w.dtype != r.dtype else w for w, r in zip(written, results, strict=True))


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
