"""The code of adze's own kernels on its way around the phases of IREE that do nothing to it.

Input: a program of a phase up to `flow`. Output: the program without the code of its own kernels, and the
code; later the program with all of it, in the phase `executable-sources` with its kernels in few executables
(`executables.py`).
Idea: up to that phase IREE decides how the host calls kernels. Each of its clean-ups and analyses takes the
code of all kernels too, and verifies it; of kernels that are loops and vectors already nothing is to be
decided. So such a kernel calls a function that is only declared, with its arrays and numbers, and gets its
code when what it is passed is known.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any, Final

from .executables import EXECUTABLE, MODULE, VARIANT, inner, join_executables, operations, symbol, top_level
from .separate_bindings import say_what_is_separate

_OURS: Final = "stream.executable"
_FUNCTION: Final = "func.func"
_CALL: Final = "func.call"
_CONSTANT: Final = "arith.constant"
_VALUE: Final = "value"
_NUMBERS: Final = "arith."
_RETURN: Final = "func.return"
_SUBSPAN: Final = "stream.binding.subspan"
_BINDING: Final = "!stream.binding"
_VISIBILITY: Final = "sym_visibility"
_CODE: Final = "__code"
_LENGTH_OF_IREE: Final = 5_000
"""Characters of code that take LLVM about as long as a kernel of IREE, whose code is not yet there."""
_TRANSLATION: Final = "translation_info"
_AS_IT_IS: Final = "#iree_codegen.translation_info<pipeline = #iree_codegen.no_pipeline>"
_OF_OURS: Final = b"binding.subspan\0"
_OF_IREE: Final = b"_dispatch_"
_LEAST_NAMES: Final = 8
"""Names of kernels of IREE, two for each, from which on one executable for several of them gains time."""


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
        self.is_in_parts = False
        self._context = new_context(foreign_ops=False, is_light=True)
        with self._context, ir.Location.unknown():
            self._program = ir.Module.parse(program, self._context)
            self._apart = ir.Module.create()
            self._functions: dict[str, Any] = {}
            self._helpers: dict[str, list[Any]] = {}
            self._lengths: dict[str, int] = {}
            self._callers: Counter[str] = Counter()
            self._named: defaultdict[Hashable, dict[str, str]] = defaultdict(dict)
            for executable in top_level(self._program):
                if executable.name == _OURS:
                    for module in inner(executable, MODULE):
                        self._take(module)

    def without(self) -> bytes:
        """The program without the code of its kernels."""
        program, self._program = self._program, None
        return _bytecode(program)

    def put_back(self, program: bytes) -> bytes | None:
        """`program`, of a phase up to `flow` or of `executable-sources`, with the code of its kernels, and in
        the latter fewer executables, and what LLVM gains by (`separate_bindings.py`); None where a kernel is
        called otherwise than it was. `is_in_parts` says then whether each executable is to be a library."""
        ir = self._ir
        with self._context, ir.Location.unknown():
            whole = ir.Module.parse(program, self._context)
            filled: list[Any] = []
            lengths: dict[str, int] = {}
            for executable in top_level(whole):
                if executable.name == EXECUTABLE:
                    modules = inner(executable, MODULE, VARIANT)
                else:
                    modules = inner(executable, MODULE) if executable.name == _OURS else []
                known = [self._fill(module, filled) for module in modules]
                if None in known:
                    return None
                if executable.name == EXECUTABLE:
                    lengths[symbol(ir, executable)] = sum(filter(None, known)) or _LENGTH_OF_IREE
            say_what_is_separate(ir, filled)
            _leave_as_they_are(ir, filled)
            self.is_in_parts = join_executables(ir, whole, lengths)
            return _bytecode(whole)

    def _take(self, module: Any) -> None:
        """Let the functions of an executable's module call declared ones in place of their code, which goes
        with the functions that it calls."""
        ir = self._ir
        functions = operations(module)
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
        own = symbol(self._ir, function)
        names = [each.operation.name for each in function.regions[0].blocks[0].operations]
        likely = self._named[str(function.attributes["function_type"]), tuple(names)]
        text = _text(function, own)
        if text in likely:
            return likely[text]
        name, count = f"{own}{_CODE}", 1
        while name in self._functions:
            name, count = f"{own}_{count}{_CODE}", count + 1
        likely[text] = name
        self._lengths[name] = len(text)
        return name

    def _code(self, name: str) -> Any:
        """The code called `name`, for one of the kernels that call it."""
        self._callers[name] -= 1
        function = self._functions[name]
        return function.clone().operation if self._callers[name] else self._functions.pop(name)

    def _fill(self, module: Any, filled: list[Any]) -> int | None:
        """Give the functions of an executable's module their code, and list them in `filled`; how long it is,
        None where they do not pass what it takes."""
        ir, length = self._ir, 0
        functions = operations(module)
        declared = {
            symbol(ir, each): each
            for each in functions
            if each.name == _FUNCTION and not len(each.regions[0].blocks)
        }
        for function in functions:
            for call in _calls(function):
                name = str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
                if name not in self._functions or name not in declared:
                    continue
                if not _inline(self._code(name), call):
                    return None
                length += self._lengths[name]
                for helper in self._helpers[name]:
                    module.regions[0].blocks[0].append(helper.clone())
                filled.append(function)
                declared.pop(name).erase()
        return None if any(name in self._functions for name in declared) else length


def _leave_as_they_are(ir: Any, functions: list[Any]) -> None:
    """Say of functions, loops and vectors, that nothing in them is to be tiled, distributed or vectorized."""
    as_they_are = ir.Attribute.parse(_AS_IT_IS)
    for function in functions:
        if function.parent.parent.name == VARIANT:
            function.attributes[_TRANSLATION] = as_they_are


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
    passed = [each.results[0] for each in operations(function) if each.name == _SUBSPAN]
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
    inside = operations(function)
    taken = [each.results[0] for each in inside if each.name == _SUBSPAN]
    taken += [each for each in block.arguments if str(each.type) != _BINDING]
    values = list(call.operands)
    if [each.type for each in taken] != [each.type for each in values]:
        return False
    for old, new in zip(taken, values, strict=True):
        old.replace_all_uses_with(new)
    _insert_constants([each for each in inside if each.name == _CONSTANT], call.block)
    for operation in inside[:-1]:
        if operation.name == _SUBSPAN:
            operation.erase()  # it uses numbers that leave with the code
        elif operation.name != _CONSTANT:
            operation.move_before(call)
    call.erase()
    return True


def _insert_constants(constants: list[Any], block: Any) -> None:
    """Move constants to the beginning of a block that does not have them, in the order in which the clean-ups
    of IREE leave them: the bytes of a program depend on it."""
    there = [each.operation for each in block.operations]
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
    return inner(function, _CALL)


def _bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
