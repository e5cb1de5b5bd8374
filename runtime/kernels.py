"""What IREE 3.13 would compute wrongly, found once it has divided a program into kernels.

In comes a program compiled as far as its kernels (the phase `flow`), out goes a sentence about the first
fault, or None. There are two:

- A kernel has a fold (an op with loops that are summed over) that depends on another one, whose result is
  also read elsewhere: by an op that the later fold does not depend on, or from memory. IREE walks the later
  fold in steps, computes the earlier one in each step anew, and, as it is to keep that one's result, adds to
  what it kept in the step before. A fold that is done in one step is safe, which its configuration tells.
- The result of a kernel that was computed over joined axes has sizes that multiply to another number than
  those it is given afterwards: IREE takes the wrong ones where several are dynamic.

Both are silent: sums come out several times too large, memory is read that nothing was written to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

_NOT_FOLDS: Final = frozenset(f"linalg.{name}" for name in ("fill", "map", "copy", "broadcast", "transpose"))
_STEPS: Final = re.compile(r"vector_reduction = \[([\d, ]+)\]")


def fault_of_kernels(program: bytes) -> str | None:
    """What IREE would compute wrongly in `program`, bytecode of the phase `flow`."""
    from ..dialects.mlir import ir

    with ir.Context() as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        for operation in module.body.operations:
            if operation.operation.name == "flow.executable":
                found = _fault_of_executable(ir, operation.operation)
            else:
                found = _fault_of_reshapes(ir, operation.operation)
            if found is not None:
                return found
    return None


def is_fold(operation: Any) -> bool:
    """Whether an operation is one of linalg that combines elements along some of its loops."""
    if operation.name == "linalg.generic":
        return "reduction" in str(operation.attributes["iterator_types"])
    return operation.name.startswith("linalg.") and operation.name not in _NOT_FOLDS


# --- folds that are computed again -------------------------------------------------------------------------


def _fault_of_executable(ir: Any, executable: Any) -> str | None:
    for inner in executable.regions[0].blocks[0].operations:
        if inner.operation.name != "builtin.module":
            continue
        for function in inner.operation.regions[0].blocks[0].operations:
            for block in function.operation.regions[0].blocks:
                if _computes_a_fold_again(ir, list(block.operations)):
                    name = ir.StringAttr(function.attributes["sym_name"]).value
                    return f"the kernel {name} would compute one fold again in each step of another"
    return None


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


# --- sizes of joined axes ----------------------------------------------------------------------------------


def _fault_of_reshapes(ir: Any, operation: Any) -> str | None:
    for inner in _within(operation):
        if inner.name == "flow.tensor.reshape" and _is_of_kernel(ir, inner.operands[0]):
            before, after = _sizes(ir, inner)
            if before is not None and after is not None and before != after:
                result, given = inner.operands[0].type, inner.results[0].type
                return f"a kernel would give {result} other sizes than those of {given}, which it is read as"
    return None


def _is_of_kernel(ir: Any, value: Any) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "flow.dispatch"


def _within(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation
                yield from _within(child.operation)


def _sizes(ir: Any, reshape: Any) -> tuple[Counter[Any] | None, Counter[Any] | None]:
    """The factors of the number of elements before and after; None where they are no plain product."""
    source, result = reshape.operands[0].type, reshape.results[0].type
    count = sum(source.is_dynamic_dim(axis) for axis in range(source.rank))
    values = list(reshape.operands)[1:]
    return _factors(ir, source, values[:count]), _factors(ir, result, values[count:])


def _factors(ir: Any, type_: Any, dynamic: list[Any]) -> Counter[Any] | None:
    found: Counter[Any] = Counter()
    number = 1
    for axis in range(type_.rank):
        number *= 1 if type_.is_dynamic_dim(axis) else type_.get_dim_size(axis)
    pending = list(dynamic)
    while pending:
        value = pending.pop()
        name = "" if isinstance(value.owner, ir.Block) else value.owner.name
        if name == "arith.muli":
            pending += value.owner.operands
        elif name == "arith.constant":
            number *= ir.IntegerAttr(value.owner.attributes["value"]).value
        elif name.startswith(("arith.", "affine.")):
            return None
        else:
            found[value] += 1
    found[number] += 1
    return found
