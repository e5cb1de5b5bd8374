"""Transposition: reverses a linear function.

`transpose(@f, linear)` makes `@f_transpose(other arguments..., cotangents of the results...) -> cotangents of
the linear arguments`. Ops that depend on no linear argument are kept; the linear ones are walked backwards,
one rule an op, and cotangents of a value that is used twice are added. A cotangent that is zero is None
while the pass runs; only one that is asked for as a result becomes an array of zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.errors import MissingRuleError
from ...dialects.op import Linear, Op, Undefined, as_tuple
from ...dialects.types import SIZE, TensorType, ValueType
from ..analysis.verify import location_text
from ..ir.construction import (
    SHAPE_DONORS,
    Activity,
    AppendingEmitter,
    FunctionMaker,
    NewFunction,
    call_function,
    clone_operation,
    derived_location,
    result_types,
)
from ..ir.functions import body, drop_unfinished, function, functions, split_body
from ..optimize.inline import inline_rule
from ..optimize.simplify import simplify_function


class _NotLinearError(Exception):
    """A transpose rule asked for the value of a linear operand."""


class _LinearEmitter(AppendingEmitter):
    """An emitter for transpose rules, which never have the value of a linear operand."""

    def type_of(self, value: Any) -> ValueType:
        if isinstance(value, Linear):
            raise _NotLinearError
        return super().type_of(value)

    def apply(self, op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        if any(isinstance(v, Linear) for v in operands):
            raise _NotLinearError
        return super().apply(op, operands, attributes)


def _is_static(type_: ValueType) -> bool:
    return isinstance(type_, TensorType) and type_.is_static


@dataclass(frozen=True)
class Transposed:
    """A reversed function: it gives cotangents for those linear arguments that are not always zero."""

    symbol: str
    nonzero: Activity


class Transposer(FunctionMaker):
    """The transpose engine of one module; remembers what it has made."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.module = module
        self.codec = Codec(module.context)
        self.reader = Reader(self.codec)
        self._made: dict[tuple[str, Activity, Activity], Transposed] = {}

    def transpose(self, symbol: str, linear: Activity, given: Activity | None = None) -> Transposed:
        """Reverse function `symbol` in its `linear` arguments; `given` says which results have cotangents."""
        if given is None:
            _, terminator = split_body(function(self.module, symbol))
            given = (True,) * len(terminator.operands)
        key = (symbol, linear, given)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = _Reversal(self, symbol, linear, given).run()
        return made

    def forward_of(self, symbol: str, constant: int, linear: Sequence[ValueType]) -> str:
        """For a pullback `symbol(constants..., cotangents...)`: the function that pushes tangents forward.

        It takes the constants, then, if any of the `linear` types is dynamic, values of these types that lend
        their shapes, then a tangent for each result of the pullback, and gives one tangent of each of the
        `linear` types. A pullback without transpose rules makes a function that says so.
        """
        source = function(self.module, symbol)
        arguments = [self.codec.read_type(a.type) for a in body(source).arguments][:constant]
        location = derived_location(source.location, "transpose")
        reader = Emitter(self.codec, mlir.ir.InsertionPoint(body(source)), location)
        incoming = result_types(reader, self.module, symbol)
        lent: list[ValueType] = [] if all(map(_is_static, linear)) else list(linear)
        shaped = self._lending(symbol, constant, linear) if lent else symbol
        flags = (False,) * (constant + len(lent)) + (True,) * len(linear)
        before = functions(self.module).keys()
        try:
            made: Transposed | None = self.transpose(shaped, flags)
            missing = ""
        except MissingRuleError as error:
            made, missing = None, error.message
            drop_unfinished(self.module, before)
        types = [*arguments, *lent, *incoming]
        new = NewFunction(self.module, self.codec, f"{symbol}_forward", types, location)
        b = new.emitter
        if made is None:
            found = b.undefined_value(message=missing, results=tuple(linear))
            return new.finish(found)
        values = iter(call_function(b, self.module, made.symbol, new.arguments))
        results = []
        for position, (nonzero, type_) in enumerate(zip(made.nonzero, linear, strict=True)):
            assert isinstance(type_, TensorType)
            if nonzero:
                results.append(next(values))
            elif lent:
                results.append(b.zeros_like(new.arguments[constant + position]))
            else:
                results.append(b.full(0, type_.shape, type_.dtype))
        return new.finish(results)

    def _lending(self, symbol: str, constant: int, linear: Sequence[ValueType]) -> str:
        """A pullback that also takes, after its constants, values with the shapes of its cotangents."""
        inline_rule(self.module, symbol, self.reader, len(linear))
        source = function(self.module, symbol)
        parameters = list(body(source).arguments)
        types = [self.codec.read_type(p.type) for p in parameters]
        types[constant:constant] = linear
        new = NewFunction(self.module, self.codec, f"{symbol}_shaped", types, source.location)
        own = [*new.arguments[:constant], *new.arguments[constant + len(linear) :]]
        values = dict(zip(parameters, own, strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            clone_operation(child.operation, values, new.emitter.point)
        made = new.finish([values[v] for v in terminator.operands])
        places = [-1] * (constant + len(linear)) + [constant + i for i in range(len(linear))]
        attribute = mlir.ir.DenseI64ArrayAttr.get(places, self.module.context)
        new.operation.attributes[SHAPE_DONORS] = attribute
        return made

    def call(self, b: Emitter, symbol: str, operands: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """For rules of ops with bodies: cotangents of the linear operands of a called function."""
        linear = tuple(isinstance(v, Linear) for v in operands)
        made = self.transpose(symbol, linear, tuple(c is not None for c in cotangents))
        values = call_function(
            b,
            self.module,
            made.symbol,
            [*(v for v in operands if not isinstance(v, Linear)), *(c for c in cotangents if c is not None)],
        )
        outgoing = iter(values)
        nonzero = iter(made.nonzero)
        return [next(outgoing) if isinstance(v, Linear) and next(nonzero) else None for v in operands]


class _Reversal:
    """Reverses one function."""

    def __init__(self, engine: Transposer, symbol: str, linear: Activity, given: Activity) -> None:
        self.engine = engine
        self.symbol = symbol
        self.given = given
        self.source = function(engine.module, symbol)
        arguments = list(body(self.source).arguments)
        self.linear = [a for a, is_linear in zip(arguments, linear, strict=True) if is_linear]
        self.other = [a for a, is_linear in zip(arguments, linear, strict=True) if not is_linear]
        operations, self.terminator = split_body(self.source)
        self.operations = [o.operation for o in operations]
        self.is_linear: set[Any] = set(self.linear)
        self.emitter: Any = None
        self._zeros: dict[Any, Any] = {}

    def run(self) -> Transposed:
        engine = self.engine
        results = [v for v, is_given in zip(self.terminator.operands, self.given, strict=True) if is_given]
        types = [engine.codec.read_type(v.type) for v in (*self.other, *results)]
        location = derived_location(self.source.location, "transpose")
        name = f"{self.symbol}_transpose"
        new = NewFunction(engine.module, engine.codec, name, types, location, _LinearEmitter)
        self.emitter = new.emitter
        values = dict(zip(self.other, new.arguments, strict=False))
        backward: list[Any] = []
        for operation in self.operations:
            if any(v in self.is_linear for v in operation.operands):
                if self._measures(operation):
                    self._measure(operation, values)
                    continue
                self.is_linear.update(operation.results)
                backward.append(operation)
            else:
                clone_operation(operation, values, new.emitter.point)
        cotangents: dict[Any, Any] = {}
        for value, cotangent in zip(results, new.arguments[len(self.other) :], strict=True):
            if value in self.is_linear:
                self._accumulate(new.emitter, cotangents, value, cotangent)
        for operation in reversed(backward):
            self._step(operation, new.emitter, values, cotangents)
        found = [cotangents.get(a) for a in self.linear]
        new.finish([c for c in found if c is not None])
        simplify_function(engine.module, new.symbol, engine.reader)
        return Transposed(new.symbol, tuple(c is not None for c in found))

    def _measures(self, operation: Any) -> bool:
        """Whether an op gives sizes: those of a linear value are not linear in it."""
        return all(self.engine.codec.read_type(r.type) == SIZE for r in operation.results)

    def _measure(self, operation: Any, values: dict[Any, Any]) -> None:
        mapped = {
            v: self._on_zeros(v, values) if v in self.is_linear else values[v] for v in operation.operands
        }
        clone_operation(operation, mapped, self.emitter.point)
        values.update((r, mapped[r]) for r in operation.results)

    def _step(self, operation: Any, b: Emitter, values: dict[Any, Any], cotangents: dict[Any, Any]) -> None:
        incoming = [cotangents.get(r) for r in operation.results]
        if all(c is None for c in incoming):
            return
        b.location = derived_location(operation.location, "transpose")
        application = self.engine.reader.read(operation, lambda v: self._operand(v, values))
        assert application is not None
        outgoing = self._apply(operation, application, incoming, b)
        for value, cotangent in zip(operation.operands, outgoing, strict=False):
            if cotangent is not None and value in self.is_linear:
                self._accumulate(b, cotangents, value, cotangent)

    def _operand(self, value: Any, values: dict[Any, Any]) -> Any:
        if value not in self.is_linear:
            return values[value]
        return Linear(self.engine.codec.read_type(value.type), lambda: self._sizes(value, values))

    def _sizes(self, value: Any, values: dict[Any, Any]) -> tuple[Any, ...]:
        """The sizes of a linear value, read off the same computation on zeros.

        Only its shape is used, so that the lowering computes none of it.
        """
        return self.emitter.sizes(self._on_zeros(value, values))

    def _on_zeros(self, value: Any, values: dict[Any, Any]) -> Any:
        known = self._zeros.get(value)
        if known is not None:
            return known
        if value in self.linear:
            self._zeros[value] = self._zero_argument(value, values)
            return self._zeros[value]
        operation = value.owner
        lent = self._lent_shapes(operation, values)
        if lent is not None:
            self._zeros.update(zip(operation.results, lent, strict=True))
            return self._zeros[value]
        mapped = dict(values)
        for operand in operation.operands:
            mapped[operand] = (
                self._on_zeros(operand, values) if operand in self.is_linear else values[operand]
            )
        clone_operation(operation, mapped, self.emitter.point)
        for result in operation.results:
            self._zeros[result] = mapped[result]
        return self._zeros[value]

    def _lent_shapes(self, operation: Any, values: dict[Any, Any]) -> list[Any] | None:
        """Zeros like the operands that an op names as having the shapes of its results, if it names any."""
        application = self.engine.reader.read(operation)
        assert application is not None
        if application.op.shape_donors is None:
            return None
        places = application.op.shape_donors(**application.attributes)
        lenders = [application.operands[place] for place in places]
        if not lenders or any(v in self.is_linear for v in lenders):
            return None
        return [self.emitter.zeros_like(values[v]) for v in lenders]

    def _zero_argument(self, argument: Any, values: dict[Any, Any]) -> Any:
        kind = self.engine.codec.read_type(argument.type)
        if isinstance(kind, TensorType) and kind.is_static:
            return self.emitter.full(0, tuple(n for n in kind.shape if n is not None), kind.dtype)
        attributes = self.source.attributes
        arguments = list(body(self.source).arguments)
        donors = list(attributes[SHAPE_DONORS]) if SHAPE_DONORS in attributes else []
        donor = donors[arguments.index(argument)] if donors else -1
        if donor < 0:
            raise MissingRuleError(
                f"cannot transpose @{self.symbol}: the shape of a linear argument of type {argument.type} is "
                "dynamic and no other argument has it"
            )
        return self.emitter.zeros_like(values[arguments[donor]])

    def _apply(
        self, operation: Any, application: Application, incoming: Sequence[Any], b: Emitter
    ) -> Sequence[Any]:
        op, operands, attributes = application
        if isinstance(op.transpose, Undefined):
            raise MissingRuleError(
                f"'{op.name}' cannot be transposed: {op.transpose.reason}",
                where=location_text(operation.location),
            )
        try:
            if op.refers_to_functions:
                result = op.transpose(b, tuple(incoming), operands, self.engine, **attributes)
            else:
                cotangent = incoming[0] if len(incoming) == 1 else tuple(incoming)
                result = op.transpose(b, cotangent, operands, **attributes)
        except _NotLinearError:
            raise MissingRuleError(
                f"'{op.name}' cannot be transposed: it is not linear in these operands together",
                where=location_text(operation.location),
            ) from None
        return as_tuple(result)

    @staticmethod
    def _accumulate(b: Emitter, cotangents: dict[Any, Any], value: Any, cotangent: Any) -> None:
        present = cotangents.get(value)
        cotangents[value] = cotangent if present is None else b.add(present, cotangent)
