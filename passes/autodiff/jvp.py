"""Forward mode: maps a function to the one that also pushes tangents forward.

Input: a function and which of its arguments are active. Output: `@f_jvp(primals..., tangents of the active
arguments...) -> (results..., tangents of the active results...)`, memoised. Idea: each op is replaced by
itself and its rule `Op.jvp`; an op that refers to functions gets this engine to map them. A tangent that is
zero is None while the engine runs and never becomes an array; integers carry none.

Linearization splits the function that the same traversal makes, so its engine is a subclass of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.types import INEXACT, SIZE, TensorType, ValueType
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Tangent, Tangents, Value, ValueMap, Values
from ..ir.construction import (
    Activity,
    NewFunction,
    call_function,
    clone_operation,
    derived_location,
)
from ..ir.functions import body, function, split_body
from ..optimize.inline import inline_rule
from .deferred import require
from .engine import Engine, Siblings
from .variants import BY_TANGENTS, variant

Policy = tuple[str, str]
"""What a checkpoint may save: a policy of `checkpoint_call`, and its labels."""

SAVE_EVERYTHING: Final[Policy] = ("everything", "")


@dataclass(frozen=True)
class Differentiated:
    """A function that pushes tangents: its symbol, and which results have a tangent at all."""

    symbol: str
    active_results: Activity


class ForwardMode(Engine):
    """The jvp engine of one module, with a memo of the functions it has differentiated."""

    transform = "jvp"

    def __init__(self, siblings: Siblings) -> None:
        super().__init__(siblings)
        self._memo: dict[tuple[str, Activity, Activity | None], Differentiated] = {}

    def differentiate(self, symbol: str, active: Activity, wanted: Activity | None = None) -> Differentiated:
        """The function that maps (primals, active tangents) to (results, active result tangents).

        `wanted` asks for the tangents of those results, zeros included, and of no others.
        """
        plain = self._memo.get((symbol, active, None))
        if plain is not None and plain.active_results == wanted:
            return plain
        key = (symbol, active, wanted)
        derivative = self._memo.get(key)
        if derivative is None:
            derivative = self._memo[key] = self._differentiate(symbol, active, wanted)
        return derivative

    def _differentiate(self, symbol: str, active: Activity, wanted: Activity | None = None) -> Differentiated:
        source = function(self.module, symbol)
        parameters = list(body(source).arguments)
        types = [self.codec.read_type(p.type) for p in parameters]
        tangent_types = [t for t, is_active in zip(types, active, strict=True) if is_active]
        location = derived_location(source.location, self.transform)
        new = NewFunction(
            self.module, self.codec, f"{symbol}_{self.transform}", [*types, *tangent_types], location
        )
        new.emitter.functions = self
        primals: ValueMap = dict(zip(parameters, new.arguments, strict=False))
        tangents: ValueMap = {}
        incoming = iter(new.arguments[len(parameters) :])
        for parameter, is_active in zip(parameters, active, strict=True):
            if is_active:
                tangents[parameter] = next(incoming)
        operations, terminator = split_body(source)
        for child in operations:
            self._step(child.operation, new.emitter, primals, tangents)
        results = [primals[v] for v in terminator.operands]
        out = [tangents.get(v) for v in terminator.operands]
        if wanted is not None:
            filled = [
                new.emitter.zeros_like(r) if t is None else t for r, t in zip(results, out, strict=True)
            ]
            out = [t if is_wanted else None for t, is_wanted in zip(filled, wanted, strict=True)]
        new.finish([*results, *(t for t in out if t is not None)])
        return Differentiated(new.symbol, tuple(t is not None for t in out))

    def _step(self, operation: Operation, b: Emitter, primals: ValueMap, tangents: ValueMap) -> None:
        op = self.reader.declaration(operation.name)
        assert op is not None, f"{operation.name} is not an op of adze"
        operands = list(operation.operands)
        application = self.reader.decode(op, operation, [primals[v] for v in operands])
        # The primal op keeps its location; the location of a derived op names the transform.
        derived = derived_location(operation.location, self.transform)
        incoming = [tangents.get(v) for v in operands[: len(application.operands)]]
        is_active = any(t is not None for t in incoming)
        if is_active and application.op.refers_to_functions:
            b.location = derived
            results, outgoing = self._through_functions(application, incoming, b)
        else:
            results = list(clone_operation(operation, primals, b.point).results)
            b.location = derived
            outgoing = [None] * len(results)
            if is_active and any(carries_tangent(self.codec.read_type(r.type)) for r in results):
                outgoing = self._tangents(operation, application, incoming, results, b)
        for old, new, tangent in zip(operation.results, results, outgoing, strict=True):
            primals[old] = new
            if tangent is not None and carries_tangent(self.codec.read_type(old.type)):
                tangents[old] = tangent

    def _tangents(
        self,
        operation: Operation,
        application: Application,
        incoming: Tangents,
        results: Values,
        b: Emitter,
    ) -> list[Tangent]:
        rule = application.op.jvp
        if isinstance(rule, Undefined):
            raise MissingRuleError(
                f"'{application.op.name}' cannot be differentiated: {rule.reason}",
                where=location_text(operation.location),
                hint="give the function around it a derivative with adze.custom_vjp or adze.custom_jvp",
            )
        outputs = results[0] if len(results) == 1 else tuple(results)
        tangents = rule(b, application.operands, tuple(incoming), outputs, **application.attributes)
        return list(as_tuple(cast("Tangent | Sequence[Tangent]", tangents)))

    def _through_functions(
        self, application: Application, incoming: Tangents, b: Emitter
    ) -> tuple[list[Value], list[Tangent]]:
        """Results and tangents of an op with bodies, whose rule puts its differentiated bodies together."""
        rule = self._rule_of(application.op)
        if isinstance(rule, Undefined):
            raise MissingRuleError(f"'{application.op.name}' cannot be differentiated: {rule.reason}")
        results, outgoing = rule(b, application.operands, tuple(incoming), self, **application.attributes)
        return list(results), list(outgoing)

    def call(
        self,
        b: Emitter,
        symbol: str,
        primals: Values,
        tangents: Tangents,
        policy: Policy = SAVE_EVERYTHING,
    ) -> tuple[list[Value], list[Tangent]]:
        """For rules of ops with bodies: results and result tangents of a function of the module."""
        callee = self.differentiate(symbol, tuple(t is not None for t in tangents))
        values = call_function(
            b, self.module, callee.symbol, [*primals, *(t for t in tangents if t is not None)]
        )
        count = len(callee.active_results)
        outgoing = iter(values[count:])
        return values[:count], [next(outgoing) if is_active else None for is_active in callee.active_results]

    def _rule_of(self, op: type[Op]) -> Any:
        """The rule by which an op with bodies is differentiated in this mode."""
        return op.jvp

    def inlined(self, b: Emitter, symbol: str, operands: Values, count: int) -> list[Value]:
        """For rules of ops with bodies: the results of a function whose ops are copied in, not called.

        Its last `count` arguments are tangents.
        """
        require(self.module, symbol)
        inline_rule(self.module, symbol, self.reader, count)
        source = function(self.module, symbol)
        values = dict(zip(body(source).arguments, operands, strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            clone_operation(child.operation, values, b.point)
        return [values[v] for v in terminator.operands]

    def rule_for(self, symbol: str, active: Activity) -> str:
        """A user's rule for the tangents that there are: its variant, where it asked for symbolic zeros."""
        return variant(self.module, BY_TANGENTS, symbol, active)

    def custom_pullback(
        self, b: Emitter, fwd: str, bwd: str, primals: Values, tangents: Values, count: int
    ) -> tuple[list[Value], list[Value]]:
        """Results and their tangents of a function with a user's pullback: its transpose pushes forward."""
        require(self.module, bwd)
        results, residuals = self.custom_residuals(b, fwd, primals, count)
        linear = [b.type_of(r) for r in results]
        push = self.transposer.pushforward(bwd, len(residuals), linear)
        operands = [*residuals, *shape_operands_of(b, results), *tangents]
        return results, call_function(b, self.module, push, operands)

    def custom_residuals(
        self, b: Emitter, fwd: str, primals: Values, count: int
    ) -> tuple[list[Value], list[Value]]:
        """Results of a user's `fwd`, and what its pullback takes first: the sizes of a batch, residuals."""
        require(self.module, fwd)
        outputs = call_function(b, self.module, fwd, primals)
        sizes = [v for v in primals if b.type_of(v) == SIZE]
        return outputs[:count], [*sizes, *outputs[count:]]


def shape_operands_of(b: Emitter, results: Values) -> list[Value]:
    """The shape operands that a function of tangents of `results` takes: none where all shapes are static."""
    return [] if all(b.tensor_type(r).is_static for r in results) else list(results)


def carries_tangent(type_: ValueType) -> bool:
    """Whether values of this type have a tangent: floats and complex numbers do."""
    return isinstance(type_, TensorType) and type_.dtype in INEXACT
