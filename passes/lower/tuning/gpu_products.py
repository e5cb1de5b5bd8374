"""Products on GPUs: tiles, sizes that tiles divide, sums in parts, integers as floats.

Input: a dtype, and the sizes of a product by letter (b batch, p parts of k, m rows, n columns, k summed over;
r, s and q are blocks of m, n and k).
Output: the text of a `compilation_info` attribute, other sizes, how a sum is cut; None for IREE's form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from ....runtime.targets import Target, TargetKind
from .gpu_columns import column_parts
from .gpu_facts import GROUPS, WARP, is_tiled
from .texts import gpu_matrix_text, gpu_tiles_text, rounded_up, spirv_tiles_text

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"

ROUNDED: Final = 1 << 21  # multiplications that repay copies of the operands, by an A100's bytes and flops
FEW_ROWS: Final = 8  # rows by a matrix whose sums a thread has in registers, with columns beside each other
LEAST: Final = 16  # an axis shorter than this would mostly be filled with zeros
TILES: Final = (32, 64)  # what axes are rounded to, short ones and others
DEPTH: Final = 256  # terms of a sum that repay a workgroup of its own
DEEP: Final = 4 * DEPTH  # terms of sums that repay a kernel that adds up their parts
TILED: Final = (FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64)  # the dtypes of products by `tiles`
MATRIX_KINDS: Final = {
    FLOAT16: "NV_MMA_SYNC_F32_16x8x16_F16",
    BFLOAT16: "NV_MMA_SYNC_F32_16x8x16_BF16",
}
RDNA3_KINDS: Final = {
    FLOAT16: ("WMMAR3_F32_16x16x16_F16", FLOAT32),
    BFLOAT16: ("WMMAR3_F32_16x16x16_BF16", FLOAT32),
    np.dtype(np.int8): ("WMMAR3_I32_16x16x16_I8", INT32),
}
"""Instructions of RDNA3's matrix units by the dtype of the factors, and the dtype of their sums."""
LARGE: Final = 1 << 18  # elements of a result of which there are few
SUMMED: Final = "qk"  # the loops that are summed over: of blocks of k, and of k
EXACT: Final = 1 << 24  # integers up to this are floats of 32 bits
BYTES: Final = {np.dtype(np.int8): 1 << 14, np.dtype(np.uint8): 1 << 16}  # the largest product of two


@dataclass(frozen=True, slots=True)
class Square:
    """What a workgroup computes of a product, `depth` steps along `k` at once, and what a thread does."""

    rows: int
    columns: int
    depth: int
    rows_of_thread: int
    columns_of_thread: int

    @property
    def threads(self) -> int:
        return self.rows * self.columns // (self.rows_of_thread * self.columns_of_thread)


SQUARES: Final = {
    4: (Square(128, 128, 8, 8, 8), Square(128, 64, 16, 8, 4), Square(64, 64, 16, 4, 4)),
    8: (Square(128, 64, 16, 8, 4), Square(64, 64, 16, 4, 4)),
}
"""By the bytes of an element, the largest first: 130, 93 and 62 registers a thread, 138 and 92 (ptxas)."""


@dataclass(frozen=True, slots=True)
class TensorBlock:
    """What a workgroup computes by tensor cores (`kernels/gpu_products.py`), shared by its warps.

    It has `stages` parts of both operands at once, of `depth` terms each.
    """

    rows: int
    columns: int
    depth: int
    warps_down: int
    warps_across: int
    stages: int

    @property
    def threads(self) -> int:
        return 32 * self.warps_down * self.warps_across

    @property
    def rows_of_warp(self) -> int:
        return self.rows // self.warps_down

    @property
    def columns_of_warp(self) -> int:
        return self.columns // self.warps_across

    @property
    def sums(self) -> int:
        """How many pairs of sums a thread has: one of each 8 x 8 sums of its warp."""
        return self.rows_of_warp // 8 * self.columns_of_warp // 8


TENSOR_BLOCKS: Final = (TensorBlock(128, 64, 8, 4, 2, 2), TensorBlock(64, 64, 16, 2, 2, 2))
"""The largest first."""
FAST_DOUBLES: Final = ("sm_80", "sm_90")
"""Architectures whose tensor cores multiply float64; others have one unit for 64 of float32."""


