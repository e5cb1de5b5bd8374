"""Transposition: maps a function that is linear in some arguments to its backward pass.

Input: a function, its linear arguments, and which of its results have cotangents. Output:
`@f_transpose(other arguments..., cotangents...) -> cotangents of the linear arguments...`, without those that
are always zero, memoised. Idea: what no linear argument reaches is emitted as it is; then the linear ops are
visited in reverse order, each by its rule `Op.transpose`, and cotangents of one value are added. An op that
refers to functions gets this engine to map them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ...dialects.builder.emitter import Emitter
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError, UnknownSizeError
from ...dialects.op import Linear, Op, Undefined, as_tuple
from ...dialects.types import TensorType, ValueType
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Tangent, Tangents, Value, ValueMap, Values
from ..ir.construction import (
    Activity,
    AppendingEmitter,
    NewFunction,
    call_function,
    clone_operation,
    derived_location,
)
from ..ir.functions import body, drop_unfinished, function, functions, split_body
from ..ir.shape_operands import with_shape_operands
from ..optimize.simplify import simplify_function
from .deferred import require
from .engine import Engine, Siblings
from .linear_sizes import LinearSizes
from .pushforward import pushforward
from .variants import BY_COTANGENTS, variant


@dataclass(frozen=True)
class Transposed:
    """A backward pass: it returns cotangents for those linear arguments that are not always zero."""

    symbol: str
    nonzero: Activity


class Transposer(Engine):
    """The transpose engine of one module, with a memo of the functions it has transposed."""

    def __init__(self, siblings: Siblings) -> None:
        super().__init__(siblings)
        self._memo: dict[tuple[str, Activity, Activity], Transposed] = {}
        self._shaped: dict[tuple[str, tuple[int, ...]], str] = {}
        self._pushforwards: dict[tuple[str, int, tuple[ValueType, ...]], str] = {}

    def transpose(self, symbol: str, linear: Activity, has_cotangent: Activity | None = None) -> Transposed:
        """The backward pass of function `symbol` in its `linear` arguments.

        `has_cotangent` says for which results a cotangent arrives, by default for all.
        """
        if has_cotangent is None:
            _, terminator = split_body(function(self.module, symbol))
            has_cotangent = (True,) * len(terminator.operands)
        key = (symbol, linear, has_cotangent)
        transposed = self._memo.get(key)
        if transposed is None:
            transposed = self._memo[key] = _BackwardPass(self, symbol, linear, has_cotangent).run()
        return transposed

    def transpose_sized(
        self, symbol: str, linear: Activity, has_cotangent: Activity | None = None
    ) -> tuple[Transposed, tuple[int, ...]]:
        """The same, and the linear arguments of whose shapes it takes values first: where it asks for sizes
        that no other argument has."""
        before = functions(self.module).keys()
        try:
            return self.transpose(symbol, linear, has_cotangent), ()
        except UnknownSizeError:
            drop_unfinished(self.module, before)
        types = self.arguments_of(symbol)
        is_open = [isinstance(t, TensorType) and not t.is_static for t in types]
        shaped = tuple(i for i, is_linear in enumerate(linear) if is_linear and is_open[i])
        if (symbol, shaped) not in self._shaped:
            self._shaped[symbol, shaped] = with_shape_operands(self.module, self.reader, symbol, shaped)
        flags = (*(False for _ in shaped), *linear)
        return self.transpose(self._shaped[symbol, shaped], flags, has_cotangent), shaped

    def pushforward(self, bwd: str, constant_count: int, linear: Sequence[ValueType]) -> str:
        """The function that pushes tangents through a pullback, see `pushforward.py`."""
        key = (bwd, constant_count, tuple(linear))
        if key not in self._pushforwards:
            self._pushforwards[key] = pushforward(self.module, self.reader, self.transpose, *key)
        return self._pushforwards[key]

    def rule_for(self, symbol: str, has_cotangent: Activity) -> str:
        """A user's pullback for the cotangents that there are: its variant, where it asked for such zeros."""
        chosen = variant(self.module, BY_COTANGENTS, symbol, has_cotangent)
        require(self.module, chosen)
        return chosen

    def call(self, b: Emitter, symbol: str, operands: Values, cotangents: Tangents) -> list[Tangent]:
        """For rules of ops with bodies: cotangents of the linear operands of a called function."""
        linear = tuple(isinstance(v, Linear) for v in operands)
        present = tuple(c is not None for c in cotangents)
        transposed, shaped = self.transpose_sized(symbol, linear, present)
        inputs = [
            *(b.full(0, operands[i].sizes, operands[i].dtype) for i in shaped),
            *(v for v in operands if not isinstance(v, Linear)),
            *(c for c in cotangents if c is not None),
        ]
        incoming = iter(call_function(b, self.module, transposed.symbol, inputs))
        nonzero = iter(transposed.nonzero)
        return [next(incoming) if isinstance(v, Linear) and next(nonzero) else None for v in operands]


