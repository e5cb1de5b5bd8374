"""From an outlined loop to the code of a kernel: the order of what is done to it.

Input: the module of a loop on arrays (`outline.py`). Output: the same module, whose function is on buffers and
writes its results into arguments. Idea: a lowering of its own to linalg, tensor and scf; MLIR's own passes,
`one-shot-bufferize` among them; and small passes of ours between, each in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .....dialects import mlir
from .....dialects.builder.emitter import Reader
from .....dialects.codec import Codec
from .....runtime.targets import Target
from ....ir.functions import functions
from ...convert import Conversion
from ...scalars import NO_INLINE
from . import forms as forms  # fills the table of lowerings
from .allocations import settle_allocations
from .buffers import drop_self_copies, write_directly
from .bytes import store_bytes
from .counted import counted_loops
from .errors import KernelError
from .outline import KERNEL
from .parameters import constants_to_arguments, to_buffers
from .ranges import simplify_ranges
from .repeat import repeat_cheap
from .state import yield_in_place
from .table import KernelLowering

TIDY: Final = "canonicalize,cse"
INLINE: Final = f"inline{{default-pipeline=}},symbol-dce,{TIDY}"
FUSE: Final = f"func.func(linalg-fuse-elementwise-ops),{TIDY}"
INDICES: Final = f"func.func(iree-util-optimize-int-arithmetic),{TIDY}"
BUFFERIZE: Final = f"canonicalize,eliminate-empty-tensors,one-shot-bufferize,{TIDY}"
LOOPS: Final = (
    "func.func(iree-codegen-memrefcopy-to-linalg),fold-memref-alias-ops,func.func(buffer-loop-hoisting),"
    f"{TIDY},func.func(convert-linalg-to-loops),fold-memref-alias-ops,{TIDY}"
)
FLATTEN: Final = f"loop-invariant-code-motion,expand-strided-metadata,lower-affine,{TIDY}"

ROUNDS: Final = 8  # of the ranges of integers, each of which may let the next know more

Observe = Callable[[str, mlir.ir.Module], None]


@dataclass(frozen=True)
class Code:
    """The code of a kernel: `@kernel` of `module` takes the operands, `constants`, results and `scratch`."""

    module: mlir.ir.Module
    constants: tuple[mlir.ir.Attribute, ...]
    results: tuple[mlir.ir.Type, ...]
    scratch: tuple[mlir.ir.Type, ...]


def build(module: mlir.ir.Module, target: Target, observe: Observe | None = None) -> Code:
    """Rewrite the module of an outlined loop, in place; `KernelError` where that fails."""

    def upstream(passes: str) -> None:
        try:
            mlir.passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
        except mlir.ir.MLIRError as error:
            raise KernelError(str(error).strip().splitlines()[0]) from None

    def after(stage: str) -> None:
        if observe is not None:
            observe(stage, module)

    with module.context, mlir.ir.Location.unknown():
        lower_to_tensors(module, target)
        after("tensors")
        upstream(INLINE)
        for _ in range(ROUNDS):
            if not simplify_ranges(module):
                break
            upstream(TIDY)
        for _ in range(3):
            upstream(FUSE)
            if not repeat_cheap(module):
                break
        upstream(INDICES)
        yield_in_place(module)
        constants = constants_to_arguments(module)
        results = to_buffers(module)
        after("arguments")
        upstream(BUFFERIZE)
        after("buffers")
        drop_self_copies(module)
        if write_directly(module):
            upstream(TIDY)
        upstream(LOOPS)
        scratch = settle_allocations(module)
        store_bytes(module)
        upstream(FLATTEN)
        after("loops")
        return Code(module, tuple(constants), tuple(results), tuple(scratch))


def lower_to_tensors(module: mlir.ir.Module, target: Target) -> None:
    """Lower the adze ops of the functions of one loop."""
    counted = counted_loops(module, Reader(Codec(module.context)))
    Conversion(module, KernelLowering(module, target, counted)).run()
    for function in functions(module).values():
        if NO_INLINE in function.attributes:
            del function.attributes[NO_INLINE]


def entry(module: mlir.ir.Module) -> mlir.ir.Operation:
    """The function of the kernel."""
    return functions(module)[KERNEL].operation
