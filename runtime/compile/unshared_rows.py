"""Kernels through SPIR-V whose lanes would share a reduction wrongly get a thread a row instead.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have pipelines.
Output: the same program, where such kernels have the pipeline of other reductions. A kernel of one
reduction of what it loads, and of what is computed of each result, has up to 64 threads in a workgroup, each
with rows of its own. Any other has one: what it computes first, and also stores, IREE spreads over threads as
it likes, and waits for none of them.

The faults: `faults/repeated_rows.py` and `faults/squares_of_lanes.py`, with symptoms and smallest programs. A
kernel of one reduction with few terms loses nothing so. Longer rows, and workgroups of one thread, leave most
of a GPU idle: another form of the program may have lanes that share rightly, so they are for its last.
"""

from __future__ import annotations

import io
from math import prod
from typing import Any, Final

from ...dialects.dataclass import dataclass
from .faults.repeated_rows import SHARED, has_repeated_rows, is_shared, kernels_of
from .faults.squares_of_lanes import has_squares

_THREADS: Final = 64
_FEW_TERMS: Final = 1024
_CONFIGURATION: Final = "lowering_config"
_PIPELINE: Final = "translation_info"
_ITERATORS: Final = "iterator_types"
_MAPS: Final = "indexing_maps"
_STORES: Final = ("iree_tensor_ext.dispatch.tensor.store", "iree_codegen.store_to_buffer")


@dataclass(frozen=True, slots=True)
class _Reduction:
    """The reduction that decides the tiles of a kernel: the sizes of its loops, None for an unknown one.

    `followers` are the other ops with loops. `is_first` says that the kernel computes nothing before it: each
    of them computes an element of each result.
    """

    operation: Any
    followers: tuple[Any, ...]
    is_first: bool
    sizes: tuple[int | None, ...]
    reduces: tuple[bool, ...]

    @property
    def has_few_terms(self) -> bool:
        """Whether a thread has added up a row as fast as lanes that share it."""
        terms = [size for size, is_reduced in zip(self.sizes, self.reduces, strict=True) if is_reduced]
        return self.is_first and prod(size or _FEW_TERMS + 1 for size in terms) <= _FEW_TERMS


def with_unshared_rows(chosen: bytes, *, only_cheap: bool) -> bytes:
    """`chosen`, bytecode of the phase, without lanes that share wrongly; itself if there are none.

    With `only_cheap`, kernels that lose by it stay as they are.
    """
    if SHARED not in chosen:
        return chosen
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(chosen, context)
        changed = 0
        for kernel in kernels_of(module.operation):
            if is_shared(kernel) and (has_repeated_rows(ir, kernel) or has_squares(ir, kernel)):
                reduction = _reduction(ir, kernel)
                if reduction is not None and (reduction.has_few_terms or not only_cheap):
                    _give_threads(ir, kernel, reduction)
                    changed += 1
        if not changed:
            return chosen
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _reduction(ir: Any, kernel: Any) -> _Reduction | None:
    """The last reduction of a kernel, as IREE chooses it."""
    nests = [
        child.operation
        for child in kernel.regions[0].blocks[0].operations
        if _ITERATORS in child.operation.attributes and _MAPS in child.operation.attributes
    ]
    for operation in reversed(nests):
        reduces = tuple("reduction" in str(each) for each in ir.ArrayAttr(operation.attributes[_ITERATORS]))
        if any(reduces):
            others = tuple(each for each in nests if each != operation)
            is_first = all(_takes_elements(ir, each, operation, reduces) for each in others)
            return _Reduction(operation, others, is_first, _sizes(ir, operation), reduces)
    return None


def _takes_elements(ir: Any, operation: Any, reduction: Any, reduces: tuple[bool, ...]) -> bool:
    """Whether an op beside a reduction, whose first loops are those of its result, takes this as it lies, and
    the other ops, the reduction too, take what it computes so."""
    rows = reduces.index(True)
    if not all(reduces[rows:]) or "reduction" in str(operation.attributes[_ITERATORS]):
        return False
    in_order = [f"d{loop}" for loop in range(rows)]
    results = [_maps(ir, reduction)[-1], *_maps(ir, operation)]
    for use in (use for result in operation.results for use in result.uses):
        user = use.owner.operation
        if user.name in _STORES:
            continue
        if _MAPS not in user.attributes:
            return False  # who knows which elements it takes
        results.append(_maps(ir, user)[use.operand_number])
    return all([str(each) for each in map_.results] == in_order for map_ in results)


def _maps(ir: Any, operation: Any) -> list[Any]:
    """Which element of each operand an op with loops takes."""
    return [ir.AffineMapAttr(attribute).value for attribute in ir.ArrayAttr(operation.attributes[_MAPS])]


def _sizes(ir: Any, operation: Any) -> tuple[int | None, ...]:
    """How often each loop of an op runs, where its operands' types say so."""
    maps = _maps(ir, operation)
    sizes: list[int | None] = [None] * maps[0].n_dims
    for value, map_ in zip(operation.operands, maps, strict=True):
        if not isinstance(value.type, ir.RankedTensorType):
            continue
        for axis, result in enumerate(map_.results):
            if isinstance(result, ir.AffineDimExpr) and not value.type.is_dynamic_dim(axis):
                sizes[result.position] = value.type.get_dim_size(axis)
    return tuple(sizes)


def _give_threads(ir: Any, kernel: Any, reduction: _Reduction) -> None:
    """Let each thread of a kernel have the rows of its own."""
    for child in kernel.regions[0].blocks[0].operations:
        if _CONFIGURATION in child.operation.attributes:
            del child.operation.attributes[_CONFIGURATION]
    rows = [loop for loop, is_reduced in enumerate(reduction.reduces) if not is_reduced]
    threads = _divisor(reduction.sizes[rows[-1]]) if rows and reduction.is_first else 1
    elements = [int(loop in rows) for loop in range(rows[-1] + 1)] if rows else []
    tiles = [*elements[:-1], threads] if rows else []
    for operation in (reduction.operation, *(reduction.followers if reduction.is_first else ())):
        operation.attributes[_CONFIGURATION] = ir.Attribute.parse(
            f"#iree_codegen.lowering_config<tile_sizes = [{tiles}, {elements}]>"
        )
    kernel.attributes[_PIPELINE] = ir.Attribute.parse(
        "#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseDistribute> "
        f"workgroup_size = [{threads}, 1, 1]>"
    )


def _divisor(size: int | None) -> int:
    """The number of threads for rows of a known or unknown number."""
    if not size:
        return _THREADS
    return max(threads for threads in range(1, _THREADS + 1) if size % threads == 0)
