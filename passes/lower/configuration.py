"""The one place that decides speed: tiles of single ops, stages of reductions, and the options of a module.

In: what is known of the target, the sizes of an op's loops and its dtype. Out: the text of a
`compilation_info` attribute or None, the stages of a reduction, and `ModuleHints` for the compile. Nothing
here changes what is computed. Sizes that are not known get no configuration: IREE's own choice is better
there. The numbers are measured; the benchmarks show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.types import FLOATS

Size = Any  # int | ir.Value of type index

SPLIT_FROM: Final = 1 << 14  # a reduction of more elements than this is done in two stages
ROW_BYTES: Final = 8192  # how much of a row is folded at once
STRIP_BYTES: Final = 1024  # how wide a strip of columns is folded at once
SMALL: Final = 1 << 12  # below so many elements, no configuration: nothing to gain
ROW: Final = 1024  # the length of the rows that a long vector is split into


@dataclass(frozen=True, slots=True)
class ModuleHints:
    """What the lowering knows of a module that its compile wants to know.

    `data_tiling`: pack the operands of matrix products (IREE's option of that name). `flops` and `bytes_moved`
    estimate the work of one call, dynamic sizes counted as 1; `is_static` says whether there were none.
    """

    data_tiling: bool = False
    flops: int = 0
    bytes_moved: int = 0
    is_static: bool = True


@dataclass(frozen=True, slots=True)
class Stages:
    """A reduction in two stages: first along the axes `first`; a vector is cut into rows of `split` before."""

    first: tuple[int, ...]
    split: int | None = None


def kind_of(target: Any) -> str:
    """`cpu`, `vulkan` or `cuda`."""
    return str(getattr(target.kind, "value", target.kind))


def lanes(target: Any, dtype: np.dtype) -> int:
    """How many elements of `dtype` a vector register of the target holds."""
    return max(int(getattr(target, "vector_bits", 128)) // (8 * dtype.itemsize), 1)


def reduction_stages(target: Any, shape: Sequence[Size], axes: Sequence[int]) -> Stages | None:
    """Whether a reduction of all axes of an array is to be done in two stages, and how.

    One stage would be one workgroup; on GPUs even one invocation, which some drivers stop after 65535 turns.
    """
    if len(axes) != len(shape):
        return None
    count = prod(n if isinstance(n, int) else 1 for n in shape)
    is_static = all(isinstance(n, int) for n in shape)
    if is_static and count < SPLIT_FROM:
        return None
    last = shape[-1]
    if len(shape) > 1 and isinstance(last, int) and ROW // 4 <= last <= SPLIT_FROM:
        return Stages((len(shape) - 1,))
    return Stages((), (_divisor(count, 2 * ROW, 64) if is_static else None) or ROW)


def reduction(target: Any, shape: Sequence[Size], axes: Sequence[int], dtype: np.dtype) -> str | None:
    """Tiles of a reduction along `axes`, whose loops are those of the other axes and then its own.

    Where the last axis is reduced, one row at a time; where it is kept, a wide strip of columns at a time,
    so that each line read from memory is used whole.
    """
    if kind_of(target) != "cpu" or not all(isinstance(n, int) for n in shape) or prod(shape) < SMALL:
        return None
    width = lanes(target, dtype)
    last = len(shape) - 1
    tile = _divisor(shape[last], (ROW_BYTES if last in axes else STRIP_BYTES) // dtype.itemsize, width)
    if tile is None or len(axes) == len(shape):
        return None
    kept = [a for a in range(len(shape)) if a not in axes]
    distribution = [1] * len(kept) + [0] * len(axes)
    parallel = list(distribution)
    steps = [0] * len(kept) + [1] * len(axes)
    if last in axes:
        steps[-1] = tile
        distribution[len(kept) - 1] = min(shape[kept[-1]], 32)
    else:
        parallel[len(kept) - 1] = tile
        distribution[len(kept) - 1] = 2 * tile if shape[last] % (2 * tile) == 0 else tile
    return _tiles(distribution=distribution, vector_common_parallel=parallel, vector_reduction=steps)


def _divisor(size: int, limit: int, multiple: int) -> int | None:
    """The largest divisor of `size` up to `limit` that is a multiple of `multiple`."""
    for candidate in range(min(size, limit) // multiple * multiple, 0, -multiple):
        if size % candidate == 0:
            return candidate
    return None


def _tiles(**levels: Sequence[int]) -> str:
    """The text of a `compilation_info` attribute with these tile sizes, one entry a loop, 0 for none."""
    sizes = ", ".join(f"{name} = {list(tiles)}" for name, tiles in levels.items())
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<{sizes}>, "
        "translation_info = #iree_codegen.translation_info<"
        "pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>"
    )


def strip_configuration(module: mlir.ir.Module) -> bool:
    """Remove every `compilation_info` from `module`, in place; whether there was one."""
    found = False

    def visit(operation: Any) -> Any:
        nonlocal found
        if "compilation_info" in operation.attributes:
            del operation.attributes["compilation_info"]
            found = True
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


__all__ = [
    "FLOATS",
    "ModuleHints",
    "Stages",
    "kind_of",
    "lanes",
    "reduction",
    "reduction_stages",
    "strip_configuration",
]
