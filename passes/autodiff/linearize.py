"""Linearization: splits a differentiated function into what is computed once and what is linear.

Input: `@f` and which of its arguments are active. Output: `@f_primal(primals) -> (results, residuals)` and
`@f_linear(residuals, tangents) -> tangents`, memoised. Idea: the function that forward mode makes is
simplified first, so that equal residuals are one; then every op that depends on a tangent goes to the linear
part. A value that the linear part uses and does not compute is a residual: an input or a result is passed as
it is, constants and ops that cost no more than saving their result (`Op.is_cheap`) are computed again, and
only the others are saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op
from ...dialects.types import SIZE
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Tangent, Tangents, Value, ValueMap, Values
from ..ir.construction import (
    Activity,
    NewFunction,
    call_function,
    clone_operation,
    derived_location,
    move_operation,
)
from ..ir.functions import body, function, referenced, rename_references, split_body
from ..ir.shape_operands import set_shape_operands
from ..optimize.effect_free import must_run_once
from ..optimize.simplify import drop_unused, simplify_function
from .deferred import require
from .engine import Siblings
from .jvp import SAVE_EVERYTHING, ForwardMode, Policy, shape_operands_of

T = TypeVar("T")


@dataclass(frozen=True)
class Residual:
    """The source of a residual: the `index`-th input, result, or saved value of the primal function."""

    kind: str
    index: int


@dataclass(frozen=True)
class Linearized:
    """A linearized function; `linear` takes the residuals in order, then the active tangents."""

    primal: str
    linear: str
    residuals: tuple[Residual, ...]
    active_results: Activity

    def residual_values(self, inputs: Sequence[T], outputs: Sequence[T]) -> list[T]:
        """The residuals, picked from the primal function's inputs and outputs (results, then saved)."""
        count = len(self.active_results)
        sources = {"input": list(inputs), "result": list(outputs[:count]), "saved": list(outputs[count:])}
        return [sources[r.kind][r.index] for r in self.residuals]


class Linearizer(ForwardMode):
    """The linearize engine of one module, with a memo of the functions it has linearized."""

    transform = "linearize"

    def __init__(self, siblings: Siblings) -> None:
        super().__init__(siblings)
        self._linearized: dict[tuple[str, Activity, Policy], Linearized] = {}

    def linearize(self, symbol: str, active: Activity, policy: Policy = SAVE_EVERYTHING) -> Linearized:
        """Linearize function `symbol` with respect to its `active` arguments.

        Residuals that `policy` does not allow to be saved are computed again in the linear part.
        """
        key = (symbol, active, policy)
        linearized = self._linearized.get(key)
        if linearized is None:
            combined = self._differentiate(symbol, active)
            simplify_function(self.module, combined.symbol, self.reader)
            split = _Split(self, symbol, combined.symbol, active, policy)
            linearized = self._linearized[key] = split.run(combined.active_results)
        return linearized

    def _rule_of(self, op: type[Op]) -> Any:
        return op.linearize or op.jvp

    def custom_pullback(
        self, b: Emitter, fwd: str, bwd: str, primals: Values, tangents: Values, count: int
    ) -> tuple[list[Value], list[Value]]:
        """As in forward mode, but by an op whose transpose is the user's pullback itself."""
        require(self.module, bwd)
        results, residuals = self.custom_residuals(b, fwd, primals, count)
        linear = tuple(b.type_of(r) for r in results)
        shaped = shape_operands_of(b, results)
        pushed = b.custom_vjp_linear(
            *residuals,
            *shaped,
            *tangents,
            callee=self.transposer.pushforward(bwd, len(residuals), linear),
            bwd=bwd,
            residual_count=len(residuals),
            shape_operand_count=len(shaped),
            results=linear,
        )
        return results, list(pushed)

    def call(
        self,
        b: Emitter,
        symbol: str,
        primals: Values,
        tangents: Tangents,
        policy: Policy = SAVE_EVERYTHING,
    ) -> tuple[list[Value], list[Tangent]]:
        """Results and result tangents of a function, by two calls, so that the caller can be split."""
        callee = self.linearize(symbol, tuple(t is not None for t in tangents), policy)
        outputs = call_function(b, self.module, callee.primal, primals)
        residuals = callee.residual_values(primals, outputs)
        count = len(callee.active_results)
        moving = (t for t in tangents if t is not None)
        values = iter(call_function(b, self.module, callee.linear, [*residuals, *moving]))
        return outputs[:count], [next(values) if is_active else None for is_active in callee.active_results]


