"""Kernels in which one reduction is computed again in each step of another.

A kernel has a reduction that depends on another one, whose result is also used elsewhere: by an op that the
later reduction does not depend on, or from memory. IREE does the later one in steps, computes the earlier one
in each step anew and, as it is to keep its result, adds to what it kept in the step before. A reduction that
is done in one step is safe, which its tiles tell.

Symptom: sums come out several times too large, silently.
Seen in: IREE 3.13.
Smallest: `t = sum(y * y, -1); w = y * t[:, None]; u = sum(w * y, -1)`, where `t` is needed elsewhere too.
Goes when: `tests/runtime/compile/test_kernels.py::test_unchecked_they_are_wrong` fails.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..reductions import is_reduction

_STEPS: Final = re.compile(r"vector_reduction = \[([\d, ]+)\]")


def computes_a_reduction_again(ir: Any, operations: list[Any]) -> bool:
    needed: dict[Any, set[Any]] = {}  # what each operation of the block depends on
    reductions: list[Any] = []
    for child in operations:
        operation = child.operation
        before: set[Any] = set()
        for value in operation.operands:
            if value.owner in needed:
                before |= needed[value.owner] | {value.owner}
        needed[operation] = before
        if is_reduction(operation):
            earlier = [f for f in reductions if f in before]
            if earlier and not _is_one_step(ir, operation):
                inside = before | {operation}
                readers = (use.owner.operation for f in earlier for r in f.results for use in r.uses)
                if any(reader not in inside for reader in readers):
                    return True
            reductions.append(operation)
    return False


def _is_one_step(ir: Any, reduction: Any) -> bool:
    """Whether the configuration of a reduction says that it is done at once."""
    if "compilation_info" not in reduction.attributes or reduction.name != "linalg.generic":
        return False
    stated = _STEPS.search(str(reduction.attributes["compilation_info"]))
    if stated is None:
        return False
    sizes: dict[int, int] = {}
    maps = ir.ArrayAttr(reduction.attributes["indexing_maps"])
    for value, attribute in zip(reduction.operands, maps, strict=True):
        for axis, place in enumerate(ir.AffineMapAttr(attribute).value.results):
            if isinstance(place, ir.AffineDimExpr):
                sizes[place.position] = value.type.shape[axis]
    steps = [int(text) for text in stated[1].split(",")]
    return all(
        "parallel" in str(kind) or 0 < sizes.get(loop, 0) <= steps[loop]
        for loop, kind in enumerate(ir.ArrayAttr(reduction.attributes["iterator_types"]))
    )
