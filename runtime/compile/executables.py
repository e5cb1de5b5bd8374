"""The executables of a CPU program: how many kernels each has.

Input: a program of the phase `executable-sources`, and how long the code of each executable is. Output: the
program with its kernels in fewer executables. Idea: IREE compiles each executable by itself, and for each
builds the patterns of all ops anew, so kernels that stand beside each other share one. LLVM compiles all
kernels of a library on one thread; a program with much code gets several libraries of about equal length
(`halves.py`), as many as its code says, on whatever machine, so that its bytes are the same.
"""

from __future__ import annotations

from typing import Any, Final

EXECUTABLE: Final = "hal.executable"
VARIANT: Final = "hal.executable.variant"
EXPORT: Final = "hal.executable.export"
MODULE: Final = "builtin.module"
_END: Final = "hal.executable.variant_end"
_DISPATCH: Final = "stream.cmd.dispatch"
_ENTRIES: Final = "entry_points"
_ORDINAL: Final = "ordinal"

_MOST_TOGETHER: Final = 16
"""Kernels of one executable of a short program: others are compiled on other threads."""
_LEAST_OF_A_PART: Final = 400_000
"""Characters of code from which on a library of its own gains: LLVM takes nearly a second for them, and a
library costs 70 ms (AMD EPYC, Zen 4)."""
_MOST_PARTS: Final = 16


def join_executables(ir: Any, program: Any, lengths: dict[str, int]) -> bool:
    """Make few of executables for the same target that stand beside each other; `lengths` has those of their
    code by name. Whether each of them is to be a library of its own: otherwise there are two at least, which
    IREE links as it would have linked all of them."""
    executables = [each for each in top_level(program) if each.name == EXECUTABLE]
    total = sum(lengths[symbol(ir, each)] for each in executables)
    parts = min(_MOST_PARTS, total // _LEAST_OF_A_PART)
    if parts > 1:
        groups = _of_equal_length([lengths[symbol(ir, each)] for each in executables], parts)
    else:
        count = max(2, -(-len(executables) // _MOST_TOGETHER))
        most = -(-len(executables) // count) or 1
        groups = [number // most for number in range(len(executables))]
    firsts: list[Any] = []
    last, count = None, 0
    renamed: dict[str, str] = {}
    for executable, group in zip(executables, groups, strict=True):
        if group == last and _can_join(ir, firsts[-1], executable):
            count = _join(ir, firsts[-1], executable, count)
            renamed[symbol(ir, executable)] = symbol(ir, firsts[-1])
            executable.erase()
        else:
            firsts.append(executable)
            last, count = group, len(inner(executable, EXPORT, VARIANT))
    if renamed:
        _rename(ir, program, renamed)
    return 1 < len(firsts) <= parts


def _of_equal_length(lengths: list[int], parts: int) -> list[int]:
    """Which of so many parts each of a row of kernels belongs to."""
    total, before = sum(lengths), 0
    found: list[int] = []
    for length in lengths:
        found.append(min(parts - 1, (before + length // 2) * parts // total))
        before += length
    return found


def _can_join(ir: Any, first: Any, second: Any) -> bool:
    """Whether two executables have one variant for the same target, and no names in common."""
    both = [inner(each, VARIANT) for each in (first, second)]
    if [len(each) for each in both] != [1, 1]:
        return False
    (one,), (other,) = both
    if one.attributes["target"] != other.attributes["target"] or symbol(ir, one) != symbol(ir, other):
        return False
    names: list[set[str]] = []
    for variant in (one, other):
        inside = operations(variant)
        modules = [each for each in inside if each.name == MODULE]
        if len(modules) != 1 or len(modules[0].attributes):
            return False
        if any(each.name not in (EXPORT, MODULE, _END) for each in inside):
            return False
        symbols = [each for each in (*inside, *operations(modules[0])) if "sym_name" in each.attributes]
        names.append({symbol(ir, each) for each in symbols})
    return names[0].isdisjoint(names[1])


def _join(ir: Any, first: Any, second: Any, count: int) -> int:
    """Move the kernels of the second executable to the first, which has `count`; how many it has then."""
    (variant,) = inner(first, VARIANT)
    (module,) = inner(variant, MODULE)
    (moved,) = inner(second, VARIANT)
    for export in inner(moved, EXPORT):
        export.attributes[_ORDINAL] = ir.IntegerAttr.get(ir.IndexType.get(), count)
        export.move_before(module)
        count += 1
    (functions,) = inner(moved, MODULE)
    for each in operations(functions):
        each.detach_from_parent()
        module.regions[0].blocks[0].append(each)
    return count


def _rename(ir: Any, program: Any, renamed: dict[str, str]) -> None:
    """Let dispatches call the executables that have their kernels now."""

    def change(operation: Any) -> Any:
        if operation.name == EXECUTABLE:
            return ir.WalkResult.SKIP
        if operation.name == _DISPATCH:
            entries = [ir.SymbolRefAttr(each).value for each in ir.ArrayAttr(operation.attributes[_ENTRIES])]
            operation.attributes[_ENTRIES] = ir.ArrayAttr.get(
                [ir.SymbolRefAttr.get([renamed.get(name, name), *path]) for name, *path in entries]
            )
        return ir.WalkResult.ADVANCE

    program.operation.walk(change, ir.WalkOrder.PRE_ORDER)


def top_level(module: Any) -> list[Any]:
    """The operations of a program."""
    return [each.operation for each in module.body.operations]


def operations(operation: Any) -> list[Any]:
    """The operations in the block of another."""
    return [each.operation for each in operation.regions[0].blocks[0].operations]


def inner(operation: Any, name: str, within: str | None = None) -> list[Any]:
    """The operations called `name` in an operation, or in those of it called `within`."""
    if within is not None:
        return [each for outer in inner(operation, within) for each in inner(outer, name)]
    return [each for each in operations(operation) if each.name == name]


def symbol(ir: Any, operation: Any) -> str:
    """The name of an operation that has one."""
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)
