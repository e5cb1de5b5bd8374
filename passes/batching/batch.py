"""Batching: maps a function to the one that applies it to each slice along a new leading axis.

Input: a function and which of its operands are batched. Output: `@f_batched(operands...)`, in which batched
operands and results have the batch as their axis 0, memoised. Idea: each op is replaced by its rule
`Op.batch`; an op without batched operands is kept unchanged, and its results have no batch axis. An op that
refers to functions gets this engine to map them. Other batch axes are the frontend's business: it moves them
to the front before and back after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.builder.emitter import Emitter
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Undefined
from ...dialects.ops.elementwise.family import repeated
from ...dialects.types import SIZE, TensorType, ValueType
from ..analysis.verify import location_text
from ..autodiff.deferred import Deferred, ends, is_deferred, require
from ..autodiff.engine import Engine, Siblings
from ..autodiff.variants import BY_COTANGENTS, BY_TANGENTS, Variants, kinds_of, variant
from ..ir.aliases import Operation, Value, ValueMap, Values
from ..ir.construction import (
    Activity,
    NewFunction,
    call_function,
    derived_location,
    result_types,
)
from ..ir.functions import body, function, split_body
from ..optimize.simplify import simplify_function
from .predicate import Predicator


@dataclass(frozen=True)
class Batched:
    """A batched function: its symbol, and which results have the batch axis."""

    symbol: str
    batched_results: Activity


class Batcher(Engine):
    """The batch engine of one module for one axis, with a memo of the functions it has batched.

    `size` is the static size of the axis, or None where it is dynamic: then every batched function takes
    it as its first argument. `program` is where rules that are Python functions are traced.
    """

    def __init__(
        self, siblings: Siblings, predicator: Predicator, size: int | None, program: Any = None
    ) -> None:
        super().__init__(siblings)
        self.predicator = predicator
        self.size = size
        self.program = program
        self._memo: dict[tuple[str, Activity, bool], Batched] = {}
        self._kept: list[Deferred | Variants] = []

    def batch(self, symbol: str, batched: Activity, all_results: bool = False) -> Batched:
        """The function that applies `symbol` to each slice of its `batched` operands.

        With `all_results` every result has the batch axis, repeated along it where it does not depend on it.
        """
        key = (symbol, batched, all_results)
        result = self._memo.get(key)
        if result is None:
            result = self._memo[key] = self._batch(symbol, batched, all_results)
            if BY_COTANGENTS in kinds_of(self.module, symbol):
                self._keep_variants(symbol, result.symbol, batched, all_results)
        return result

    def _keep_variants(self, symbol: str, result: str, batched: Activity, all_results: bool) -> None:
        """Let a batched pullback have the variants of what it was made of, by its cotangents."""

        def trace(active: Activity) -> list[str]:
            chosen = variant(self.module, BY_COTANGENTS, symbol, active)
            return [self.batch(chosen, batched, all_results).symbol]

        self._kept.append(Variants(self.module, BY_COTANGENTS, [result], trace))

    def leading(self, size: int | Value | None) -> list[Value]:
        """The operands of batched functions before their own: the size of the axis, where it is dynamic."""
        return [] if self.size is not None else [size]

    def batched_callee(
        self, b: Emitter, symbol: str, batched: Sequence[bool], all_results: bool = False
    ) -> tuple[str, Activity, tuple[ValueType, ...]]:
        """For rules of call-like ops: the batched function, which results are batched, and their types."""
        callee = self.batch(symbol, tuple(batched), all_results)
        types = result_types(b, self.module, symbol)
        mapped = zip(types, callee.batched_results, strict=True)
        return callee.symbol, callee.batched_results, tuple(self._type(t, on) for t, on in mapped)

    def batched_rules(
        self, rules: Sequence[str], batch: Callable[[Sequence[str]], Sequence[str]]
    ) -> Sequence[str]:
        """The batched rules of a call, as `batch` returns them; deferred if the rules themselves are, with
        variants if these have variants."""
        has_variants = BY_TANGENTS in kinds_of(self.module, rules[0])
        if not has_variants and not is_deferred(self.module, rules[0]):
            return batch(rules)

        def trace(rules: Sequence[str] = rules) -> Sequence[str]:
            for rule in rules:
                require(self.module, rule)
            return batch(rules)

        all_end = all(ends(self.module, rule) for rule in rules)
        deferred = Deferred(self.module, [f"{rule}_batched" for rule in rules], trace, ends=all_end)
        self._kept.append(deferred)
        if has_variants:

            def traced(active: Activity) -> Sequence[str]:
                return trace([variant(self.module, BY_TANGENTS, rule, active) for rule in rules])

            self._kept.append(Variants(self.module, BY_TANGENTS, deferred.symbols, traced))
        return deferred.symbols

    def call(
        self, b: Emitter, size: int | Value, symbol: str, operands: Values, batched: Sequence[bool]
    ) -> tuple[list[Value], Activity]:
        """For rules of ops with bodies: the results of a batched function, and which are batched."""
        callee = self.batch(symbol, tuple(batched))
        values = call_function(b, self.module, callee.symbol, [*self.leading(size), *operands])
        return values, callee.batched_results

    def needs_predicate(self, symbol: str) -> bool:
        """Whether a function has effects that elements which did not choose it must not have."""
        return self.predicator.is_needed(symbol)

    def predicated(self, symbol: str) -> str:
        """`symbol` with one more argument, first: for each element, whether it chose the function."""
        return self.predicator.predicated(symbol)

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
            # In the memo before its body: the rules of a custom derivative may call their own function.
            flags = (True,) * len(terminator.operands)
            self._memo[symbol, batched, all_results] = Batched(new.symbol, flags)
        values = dict(zip(parameters, new.arguments[len(leading) :], strict=True))
        has_axis = {p for p, is_batched in zip(parameters, batched, strict=True) if is_batched}
        for child in operations:
            self._step(child.operation, new.emitter, size, values, has_axis)
        results = [values[r] for r in terminator.operands]
        flags = tuple(r in has_axis for r in terminator.operands)
        if all_results:
            results = [
                v if has else repeated(new.emitter, v, size) for v, has in zip(results, flags, strict=True)
            ]
            flags = (True,) * len(flags)
        new.finish(results)
        simplify_function(self.module, new.symbol, self.reader)
        return Batched(new.symbol, flags)

    def _type(self, kind: ValueType, is_batched: bool) -> ValueType:
        """The type of a value with the batch axis, or without."""
        if not is_batched:
            return kind
        assert isinstance(kind, TensorType), "a size cannot be batched"
        return kind.with_shape((self.size, *kind.shape))

    def _step(
        self, operation: Operation, b: Emitter, size: int | Value, values: ValueMap, has_axis: set[Value]
    ) -> None:
        application = self.reader.read(operation, values.__getitem__)
        assert application is not None, f"{operation.name} is not an op of adze"
        op, operands, attributes = application
        b.location = derived_location(operation.location, "batch")
        batched = tuple(v in has_axis for v in list(operation.operands)[: len(operands)])
        if not any(batched):
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
