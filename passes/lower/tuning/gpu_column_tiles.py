"""The pass `tile-columns`: threads of a GPU whose columns lie beside each other in memory read them together.

Input: a program in IREE's phase `flow`, with `adze.target` on the module. Output: the same program; kernels
that reduce columns, or multiply few rows by a matrix, carry `compilation_info`. Counted in PTX, never timed.
Idea: of f32[4096,4096] IREE gives each column a warp, whose lanes read elements that lie 16 KB apart. Here a
warp has columns that lie beside each other, each lane 16 bytes of them, and reads four rows in a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Operation
from ..plan import target_of
from .gpu_columns import together
from .gpu_facts import WARP, is_tiled
from .gpu_products import FEW_ROWS
from .kernel_reading import access, bits, has_reduction, is_summed, kernels, loop_sizes
from .kernel_tiles import AROUND, TILES
from .texts import gpu_column_text

ROWS: Final = 4  # rows that a thread reads in a step
_KNOWN: Final = AROUND | {"linalg.fill", "linalg.generic"}


@dataclass(frozen=True)
class TileColumns(Pass):
    """Give kernels that reduce columns on a GPU tiles of columns that lie beside each other."""

    name = "tile-columns"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was given tiles."""
        if not is_tiled(target_of(module)):
            return False
        with module.context, mlir.ir.Location.unknown():
            return any([_tile(kernel) for kernel in kernels(module)])


def _tile(kernel: Sequence[Operation]) -> bool:
    """Give the one reduction of a kernel its tiles; whether it is one of columns."""
    if any(operation.name not in _KNOWN for operation in kernel):
        return False
    generics = [operation for operation in kernel if operation.name == "linalg.generic"]
    reductions = [generic for generic in generics if has_reduction(generic)]
    if len(reductions) != 1 or any(TILES in generic.attributes for generic in generics):
        return False
    (root,) = reductions
    kept = is_summed(root).count(False)
    after = generics[generics.index(root) + 1 :]
    if any(len(loop_sizes(generic) or ()) != kept for generic in after):
        return False  # it goes back to what was reduced
    tiles = column_tiles(root)
    if tiles is None:
        return False
    root.attributes[TILES] = mlir.ir.Attribute.parse(tiles)
    return True


def column_tiles(root: Operation) -> str | None:
    """The tiles of a reduction each of whose arrays keeps its last axis, or has none that is kept there."""
    sizes, kinds = loop_sizes(root), is_summed(root)
    if sizes is None or all(kinds):
        return None
    last = max(loop for loop, is_reduced in enumerate(kinds) if not is_reduced)
    widest, in_memory = 0, {last}
    for type_, loops in access(root):
        width = bits(type_)
        if loops is None or width is None:
            return None
        if last not in loops:
            continue
        if loops[-1] != last:
            return None
        if any(kinds[loop] for loop in loops):
            widest, in_memory = max(widest, width), in_memory | set(loops)
    again = {loop: size for loop, size in enumerate(sizes) if not kinds[loop] and loop not in in_memory}
    if not widest or sizes[last] < WARP or prod(again.values()) > FEW_ROWS:
        return None
    thread = [0 if is_reduced else again.get(loop, 1) for loop, is_reduced in enumerate(kinds)]
    thread[last] = together(sizes[last], widest)
    return gpu_column_text(
        workgroup=[n * WARP if loop == last else n for loop, n in enumerate(thread)],
        thread=thread,
        reduction=[ROWS if is_reduced else 0 for is_reduced in kinds],
        threads=WARP,
    )