class _BackwardPass:
    """The backward pass of one function."""

    def __init__(self, engine: Transposer, symbol: str, linear: Activity, has_cotangent: Activity) -> None:
        self.engine = engine
        self.source = function(engine.module, symbol)
        self.operations, terminator = split_body(self.source)
        arguments = list(body(self.source).arguments)
        self.linear_arguments = [a for a, is_linear in zip(arguments, linear, strict=True) if is_linear]
        other = [a for a, is_linear in zip(arguments, linear, strict=True) if not is_linear]
        self.results = [v for v, has in zip(terminator.operands, has_cotangent, strict=True) if has]
        types = [engine.codec.read_type(v.type) for v in (*other, *self.results)]
        location = derived_location(self.source.location, "transpose")
        name = f"{symbol}_transpose"
        self.new = NewFunction(engine.module, engine.codec, name, types, location, _LinearEmitter)
        self.emitter = self.new.emitter
        self.seeds = self.new.arguments[len(other) :]
        self.values: ValueMap = dict(zip(other, self.new.arguments, strict=False))
        self.linear: set[Value] = set(self.linear_arguments)
        self.sizes = LinearSizes(self.source, engine.reader, self.emitter, self.values, self.linear)
        self.cotangents: ValueMap = {}

    def run(self) -> Transposed:
        """Emit the backward pass."""
        linear_operations = self._emit_the_rest()
        for result, seed in zip(self.results, self.seeds, strict=True):
            self._accumulate(result, seed)
        for operation in reversed(linear_operations):
            cotangents = [self.cotangents.get(r) for r in operation.results]
            if any(c is not None for c in cotangents):
                contributions = self._transposed(operation, cotangents)
                for operand, contribution in zip(operation.operands, contributions, strict=False):
                    self._accumulate(operand, contribution)
        gradients = [self.cotangents.get(a) for a in self.linear_arguments]
        self.new.finish([g for g in gradients if g is not None])
        simplify_function(self.engine.module, self.new.symbol, self.engine.reader)
        return Transposed(self.new.symbol, tuple(g is not None for g in gradients))

    def _emit_the_rest(self) -> list[Value]:
        """Emit the ops that no linear argument reaches, and sizes; the linear ops, in order."""
        linear_operations = []
        for child in self.operations:
            operation = child.operation
            if not any(v in self.linear for v in operation.operands):
                clone_operation(operation, self.values, self.emitter.point)
            elif self.sizes.is_measured(operation):
                self.sizes.measure(operation)
            else:
                self.linear.update(operation.results)
                linear_operations.append(operation)
        return linear_operations

    def _accumulate(self, value: Value, cotangent: Value) -> None:
        if cotangent is None or value not in self.linear:
            return
        present = self.cotangents.get(value)
        self.cotangents[value] = cotangent if present is None else self._sum(present, cotangent)

    def _sum(self, left: Value, right: Value) -> Value:
        """The sum of two cotangents, by the rule of an op that makes one of them if it has one."""
        for present, other in ((left, right), (right, left)):
            application = self.emitter.defining(other)
            if application is not None and application.op.summed is not None:
                summed = application.op.summed(
                    self.emitter, present, *application.operands, **application.attributes
                )
                if summed is not None:
                    total: Value = summed
                    return total
        return self.emitter.add(left, right)

    def _transposed(self, operation: Operation, cotangents: Tangents) -> Tangents:
        """Cotangents of the operands of a linear op, by its transpose rule."""
        self.emitter.location = derived_location(operation.location, "transpose")
        application = self.engine.reader.read(operation, self._operand)
        assert application is not None
        op, operands, attributes = application
        if isinstance(op.transpose, Undefined):
            raise _missing(operation, op, op.transpose.reason)
        try:
            if op.refers_to_functions:
                args: tuple[object, ...] = (tuple(cotangents), operands, self.engine)
            else:
                args = (cotangents[0] if len(cotangents) == 1 else tuple(cotangents), operands)
            contributions = op.transpose(self.emitter, *args, **attributes)
        except _NotLinearError:
            raise _missing(operation, op, "it is not linear in these operands together") from None
        return as_tuple(contributions)

    def _operand(self, value: Value) -> Value | Linear:
        """An operand as transpose rules see it: a value, or of a linear one its type and its sizes."""
        if value not in self.linear:
            return self.values[value]
        return Linear(self.engine.codec.read_type(value.type), partial(self.sizes.of, value))


def _missing(operation: Operation, op: type[Op], reason: str) -> MissingRuleError:
    return MissingRuleError(
        f"'{op.name}' cannot be transposed: {reason}", where=location_text(operation.location)
    )


class _NotLinearError(Exception):
    """A transpose rule asked for the value of a linear operand."""


class _LinearEmitter(AppendingEmitter):
    """An emitter for transpose rules, which never have the value of a linear operand."""

    def type_of(self, value: Value) -> ValueType:
        if isinstance(value, Linear):
            raise _NotLinearError
        return super().type_of(value)

    def apply(self, op: type[Op], operands: Values, attributes: Mapping[str, object]) -> tuple[Value, ...]:
        if any(isinstance(v, Linear) for v in operands):
            raise _NotLinearError
        return super().apply(op, operands, attributes)
