"""Batching: maps a function to the one that applies it to each slice along a new leading axis.

`batch(module, @f, batched)` makes `@f_batched(operands...)` in which each batched operand has the batch as
its axis 0; an operand that is not batched stays as it is, and so does a result that depends on none.
One rule an op, `Op.batch`; an op that refers to functions gets this pass to map them. Other batch axes are
the frontend's business: it moves them to the front before and back after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.errors import MissingRuleError
from ...dialects.op import Undefined
from ...dialects.ops.elementwise.family import repeated
from ...dialects.types import SIZE, TensorType, ValueType
from ..analysis.verify import location_text
from ..autodiff.deferred import Deferred, is_deferred, require
from ..ir.construction import (
    Activity,
    FunctionMaker,
    NewFunction,
    call_function,
    derived_location,
    result_types,
)
from ..ir.functions import body, function, split_body
from ..optimize.simplify import simplify_function
from .predicate import Guard


@dataclass(frozen=True)
class Batched:
    """A batched function: its symbol, and which results have the batch axis."""

    symbol: str
    batched_results: Activity


class Batcher(FunctionMaker):
    """The batch engine of one module for one axis; remembers what it has made.

    `size` is the static size of the axis, or None where it is dynamic: then every batched function takes
    it as its first argument. `axis_name` is what collectives call the axis. `program` is for rules that are
    Python functions: where they are traced.
    """

    def __init__(
        self, module: mlir.ir.Module, size: int | None, axis_name: str | None = None, program: Any = None
    ) -> None:
        self.module = module
        self.program = program
        self.size = size
        self.axis_name = axis_name
        self.codec = Codec(module.context)
        self.reader = Reader(self.codec)
        self._guard = Guard(module)
        self._made: dict[tuple[str, Activity, bool], Batched] = {}
        self._deferred: list[Deferred] = []

    def batch(self, symbol: str, batched: Activity, all_results: bool = False) -> Batched:
        """The function that applies `symbol` to each slice of its `batched` operands.

        With `all_results` every result has the batch axis, repeated along it where it does not depend on it.
        """
        key = (symbol, batched, all_results)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._batch(symbol, batched, all_results)
        return made

    def leading(self, size: Any) -> list[Any]:
        """What batched functions take before their own operands: the size, where it is dynamic."""
        return [] if self.size is not None else [size]

    def batched_callee(
        self, b: Emitter, symbol: str, batched: Sequence[bool], all_results: bool = False
    ) -> tuple[str, Activity, tuple[ValueType, ...]]:
        """For rules of call-like ops: the batched function, which results are batched, and their types."""
        made = self.batch(symbol, tuple(batched), all_results)
        types = result_types(b, self.module, symbol)
        mapped = zip(types, made.batched_results, strict=True)
        return made.symbol, made.batched_results, tuple(self._type(t, on) for t, on in mapped)

    def batched_rules(self, rules: Sequence[str], batch: Callable[[], Sequence[str]]) -> Sequence[str]:
        """The batched rules of a call, which `batch` makes; when they are asked for, if the rules are too."""
        if not is_deferred(self.module, rules[0]):
            return batch()

        def make() -> Sequence[str]:
            for rule in rules:
                require(self.module, rule)
            return batch()

        deferred = Deferred(self.module, [f"{rule}_batched" for rule in rules], make)
        self._deferred.append(deferred)
        return deferred.symbols

    def call(
        self, b: Emitter, size: Any, symbol: str, operands: Sequence[Any], batched: Sequence[bool]
    ) -> tuple[list[Any], Activity]:
        """For rules of ops with bodies: the results of a batched function, and which are batched."""
        made = self.batch(symbol, tuple(batched))
        values = call_function(b, self.module, made.symbol, [*self.leading(size), *operands])
        return values, made.batched_results

    def needs_guard(self, symbol: str) -> bool:
        """Whether elements that did not ask for a function must not go through it unguarded."""
        return self._guard.is_needed(symbol)

    def guarded(self, symbol: str) -> str:
        """A function that takes first, for each element, whether it asked for `symbol`."""
        return self._guard.guarded(symbol)

    def _batch(self, symbol: str, batched: Activity, all_results: bool) -> Batched:
        source = function(self.module, symbol)
        parameters = list(body(source).arguments)
        types = [
            self._type(self.codec.read_type(parameter.type), is_batched)
            for parameter, is_batched in zip(parameters, batched, strict=True)
        ]
        leading = [] if self.size is not None else [SIZE]
        location = derived_location(source.location, "batch")
        new = NewFunction(self.module, self.codec, f"{symbol}_batched", [*leading, *types], location)
        new.emitter.functions = self
        size = self.size if self.size is not None else new.arguments[0]
        operations, terminator = split_body(source)
        if all_results:
            # Known before its body is: the rules of a custom derivative may call their own function.
            flags = (True,) * len(terminator.operands)
            self._made[symbol, batched, all_results] = Batched(new.symbol, flags)
        values = dict(zip(parameters, new.arguments[len(leading) :], strict=True))
        has_axis = {p for p, is_batched in zip(parameters, batched, strict=True) if is_batched}
        for child in operations:
            self._step(child.operation, new.emitter, size, values, has_axis)
        results = list(terminator.operands)
        found = [values[r] for r in results]
        flags = tuple(r in has_axis for r in results)
        if all_results:
            found = [
                v if has else repeated(new.emitter, v, size) for v, has in zip(found, flags, strict=True)
            ]
            flags = (True,) * len(flags)
        new.finish(found)
        simplify_function(self.module, new.symbol, self.reader)
        return Batched(new.symbol, flags)

    def _type(self, kind: ValueType, is_batched: bool) -> ValueType:
        """The type of a value with the batch axis, or without."""
        if not is_batched:
            return kind
        assert isinstance(kind, TensorType), "a size cannot be batched"
        return kind.with_shape((self.size, *kind.shape))

    def _step(
        self, operation: Any, b: Emitter, size: Any, values: dict[Any, Any], has_axis: set[Any]
    ) -> None:
        application = self.reader.read(operation, values.__getitem__)
        assert application is not None, f"{operation.name} is not an op of adze"
        op, operands, attributes = application
        b.location = derived_location(operation.location, "batch")
        batched = tuple(v in has_axis for v in list(operation.operands)[: len(operands)])
        if not any(batched) and not op.names_axis(attributes, self.axis_name):
            values.update(zip(operation.results, b.apply(op, operands, attributes), strict=True))
            return
        if isinstance(op.batch, Undefined):
            raise MissingRuleError(
                f"'{op.name}' cannot be batched: {op.batch.reason}", where=location_text(operation.location)
            )
        engine = [self] if op.refers_to_functions else []
        try:
            results, flags = op.batch(b, size, operands, batched, *engine, **attributes)
        except MissingRuleError as error:
            error.locate(location_text(operation.location))
            raise
        for old, new, is_batched in zip(operation.results, results, flags, strict=True):
            values[old] = new
            if is_batched:
                has_axis.add(old)
