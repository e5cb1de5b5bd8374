"""Routines of linear algebra as small modules, whose kernels the interpreter runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adze.dialects.types import TensorType
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ..programs import build
from .interpreter import run_kernel

TARGETS = ("cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v4")
"""Vectors of 128, 256 and 512 bits; the first one has no fused products."""


def run_routine(
    kernel: str, arrays: Sequence[np.ndarray], results: Sequence[TensorType], target: str
) -> tuple[np.ndarray, ...]:
    """The results of the kernel of a routine that is compiled for a target."""
    types = [TensorType(a.shape, a.dtype) for a in arrays]

    def body(b: Any, *xs: Any) -> Any:
        return [b.full(0, r.shape, r.dtype) for r in results]  # what the callee computes does not matter

    def main(b: Any, *xs: Any) -> Any:
        if kernel.startswith("solve"):
            names = {"transposed": "_callee", "transposed_kernel": kernel}
            return b.linear_routine(*xs, callee="_callee", kernel=kernel, results=tuple(results), **names)
        return b.routine(*xs, callee="_callee", kernel=kernel, results=tuple(results))

    module, _ = build({"_callee": (body, types), "main": (main, types)})
    lower(module, parse_target(target))
    text = str(module)
    assert text.count("flow.dispatch @") == 1 and "_callee" not in text
    symbol = text.split("flow.dispatch @")[1].split("::")[0]
    count = int(text.split("stream.return %c")[1].split(",")[0])
    return tuple(run_kernel(module, symbol, arrays, count)[: len(results)])
