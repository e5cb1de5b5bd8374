"""The one place that decides speed: forms and tiles of single ops, and the options of a module.

In: what is known of the target, the sizes of an op's loops and its dtype. Out: the text of a
`compilation_info` attribute or None, the stages of a reduction, the form of a product, and `ModuleHints` for
the compile. Nothing here changes what is computed. Sizes that are not known get no configuration: IREE's own
choice is better there. The numbers are measured; the benchmarks show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from ....dialects import mlir
from ....dialects.op import Op
from ....dialects.ops.contraction.convolution import ConvGeneral
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.types import BFLOAT16, COMPLEX, FLOAT32, FLOAT64, TensorType, ValueType

Size = Any  # int | ir.Value of type index

LARGE: Final = 1 << 16  # arrays from this size on are rather computed again than written and read
SPLIT_FROM: Final = 1 << 14  # a reduction of more elements than this is done in two stages
ROW: Final = 1024  # the length of the rows that a long vector is split into
ROW_BYTES: Final = 8192  # how much of a row is folded at once
STRIP_BYTES: Final = 1024  # how wide a strip of columns is folded at once
SMALL: Final = 1 << 12  # below so many elements, no configuration: nothing to gain
SIDE_BY_SIDE: Final = 64  # rows enough to keep the vector units busy
RANKED: Final = 2048  # the longest row whose elements are compared each with each
UNPACKED_BYTES: Final = 1 << 21  # a right operand up to this size is read without packing
MOVED_ROW: Final = 16  # rows of at least so many elements are copied one by one
ROUNDED_FROM: Final = 1 << 18  # multiplications that repay copies of the operands to sizes that tiles divide
PACKED_FROM: Final = 64  # rows that repay the packing of the right operand
FLOPS_A_BYTE: Final = 2  # operations that one core does in the time in which it moves a byte


# -- what is decided once for a module ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModuleHints:
    """What the lowering knows of a module that its compile wants to know.

    `data_tiling`: pack the operands of matrix products (IREE's option of that name). `flops` and
    `bytes_moved` estimate the work of one call, dynamic sizes counted as 1; `is_static` says whether there
    were none. `largest_work` is that of its largest kernel in operations, as far as it can be told before
    there are kernels: of its largest op, a byte that it moves counted as `FLOPS_A_BYTE`, or of a chain of
    elementwise functions between two products. Threads pay by the kernel, which ends with all of them waiting
    for the last.
    """

    data_tiling: bool = False
    flops: int = 0
    bytes_moved: int = 0
    is_static: bool = True
    largest_work: int = 0


@dataclass(frozen=True, slots=True)
class Survey:
    """What `plan` needs to know of one op."""

    flops: int
    bytes_moved: int
    is_static: bool
    is_matrix_product: bool
    dtype: np.dtype
    element_work: int = 0  # of a function of single elements that is more than a multiplication


def survey(
    op: type[Op], operands: Sequence[ValueType], results: Sequence[ValueType], attributes: Any
) -> Survey:
    """Estimate one application: products of matrices exactly, other ops as one operation an element touched.

    So a product with a vector, which waits for memory, counts as little as a sum of the same matrix.
    """
    arrays = [t for t in (*operands, *results) if isinstance(t, TensorType)]
    counts = [prod(1 if n is None else n for n in t.shape) for t in arrays]
    flops = max(counts, default=0)
    is_matrix_product = False
    if op is DotGeneral:
        contracting, batch = attributes["contracting"], attributes["batch"]
        depth = prod(arrays[0].shape[a] or 1 for a in contracting[0])
        is_matrix_product = all(
            any(n != 1 for a, n in enumerate(t.shape) if a not in contracting[side] + batch[side])
            for side, t in enumerate(arrays[:2])
        )
        if is_matrix_product:
            flops = 2 * depth * counts[-1]
    elif op is ConvGeneral:
        out_features = arrays[1].shape[attributes["rhs_spec"][0]] or 1
        flops = 2 * counts[-1] * max(counts[1] // out_features, 1)
    return Survey(
        flops,
        sum(n * t.dtype.itemsize for n, t in zip(counts, arrays, strict=True)),
        all(t.is_static for t in arrays),
        is_matrix_product,
        arrays[0].dtype if arrays else FLOAT32,
        op.element_cost * max(counts, default=0) if op.element_cost > 1 else 0,
    )


def plan(target: Any, ops: Iterable[Survey]) -> ModuleHints:
    """The hints for a module that consists of `ops`.

    Data tiling packs both operands of every product of the module: right where sizes are not known, and for
    bf16. Beside it products carry no tiles of their own, since IREE refuses some mixtures.
    """
    flops = moved = largest = products = chained = 0
    is_static, data_tiling = True, False
    for each in ops:
        flops += each.flops
        largest = max(largest, each.flops, FLOPS_A_BYTE * each.bytes_moved)
        products += each.is_matrix_product
        chained += each.element_work
        moved += each.bytes_moved
        is_static &= each.is_static
        data_tiling |= each.is_matrix_product and (not each.is_static or each.dtype == BFLOAT16)
    largest = max(largest, chained // (1 + products))
    return ModuleHints(data_tiling and kind_of(target) == "cpu", flops, moved, is_static, largest)


def settle(module: mlir.ir.Module) -> None:
    """Of reductions that IREE may put into one kernel, let the last one decide about its tiles.

    It refuses a kernel with two configurations, and one whose last op has none but an earlier one has.
    Reductions meet in a kernel where one depends on the other through elementwise ops and both have the same
    loops that are not summed over, as the sum of a softmax and its maximum have.
    """
    for function in module.body.operations:
        for block in function.regions[0].blocks:
            _settle_block(block)


def _settle_block(block: Any) -> None:
    upstream: dict[Any, frozenset[int]] = {}  # reductions that a value may be computed with
    folds: list[tuple[Any, frozenset[int]]] = []
    for operation in block.operations:
        name, operands = operation.operation.name, list(operation.operands)
        before: frozenset[int] = frozenset()
        if name == "linalg.generic" or name.startswith("tensor."):
            before = before.union(*(upstream.get(v, before) for v in operands))
        if name == "linalg.generic" and "reduction" in str(operation.attributes["iterator_types"]):
            if _is_product(operation):
                before = frozenset()
            else:
                count = prod(operation.results[0].type.shape)
                alike = (n for n in before if prod(folds[n][0].results[0].type.shape) == count)
                folds.append((operation, frozenset(alike)))
                before |= {len(folds) - 1}
        if before:
            for result in operation.results:
                upstream[result] = before
    dropped: set[int] = set()
    for number in reversed(range(len(folds))):
        operation, conflicts = folds[number]
        if number not in dropped:
            dropped |= conflicts
        elif "compilation_info" in operation.attributes:
            del operation.attributes["compilation_info"]


def _is_product(operation: Any) -> bool:
    """Whether a generic with a reduction multiplies two arrays of which neither is the other's shape."""
    maps = mlir.ir.ArrayAttr(operation.attributes["indexing_maps"])
    inputs = operation.attributes["operandSegmentSizes"][0]
    loops = len(mlir.ir.ArrayAttr(operation.attributes["iterator_types"]))
    return all(len(mlir.ir.AffineMapAttr(maps[i]).value.results) < loops for i in range(inputs))


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


# -- reductions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stages:
    """A reduction in two stages: first along the axes `first`, or, as a vector cut into rows of `split`."""

    first: tuple[int, ...]
    split: int | None = None


def reduction_stages(target: Any, shape: Sequence[Size], axes: Sequence[int]) -> Stages | None:
    """Whether a reduction of all axes of an array is to be done in two stages, and how.

    One stage would be one workgroup; on GPUs even one invocation, which some drivers stop after 65535 turns.
    """
    if len(axes) != len(shape):
        return None
    is_static = all(isinstance(n, int) for n in shape)
    count = prod(shape) if is_static else 0
    if is_static and count < SPLIT_FROM:
        return None
    last = shape[-1]
    if len(shape) > 1 and isinstance(last, int) and ROW // 4 <= last <= SPLIT_FROM:
        return Stages((len(shape) - 1,))
    return Stages((), (_divisor(count, 2 * ROW, 64) if is_static else None) or ROW)


def computes_operands_of_folds(target: Any) -> bool:
    """Whether a fold of a large array computes again what is cheap (`fusion.py`)."""
    return kind_of(target) == "cpu"


def reduction(target: Any, shape: Sequence[Size], axes: Sequence[int], dtype: np.dtype) -> str | None:
    """Tiles of a reduction along `axes`, whose loops are those of the other axes and then its own.

    Where the last axis is reduced, one row at a time; where it is kept, a wide strip of columns at a time,
    so that each line read from memory is used whole.
    """
    if kind_of(target) != "cpu" or not all(isinstance(n, int) for n in shape) or prod(shape) < SMALL:
        return None
    if len(axes) == len(shape):
        return None
    kept = [a for a in range(len(shape)) if a not in axes]
    ordered = [shape[a] for a in (*kept, *(a for a in range(len(shape)) if a in axes))]
    return _fold_tiles(target, ordered, len(kept), len(shape) - 1 in axes, dtype)


def _fold_tiles(
    target: Any, sizes: Sequence[int], kept: int, along_rows: bool, dtype: np.dtype
) -> str | None:
    """Tiles of a fold over loops of these sizes, the first `kept` of which are not summed over.

    `along_rows`: the operand's last axis is the last loop; otherwise it is the last one kept.
    """
    width = lanes(target, dtype)
    limit = (ROW_BYTES if along_rows else STRIP_BYTES) // dtype.itemsize
    size = sizes[-1] if along_rows else sizes[kept - 1]
    # Measured: a whole row is folded 3 to 5 times faster than in IREE's tiles, also where no register
    # divides it (rows of 1000, 1023, 250, 100, 50).
    is_one_tile = along_rows and width <= size <= limit
    tile = size if is_one_tile else _divisor(size, limit, width)
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
        distribution[kept - 1] = tile
    return _tiles(distribution=distribution, vector_common_parallel=parallel, vector_reduction=steps)


def scan_block(rows: Size, size: Size) -> int | None:
    """The length of the blocks that rows are cut into for a scan, None for whole rows."""
    if (
        not isinstance(rows, int)
        or not isinstance(size, int)
        or rows >= SIDE_BY_SIDE
        or size < 2 * SIDE_BY_SIDE
    ):
        return None
    block = _divisor(size, int(size**0.5), 1)
    return block if block is not None and block >= 8 else None


def sort_blocks(size: Size) -> int:
    """Into how many blocks (a power of two) rows of `size` elements are cut to be sorted."""
    pieces = 1
    while isinstance(size, int) and size > RANKED * pieces:
        pieces *= 2
    return pieces


def selects(size: Size, k: int) -> bool:
    """Whether the `k` greatest are searched for one by one instead of taken from the sorted row."""
    return k <= 32 and (not isinstance(size, int) or 8 * k < size)


def ranking(target: Any, count: Size, size: Size) -> str | None:
    """Tiles of counting, for each element of a row, those before it."""
    width = lanes(target, FLOAT32)
    if kind_of(target) != "cpu" or not isinstance(size, int) or not isinstance(count, int):
        return None
    tile = _divisor(size, 8 * width, width)
    if tile is None or size * size < SMALL:
        return None
    rows = _divisor(size, 16 * tile, tile) or tile
    return _tiles(distribution=[1, rows, 0], vector_common_parallel=[1, tile, 0], vector_reduction=[0, 0, 1])


# -- products ----------------------------------------------------------------------------------


def vector_product(
    target: Any, sizes: Mapping[str, Size], orders: tuple[str, str], loops: Sequence[str], dtype: np.dtype
) -> str | None:
    """Tiles of a product of a matrix and a vector whose loops are `loops`; the orders are the operands'."""
    if kind_of(target) != "cpu" or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    free = next((letter for letter in loops if letter in "mn"), None)
    matrix = orders[0] if free == "m" else orders[1]
    if free is None or "k" not in loops or prod(sizes[letter] for letter in matrix) < SMALL:
        return None
    return _fold_tiles(target, [sizes[c] for c in loops], len(loops) - 1, matrix.endswith("k"), dtype)


@dataclass(frozen=True, slots=True)
class ProductForm:
    """How a static matrix product is done: register tiles, and what becomes of the right operand first.

    `panel` is the width of the panels (k, panel) that the right operand is repacked into, None for none;
    `transpose` says that it is to be copied from (n, k) to (k, n).
    """

    tiles: str
    panel: int | None = None
    transpose: bool = False


def matrix_product(
    target: Any, sizes: Mapping[str, Size], right_order: str, loops: Sequence[str], dtype: np.dtype
) -> ProductForm | None:
    """Register tiles of two vectors by as many rows as divide `m`, swept over blocks that stay in cache.

    The right operand is read along n. One too large for the cache is first cut into panels, so that it is
    read in order; one that lies along k is first transposed: both copies are cheap beside the product.
    """
    if kind_of(target) != "cpu" or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    rows = next((t for t in _row_tiles(target) if m % t == 0), None)
    if rows is None or n % width or min(m, n, k) == 0:
        return None
    columns = 2 * width if n % (2 * width) == 0 else width
    batched = "b" in loops
    ones, zeros = ([1], [0]) if batched else ([], [])
    block_rows = _divisor(m, 64 if batched else 128, rows) or rows
    if n * k * dtype.itemsize > UNPACKED_BYTES and m >= PACKED_FROM:
        tiles = _tiles(
            distribution=[*ones, block_rows, _divisor(n // columns, 4, 1) or 1, columns, 0],
            vector_common_parallel=[*ones, rows, 1, columns, 0],
            vector_reduction=[*zeros, 0, 0, 0, 1],
        )
        return ProductForm(tiles, panel=columns)
    tiles = _tiles(
        distribution=[*ones, block_rows, _divisor(n, 64 if batched else 256, columns) or columns, 0],
        vector_common_parallel=[*ones, rows, columns, 0],
        vector_reduction=[*zeros, 0, 0, 1],
    )
    return ProductForm(tiles, transpose=right_order.endswith("nk"))


def rounded_product(
    target: Any, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> dict[str, Size] | None:
    """Sizes a little larger that register tiles divide, where the copies to get there repay; else None."""
    if kind_of(target) != "cpu" or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if min(m, n, k) < width or m * n * k < ROUNDED_FROM:
        return None
    rows = _row_tiles(target)[0]
    has_rows = any(m % t == 0 for t in _row_tiles(target) if t > rows // 2)
    columns = 2 * width if n > 8 * width else width
    larger = m if has_rows else -(-m // rows) * rows, n if n % width == 0 else -(-n // columns) * columns
    return None if larger == (m, n) else {**sizes, "m": larger[0], "n": larger[1]}


def gathers_rows(target: Any, dtype: np.dtype) -> bool:
    """Whether IREE can gather whole rows.

    Observed: on Vulkan it cannot ("failed to get lowering configuration"); wide rows of complex numbers it
    refuses ("'vector.transfer_read' op requires valid padding vector elemental type").
    """
    return kind_of(target) != "vulkan" and dtype not in COMPLEX


def moves_rows(target: Any, row: Size, dtype: np.dtype) -> bool:
    """Whether rows of so many elements are moved as a gather of rows."""
    is_long = isinstance(row, int) and row >= MOVED_ROW
    return kind_of(target) == "cpu" and is_long and gathers_rows(target, dtype)


def few_positions(positions: Sequence[Size], window: Sequence[Size]) -> bool:
    """Whether a window is so large, and moves so little, that its places are best taken one by one."""
    if not all(isinstance(n, int) for n in (*positions, *window)):
        return False
    return prod(positions) <= 64 and prod(window) >= max(16, 2 * prod(positions))


def convolution(
    target: Any, sizes: Sequence[Size], window: Sequence[Size], channels: Size, dtype: np.dtype
) -> str | None:
    """Tiles of a convolution over (batch, positions, features), of a window with `channels` at each place.

    Registers hold what a matrix product's do, positions along the last axis being the rows.
    """
    if kind_of(target) != "cpu" or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(n, int) for n in (*sizes, *window, channels)):
        return None
    width = lanes(target, dtype)
    places, features = sizes[-2], sizes[-1]
    rows = next((t for t in _row_tiles(target) if places % t == 0), None)
    if rows is None or features % width or channels * prod(window) < width:
        return None
    columns = 2 * width if features % (2 * width) == 0 else width
    ones, zeros = [1] * (len(sizes) - 2), [0] * len(window)
    lines = [_divisor(n, 4, 1) or 1 for n in sizes[1:-2]]
    block = _divisor(places, 64, rows) or rows
    tiles = _tiles(
        distribution=[1, *lines, block, _divisor(features, 64, columns) or columns, *zeros, 0],
        vector_common_parallel=[*ones, rows, columns, *zeros, 0],
        vector_reduction=[*(0 for _ in sizes), *(1 for _ in window), 8 if channels % 8 == 0 else 1],
    )
    return tiles.replace("DoubleTilingExpert", "ConvTileAndDecomposeExpert")


def shifts_rows(
    positions: Sequence[int], window: Sequence[int], image: Sequence[Size], summed: Size, features: Size
) -> bool:
    """Whether the places of a large window are taken as shifts of the whole image.

    That saves a copy of the image for each place. It costs the zeros that fill the window's rows, and a
    partial sum for each of the `summed` features, which has to be small beside the copies.
    """
    if not all(isinstance(n, int) for n in (*image, summed, features)):
        return False
    filled = window[0] * prod(image[1:])
    return 4 * filled <= 5 * prod(window) and 2 * features <= prod(window)


def places_beside(batch: int, places: int) -> int:
    """How many of `places` neighbours of a large window become one matrix: all, where that has few rows."""
    return places if batch < 8 and batch * places <= 32 else 1


def _row_tiles(target: Any) -> tuple[int, ...]:
    """Rows of a register tile, the best first: 32 vector registers hold twice as many as 16."""
    wide = int(getattr(target, "vector_bits", 128)) >= 512 or getattr(target, "architecture", "") == "aarch64"
    return (8, 12, 10, 9, 7, 6, 5, 4, 3, 2) if wide else (4, 6, 5, 3, 2)


# -- facts and texts ---------------------------------------------------------------------------


def kind_of(target: Any) -> str:
    """`cpu`, `vulkan` or `cuda`."""
    return str(getattr(target.kind, "value", target.kind))


def lanes(target: Any, dtype: np.dtype) -> int:
    """How many elements of `dtype` a vector register of the target holds."""
    return max(int(getattr(target, "vector_bits", 128)) // (8 * dtype.itemsize), 1)


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
