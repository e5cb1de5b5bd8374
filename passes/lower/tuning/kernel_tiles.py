"""The pass `tile-kernels`: tiles are set where nothing moves them any more, on the kernels that IREE made.

Input: a program in IREE's phase `flow`, whose `flow.executable`s are its kernels, with `adze.target` on the
module. Output: the same program; the root op of a kernel carries `compilation_info`.
Idea: IREE asks the last reduction of a kernel for its tiles, or else its last elementwise op, and has the
other ops follow. Before there are kernels nobody knows which op that will be: tiles that were set then are
lost or contradict each other. A kernel with an op that is not known here, or with tiles, keeps what it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.compile.faults.recomputed_reductions import computes_a_reduction_again
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation
from ..plan import target_of
from .configuration import strip_tiles
from .kernel_reading import (
    access,
    all_loop_sizes,
    bits,
    has_reduction,
    is_summed,
    kernels,
    loop_sizes,
    values,
)
from .kernel_sizes import (
    LONG,
    SMALL,
    KernelBody,
    complex_tiles,
    counted_complex_tiles,
    counted_row_tiles,
    elementwise_tiles,
    gathered_element_tiles,
    gathered_row_tiles,
    row_reduction_tiles,
    transposed_tiles,
)

TILES: Final = "compilation_info"
AROUND: Final = frozenset(
    {
        "arith.constant",
        "tensor.empty",
        "iree_tensor_ext.dispatch.tensor.load",
        "iree_tensor_ext.dispatch.tensor.store",
        "iree_tensor_ext.dispatch.workload.ordinal",
        "flow.dispatch.tie_shape",
        "func.return",
    }
)
"""What a kernel may consist of besides ops of linalg."""


@dataclass(frozen=True)
class TileKernels(Pass):
    """Give the root op of every kernel of IREE's phase `flow` the tiles that suit its sizes."""

    name = "tile-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was given tiles."""
        target = target_of(module)
        if target.kind is not TargetKind.CPU:
            return False
        is_changed = False
        with module.context, mlir.ir.Location.unknown():
            for kernel in kernels(module):
                is_changed |= _tile(target, kernel)
        return is_changed


def _tile(target: Target, kernel: Sequence[Operation]) -> bool:
    """Give the root of a kernel the first tiles with which IREE computes it right; whether there are some."""
    generics = [operation for operation in kernel if operation.name == "linalg.generic"]
    known = AROUND if not any(map(has_reduction, generics)) else AROUND | {"linalg.fill"}
    if not generics or any(o.name not in known for o in kernel if o.name != "linalg.generic"):
        return False
    reductions = [generic for generic in generics if has_reduction(generic)]
    if reductions and any(map(_is_complex, generics)):
        return False
    known_order = _runs_along_columns if _is_of_columns(reductions) else _runs_along_memory
    if not all(map(known_order, generics)):
        return not reductions and len(generics) == 1 and _tile_transposed(target, generics[0])
    root = reductions[-1] if reductions else generics[-1]
    if len(reductions) == 1 and any(map(_gathers, generics)):
        tiles = _steps_of_gathered_rows(target, root)
        if tiles:
            root.attributes[TILES] = mlir.ir.Attribute.parse(tiles)
            return True
    if any(TILES in generic.attributes for generic in generics):
        return False
    for tiles in _reduction_candidates(target, generics, root) if reductions else _candidates(target, root):
        root.attributes[TILES] = mlir.ir.Attribute.parse(tiles)
        if len(reductions) < 2 or not computes_a_reduction_again(mlir.ir, list(kernel)):
            return True
        del root.attributes[TILES]
    return False


def _tile_transposed(target: Target, root: Operation) -> bool:
    """Give an elementwise op that transposes some operand its tiles; whether there are some."""
    loops = [loops for _, loops in access(root)]
    sizes = all_loop_sizes(root)
    whole = [each for each in loops if each is not None and len(each) == len(sizes)]
    last = {each[-1] for each in whole}
    is_known = None not in loops and len(last) == 2 and loops[-1] == list(range(len(sizes)))
    if not is_known or TILES in root.attributes or _gathers(root) or _is_complex(root):
        return False
    if any(bits(type_) is None for type_, _ in access(root)):
        return False
    tiles = transposed_tiles(target, sizes, last)
    if tiles:
        root.attributes[TILES] = mlir.ir.Attribute.parse(tiles)
    return tiles is not None


def _gathers(generic: Operation) -> bool:
    """Whether the elements of a generic are read one by one, from anywhere."""
    return any(step.operation.name == "tensor.extract" for step in generic.regions[0].blocks[0].operations)


def _is_complex(generic: Operation) -> bool:
    """Whether a generic takes or makes complex numbers."""
    types = (value.type for value in (*generic.operands, *values(generic)))
    return any("complex" in str(type_) for type_ in types)