def is_through_spirv(target: Target) -> bool:
    """Whether IREE compiles kernels through SPIR-V, where products of known sizes have tiles of its own."""
    return target.kind in (TargetKind.VULKAN, TargetKind.METAL)


def has_blocks(target: Target) -> bool:
    """Whether products of unknown sizes are computed in blocks of known ones."""
    return is_tiled(target) or is_through_spirv(target)


def is_static(sizes: Mapping[str, Size], loops: Sequence[str]) -> bool:
    """Whether the sizes of all loops are known."""
    return all(isinstance(sizes[letter], int) for letter in loops)


def is_in_blocks(sizes: Mapping[str, Size], loops: Sequence[str]) -> bool:
    """Whether all sizes are known but how many such products there are."""
    return {*"mnk"} <= {*loops} and is_static(sizes, "mnk")


def block_of(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> tuple[str, int] | None:
    """Which axis of a product has no known size, if one has none, and the size of its blocks.

    Counted in PTX, never timed: IREE's code has 4 multiply-adds for 5 loads, and no tensor cores. Blocks of
    the terms of large products are long, since each has a result.
    """
    unknown = [letter for letter in "mnk" if not isinstance(sizes[letter], int)]
    known = [n for letter in "mnk" if isinstance(n := sizes[letter], int)]
    if not has_blocks(target) or dtype not in TILED or len(unknown) != 1 or "p" in loops:
        return None
    if min(known) < TILES[1]:
        return None
    (letter,) = unknown
    deep = DEPTH if prod(known) <= LARGE else DEEP
    return letter, deep if letter == "k" else TILES[1]


def blocks_of(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> dict[str, int] | None:
    """The size of the blocks of each axis of a product of which several have no known size.

    Counted in PTX, never timed: IREE's code has 1,024 threads for each element where the terms have none.
    """
    unknown = [letter for letter in "mnk" if not isinstance(sizes[letter], int)]
    known = [n for letter in "mnk" if isinstance(n := sizes[letter], int)]
    if not has_blocks(target) or dtype not in TILED or len(unknown) < 2 or "p" in loops:
        return None
    return dict.fromkeys("mnk", TILES[1]) if min(known, default=LEAST) >= LEAST else None


def per_loop(loops: Sequence[str], **of_letter: int) -> list[int]:
    """A step for each loop: what is named, else 1, but 0 for those that are summed over."""
    return [of_letter.get(letter, 0 if letter in SUMMED else 1) for letter in loops]


def tiles(target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype) -> str | None:
    """Tiles of a product on CUDA and RDNA: blocks of both operands in shared memory, squares in registers.

    Counted in PTX and in RDNA3's machine code, never timed: of 8 x 8 sums, a thread does 16 multiply-adds for
    each load of four elements from shared memory, and 256 (RDNA: 170) for each from global memory; IREE's own
    tiles are 1 x 16 sums without shared memory, with 4 for each load, of float64 2. Smaller squares where the
    large ones are too few to occupy a GPU.
    """
    if not is_tiled(target) or dtype not in TILED or not is_in_blocks(sizes, loops):
        return None
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    squares = SQUARES[dtype.itemsize]
    fitting = [s for s in squares if m % s.rows == 0 and n % s.columns == 0 and k % s.depth == 0]
    if not fitting:
        return None
    count = prod(sizes[letter] for letter in loops if letter != "k") if is_static(sizes, loops) else 0
    chosen = next((s for s in fitting if count // (s.rows * s.columns) >= GROUPS), fitting[-1])
    return gpu_tiles_text(
        workgroup=per_loop(loops, m=chosen.rows, n=chosen.columns),
        thread=per_loop(loops, m=chosen.rows_of_thread, n=chosen.columns_of_thread),
        reduction=[{"q": 1, "k": chosen.depth}.get(letter, 0) for letter in loops],
        threads=chosen.threads,
    )


def block_tiles(target: Target, sizes: Mapping[str, Size], loops: Sequence[str]) -> str | None:
    """Tiles in SPIR-V of a product of blocks whose number is not known, in which IREE has one sum a thread.

    Counted in SPIR-V, and timed on lavapipe alone: what IREE takes for products of known sizes there.
    """
    if not is_through_spirv(target) or not is_in_blocks(sizes, loops) or is_static(sizes, loops):
        return None
    if any(sizes[letter] % TILES[1] for letter in "mnk"):
        return None
    kept = [letter for letter in loops if letter not in SUMMED]
    return spirv_tiles_text(
        workgroup=per_loop(kept, m=TILES[1], n=TILES[1]),
        thread=per_loop(kept, m=8, n=8),
        reduction=[{"q": 1, "k": 4}.get(letter, 0) for letter in loops],
        threads=(8, 8),
    )


def tensor_block(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], source: np.dtype, carried: np.dtype
) -> TensorBlock | None:
    """The block of a product of float64 by tensor cores, None for one without.

    Counted in PTX, never timed: NVIDIA states twice as many operations a second as by multiply-adds.
    """
    is_double = source == carried == FLOAT64 and target.architecture in FAST_DOUBLES
    if target.kind is not TargetKind.CUDA or not is_double or not is_static(sizes, loops):
        return None
    if not {*"mnk"} <= {*loops}:
        return None
    m, n, k = (sizes[letter] for letter in "mnk")
    fitting = [t for t in TENSOR_BLOCKS if m % t.rows == 0 and n % t.columns == 0 and k % t.depth == 0]
    if not fitting:
        return None
    count = prod(sizes[letter] for letter in loops if letter not in SUMMED)
    return next((t for t in fitting if count // (t.rows * t.columns) >= GROUPS), fitting[-1])


def matrix_tiles(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], source: np.dtype, carried: np.dtype
) -> str | None:
    """Tiles of products by matrix units, None where IREE's are as good: of batches of halves on CUDA.

    Counted in PTX, never timed: IREE takes 64 x 64, but 64 x 32 where there are 64 rows, with half as many
    instructions of tensor cores for the same blocks of an operand. Of blocks whose number is not known ptxas
    spills registers (8 bytes, sm_90) where a loop takes 128 terms.
    """
    if target.kind is TargetKind.ROCM and target.architecture.startswith("gfx11"):
        return _rdna3_tiles(sizes, loops, source, carried)
    is_batch = target.kind is TargetKind.CUDA and is_in_blocks(sizes, loops) and len(loops) > len("mnk")
    if not is_batch or source not in MATRIX_KINDS or carried != FLOAT32:
        return None
    if any(sizes[letter] % TILES[1] for letter in "mnk"):
        return None
    if is_static(sizes, loops) and (sizes["m"] != TILES[1] or sizes["n"] == TILES[1]):
        return None
    steps = 8 if is_static(sizes, loops) and sizes["k"] % (2 * TILES[1]) == 0 else 4
    return gpu_matrix_text(
        kind=MATRIX_KINDS[source],
        workgroup=per_loop(loops, m=TILES[1], n=TILES[1]),
        subgroup=per_loop(loops, m=2, n=4),
        reduction=[{"q": 1, "k": steps}.get(letter, 0) for letter in loops],
        threads=128,
    )


def _rdna3_tiles(
    sizes: Mapping[str, Size], loops: Sequence[str], source: np.dtype, carried: np.dtype
) -> str | None:
    """Tiles of products by RDNA3's matrix units.

    Counted in machine code, never timed: IREE takes 128 x 128 sums and 128 terms, with 64 x 64 for each group
    of 32 threads, whose registers do not suffice (404 bytes of each thread are spilled in float16). These are
    64 x 32 and 32 terms, in 169 registers, and 32 x 32 in 92 where they occupy more workgroups.
    """
    kind, sums = RDNA3_KINDS.get(source, (None, None))
    if kind is None or sums != carried or not is_in_blocks(sizes, loops):
        return None
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if m % TILES[1] or n % TILES[1] or k % TILES[0]:
        return None
    count = prod(sizes[letter] for letter in loops if letter != "k") if is_static(sizes, loops) else 0
    rows = 2 if m % (2 * TILES[1]) == 0 and count // (2 * TILES[1] ** 2) >= GROUPS else 1
    return gpu_matrix_text(
        kind=kind,
        workgroup=per_loop(loops, m=rows * TILES[1], n=TILES[1]),
        subgroup=per_loop(loops, m=2 * rows, n=2),
        reduction=[{"q": 1, "k": 2}.get(letter, 0) for letter in loops],
        threads=128,
    )


def rounded(sizes: Mapping[str, Size], loops: Sequence[str]) -> dict[str, Size] | None:
    """Sizes whose products are computed in `tiles`; None where they are such, or too small to repay.

    Counted in PTX, never timed: a product of float32 has multiply-adds in a loop only where 32 divides `n`,
    and `tiles` divide multiples of 64; tensor cores do eight products a loop where 64 does not divide `k`, up
    to 64 where it does.
    """
    old = {letter: sizes[letter] for letter in "mnk"}
    if not is_in_blocks(sizes, loops) or min(old.values()) < LEAST:
        return None
    if is_static(sizes, loops) and prod(sizes[letter] for letter in loops) < ROUNDED:
        return None
    larger = {letter: rounded_up(n, TILES[0] if n <= TILES[0] else TILES[1]) for letter, n in old.items()}
    return None if larger == old else {**sizes, **larger}


@dataclass(frozen=True, slots=True)
class Parts:
    """Into how many parts the sums of a product are cut, and how many terms each has."""

    count: int
    depth: int


def groups_of(batch: int, rows: int, columns: int) -> int:
    """How many workgroups compute products of so many rows and columns."""
    return batch * -(-rows // TILES[1]) * -(-columns // TILES[1])


def depth_parts(batch: int, rows: int, columns: int, depth: int) -> Parts:
    """The parts of the sums of products that have so many, of so many terms.

    So many that workgroups occupy a GPU twice, but no part shorter than 256.
    """
    groups, count = groups_of(batch, rows, columns), 1
    while groups * count < 2 * GROUPS and depth >= 2 * count * DEPTH:
        count *= 2
    return Parts(count, rounded_up(-(-depth // count), TILES[1]))


def deep_parts(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> Parts | None:
    """The parts of a product whose results are too few to occupy a GPU, None for one that is not cut."""
    if not is_tiled(target) or dtype not in TILED or not is_static(sizes, loops):
        return None
    batch, m, n, k = (sizes[letter] for letter in "bmnk")
    if min(m, n) < LEAST or k < DEEP or groups_of(batch, m, n) >= GROUPS:
        return None
    return depth_parts(batch, m, n, k)


def thin_parts(
    target: Target,
    sizes: Mapping[str, Size],
    axes: str,
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
) -> Parts | None:
    """The parts of a product of few rows by a matrix of the axes `axes`, whose columns lie beside each other.

    Counted in PTX, never timed: of one row by f32[4096,4096] IREE has 32 warps, which each wait for memory
    4,096 times one after the other. Tensor cores multiply several rows of halves.
    """
    if not is_tiled(target) or not is_static(sizes, loops) or not axes.endswith("kn") or "k" not in loops:
        return None
    batch, m, n, k = (sizes[letter] for letter in "bmnk")
    if m > (FEW_ROWS if source == carried else 1) or n < WARP:
        return None
    count = column_parts(target, batch, k, n, 8 * source.itemsize)
    return None if count is None else Parts(count, k // count)


def exact_parts(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> Parts | None:
    """The parts of sums of 8-bit integers that tensor cores compute exactly.

    IREE has no configuration for those of integers on CUDA. Those of float16 multiply integers of 8 bits
    exactly, and add in float32, which has all integers up to 2^24. A part is so long that its sums are up to
    2^23: 512 terms of int8, 128 of uint8.
    """
    if target.kind is not TargetKind.CUDA or dtype not in BYTES or not is_static(sizes, loops):
        return None
    batch, m, n, k = (sizes[letter] for letter in "bmnk")
    if min(m, n, k) < LEAST or m * n * k < ROUNDED:
        return None
    longest = EXACT // 2 // BYTES[dtype]
    count = max(-(-k // longest), depth_parts(batch, m, n, k).count)
    return Parts(count, k if count == 1 else rounded_up(-(-k // count), TILES[0]))