class _Split:
    """Splits one function, the output of forward mode."""

    def __init__(
        self, engine: Linearizer, name: str, combined: str, active: Activity, policy: Policy
    ) -> None:
        self.engine = engine
        self.active = active
        self.policy = policy
        self.name = name
        self.source = function(engine.module, combined)
        arguments = list(body(self.source).arguments)
        self.inputs, self.tangents = arguments[: len(active)], arguments[len(active) :]
        if policy[0] in ("named", "named_except"):
            self._prefer_named_values()
        operations, self.terminator = split_body(self.source)
        self.operations = [o.operation for o in operations]
        self.is_linear: set[Value] = set(self.tangents)
        self.linear_operations: set[Operation] = set()
        for operation in self.operations:
            if any(v in self.is_linear for v in operation.operands):
                self.is_linear.update(operation.results)
                self.linear_operations.add(operation)

    def _prefer_named_values(self) -> None:
        """Let every use of a value that a name stands for use the named value, which may be saved.

        The derivative of the op that computes the value (`y` of `exp`) comes before the op that names it.
        """
        for child in split_body(self.source)[0]:
            operation = child.operation
            value = operation.operands[0] if len(operation.operands) == 1 else None
            if (
                value is None
                or isinstance(value.owner, mlir.ir.Block)
                or not self._has_allowed_label(operation)
            ):
                continue
            operation.move_after(value.owner)
            value.replace_all_uses_except(operation.results[0], operation)

    def _has_allowed_label(self, operation: Operation) -> bool:
        label = self._label(operation)
        if label is None:
            return False
        return (label in self.policy[1].split(",")) == (self.policy[0] == "named")

    def _label(self, operation: Operation) -> str | None:
        """The name that an op gives to its value, None for one that names none."""
        application = self.engine.reader.read(operation)
        if application is None or application.op.label_attribute is None:
            return None
        return str(application.attributes[application.op.label_attribute])

    def run(self, active_results: Activity) -> Linearized:
        count = len(active_results)
        returned = list(self.terminator.operands)
        results, tangents = returned[:count], returned[count:]
        self._check_results(results)
        recomputed, sources = self._residuals(tangents)
        primal_operations = [o for o in self.operations if not self._is_linear(o)]
        linear_operations = [o for o in self.operations if self._is_linear(o) or o in recomputed]
        shape_operands = self._shape_operands()
        sources += [primal for primal in shape_operands.values() if primal not in sources]
        residuals, saved = self._places(sources, results)
        # The linear part first: it clones what it computes again; the primal part takes the ops themselves.
        linear = self._function("linear", [*sources, *self.tangents], linear_operations, tangents)
        primal = self._function("primal", self.inputs, primal_operations, [*results, *saved])
        later, earlier = (function(self.engine.module, symbol).operation for symbol in (linear, primal))
        later.move_after(earlier)
        if shape_operands:
            arguments = [*sources, *self.tangents]
            places = [arguments.index(shape_operands[a]) if a in shape_operands else -1 for a in arguments]
            set_shape_operands(later, places)
        self.source.operation.erase()
        return Linearized(primal, linear, tuple(residuals), active_results)

    def _check_results(self, results: Values) -> None:
        """Refuse a result that a forward rule of the user's computes from a tangent."""
        for result in results:
            if result in self.is_linear:
                raise MissingRuleError(
                    f"a result of {self.name} depends on a tangent: a rule for its derivative computes the "
                    "result itself from the tangent, so that there is nothing to linearize at",
                    where=location_text(result.location),
                    hint="let the rule return the result of the function, computed from the primals alone",
                )

    def _shape_operands(self) -> ValueMap:
        """For each tangent of dynamic shape the primal input, which has that shape."""
        active = [v for v, is_active in zip(self.inputs, self.active, strict=True) if is_active]
        return {
            tangent: primal
            for tangent, primal in zip(self.tangents, active, strict=True)
            if not tangent.type.has_static_shape
        }

    def _is_linear(self, operation: Operation) -> bool:
        return operation in self.linear_operations

    def _residuals(self, tangents: Values) -> tuple[set[Operation], list[Value]]:
        """Ops to compute again in the linear part, and the values to pass to it."""
        owner = {r: o for o in self.operations for r in o.results}
        recomputed: set[Operation] = set()
        sources: dict[Value, None] = {}
        # Each value once: the bindings make a new object for each use, and many that live slow them down.
        read = (v for o in self.operations if self._is_linear(o) for v in o.operands)
        pending = list(dict.fromkeys(v for v in (*tangents, *read) if v not in self.is_linear))
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            operation = owner.get(value)
            if operation is not None and not self._may_save(operation):
                recomputed.add(operation)
                pending.extend(operation.operands)
            else:
                sources[value] = None
        order = {v: i for i, v in enumerate([*self.inputs, *owner])}
        return recomputed, sorted(sources, key=order.__getitem__)

    def _may_save(self, operation: Operation) -> bool:
        """Whether a result of `operation` is worth saving, and the policy allows it."""
        application = self.engine.reader.read(operation)
        assert application is not None
        op, policy = application.op, self.policy[0]
        if policy != "everything" and must_run_once(self.engine.module, operation, self.engine.reader):
            return True
        if op.is_cheap:
            return False
        if policy == "dots":
            return op.is_contraction
        if policy == "dots_without_batch":
            return op.is_contraction and not any(application.attributes.get("batch", ((True,), ())))
        if policy in ("named", "named_except"):
            return self._has_allowed_label(operation)
        if policy == "everything_except":
            return self._label(operation) not in self.policy[1].split(",")
        return policy == "everything"

    def _places(self, sources: Values, results: Values) -> tuple[list[Residual], list[Value]]:
        residuals: list[Residual] = []
        saved: list[Value] = []
        for value in sources:
            if value in self.inputs:
                residuals.append(Residual("input", self.inputs.index(value)))
            elif value in results:
                residuals.append(Residual("result", list(results).index(value)))
            else:
                residuals.append(Residual("saved", len(saved)))
                saved.append(value)
        return residuals, saved

    def _recomputes(self) -> bool:
        return self.policy[0] != "everything"

    def _hide(self, arguments: Values, values: ValueMap, b: Emitter) -> None:
        """Put residuals behind a barrier: a recomputation from them must not be merged with the primal op."""
        hidden = [a for a in arguments if a not in self.is_linear and a.type != b.codec.write_type(SIZE)]
        barrier = b.optimization_barrier(*(values[a] for a in hidden))
        values.update(zip(hidden, barrier, strict=True))

    def _drop_effects(self, operation: Operation) -> None:
        """Let an op that is computed again refer to effect-free clones: the primal op has the effects."""
        application = self.engine.reader.read(operation)
        assert application is not None
        renamed = {name: self.engine.effect_free(name) for name in referenced(application)}
        rename_references(operation, self.engine.reader, renamed)

    def _function(
        self, part: str, arguments: Values, operations: Sequence[Operation], results: Values
    ) -> str:
        engine = self.engine
        types = [engine.codec.read_type(a.type) for a in arguments]
        location = derived_location(self.source.location, f"linearize {part}")
        new = NewFunction(engine.module, engine.codec, f"{self.name}_{part}", types, location)
        values = dict(zip(arguments, new.arguments, strict=True))
        if part == "linear" and any(not self._is_linear(o) for o in operations) and self._recomputes():
            self._hide(arguments, values, new.emitter)
        for operation in operations:
            if part == "linear" and not self._is_linear(operation):
                self._drop_effects(clone_operation(operation, values, new.emitter.point))
            else:
                move_operation(operation, values, new.emitter.point)
        symbol = new.finish([values.get(r, r) for r in results])
        drop_unused(engine.module, symbol, engine.reader)  # the combined function is simplified already
        return symbol
