"""The one place that decides speed: tiles of single ops, stages of reductions, and the options of a module.

In: what is known of the target, the sizes of an op's loops and its dtype. Out: the text of a
`compilation_info` attribute or None, the stages of a reduction, and `ModuleHints` for the compile. Nothing
here changes what is computed. Sizes that are not known get no configuration: IREE's own choice is better
there. The numbers are measured; the benchmarks show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.types import FLOAT32, FLOAT64

Size = Any  # int | ir.Value of type index

SPLIT_FROM: Final = 1 << 14  # a reduction of more elements than this is done in two stages
ROW_BYTES: Final = 8192  # how much of a row is folded at once
STRIP_BYTES: Final = 1024  # how wide a strip of columns is folded at once
SMALL: Final = 1 << 12  # below so many elements, no configuration: nothing to gain
UNPACKED_BYTES: Final = 1 << 21  # a right operand up to this size is read without packing
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
    last = len(shape) - 1
    if len(axes) == len(shape):
        return None
    kept = [a for a in range(len(shape)) if a not in axes]
    ordered = [shape[a] for a in (*kept, *(a for a in range(len(shape)) if a in axes))]
    return _fold_tiles(target, ordered, len(kept), last in axes, dtype)


def _fold_tiles(
    target: Any, sizes: Sequence[int], kept: int, along_rows: bool, dtype: np.dtype
) -> str | None:
    """Tiles of a fold over loops of these sizes, the first `kept` of which are not summed over.

    `along_rows`: the operand's last axis is the last loop; otherwise it is the last one kept.
    """
    width = lanes(target, dtype)
    limit = (ROW_BYTES if along_rows else STRIP_BYTES) // dtype.itemsize
    tile = _divisor(sizes[-1] if along_rows else sizes[kept - 1], limit, width)
    if tile is None:
        return None
    distribution = [1] * kept + [0] * (len(sizes) - kept)
    parallel = list(distribution)
    steps = [0] * kept + [1] * (len(sizes) - kept)
    if along_rows:
        steps[-1] = tile
        distribution[kept - 1] = min(sizes[kept - 1], 32)
    else:
        parallel[kept - 1] = tile
        distribution[kept - 1] = 2 * tile if sizes[kept - 1] % (2 * tile) == 0 else tile
    return _tiles(distribution=distribution, vector_common_parallel=parallel, vector_reduction=steps)


def contraction(
    target: Any, sizes: Mapping[str, Size], orders: tuple[str, str], loops: Sequence[str], dtype: np.dtype
) -> str | None:
    """Tiles of a product `out[b, m, n] = sum_k x y` whose loops are `loops`; the orders are the operands'."""
    if kind_of(target) != "cpu" or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    if "m" in loops and "n" in loops:
        return _matrix_product(target, sizes, loops, dtype)
    free = next((letter for letter in loops if letter in "mn"), None)
    matrix = orders[0] if free == "m" else orders[1]
    if free is None or prod(sizes[letter] for letter in matrix) < SMALL:
        return None
    shape = [sizes[letter] for letter in loops]
    return _fold_tiles(target, shape, len(loops) - 1, matrix.endswith("k"), dtype)


def _matrix_product(
    target: Any, sizes: Mapping[str, int], loops: Sequence[str], dtype: np.dtype
) -> str | None:
    """Register tiles of two vectors by as many rows as divide `m`, swept over blocks that stay in cache."""
    width = lanes(target, dtype)
    m, n = sizes["m"], sizes["n"]
    if not packs_badly(sizes, dtype) or n % width:
        return None
    columns = 2 * width if n % (2 * width) == 0 else width
    rows = next((t for t in _row_tiles(target) if m % t == 0), None)
    if rows is None:
        return None
    batched = "b" in loops
    block_rows = _divisor(m, 64 if batched else 128, rows) or rows
    block_columns = _divisor(n, 64 if batched else 256, columns) or columns
    ones = [1] if batched else []
    zeros = [0] if batched else []
    return _tiles(
        distribution=[*ones, block_rows, block_columns, 0],
        vector_common_parallel=[*ones, rows, columns, 0],
        vector_reduction=[*zeros, 0, 0, 1],
    )


def _row_tiles(target: Any) -> tuple[int, ...]:
    """Rows of a register tile, the best first: 32 vector registers hold twice as many as 16."""
    wide = int(getattr(target, "vector_bits", 128)) >= 512 or getattr(target, "architecture", "") == "aarch64"
    return (8, 4, 2) if wide else (4, 2)


def packs_badly(sizes: Mapping[str, Size], dtype: np.dtype) -> bool:
    """Whether a static product is small enough to be read as it lies, which saves the packing of operands."""
    n, k = sizes["n"], sizes["k"]
    return isinstance(n, int) and isinstance(k, int) and n * k * dtype.itemsize <= UNPACKED_BYTES


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

