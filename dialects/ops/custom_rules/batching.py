"""Calls that a user's own rule batches.

`custom_batch_call` computes what its `callee` computes; only the batch engine asks for the rule. A rule is a
Python function, which IR cannot hold: `rule` is the name under which the frontend registered it. Derivatives
of such a call are such calls again, with the same `rule`; `derivation` has one row for each `Derivation` that
led to them, the first one first: its kind, then a flag for each operand. Their rules differentiate, or
transpose, the function that the registered rule returns. The rule `one_by_one` is no function: it is the loop
over the elements, and that of its derivatives is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

from ...attributes import Record, stated
from ...errors import MissingRuleError
from ...op import Linear, pairs, symbol, text
from ...protocols import (
    Batched,
    Batching,
    Builder,
    Differentiation,
    Engine,
    Linearization,
    Linearized,
    Size,
    Tangent,
    Transposition,
    Value,
    Values,
    WithTangents,
)
from ...types import SIZE, TensorType, ValueType
from ..control.call import RESULTS, CallLike
from ..control.values import (
    Flags,
    carrying,
    pick,
    present,
    repeated_where,
    spread,
    values_of,
    zeros_of,
    zeros_where_none,
)

BatchingRule = Callable[[Any, Sequence[ValueType], Flags], tuple[str, Flags]]
"""`rule(engine, types of the operands of one element, which are batched)` -> a function of the engine's
module that takes them (after the size, where it is dynamic), and which of its results are batched."""

REGISTERED: Final[WeakValueDictionary[str, Any]] = WeakValueDictionary()
"""The rules by name; whoever registers one keeps it alive as long as a program may refer to it."""

ONE_BY_ONE: Final = "one_by_one"
"""The rule of calls that stay calls for one element, in a loop."""

_registering: Final = Lock()

Steps = tuple[tuple[int, ...], ...]
"""The value of the attribute `derivation`."""


class Derivation(IntEnum):
    """How one call with a batching rule is derived from another; flags say for which operands."""

    JVP = 0
    """Results, then their tangents, for tangents of the flagged operands."""
    PUSH = 1
    """Tangents of the results, for tangents of the flagged operands."""
    TRANSPOSE = 2
    """Cotangents of the flagged operands, for cotangents of the results."""

    def after(self, steps: Steps, flags: Sequence[bool]) -> Steps:
        """One derivation more."""
        return (*steps, (int(self), *map(int, flags)))


def register(name: str, rule: Any) -> str:
    """Let programs refer to a `BatchingRule` under a name, which starts with `name`; that name."""
    count = 0
    with _registering:
        while f"{name}#{count}" in REGISTERED:
            count += 1
        REGISTERED[f"{name}#{count}"] = rule
    return f"{name}#{count}"


def gone(rule: str) -> MissingRuleError:
    """The error of a program that is batched without the Python function that batches it."""
    return MissingRuleError(
        f"'custom_batch_call' cannot be batched: its rule '{rule}' is a Python function, which this text of "
        "the program has lost",
        hint="batch it where the rule is defined, with adze.vmap",
    )


class BatchedByRule(Record):
    """The attributes of a `custom_batch_call`."""

    callee: str = stated(symbol("the function's name"))
    rule: str = stated(text("the registered name of the rule that batches it, or that of the first call"))
    derivation: Steps = stated(
        pairs("a row for each derivation from that call: its kind, then a flag an operand")
    )
    results: tuple[TensorType, ...] = stated(RESULTS)

    def derived(self, how: Derivation, flags: Sequence[bool]) -> dict[str, Any]:
        """The attributes of a derived call that say how it is batched."""
        steps = () if self.rule == ONE_BY_ONE else how.after(self.derivation, flags)
        return {"rule": self.rule, "derivation": steps}


class CustomBatchCall(CallLike):
    """``y... = callee(x...)``, which the batch engine maps by `rule` in place of mapping `callee`."""

    name = "custom_batch_call"
    has_own_rules = True
    record = BatchedByRule

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: BatchedByRule,
    ) -> WithTangents:
        results = attributes.results
        active, wanted = present(tangents), carrying(results)
        outputs = list(
            b.custom_batch_call(
                *primals,
                *values_of(tangents),
                callee=engine.differentiate(attributes.callee, active, wanted).symbol,
                results=(*results, *pick(results, wanted)),
                **attributes.derived(Derivation.JVP, active),
            )
        )
        return outputs[: len(results)], spread(outputs[len(results) :], wanted)

    @staticmethod
    def linearize(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Linearization,
        *,
        attributes: BatchedByRule,
    ) -> WithTangents:
        """The call as it is, and a linear call that computes it again: a batching rule has other residuals.

        A loop over the elements has the residuals of its callee, so they are saved.
        """
        callee, results = attributes.callee, attributes.results
        active, wanted = present(tangents), carrying(results)
        if attributes.rule == ONE_BY_ONE:
            part = engine.linearize(callee, active)
            if all(isinstance(t, TensorType) for t in engine.types_of(part.primal)):
                return _linearized_loop(b, engine, part, primals, values_of(tangents), results)
        values = list(b.custom_batch_call(*primals, **attributes.keywords))
        if not any(wanted):
            return values, [None] * len(results)
        moving = values_of(tangents)
        types = [b.type_of(v) for v in (*primals, *moving)]
        pushed = b.custom_batch_call(
            *primals,
            *moving,
            callee=engine.function(f"{callee}_push", types, _pushing(engine, callee, active, wanted)),
            results=pick(results, wanted),
            **attributes.derived(Derivation.PUSH, active),
        )
        return values, spread(list(pushed), wanted)

    @classmethod
    def transpose(
        cls,
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        attributes: BatchedByRule,
    ) -> Sequence[Tangent]:
        callee, results = attributes.callee, attributes.results
        linear = tuple(isinstance(x, Linear) for x in operands)
        kinds = tuple(x.type for x in operands if isinstance(x, Linear))
        if not all(isinstance(t, TensorType) and t.is_static for t in (*kinds, *results)):
            # The derived rule would need zeros of unknown sizes: the derivative goes on without a rule.
            return engine.call(b, callee, operands, cotangents)
        other = [x for x in operands if not isinstance(x, Linear)]
        seeds = [zeros_of(b, t) if c is None else c for c, t in zip(cotangents, results, strict=True)]
        types = [b.type_of(v) for v in (*other, *seeds)]
        outgoing = b.custom_batch_call(
            *other,
            *seeds,
            callee=engine.function(f"{callee}_backward", types, _backward(engine, callee, linear, kinds)),
            results=kinds,
            **attributes.derived(Derivation.TRANSPOSE, linear),
        )
        return spread(list(outgoing), linear)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: BatchedByRule,
    ) -> Batched:
        rule, results = attributes.rule, attributes.results
        types = [
            b.tensor_type(x).with_shape(b.tensor_type(x).shape[1:]) if has else b.type_of(x)
            for x, has in zip(operands, batched, strict=True)
        ]
        if rule == ONE_BY_ONE:
            return _looped(b, engine, size, attributes.callee, operands, types, tuple(batched), results)
        symbol_, flags = batched_by(
            engine, rule, attributes.derivation, types, tuple(results), tuple(batched)
        )
        return engine.called(b, symbol_, [*engine.leading(size), *operands]), list(flags)


def _looped(
    b: Builder,
    engine: Batching,
    size: Size,
    callee: str,
    operands: Values,
    types: Sequence[ValueType],
    batched: Flags,
    results: tuple[TensorType, ...],
) -> tuple[list[Any], list[bool]]:
    """A scan that makes the call for each element, and in a batch around it is a scan again."""
    shared = tuple(not has for has in batched)

    def build(c: Builder, values: Values) -> list[Value]:
        count = shared.count(True)
        whole, slices = spread(values[:count], shared), spread(values[count:], batched)
        own = values_of([s if has else w for w, s, has in zip(whole, slices, batched, strict=True)])
        outputs = c.custom_batch_call(*own, callee=callee, rule=ONE_BY_ONE, derivation=(), results=results)
        return list(outputs)

    arguments = [*pick(types, shared), *pick(types, batched)]
    outputs = b.scan(
        *pick(operands, shared),
        *pick(operands, batched),
        body=engine.function(f"{callee}_one", arguments, build),
        constant_count=shared.count(True),
        carry_count=0,
        length=(size,),
        reverse=False,
        results=tuple(_with_axis(engine, t) for t in results),
    )
    return list(outputs), [True] * len(results)


def _linearized_loop(
    b: Builder,
    engine: Engine,
    part: Linearized,
    primals: Values,
    moving: Values,
    results: tuple[TensorType, ...],
) -> tuple[list[Any], list[Any]]:
    """The two parts of a linearized function, each called for one element after the other."""

    def call(b: Builder, callee: str, operands: Values) -> list[Value]:
        types = engine.types_of(callee)
        outputs = b.custom_batch_call(*operands, callee=callee, rule=ONE_BY_ONE, derivation=(), results=types)
        return list(outputs)

    outputs = call(b, part.primal, primals)
    pushed: list[Any] = []
    if any(part.active_results):
        pushed = call(b, part.linear, [*part.residual_values(primals, outputs), *moving])
    return outputs[: len(results)], spread(pushed, part.active_results)


def batched_by(
    engine: Batching,
    rule: str,
    derivation: Steps,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    batched: Flags,
) -> tuple[str, Flags]:
    """The function of operands of these types that a rule returns, and which of its results are batched."""
    if derivation:
        base = (rule, derivation[:-1])
        kind, *bits = derivation[-1]
        flags = tuple(map(bool, bits))
        if kind == Derivation.TRANSPOSE:
            return _transposed(engine, base, flags, types, results, batched)
        # The base needs its result types only where it is transposed; then all of them carry tangents.
        is_jvp = kind == Derivation.JVP
        own = results[: len(results) // 2] if is_jvp else results
        return _forward(engine, base, flags, types, own, batched, values_too=is_jvp)
    registered = REGISTERED.get(rule)
    if registered is None:
        raise gone(rule)
    outcome: tuple[str, Flags] = registered(engine, types, batched)
    return outcome


def _forward(
    engine: Batching,
    base: tuple[str, Steps],
    active: Flags,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    batched: Flags,
    values_too: bool,
) -> tuple[str, Flags]:
    """The rule of a call that pushes tangents of the `active` operands: the derivative of that of `base`."""
    count = len(active)
    moving = spread(batched[count:], active)
    each = tuple(has or bool(with_it) for has, with_it in zip(batched[:count], moving, strict=True))
    symbol_, flags = batched_by(engine, *base, types[:count], results, each)
    wanted = carrying(engine.types_of(symbol_))
    lead = (False,) * len(engine.leading(None))
    linearizer = engine.linearizer
    push = _pushing(linearizer, symbol_, (*lead, *active), wanted, values_too)

    def build(c: Builder, values: Values) -> Values:
        first, own = values[: len(lead)], values[len(lead) :]
        width = _width(engine, first)
        targets = (*each, *pick(each, active))
        return push(c, [*first, *repeated_where(c, own, targets, batched, width)])

    pushing = _function(engine, f"{symbol_}_push", types, batched, build)
    return pushing, (*(flags if values_too else ()), *pick(flags, wanted))


def _transposed(
    engine: Batching,
    base: tuple[str, Steps],
    linear: Flags,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    batched: Flags,
) -> tuple[str, Flags]:
    """The rule of a call transposed in its `linear` operands: the transpose of that of `base`."""
    count = linear.count(False)
    others, kinds, masks = iter(types[:count]), iter(results), iter(batched[:count])
    full = [next(kinds) if is_linear else next(others) for is_linear in linear]
    each = tuple(True if is_linear else next(masks) for is_linear in linear)
    symbol_, flags = batched_by(engine, *base, full, types[count:], each)
    lead = (False,) * len(engine.leading(None))

    def whole(c: Builder, values: Values) -> Any:
        width = _width(engine, values[: len(lead)])
        outputs = engine.called(c, symbol_, values)
        return repeated_where(c, outputs, (True,) * len(flags), flags, width)

    forward = _function(engine, f"{symbol_}_whole", full, each, whole)
    mapped = [_with_axis(engine, t) for t in results]
    backward = _backward(engine.transposer, forward, (*lead, *linear), mapped)

    def build(c: Builder, values: Values) -> Values:
        first, own = values[: len(lead)], values[len(lead) :]
        width = _width(engine, first)
        targets = (*batched[:count], *(True for _ in batched[count:]))
        return backward(c, [*first, *repeated_where(c, own, targets, batched, width)])

    return _function(engine, f"{symbol_}_backward", types, batched, build), (True,) * len(results)


def _pushing(
    engine: Linearization, callee: str, active: Flags, wanted: Flags, values_too: bool = False
) -> Any:
    """What builds the tangents of the `wanted` results of a function, after its results if `values_too`."""
    part = engine.linearize(callee, active)

    def build(c: Builder, values: Values) -> Values:
        primals, moving = values[: len(active)], values[len(active) :]
        outputs = engine.called(c, part.primal, primals)
        residuals = part.residual_values(primals, outputs)
        pushed = spread(engine.called(c, part.linear, [*residuals, *moving]), part.active_results)
        results = outputs[: len(wanted)]
        filled = zeros_where_none(c, pick(pushed, wanted), pick(results, wanted))
        return [*(results if values_too else ()), *filled]

    return build


def _backward(engine: Transposition, callee: str, linear: Flags, kinds: Sequence[ValueType]) -> Any:
    """What builds the cotangents of all `linear` operands of a function."""
    backward = engine.transpose(callee, linear)

    def build(c: Builder, values: Values) -> Values:
        cotangents = spread(engine.called(c, backward.symbol, values), backward.nonzero)
        return [zeros_of(c, t) if d is None else d for d, t in zip(cotangents, kinds, strict=True)]

    return build


def _function(
    engine: Batching, name: str, types: Sequence[ValueType], batched: Flags, build: Callable[..., Any]
) -> str:
    """A function of operands of these types, with the batch axis where they have it, after the size."""
    lead = [SIZE for _ in engine.leading(None)]
    mapped = [_with_axis(engine, t) if has else t for t, has in zip(types, batched, strict=True)]
    return str(engine.function(name, [*lead, *mapped], build))


def _width(engine: Batching, lead: Values) -> Size:
    """The size of the batch axis, which a batched function has as its first argument where it is dynamic."""
    if lead:
        return lead[0]
    assert engine.size is not None
    return engine.size


def _with_axis(engine: Batching, type_: ValueType) -> TensorType:
    assert isinstance(type_, TensorType)
    return type_.with_shape((engine.size, *type_.shape))
