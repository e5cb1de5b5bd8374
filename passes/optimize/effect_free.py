"""Effect-free clones: copies of functions for what is computed a second time.

Input: a function. Output: the function itself, or, where it or what it refers to has effects, a clone that
has none. Idea: the first computation has printed and checked; its recomputation must not do so again.
"""

from __future__ import annotations

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.errors import MissingRuleError
from ..analysis.effects import Effects
from ..analysis.verify import location_text
from ..ir.aliases import Operation
from ..ir.construction import NewFunction, clone_operation
from ..ir.functions import body, function, functions, referenced, rename_references, split_body


class RepeatedEffectError(MissingRuleError):
    """A derivative would have to run an effect a second time."""


def effect_free(
    module: mlir.ir.Module, symbol: str, reader: Reader, clones: dict[str, str] | None = None
) -> str:
    """`symbol`, or the symbol of its effect-free clone where it has effects.

    `clones` has the clones so far: a rule of a custom derivative may refer to itself.
    """
    clones = {} if clones is None else clones
    if symbol in clones:
        return clones[symbol]
    if not Effects(module, reader).of_function(symbol):
        return symbol
    source = function(module, symbol)
    arguments = list(body(source).arguments)
    types = [reader.codec.read_type(a.type) for a in arguments]
    new = NewFunction(module, reader.codec, f"{symbol}_again", types, source.location)
    clones[symbol] = new.symbol
    values = dict(zip(arguments, new.arguments, strict=True))
    operations, terminator = split_body(source)
    for child in operations:
        application = reader.read(child.operation)
        assert application is not None
        if application.op.has_effect:
            _require_no_results(child.operation)
            continue
        renamed = {name: effect_free(module, name, reader, clones) for name in referenced(application)}
        rename_references(clone_operation(child.operation, values, new.emitter.point), reader, renamed)
    return new.finish([values[v] for v in terminator.operands])


def must_run_once(module: mlir.ir.Module, operation: Operation, reader: Reader) -> bool:
    """Whether an op, or a function that it refers to, has an effect that returns something: `host_effect`."""
    known, seen, pending = functions(module), set[str](), [operation]
    while pending:
        current = pending.pop()
        op = reader.declaration(current.name)
        if op is None:
            continue
        if op.has_effect and current.results:
            return True
        if not op.refers_to_functions:
            continue
        application = reader.read(current)
        assert application is not None
        for symbol in set(referenced(application)) - seen:
            seen.add(symbol)
            if symbol in known:
                pending += [child.operation for child in split_body(known[symbol])[0]]
    return False


def _require_no_results(operation: Operation) -> None:
    if operation.results:
        raise RepeatedEffectError(
            f"'{operation.name}' would run a second time: the derivative computes this loop's steps again",
            where=location_text(operation.location),
            hint="do not checkpoint a loop with io_callback: leave out checkpoint_every, memory_budget and "
            "saved_states",
        )
