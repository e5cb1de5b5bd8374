"""The code of adze's own kernels on its way around the phases of IREE that do nothing to it.

Input: a program of a phase up to `flow`. Output: the program without the code of its own kernels, and the
code; later the program with all of it, in the phase `executable-sources` with its kernels in few executables.
Idea: up to that phase IREE decides how the host calls kernels. Each of its clean-ups and analyses takes the
code of all kernels too, and verifies it; of kernels that are loops and vectors already nothing is to be
decided. So such a kernel calls a function that is only declared, with its arrays and numbers, and gets its
code when what it is passed is known. IREE then compiles each executable by itself, and for each builds the
patterns of all ops anew: those that stand beside each other are made one, with as many kernels.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any, Final

from .separate_bindings import say_what_is_separate

_OURS: Final = "stream.executable"
_EXECUTABLE: Final = "hal.executable"
_VARIANT: Final = "hal.executable.variant"
_EXPORT: Final = "hal.executable.export"
_MODULE: Final = "builtin.module"
_FUNCTION: Final = "func.func"
_CALL: Final = "func.call"
_CONSTANT: Final = "arith.constant"
_VALUE: Final = "value"
_NUMBERS: Final = "arith."
_RETURN: Final = "func.return"
_SUBSPAN: Final = "stream.binding.subspan"
_DISPATCH: Final = "stream.cmd.dispatch"
_BINDING: Final = "!stream.binding"
_ENTRIES: Final = "entry_points"
_ORDINAL: Final = "ordinal"
_VISIBILITY: Final = "sym_visibility"
_CODE: Final = "__code"
_TRANSLATION: Final = "translation_info"
_AS_IT_IS: Final = "#iree_codegen.translation_info<pipeline = #iree_codegen.no_pipeline>"
_OF_OURS: Final = b"binding.subspan\0"
_OF_IREE: Final = b"_dispatch_"
_LEAST_NAMES: Final = 8
"""Names of kernels of IREE, two for each, from which on one executable for several of them gains time."""
_MOST_TOGETHER: Final = 16
"""Kernels of one executable: others are compiled on other threads."""


def has_own_kernels(program: bytes) -> bool:
    """Whether a program, MLIR bytecode of a phase up to `flow`, has kernels of adze."""
    return _OF_OURS in program


def gains_of_bodies_apart(program: bytes) -> bool:
    """Whether `program`, bytecode of the phase `flow`, has kernels of adze, or many of IREE: the names of all
    operations and symbols stand in the bytecode."""
    return has_own_kernels(program) or program.count(_OF_IREE) >= _LEAST_NAMES


class KernelBodies:
    """A program, and what its own kernels do, which `put_back` returns to it once."""

    def __init__(self, program: bytes) -> None:
        from ...dialects.mlir import ir, new_context

        self._ir = ir
        self._context = new_context(foreign_ops=False, is_light=True)
        with self._context, ir.Location.unknown():
            self._program = ir.Module.parse(program, self._context)
            self._apart = ir.Module.create()
            self._functions: dict[str, Any] = {}
            self._helpers: dict[str, list[Any]] = {}
            self._callers: Counter[str] = Counter()
            self._named: defaultdict[Hashable, dict[str, str]] = defaultdict(dict)
            for executable in _top_level(self._program):
                if executable.name == _OURS:
                    for module in _inner(executable, _MODULE):
                        self._take(module)

    def without(self) -> bytes:
        """The program without the code of its kernels."""
        program, self._program = self._program, None
        return _bytecode(program)

    def put_back(self, program: bytes) -> bytes | None:
        """`program`, of a phase up to `flow` or of `executable-sources`, with the code of its kernels, and in
        the latter fewer executables, and what LLVM gains by (`separate_bindings.py`); None where a kernel is
        called otherwise than it was."""
        ir = self._ir
        with self._context, ir.Location.unknown():
            whole = ir.Module.parse(program, self._context)
            filled: list[Any] = []
            for executable in _top_level(whole):
                if executable.name == _EXECUTABLE:
                    modules = _inner(executable, _MODULE, _VARIANT)
                else:
                    modules = _inner(executable, _MODULE) if executable.name == _OURS else []
                if not all(self._fill(module, filled) for module in modules):
                    return None
            say_what_is_separate(ir, filled)
            _leave_as_they_are(ir, filled)
            join_executables(ir, whole)
            return _bytecode(whole)

    def _take(self, module: Any) -> None:
        """Let the functions of an executable's module call declared ones in place of their code, which goes
        with the functions that it calls."""
        ir = self._ir
        functions = list(_operations(module))
        helpers = [each for each in functions if _is_helper(ir, each)]
        prologues = [(each, _prologue(each)) for each in functions if each not in helpers]
        if helpers and any(before is None for _, before in prologues):
            return
        for helper in helpers:
            helper.detach_from_parent()
            self._apart.body.append(helper)
        for function, before in prologues:
            if before is None:
                continue
            name = self._name(function)
            self._helpers.setdefault(name, helpers)
            with ir.InsertionPoint(function), function.location:
                passed = _declared(ir, function, name)
                _calling(ir, function, name, before, passed)
            function.detach_from_parent()
            self._apart.body.append(function)
            self._functions.setdefault(name, function)
            self._callers[name] += 1

    def _name(self, function: Any) -> str:
        """The name of the code of `function`: the same for the same code, so that IREE can make one kernel of
        kernels that are equal."""
        own = _symbol(self._ir, function)
        names = [each.operation.name for each in function.regions[0].blocks[0].operations]
        likely = self._named[str(function.attributes["function_type"]), tuple(names)]
        text = _text(function, own)
        if text in likely:
            return likely[text]
        name, count = f"{own}{_CODE}", 1
        while name in self._functions:
            name, count = f"{own}_{count}{_CODE}", count + 1
        likely[text] = name
        return name

    def _code(self, name: str) -> Any:
        """The code called `name`, for one of the kernels that call it."""
        self._callers[name] -= 1
        function = self._functions[name]
        return function.clone().operation if self._callers[name] else self._functions.pop(name)

    def _fill(self, module: Any, filled: list[Any]) -> bool:
        """Give the functions of an executable's module their code, and list them in `filled`; whether they
        pass what it takes."""
        ir = self._ir
        operations = list(_operations(module))
        declared = {
            _symbol(ir, each): each
            for each in operations
            if each.name == _FUNCTION and not len(each.regions[0].blocks)
        }
        for function in operations:
            for call in _calls(function):
                name = str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
                if name not in self._functions or name not in declared:
                    continue
                if not _inline(self._code(name), call):
                    return False
                for helper in self._helpers[name]:
                    module.regions[0].blocks[0].append(helper.clone())
                filled.append(function)
                declared.pop(name).erase()
        return not any(name in self._functions for name in declared)


def _leave_as_they_are(ir: Any, functions: list[Any]) -> None:
    """Say of functions, loops and vectors, that nothing in them is to be tiled, distributed or vectorized."""
    as_they_are = ir.Attribute.parse(_AS_IT_IS)
    for function in functions:
        if function.parent.parent.name == _VARIANT:
            function.attributes[_TRANSLATION] = as_they_are


def join_executables(ir: Any, program: Any) -> None:
    """Make some of executables for the same target that stand beside each other; two at least, which IREE
    links as it would have linked all of them."""
    executables = [each for each in _top_level(program) if each.name == _EXECUTABLE]
    groups = max(2, -(-len(executables) // _MOST_TOGETHER))
    most = -(-len(executables) // groups)
    first, count = None, 0
    renamed: dict[str, str] = {}
    for executable in executables:
        if first is not None and count < most and _can_join(ir, first, executable):
            count = _join(ir, first, executable, count)
            renamed[_symbol(ir, executable)] = _symbol(ir, first)
            executable.erase()
        else:
            first, count = executable, len(_inner(executable, _EXPORT, _VARIANT))
    if renamed:
        _rename(ir, program, renamed)


def _can_join(ir: Any, first: Any, second: Any) -> bool:
    """Whether two executables have one variant for the same target, and no names in common."""
    both = [_inner(each, _VARIANT) for each in (first, second)]
    if [len(each) for each in both] != [1, 1]:
        return False
    (one,), (other,) = both
    if one.attributes["target"] != other.attributes["target"] or _symbol(ir, one) != _symbol(ir, other):
        return False
    names: list[set[str]] = []
    for variant in (one, other):
        inside = _operations(variant)
        modules = [each for each in inside if each.name == _MODULE]
        if len(modules) != 1 or len(modules[0].attributes):
            return False
        if any(each.name not in (_EXPORT, _MODULE, "hal.executable.variant_end") for each in inside):
            return False
        symbols = [each for each in (*inside, *_operations(modules[0])) if "sym_name" in each.attributes]
        names.append({_symbol(ir, each) for each in symbols})
    return names[0].isdisjoint(names[1])


def _join(ir: Any, first: Any, second: Any, count: int) -> int:
    """Move the kernels of the second executable to the first, which has `count`; how many it has then."""
    (variant,) = _inner(first, _VARIANT)
    (module,) = _inner(variant, _MODULE)
    (moved,) = _inner(second, _VARIANT)
    for export in _inner(moved, _EXPORT):
        export.attributes[_ORDINAL] = ir.IntegerAttr.get(ir.IndexType.get(), count)
        export.move_before(module)
        count += 1
    (functions,) = _inner(moved, _MODULE)
    for each in _operations(functions):
        each.detach_from_parent()
        module.regions[0].blocks[0].append(each)
    return count


def _rename(ir: Any, program: Any, renamed: dict[str, str]) -> None:
    """Let dispatches call the executables that have their kernels now."""

    def change(operation: Any) -> Any:
        if operation.name == _EXECUTABLE:
            return ir.WalkResult.SKIP
        if operation.name == _DISPATCH:
            entries = [ir.SymbolRefAttr(each).value for each in ir.ArrayAttr(operation.attributes[_ENTRIES])]
            operation.attributes[_ENTRIES] = ir.ArrayAttr.get(
                [ir.SymbolRefAttr.get([renamed.get(name, name), *path]) for name, *path in entries]
            )
        return ir.WalkResult.ADVANCE

    program.operation.walk(change, ir.WalkOrder.PRE_ORDER)


def _prologue(function: Any) -> list[Any] | None:
    """What a kernel does before its code: the operations that make its arrays of what it is passed, and what
    these need. None for other functions, and where that is more than a few numbers."""
    if function.name != _FUNCTION or len(function.regions[0].blocks) != 1:
        return None
    block = function.regions[0].blocks[0]
    operations = [each.operation for each in block.operations]
    if operations[-1].name != _RETURN or len(operations[-1].operands):
        return None
    needed: set[Any] = set()
    for operation in reversed(operations):
        if operation.name == _SUBSPAN or operation in needed:
            if operation.name != _SUBSPAN and not operation.name.startswith(_NUMBERS):
                return None
            needed |= {_owner(value) for value in operation.operands}
            needed.add(operation)
    arrays = sum(operation.name == _SUBSPAN for operation in operations)
    bindings = [each for each in block.arguments if str(each.type) == _BINDING]
    if sum(len(list(each.uses)) for each in bindings) != arrays:
        return None  # one that is used in a loop, or otherwise
    return [operation for operation in operations if operation in needed]


def _is_helper(ir: Any, function: Any) -> bool:
    """Whether a function of an executable's module is one that kernels call."""
    if function.name != _FUNCTION or not len(function.regions[0].blocks):
        return False
    visibility = function.attributes.get(_VISIBILITY)
    return visibility is not None and ir.StringAttr(visibility).value == "private"


