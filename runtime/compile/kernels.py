"""What IREE 3.13 would compute wrongly, found once it has divided a program into kernels.

In comes a program compiled as far as its kernels (the phase `flow`), out goes a sentence about the first
fault, or None. There are two:

- A kernel has a fold (an op with loops that are summed over) that depends on another one, whose result is
  also read elsewhere: by an op that the later fold does not depend on, or from memory. IREE walks the later
  fold in steps, computes the earlier one in each step anew, and, as it is to keep that one's result, adds to
  what it kept in the step before. A fold that is done in one step is safe, which its configuration tells.
- A result of a kernel that is computed over joined axes is stored with other sizes than it has: IREE takes
  the dynamic sizes of the first result for those of each.

Both are silent: sums come out several times too large, memory is read that nothing was written to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_NOT_FOLDS: Final = frozenset(f"linalg.{name}" for name in ("fill", "map", "copy", "broadcast", "transpose"))
_STEPS: Final = re.compile(r"vector_reduction = \[([\d, ]+)\]")


def fault_of_kernels(program: bytes) -> str | None:
    """What IREE would compute wrongly in `program`, bytecode of the phase `flow`."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        for function in _kernels(module):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            for block in function.regions[0].blocks:
                operations = list(block.operations)
                if _computes_a_fold_again(ir, operations):
                    return f"the kernel {name} would compute one fold again in each step of another"
                if _gives_a_wrong_size(operations):
                    return f"the kernel {name} would store a result with other sizes than it has"
    return None


def _kernels(module: Any) -> Iterator[Any]:
    """The functions of the kernels."""
    for executable in module.body.operations:
        if executable.operation.name == "flow.executable":
            for inner in executable.operation.regions[0].blocks[0].operations:
                if inner.operation.name == "builtin.module":
                    for function in inner.operation.regions[0].blocks[0].operations:
                        yield function.operation


def is_fold(operation: Any) -> bool:
    """Whether an operation is one of linalg that combines elements along some of its loops."""
    if operation.name == "linalg.generic":
        return "reduction" in str(operation.attributes["iterator_types"])
    return operation.name.startswith("linalg.") and operation.name not in _NOT_FOLDS


# --- folds that are computed again -------------------------------------------------------------------------


def _computes_a_fold_again(ir: Any, operations: list[Any]) -> bool:
    needed: dict[Any, set[Any]] = {}  # what each operation of the block depends on
    folds: list[Any] = []
    for child in operations:
        operation = child.operation
        before: set[Any] = set()
        for value in operation.operands:
            if value.owner in needed:
                before |= needed[value.owner] | {value.owner}
        needed[operation] = before
        if is_fold(operation):
            earlier = [f for f in folds if f in before]
            if earlier and not _is_one_step(ir, operation):
                inside = before | {operation}
                readers = (use.owner.operation for f in earlier for r in f.results for use in r.uses)
                if any(reader not in inside for reader in readers):
                    return True
            folds.append(operation)
    return False


def _is_one_step(ir: Any, fold: Any) -> bool:
    """Whether the configuration of a fold says that it is done at once."""
    if "compilation_info" not in fold.attributes or fold.name != "linalg.generic":
        return False
    found = _STEPS.search(str(fold.attributes["compilation_info"]))
    if found is None:
        return False
    sizes: dict[int, int] = {}
    maps = ir.ArrayAttr(fold.attributes["indexing_maps"])
    for value, attribute in zip(fold.operands, maps, strict=True):
        for axis, place in enumerate(ir.AffineMapAttr(attribute).value.results):
            if isinstance(place, ir.AffineDimExpr):
                sizes[place.position] = value.type.shape[axis]
    steps = [int(text) for text in found[1].split(",")]
    return all(
        "parallel" in str(kind) or 0 < sizes.get(loop, 0) <= steps[loop]
        for loop, kind in enumerate(ir.ArrayAttr(fold.attributes["iterator_types"]))
    )


# --- results of wrong sizes --------------------------------------------------------------------------------


def _gives_a_wrong_size(operations: list[Any]) -> bool:
    """Whether a result that a kernel computes is stored with other sizes than it has."""
    for child in operations:
        operation = child.operation
        if operation.name == "iree_tensor_ext.dispatch.tensor.store":
            has = _dynamic_sizes(operation.operands[0])
            if has is not None and has != _stored_sizes(operation):
                return True
    return False


def _stored_sizes(store: Any) -> list[Any]:
    """The dynamic ones of the sizes: its operands are value, target, sizes of the target, offsets, sizes."""
    counts = list(store.attributes["operandSegmentSizes"])
    first = sum(counts[:4])
    return list(store.operands)[first : first + counts[4]]


def _dynamic_sizes(value: Any) -> list[Any] | None:
    """The dynamic sizes of what linalg computes, as the `tensor.empty` that it is written to has them."""
    while getattr(value.owner, "name", "").startswith("linalg."):
        operation = value.owner
        results = list(operation.results)
        value = list(operation.operands)[len(operation.operands) - len(results) + results.index(value)]
    return list(value.owner.operands) if getattr(value.owner, "name", "") == "tensor.empty" else None
