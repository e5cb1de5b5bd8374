"""Kernels through SPIR-V whose lanes share a reduction along several axes at once.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have pipelines.
Output: the first kernel in which lanes share a reduction (`SubgroupReduce`) of whose loops more than one runs
over several elements of a tile, or None.

Symptom: on Vulkan, silently, the result is of other elements and of what lies behind the array: lane `t` of
    a tile of 8 x 8 reads four elements from `[t, 4 t]` on. Metal's code is made by the same passes.
Seen in: IREE 3.13.
Smallest: ``z = where(i >= 0, y, 0).T`` and ``max(abs(z))`` of 8 x 8 elements, both returned.
Goes when: `tests/gpu/test_fences.py::test_iree_still_spreads_squares_over_lanes` fails.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .repeated_rows import SHARED, is_shared, kernels_of

_TILES: Final = re.compile(r"tile_sizes = \[(.*)\]")
_LEVEL: Final = re.compile(r"\[([\d, ]*)\]")


def kernel_with_squares_of_lanes(chosen: bytes) -> str | None:
    """The name of a kernel that would compute wrongly; bytecode of the phase."""
    if SHARED not in chosen:
        return None
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(chosen, context)
        for kernel in kernels_of(module.operation):
            if is_shared(kernel) and has_squares(ir, kernel):
                return str(ir.StringAttr(kernel.attributes["sym_name"]).value)
    return None


def has_squares(ir: Any, kernel: Any) -> bool:
    """Whether a reduction has tiles of more than one element along two of its loops that reduce."""
    for child in kernel.regions[0].blocks[0].operations:
        attributes = child.operation.attributes
        if "iterator_types" not in attributes or "lowering_config" not in attributes:
            continue
        reduces = ["reduction" in str(each) for each in ir.ArrayAttr(attributes["iterator_types"])]
        for sizes in _tiles(str(attributes["lowering_config"])):
            if sum(is_reduced and size > 1 for is_reduced, size in zip(reduces, sizes, strict=False)) > 1:
                return True
    return False


def _tiles(configuration: str) -> list[list[int]]:
    """The sizes of the tiles of each level, one a loop."""
    found = _TILES.search(configuration)
    if found is None:
        return []
    return [[int(size) for size in level.split(",") if size.strip()] for level in _LEVEL.findall(found[1])]