def _owner(value: Any) -> Any:
    """The operation that computes a value, or the block whose argument it is."""
    return getattr(value.owner, "operation", value.owner)


def _declared(ir: Any, function: Any, name: str) -> list[Any]:
    """Declare a function for the code of `function`; what of it is passed: its arrays, then its numbers."""
    block = function.regions[0].blocks[0]
    passed = [each.results[0] for each in map(_operation, block.operations) if each.name == _SUBSPAN]
    passed += [each for each in block.arguments if str(each.type) != _BINDING]
    type_ = ir.FunctionType.get([each.type for each in passed], [])
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": ir.TypeAttr.get(type_),
    }
    ir.Operation.create(_FUNCTION, attributes=attributes, regions=1)
    return passed


def _calling(ir: Any, function: Any, name: str, before: list[Any], passed: list[Any]) -> None:
    """A function in place of `function` that does what comes `before` its code, and calls the code."""
    attributes = {each: function.attributes[each] for each in function.attributes}
    calling = ir.Operation.create(_FUNCTION, attributes=attributes, regions=1)
    arguments = function.regions[0].blocks[0].arguments
    types = [each.type for each in arguments]
    block = calling.regions[0].blocks.append(*types, arg_locs=[each.location for each in arguments])
    known = dict(zip(arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for operation in before:
            copied = operation.clone().operation
            for at, value in enumerate(operation.operands):
                copied.operands[at] = known[value]
            known.update(zip(operation.results, copied.results, strict=True))
        callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
        ir.Operation.create(_CALL, operands=[known[each] for each in passed], attributes=callee)
        ir.Operation.create(_RETURN)


def _inline(function: Any, call: Any) -> bool:
    """Put the code of `function` in the place of `call`; whether that passes what it takes."""
    block = function.regions[0].blocks[0]
    operations = list(map(_operation, block.operations))
    taken = [each.results[0] for each in operations if each.name == _SUBSPAN]
    taken += [each for each in block.arguments if str(each.type) != _BINDING]
    values = list(call.operands)
    if [each.type for each in taken] != [each.type for each in values]:
        return False
    for old, new in zip(taken, values, strict=True):
        old.replace_all_uses_with(new)
    _insert_constants([each for each in operations if each.name == _CONSTANT], call.block)
    for operation in operations[:-1]:
        if operation.name == _SUBSPAN:
            operation.erase()  # it uses numbers that leave with the code
        elif operation.name != _CONSTANT:
            operation.move_before(call)
    call.erase()
    return True


def _insert_constants(constants: list[Any], block: Any) -> None:
    """Move constants to the beginning of a block that does not have them, in the order in which the clean-ups
    of IREE leave them: the bytes of a program depend on it."""
    there = list(map(_operation, block.operations))
    known = {each.attributes[_VALUE]: each for each in there if each.name == _CONSTANT}
    wanted = {each.attributes[_VALUE] for each in constants}
    behind = next(each for each in there if each.name != _CONSTANT or each.attributes[_VALUE] not in wanted)
    for constant in reversed(constants):
        same = known.get(constant.attributes[_VALUE])
        if same is None:
            constant.move_before(behind)
        else:
            constant.results[0].replace_all_uses_with(same.results[0])


def _text(function: Any, name: str) -> str:
    """The text of a function without its name."""
    return str(function.get_asm(use_local_scope=True)).replace(f"@{name}(", "@(", 1)


def _calls(function: Any) -> list[Any]:
    """The calls in the block of a function."""
    if function.name != _FUNCTION or not len(function.regions[0].blocks):
        return []
    return [each for each in map(_operation, function.regions[0].blocks[0].operations) if each.name == _CALL]


def _top_level(module: Any) -> list[Any]:
    return [each.operation for each in module.body.operations]


def _operations(operation: Any) -> list[Any]:
    return [each.operation for each in operation.regions[0].blocks[0].operations]


def _inner(operation: Any, name: str, within: str | None = None) -> list[Any]:
    """The operations called `name` in an operation, or in those of it called `within`."""
    if within is not None:
        return [each for outer in _inner(operation, within) for each in _inner(outer, name)]
    return [each for each in _operations(operation) if each.name == name]


def _operation(view: Any) -> Any:
    return view.operation


def _symbol(ir: Any, operation: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def _bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
