"""The loops that `select-loops` marked for kernels, replaced by calls of their kernels.

Input: adze IR with marked loops. Output: the same with `stream.executable`s, and a `flow.dispatch` for each
of those loops; functions that nothing refers to any more are gone. Where making a kernel fails, its loop
stays, marked with the reason, and the loops in its body are looked at in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .....dialects import mlir
from .....dialects.builder.emitter import Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....dialects.errors import AdzeError
from .....dialects.ops.control.call import Call
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from ....base import Pass, names_of
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, is_private, referenced, refers_to_functions
from ....ir.marks import LOOP
from ....optimize.inline import inline_operation
from ...plan import target_of
from ..executable import DISPATCH, Kernels
from .embed import replace_loop
from .errors import KernelError
from .known_code import KnownCode
from .outline import outline
from .pointwise.kernel import code_of, replace_with_elements
from .select import ELEMENTS, HOST, KERNEL, Selection, mark, marked

FAULT: Final = "a fault of adze kept it from being a kernel"


@dataclass(frozen=True)
class LoopKernels(Pass):
    """Replace the loops that are marked for kernels by one dispatch each, of a kernel that runs all steps."""

    name = "loop-kernels"
    needs = names_of(Scan, While, Call)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        chosen = list(_chosen(module))
        if not chosen:
            return False
        reader, kernels = Reader(Codec(module.context)), Kernels(module)
        known = KnownCode(target_of(module))
        while chosen:
            selection = Selection(module, True)
            failed = [
                loop for loop in chosen if not _replace(module, kernels, known, loop, reader, selection)
            ]
            for loop in failed:
                application = reader.read(loop)
                assert application is not None
                if application.op is Call:  # of small ops
                    callee = functions(module)[application.attributes["callee"]]
                    inline_operation(loop, callee, application.operands)
                else:
                    selection.mark_inside(application)
            chosen = list(_chosen(module)) if failed else []
        _drop_unused(module, reader)
        return True


def _chosen(module: mlir.ir.Module) -> Iterator[Operation]:
    """The loops that are marked for kernels."""
    for function in functions(module).values():
        for child in list(body(function).operations):
            text = marked(child.operation) if child.operation.name.startswith("adze.") else None
            if text is not None and text.startswith(KERNEL):
                yield child.operation


def _replace(
    module: mlir.ir.Module,
    kernels: Kernels,
    known: KnownCode,
    loop: Operation,
    reader: Reader,
    selection: Selection,
) -> bool:
    """Replace one loop; whether that was possible."""
    if (marked(loop) or "").startswith(ELEMENTS):
        if _replace_with_elements(module, kernels, loop, reader):
            return True
        application = reader.read(loop)
        assert application is not None
        if not selection.decide_for_arrays(loop, application):
            return False
    try:
        outlined = outline(module, loop, reader)
        owned = {k for k, value in enumerate(outlined.operands) if _is_own(value)}
        code = known.build(outlined, owned)
    except (KernelError, AdzeError, mlir.ir.MLIRError) as error:
        mark(loop, f"{HOST}no kernel could be made of it: {str(error).splitlines()[0]}")
        return False
    except (TypeError, ValueError, IndexError, KeyError, AssertionError) as error:
        # The program is right either way; the tests of random loops look for this text.
        mark(loop, f"{HOST}{FAULT}: {type(error).__name__}: {error}")
        return False
    replace_loop(kernels, loop, outlined, code)
    return True


def _is_own(value: Value) -> bool:
    """Whether a value is in a buffer that a kernel wrote for this loop alone, which may write into it."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != DISPATCH:
        return False
    return len(list(value.uses)) == 1


def _replace_with_elements(module: mlir.ir.Module, kernels: Kernels, loop: Operation, reader: Reader) -> bool:
    """Replace a loop that computes each element for itself; whether that was possible."""
    try:
        code = code_of(loop, functions(module), reader, target_of(module))
        replace_with_elements(kernels, loop, code)
    except (KernelError, AdzeError, mlir.ir.MLIRError):
        return False
    return True


def _drop_unused(module: mlir.ir.Module, reader: Reader) -> None:
    """Drop the private functions that no function refers to."""
    by_symbol = functions(module)
    pending = [symbol for symbol, function in by_symbol.items() if not is_private(function)]
    reached = set(pending)
    while pending:
        for child in body(by_symbol[pending.pop()]).operations:
            application = reader.read_if(child.operation, refers_to_functions)
            for symbol in referenced(application) if application is not None else ():
                if symbol not in reached:
                    reached.add(symbol)
                    pending.append(symbol)
    for symbol, function in by_symbol.items():
        if symbol not in reached:
            function.operation.erase()


def loop_remarks(module: mlir.ir.Module) -> list[tuple[mlir.ir.Location, str]]:
    """Where each loop of a module stands, and which form it got and why; after this pass."""
    remarks = []
    for function in functions(module).values():
        for child in body(function).operations:
            if LOOP in child.operation.attributes:
                remarks.append((child.location, marked(child.operation) or ""))
    return remarks
