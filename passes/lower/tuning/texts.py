"""Facts and texts that every choice of tiles needs.

Input: sizes, a target, a dtype. Output: divisors, the elements of a register, the text of a
`compilation_info` attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from ....runtime.targets import Target


def lanes(target: Target, dtype: np.dtype) -> int:
    """How many elements of `dtype` a vector register of the target holds."""
    return max(target.vector_bits // (8 * dtype.itemsize), 1)


def has_many_registers(target: Target) -> bool:
    """Whether the target has 32 vector registers; otherwise it has 16."""
    return target.vector_bits >= 512 or target.architecture == "aarch64"


def divisor(size: int, limit: int, multiple: int) -> int | None:
    """The largest divisor of `size` up to `limit` that is a multiple of `multiple`."""
    if size % multiple != 0:
        return None
    parts, most = size // multiple, min(size, limit) // multiple
    if most <= isqrt(parts):  # the sizes of arrays that no memory holds have too many candidates beyond
        return next((d * multiple for d in range(most, 0, -1) if parts % d == 0), None)
    return max((d for d in divisors(parts) if d <= most), default=0) * multiple or None


def divisors(n: int) -> list[int]:
    """The divisors of `n` in rising order, none of 0."""
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return small + [n // d for d in reversed(small) if d * d < n]


def rounded_up(size: int, tile: int) -> int:
    """The multiple of `tile` that holds `size`."""
    return -(-size // tile) * tile


def whole_row(size: int) -> int:
    """The step of a reduction that does a row of `size` elements at once.

    It is one more than the row has. Where a step divides the row, IREE first splits the reduction
    (`iree-llvmcpu-split-reduction`), and a row of products of elements with themselves then becomes scalar
    code: four times as slow, and for 2000 elements 15 s of compile.
    """
    return size + 1


def gpu_tiles_text(
    *, workgroup: Sequence[int], thread: Sequence[int], reduction: Sequence[int], threads: int
) -> str:
    """As `tiles_text`, for a product on a GPU whose operands are copied to shared memory block by block."""
    sizes = (
        f"promote_operands = [0, 1], reduction = {list(reduction)}, thread = {list(thread)}, "
        f"workgroup = {list(workgroup)}"
    )
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{{{sizes}}}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
        f"workgroup_size = [{threads}, 1, 1] subgroup_size = 32, {{gpu_pipeline_options = "
        "#iree_gpu.pipeline_options<no_reduce_shared_memory_bank_conflicts = true, "
        "use_igemm_convolution = false>}>>"
    )


def gpu_column_text(
    *, workgroup: Sequence[int], thread: Sequence[int], reduction: Sequence[int], threads: int
) -> str:
    """As `gpu_tiles_text`, for what threads read of global memory at once, and once."""
    sizes = f"reduction = {list(reduction)}, thread = {list(thread)}, workgroup = {list(workgroup)}"
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{{{sizes}}}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
        f"workgroup_size = [{threads}, 1, 1] subgroup_size = 32>>"
    )


def spirv_tiles_text(
    *, workgroup: Sequence[int], thread: Sequence[int], reduction: Sequence[int], threads: tuple[int, int]
) -> str:
    """As `tiles_text`, for a product in SPIR-V whose threads load vectors from global memory."""
    levels = [list(workgroup), list(thread), list(reduction)]
    across, down = threads
    return (
        "#iree_codegen.compilation_info<lowering_config = "
        f"#iree_codegen.lowering_config<tile_sizes = {levels}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = "
        f"#iree_gpu.spirv_pipeline<BaseVectorize> workgroup_size = [{across}, {down}, 1]>>"
    )


def gpu_matrix_text(
    *, kind: str, workgroup: Sequence[int], subgroup: Sequence[int], reduction: Sequence[int], threads: int
) -> str:
    """As `gpu_tiles_text`, for tensor cores: `subgroup` and `reduction` are counted in their instructions."""
    sizes = (
        f"convert_acc_gemm, mma_kind = #iree_gpu.mma_layout<{kind}>, promote_operands = [0, 1], "
        f"reduction = {list(reduction)}, subgroup = {list(subgroup)}, workgroup = {list(workgroup)}"
    )
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{{{sizes}}}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
        f"workgroup_size = [{threads}, 1, 1] subgroup_size = 32, {{gpu_pipeline_options = "
        "#iree_gpu.pipeline_options<prefetch_num_stages = 2, no_reduce_shared_memory_bank_conflicts = false, "
        "use_igemm_convolution = false>}>>"
    )


def gpu_copy_text(*, workgroup: Sequence[int], thread: Sequence[int], threads: int) -> str:
    """As `tiles_text`, for an elementwise op on a GPU."""
    sizes = f"thread = {list(thread)}, workgroup = {list(workgroup)}"
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{{{sizes}}}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
        f"workgroup_size = [{threads}, 1, 1] subgroup_size = 32>>"
    )


def tiles_text(*, is_peeled: bool = False, **levels: Sequence[int]) -> str:
    """The text of a `compilation_info` attribute with these tile sizes, one entry a loop, 0 for none.

    With `is_peeled`, a loop whose steps do not divide it is split into whole steps and a rest.
    """
    sizes = ", ".join(f"{name} = {list(steps)}" for name, steps in levels.items())
    options = ", {enable_loop_peeling}" if is_peeled else ""
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<{sizes}>, "
        "translation_info = #iree_codegen.translation_info<"
        f"pipeline = #iree_cpu.pipeline<DoubleTilingExpert>{options}>>"
    )