def _steps_of_gathered_rows(target: Target, root: Operation) -> str | None:
    """Tiles of a reduction of rows whose elements are read one by one, in place of those that it has."""
    sizes, kinds = loop_sizes(root), is_summed(root)
    is_of_rows = sizes and kinds == sorted(kinds) and not all(kinds)
    last = {loops[-1] for _, loops in access(root) if loops is not None and len(loops) == len(kinds)}
    if not sizes or not is_of_rows or not last <= {len(sizes) - 1}:
        return None
    return gathered_row_tiles(target, sizes, kinds.count(False), _body(root))


def _candidates(target: Target, root: Operation) -> Iterator[str]:
    sizes = loop_sizes(root)
    if not sizes:
        if _is_complex(root) and not _gathers(root) and len(all_loop_sizes(root)) == 1:
            yield counted_complex_tiles(_body(root))
        return
    body = _body(root)
    if _is_complex(root):
        tiles = None if _gathers(root) else complex_tiles(sizes, body)
    else:
        gathered = gathered_element_tiles(sizes, body) if _gathers(root) else None
        tiles = gathered or elementwise_tiles(target, sizes, body)
    if tiles:
        yield tiles


def _reduction_candidates(target: Target, generics: Sequence[Operation], root: Operation) -> Iterator[str]:
    """Tiles for a kernel whose last reduction is `root`, the best first."""
    sizes, kinds = loop_sizes(root), is_summed(root)
    kept = kinds.count(False)
    if not sizes:
        yield from _tiles_of_counted_rows(target, generics, root)
        return
    if not 0 < kept < len(sizes) or any(kinds[:kept]):
        return
    if any(has_reduction(g) and (loop_sizes(g), is_summed(g)) != (sizes, kinds) for g in generics):
        return
    last = {loops[-1] for _, loops in access(root) if loops is not None and len(loops) == len(sizes)}
    body = _body(root)
    goes_on = any(len(loop_sizes(g) or sizes) > kept for g in generics[generics.index(root) + 1 :])
    if last == {len(sizes) - 1}:
        for is_whole in (False, True):
            tiles = row_reduction_tiles(target, sizes, kept, body, is_whole=is_whole)
            if tiles and (is_whole or not goes_on):
                yield tiles
    elif last == {kept - 1} and not goes_on and prod(sizes) >= SMALL:
        tiles = strip_tiles(target, sizes, kept, max(target.vector_bits // body.bits, 1))
        if tiles:
            yield tiles


def _tiles_of_counted_rows(target: Target, generics: Sequence[Operation], root: Operation) -> Iterator[str]:
    """Tiles for a kernel that reduces rows of a known size, where other sizes are dynamic."""
    *others, last = all_loop_sizes(root)
    kinds = is_summed(root)
    is_of_rows = bool(others) and all(others) and last > 0 and not any(kinds[:-1]) and kinds[-1]
    if not is_of_rows or any(has_reduction(g) and is_summed(g) != kinds for g in generics):
        return
    along_memory = {loops[-1] for _, loops in access(root) if loops and len(loops) == len(kinds)}
    if along_memory != {len(others)} or any(_body(g).operations >= LONG for g in generics):
        return
    tiles = counted_row_tiles(target, last, len(others), _body(root))
    if tiles:
        yield tiles


def _runs_along_memory(generic: Operation) -> bool:
    """Whether every operand has the order of the loops, and registers hold every value."""
    for type_, loops in access(generic):
        if loops is None or loops != sorted(loops) or bits(type_) is None:
            return False
    return all(bits(value.type) is not None for value in values(generic))


def _is_of_columns(reductions: Sequence[Operation]) -> bool:
    """Whether a kernel has one reduction, and that keeps the last axis of what it reads."""
    if len(reductions) != 1:
        return False
    kinds = is_summed(reductions[0])
    return all(
        loops is not None and (len(loops) < len(kinds) or not kinds[loops[-1]])
        for _, loops in access(reductions[0])
    )


def _runs_along_columns(generic: Operation) -> bool:
    """Whether every operand has the order of the loops but for the last one kept, which is its last."""
    kinds = is_summed(generic)
    last = kinds.count(False) - 1
    for type_, loops in access(generic):
        if loops is None or bits(type_) is None:
            return False
        if loops != sorted(loops, key=lambda loop: (loop == last, loop)):
            return False
    return all(bits(value.type) is not None for value in values(generic))


def _body(generic: Operation) -> KernelBody:
    """What a generic does in a step: its widest value, and how many operations there are."""
    computed = list(values(generic))
    return KernelBody(max(bits(value.type) or 8 for value in (*generic.operands, *computed)), len(computed))
