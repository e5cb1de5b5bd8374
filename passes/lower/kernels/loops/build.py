"""From an outlined loop to the code of a kernel: the order of what is done to it.

Input: the module of a loop on arrays (`outline.py`). Output: the same module, whose function is on buffers
and writes its results into arguments. Idea: a lowering of its own to linalg, tensor and scf; MLIR's own
passes, `one-shot-bufferize` among them; and small passes of ours between, each in a file of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Final, TypeAlias

from .....dialects import mlir
from .....dialects.builder.emitter import Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....runtime.targets import Target, TargetKind
from ....ir.aliases import Attribute, Type
from ....ir.functions import functions
from ...convert import Conversion
from ...lowering import Lowering
from ...merge_elementwise import merge_elementwise
from ...scalars import NO_INLINE
from ..ranges import simplify_ranges
from .allocations import Scratch, settle_allocations, settle_for_threads
from .buffers import drop_self_copies, read_directly, write_directly
from .builder import KernelBuilder
from .bytes import store_bytes
from .computed_once import compute_once
from .counted import counted_loops
from .destinations import own_destinations
from .direct_elements import take_directly
from .dropped_stores import branch_around_dropped
from .errors import KernelError
from .forms import KERNEL_LOWERINGS
from .forwarded import forward_arrays
from .inlined_elements import inline_elements
from .inner_sums import move_sums_inside
from .iterations import require_few_iterations
from .kept_apart import fuse_again, keep_apart
from .kept_results import keep_results
from .masked_steps import restrict_masked
from .merged_axes import merge_axes
from .old_values import keep_old_values
from .outline import KERNEL
from .paired_steps import copied_elements, pair_steps
from .parameters import constants_to_arguments, order_results, share_buffers, to_buffers
from .partial_sums import cut_sums
from .register_tiles import keep_in_registers
from .repeat import repeat_cheap
from .rewritten import rewrite_refused
from .row_sums import sum_in_vectors
from .sizes import move_checks, resolve_buffer_sizes, resolve_sizes
from .sizes_before import Sizes
from .state import yield_in_place
from .threads import drop_repeated_barriers, require_elements, share_among_threads, threads_of
from .turned_blocks import turn_in_blocks
from .vector_steps import step_in_vectors
from .workgroups import share_among_workgroups

TIDY: Final = "canonicalize,cse"
INLINE: Final = f"inline{{default-pipeline=}},symbol-dce,{TIDY}"
FUSE: Final = f"func.func(linalg-fuse-elementwise-ops),{TIDY}"
INDICES: Final = f"func.func(iree-util-optimize-int-arithmetic),{TIDY}"
BUFFERIZE: Final = f"canonicalize,one-shot-bufferize,{TIDY}"
BUFFERIZE_IN_DESTINATION: Final = f"canonicalize,eliminate-empty-tensors,one-shot-bufferize,{TIDY}"
LOOPS: Final = (
    "func.func(iree-codegen-memrefcopy-to-linalg),fold-memref-alias-ops,func.func(buffer-loop-hoisting),"
    f"{TIDY},func.func(convert-linalg-to-loops),fold-memref-alias-ops,{TIDY}"
)
COPIES: Final = "func.func(iree-codegen-memrefcopy-to-linalg),fold-memref-alias-ops"
PARALLEL: Final = LOOPS.replace("convert-linalg-to-loops", "convert-linalg-to-parallel-loops")
FLATTEN: Final = f"loop-invariant-code-motion,expand-strided-metadata,lower-affine,{TIDY}"

Way: TypeAlias = tuple[str, bool, bool]
WAYS: Final[tuple[Way, ...]] = (
    (BUFFERIZE_IN_DESTINATION, False, False),
    (BUFFERIZE, False, False),
    (BUFFERIZE_IN_DESTINATION, False, True),
    (BUFFERIZE, True, False),
    (BUFFERIZE, True, True),
)
"""Passes that bufferize, whether what loops yield goes through copies, and whether arrays are copied before
they are updated: the first way that works is taken."""

WAYS_APART: Final = tuple(way for way in WAYS if way[0] == BUFFERIZE)
"""Those that compute nothing in its destination."""

SAVED: Final = 0.5
"""How much of an array a step must copy less, where two are done at once, which then are not in place."""
ROUNDS: Final = 8  # of the ranges of integers, each of which may let the next know more
FUSIONS: Final = 3

NO_SIZES: Final = Sizes()

Observe = Callable[[str, mlir.ir.Module], None]


@dataclass(frozen=True)
class Code:
    """The code of a kernel: `@kernel` of `module` takes the operands, `constants`, results and `scratch`.

    `@checks`, if there is one, takes the operands that are sizes, and is to be called before.

    `shared`: of each result that lies in the buffer of an operand, which operand that is. `threads` of a GPU
    run it; None for a CPU, where the `workgroups` share its steps.
    """

    module: mlir.ir.Module
    constants: tuple[mlir.ir.Attribute, ...]
    results: tuple[mlir.ir.Type, ...]
    scratch: tuple[Scratch, ...]
    shared: Mapping[int, int]
    threads: int | None = None
    workgroups: int = 1
    is_spirv: bool = False


def build(
    module: mlir.ir.Module,
    target: Target,
    observe: Observe | None = None,
    *,
    owned: Set[int] = frozenset(),
    sizes: Sizes = NO_SIZES,
) -> Code:
    """Rewrite the module of an outlined loop; `KernelError` where that fails.

    `owned` are the positions of the operands that nothing else uses, whose buffers results may take; `sizes`
    are those of operands and results that show at the call.
    """

    def after(stage: str) -> None:
        if observe is not None:
            observe(stage, module)

    with module.context, mlir.ir.Location.unknown():
        lower_to_tensors(module, target)
        after("tensors")
        simplify_tensors(module, sizes)
        after("simplified")
        is_gpu, is_spirv = target.kind is not TargetKind.CPU, target.is_spirv
        if is_gpu:
            made = _on_buffers(module, frozenset() if is_spirv else owned, sizes)
        else:
            made = _with_fewest_copies(module, owned, sizes)
        module = made.module
        after("buffers")
        if is_gpu:
            threads, scratch = _as_threads(module, made.first_result if is_spirv else None)
            workgroups = 1
            require_few_iterations(entry(module), target)
        else:
            threads, scratch = None, _as_loops(module, target, sizes, made.first_result)
            workgroups = share_among_workgroups(module)
            if step_in_vectors(module, target):
                upstream(module, TIDY)
        after("loops")
        return Code(
            module, made.constants, made.results, tuple(scratch), made.shared, threads, workgroups, is_spirv
        )


@dataclass(frozen=True)
class _OnBuffers:
    """Code on buffers, whose arguments are results from `first_result` on."""

    module: mlir.ir.Module
    constants: tuple[Attribute, ...]
    results: tuple[Type, ...]
    first_result: int
    shared: Mapping[int, int]


def _with_fewest_copies(module: mlir.ir.Module, owned: Set[int], sizes: Sizes) -> _OnBuffers:
    """The code on buffers: of steps as they are, or two at once where that copies less.

    What is computed in its destination may need copies of all that it reads there (the windows of a stencil):
    then it has a buffer of its own, and is copied.
    """
    made = _on_buffers(module, owned, sizes)
    copied = copied_elements(made.module)
    apart = _try_buffers(module, owned, sizes, WAYS_APART) if copied else None
    if apart is not None and copied_elements(apart.module) < copied:
        made, copied = apart, copied_elements(apart.module)
    paired = _clone(module)
    largest = pair_steps(paired) if copied else 0
    other = _try_buffers(paired, owned, sizes, WAYS) if largest else None
    if other is None:
        return made
    saved = copied - copied_elements(other.module)
    return other if saved >= SAVED * largest else made


def _try_buffers(
    module: mlir.ir.Module, owned: Set[int], sizes: Sizes, ways: Sequence[Way]
) -> _OnBuffers | None:
    try:
        return _on_buffers(module, owned, sizes, ways)
    except KernelError:
        return None


def _on_buffers(
    module: mlir.ir.Module, owned: Set[int], sizes: Sizes, ways: Sequence[Way] = WAYS
) -> _OnBuffers:
    """Bufferize a copy of `module`, and drop the copies that are not needed."""
    module, constants, results = _bufferized(module, ways)
    first = len(functions(module)[KERNEL].operation.regions[0].blocks[0].arguments) - len(results)
    resolve_buffer_sizes(module, sizes, first)
    order_results(module)
    shared = share_buffers(module, owned, len(results))
    drop_self_copies(module)
    if read_directly(module) + write_directly(module):
        upstream(module, TIDY)
    return _OnBuffers(module, tuple(constants), tuple(results), first, shared)


def _as_loops(module: mlir.ir.Module, target: Target, sizes: Sizes, first_result: int) -> list[Scratch]:
    """The code of one thread of a CPU, with vectors; its scratch."""
    merge_axes(module)
    keep_in_registers(module, target)
    sum_in_vectors(module, target)
    turn_in_blocks(module, target)
    upstream(module, LOOPS)
    resolve_buffer_sizes(module, sizes, first_result)
    restrict_masked(module)
    branch_around_dropped(module)
    scratch = settle_allocations(module)
    store_bytes(module)
    upstream(module, FLATTEN)
    return scratch


def _as_threads(module: mlir.ir.Module, first_kept: int | None) -> tuple[int, list[Scratch]]:
    """The code of the threads of a GPU's workgroup; how many there are, and its scratch.

    `first_kept`: for Vulkan and Metal, the argument from which on results are kept in the workgroup's memory.
    """
    upstream(module, COPIES)
    move_sums_inside(module)
    if cut_sums(module):
        upstream(module, TIDY)
    upstream(module, PARALLEL)
    if first_kept is not None and threads_of(module) > 1 and keep_results(module, first_kept):
        upstream(module, f"{COPIES},{PARALLEL}")
    threads = share_among_threads(module)
    store_bytes(module)
    upstream(module, f"fold-memref-alias-ops,{FLATTEN}")
    require_elements(module)
    drop_repeated_barriers(module)
    return threads, settle_for_threads(module, threads, is_spirv=first_kept is not None)


def upstream(module: mlir.ir.Module, passes: str) -> None:
    """Run MLIR's own passes; `KernelError` with their message where they fail."""
    try:
        mlir.passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
    except mlir.ir.MLIRError as error:
        first = next((d.message for d in error.error_diagnostics), str(error).strip())
        raise KernelError(first.splitlines()[0]) from None


