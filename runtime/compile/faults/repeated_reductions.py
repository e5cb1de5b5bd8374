"""Kernels of dynamic sizes in which one reduction is computed anew in each step of another.

A reduction uses the result of an earlier one, or an array that is computed from it. IREE does it in steps,
and in each of them computes its operands, the earlier reduction of all elements included. The results are
right (`recomputed_reductions.py` has those that are not). Arrays of known sizes have tiles or loops of ours.

Symptom: the time of a call is quadratic: norms of 10 rows of 51,200 elements take 518 ms, and apart 2.
Seen in: IREE 3.13.
Smallest: `c = x - mean(x, -1); c / sqrt(mean(c * c, -1))` of `f32[n,m]`.
Goes when: `tests/runtime/compile/test_kernels.py::test_reductions_that_would_be_repeated_are_named` fails.
"""

from __future__ import annotations

from typing import Any

from ..reductions import is_reduction


def repeats_a_reduction(ir: Any, operations: list[Any]) -> bool:
    """Whether a kernel goes over all elements of an array again in each step over it."""
    reduced: set[Any] = set()  # operations that need a reduction
    for child in operations:
        operation = child.operation
        is_after = any(value.owner in reduced for value in operation.operands)
        if is_reduction(operation):
            if is_after and _has_unknown_steps(ir, operation):
                return True
            reduced.add(operation)
        elif is_after:
            reduced.add(operation)
    return False


def _has_unknown_steps(ir: Any, reduction: Any) -> bool:
    """Whether a loop in which a generic combines elements has a dynamic size."""
    if reduction.name != "linalg.generic":
        return False
    kinds = [str(kind) for kind in ir.ArrayAttr(reduction.attributes["iterator_types"])]
    maps = ir.ArrayAttr(reduction.attributes["indexing_maps"])
    return any(
        "reduction" in kinds[place.position] and ir.RankedTensorType(value.type).is_dynamic_dim(axis)
        for value, attribute in zip(reduction.operands, maps, strict=True)
        for axis, place in enumerate(ir.AffineMapAttr(attribute).value.results)
        if isinstance(place, ir.AffineDimExpr)
    )
