"""Predication: maps a function to one that takes a predicate first, and has no effect where it is false.

Input: a function. Output: `@f_predicated(predicate, operands...)`, memoised. Idea: the batch engine makes
elements go through functions that they did not choose, or have finished; for those, checks must hold and
loops must make no iteration. One rule an op, `Op.predicated`, for ops that have effects of this kind or
refer to functions that have; all other ops are cloned.
"""

from __future__ import annotations

from typing import Final

from ...dialects.types import BOOL, TensorType
from ..autodiff.engine import Engine, Siblings
from ..ir.aliases import Operation, ValueMap
from ..ir.construction import NewFunction, clone_operation, derived_location
from ..ir.functions import body, function, referenced, split_body

PREDICATE: Final = TensorType((), BOOL)


class Predicator(Engine):
    """The predication engine of one module, with a memo of the functions it has predicated."""

    def __init__(self, siblings: Siblings) -> None:
        super().__init__(siblings)
        self._memo: dict[str, str] = {}
        self._needed: dict[str, bool] = {}

    def is_needed(self, symbol: str) -> bool:
        """Whether a function, or one that it refers to, has an op that a predicate switches off."""
        if symbol not in self._needed:
            operations, _ = split_body(function(self.module, symbol))
            self._needed[symbol] = any(self._is_predicated(child.operation) for child in operations)
        return self._needed[symbol]

    def predicated(self, symbol: str) -> str:
        """The function that takes the predicate before the operands of `symbol`."""
        if symbol not in self._memo:
            self._memo[symbol] = self._predicated(symbol)
        return self._memo[symbol]

    def _is_predicated(self, operation: Operation) -> bool:
        op = self.reader.declaration(operation.name)
        if op is None or op.predicated is None:
            return False
        application = self.reader.read(operation)
        assert application is not None
        return op.is_always_predicated or any(self.is_needed(name) for name in referenced(application))

    def _predicated(self, symbol: str) -> str:
        source = function(self.module, symbol)
        arguments = list(body(source).arguments)
        types = [self.codec.read_type(a.type) for a in arguments]
        location = derived_location(source.location, "predicate")
        new = NewFunction(self.module, self.codec, f"{symbol}_predicated", [PREDICATE, *types], location)
        predicate, b = new.arguments[0], new.emitter
        values: ValueMap = dict(zip(arguments, new.arguments[1:], strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            operation = child.operation
            if not self._is_predicated(operation):
                clone_operation(operation, values, b.point)
                continue
            application = self.reader.read(operation, values.__getitem__)
            assert application is not None
            op, operands, attributes = application
            assert op.predicated is not None
            b.location = operation.location
            results = op.predicated(b, predicate, operands, self, **attributes)
            values.update(zip(operation.results, results, strict=True))
        return new.finish([values[v] for v in terminator.operands])