def simplify_tensors(module: mlir.ir.Module, sizes: Sizes = NO_SIZES) -> None:
    """Inline bodies, drop clamps that are not needed, and fuse elementwise ops."""
    upstream(module, INLINE)
    if sizes.operands:
        resolve_sizes(module, sizes)
        upstream(module, TIDY)
        move_checks(module, sizes)
    for _ in range(ROUNDS):
        if not simplify_ranges(module):
            break
        upstream(module, TIDY)
    keep_apart(module)
    merge_elementwise(module)
    for _ in range(FUSIONS):
        upstream(module, FUSE)
        if not repeat_cheap(module):
            break
    if inline_elements(module):
        upstream(module, FUSE)
    if take_directly(module):
        upstream(module, TIDY)
    fuse_again(module)
    compute_once(module)
    upstream(module, INDICES)
    rewrite_refused(module)


def _bufferized(
    module: mlir.ir.Module, ways: Sequence[Way]
) -> tuple[mlir.ir.Module, list[Attribute], list[Type]]:
    """A copy of `module` on buffers, its constants and the types of its results.

    One-shot bufferization refuses what it would have to copy against an explicit destination; then the next
    of the `ways` is tried, which asks for less in place.
    """
    refusal: KernelError | None = None
    for passes, through_copies, keeps_old in ways:
        copy = _clone(module)
        forward_arrays(copy)
        if keeps_old:
            keep_old_values(copy)
        own_destinations(copy)
        yield_in_place(copy, through_copies=through_copies)
        constants, results = constants_to_arguments(copy), to_buffers(copy)
        try:
            upstream(copy, passes)
        except KernelError as error:
            refusal = refusal or error
        else:
            return copy, constants, results
    assert refusal is not None
    raise refusal


def _clone(module: mlir.ir.Module) -> mlir.ir.Module:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return mlir.ir.Module.parse(buffer.getvalue(), module.context)


def lower_to_tensors(module: mlir.ir.Module, target: Target) -> None:
    """Lower the adze ops of the functions of one loop."""
    counted = counted_loops(module, Reader(Codec(module.context)))
    kind = target.kind if target.is_spirv else TargetKind.CPU
    builder = KernelBuilder(module.context, counted, kind)
    lowering = Lowering(module, target, KERNEL_LOWERINGS, builder=builder)
    Conversion(module, lowering).run()
    for function in functions(module).values():
        if NO_INLINE in function.attributes:
            del function.attributes[NO_INLINE]


def entry(module: mlir.ir.Module) -> mlir.ir.Operation:
    """The function of the kernel."""
    return functions(module)[KERNEL].operation
