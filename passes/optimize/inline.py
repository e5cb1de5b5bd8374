"""Inlining: calls are replaced by the bodies of their callees, so that simplification sees across them.

Input: a module. Output: the same without calls, in place. Idea: from the innermost call out; the last call of
a private function takes its ops, every other call a clone of them. Routines stay: whether a kernel takes
their place depends on the target (`lower/kernels/routines.py`). Nothing is differentiated any more, so
linear routines become routines, which have no transpose.
"""

from __future__ import annotations

from collections import Counter, deque

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.op import Op
from ..ir.aliases import Operation, Value
from ..ir.construction import clone_operation
from ..ir.functions import body, functions, is_private, referenced, split_body


def inline(module: mlir.ir.Module) -> None:
    """Replace every call in `module` but routines by the callee's body, in place.

    Functions are not recursive.
    """
    _Inliner(module).run()


def inline_operation(operation: Operation, callee: Operation, operands: tuple[Value, ...]) -> list[Value]:
    """Put a clone of the body of `callee` in place of an op that computes what it computes; the clones."""
    return _replace_call(operation, callee, operands)


def inline_rule(module: mlir.ir.Module, symbol: str, reader: Reader, count: int) -> None:
    """Inline calls in a rule whose last `count` arguments are tangents: it is transposed op by op.

    A call with derivative rules of its own is kept where it depends on no tangent: differentiating the rule
    once more uses them.
    """
    callees = functions(module)
    operations, _ = split_body(callees[symbol])
    arguments = list(body(callees[symbol]).arguments)
    moving = set(arguments[len(arguments) - count :])
    pending = deque(child.operation for child in operations)
    while pending:
        operation = pending.popleft()
        application = reader.read(operation)
        depends = any(v in moving for v in operation.operands)
        callee = None if application is None else application.op.callee_attribute
        if application is None or callee is None or _stays(application.op, depends):
            moving.update(operation.results if depends else ())
            continue
        name = application.attributes[callee]
        pending.extendleft(reversed(_replace_call(operation, callees[name], application.operands)))


def _stays(op: type[Op], depends: bool) -> bool:
    """Whether a call is kept: its rules are used when it is differentiated again, or transposed."""
    return op.has_own_transpose or ((op.has_own_rules or op.is_routine) and not depends)


class _Inliner:
    """Inlines the calls of one module, in functions that are run: rules of derivatives and transposes of
    routines are not, once it is inlined."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.functions = functions(module)
        self.reader = Reader(Codec(module.context))
        self.done: set[str] = set()
        self.references: Counter[str] = Counter()
        self._reached = [symbol for symbol, each in self.functions.items() if not is_private(each)]
        for symbol in self._reached:  # it grows
            self._note_references(symbol)

    def run(self) -> None:
        for symbol in self.functions.keys() - set(self._reached):
            self.functions[symbol].operation.erase()
        for symbol in self._reached:
            self._into(symbol)

    def _note_references(self, symbol: str) -> None:
        """Count what the function refers to, and let it be reached."""
        for child in split_body(self.functions[symbol])[0]:
            op = self.reader.declaration(child.operation.name)
            if op is None or not op.refers_to_functions:
                continue
            application = self.reader.read(child.operation)
            assert application is not None
            callee = op.callee_attribute
            run = referenced(application) if callee is None else [application.attributes[callee]]
            self._reached += [name for name in dict.fromkeys(run) if not self.references[name]]
            self.references.update(run)
            if op.undifferentiated is not None:
                emitter = Emitter(self.reader.codec, mlir.ir.InsertionPoint(child), child.location)
                values = op.undifferentiated(emitter, application.operands, **application.attributes)
                for old, new in zip(child.results, values, strict=True):
                    old.replace_all_uses_with(new)
                child.erase()

    def _into(self, symbol: str) -> None:
        if symbol in self.done:
            return
        self.done.add(symbol)
        operations, _ = split_body(self.functions[symbol])
        for child in operations:
            op = self.reader.declaration(child.operation.name)
            if op is None or op.callee_attribute is None or op.is_routine:
                continue
            application = self.reader.read(child.operation)
            assert application is not None
            callee = application.attributes[op.callee_attribute]
            self._into(callee)
            function = self.functions[callee]
            if is_private(function) and self.references[callee] == 1:
                _move_body(child.operation, function, application.operands)
            else:
                _replace_call(child.operation, function, application.operands)


def _move_body(call: Operation, callee: Operation, operands: tuple[Value, ...]) -> None:
    """Put the ops of `callee` themselves in place of its only call, and erase it."""
    for argument, operand in zip(body(callee).arguments, operands, strict=True):
        argument.replace_all_uses_with(operand)
    operations, terminator = split_body(callee)
    for child in operations:
        child.operation.move_before(call)
    for old, new in zip(list(call.results), terminator.operands, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
    callee.operation.erase()


def _replace_call(call: Operation, callee: Operation, operands: tuple[Value, ...]) -> list[Value]:
    """Put a clone of the body of `callee` in place of a call; the cloned ops."""
    values = dict(zip(body(callee).arguments, operands, strict=True))
    operations, terminator = split_body(callee)
    point = mlir.ir.InsertionPoint(call)
    clones = []
    for child in operations:
        clones.append(clone_operation(child.operation, values, point))
    for old, new in zip(list(call.results), terminator.operands, strict=True):
        old.replace_all_uses_with(values[new])
    call.erase()
    return clones
