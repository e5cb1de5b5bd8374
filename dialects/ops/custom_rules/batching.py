"""Calls that a user's own rule batches.

`custom_batch_call` computes what its `callee` computes; only the batch engine asks for the rule. A rule is a
Python function, which IR cannot hold: `rule` is the name under which the frontend announced it. Derivatives
of such a call are such calls again, with rules that are derived: `jvp[110](f#0)` is the rule that pushes
tangents of the first two operands through what `f#0` gives, `push[110](f#0)` gives the tangents only, and
`transpose[01](...)` is the rule of a call that was reversed in its second operand. The rule `one_by_one`
is no function: it is the loop over the elements, and that of its derivatives is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

from ...errors import MissingRuleError
from ...op import Linear, symbol, text
from ...types import SIZE, TensorType, ValueType
from ..control.call import Flags, as_list, pick, spread
from ..control.loops import carrying, zeros_of
from ..elementwise.family import repeated
from .derivatives import RESULTS, CallLike

BatchingRule = Callable[[Any, Sequence[ValueType], Flags], tuple[str, Flags]]
"""`rule(engine, types of the operands of one element, which are batched)` -> a function of the engine's
module that takes them (after the size, where it is dynamic), and which of its results are batched."""

ANNOUNCED: Final[WeakValueDictionary[str, Any]] = WeakValueDictionary()
"""The rules by name; whoever announces one keeps it alive as long as a program may refer to it."""

ONE_BY_ONE: Final = "one_by_one"
"""The rule of calls that stay calls for one element, in a loop."""

_announcing: Final = Lock()
_DERIVED: Final = re.compile(r"(jvp|push|transpose)\[([01]*)\]\((.*)\)")


def announce(name: str, rule: Any) -> str:
    """Let programs refer to a `BatchingRule` under a name, which starts with `name`; that name."""
    count = 0
    with _announcing:
        while f"{name}#{count}" in ANNOUNCED:
            count += 1
        ANNOUNCED[f"{name}#{count}"] = rule
    return f"{name}#{count}"


def gone(rule: str) -> MissingRuleError:
    """The error of a program that is batched without the Python function that batches it."""
    return MissingRuleError(
        f"'custom_batch_call' cannot be batched: its rule '{rule}' is a Python function, which this text of "
        "the program has lost",
        hint="batch it where the rule is defined, with adze.vmap",
    )


class CustomBatchCall(CallLike):
    """``y... = callee(x...)``, which the batch engine maps by `rule` in place of mapping `callee`."""

    name = "custom_batch_call"
    attributes = {
        "callee": symbol("the function's name"),
        "rule": text("the name of the rule that batches it"),
        "results": RESULTS,
    }

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, engine: Any, *, callee: str, rule: str, results: Any) -> Any:
        active, wanted = _set(tangents), carrying(results)
        found = as_list(
            b.custom_batch_call(
                *primals,
                *pick(tangents, active),
                callee=engine.differentiate(callee, active, wanted).symbol,
                rule=_derived(f"jvp[{_bits(active)}]", rule),
                results=(*results, *pick(results, wanted)),
            )
        )
        return found[: len(results)], spread(found[len(results) :], wanted)

    @staticmethod
    def linearize(
        b: Any, primals: Any, tangents: Any, engine: Any, *, callee: str, rule: str, results: Any
    ) -> Any:
        """The call as it is, and a linear one that computes it again: residuals of rules differ from its.

        Those of a loop do not: it keeps them.
        """
        if rule == ONE_BY_ONE:
            part = engine.linearize(callee, _set(tangents))
            kinds = engine.types_of(part.primal)
            if all(isinstance(t, TensorType) for t in kinds):
                return _linearized_loop(b, engine, part, primals, pick(tangents, _set(tangents)), results)
        values = as_list(b.custom_batch_call(*primals, callee=callee, rule=rule, results=results))
        active, wanted = _set(tangents), carrying(results)
        if not any(wanted):
            return values, [None] * len(results)
        moving = pick(tangents, active)
        types = [b.type_of(v) for v in (*primals, *moving)]
        pushed = b.custom_batch_call(
            *primals,
            *moving,
            callee=engine.function(f"{callee}_push", types, _pushing(engine, callee, active, wanted)),
            rule=_derived(f"push[{_bits(active)}]", rule),
            results=pick(results, wanted),
        )
        return values, spread(as_list(pushed), wanted)

    @classmethod
    def transpose(
        cls, b: Any, cotangents: Any, operands: Any, engine: Any, *, callee: str, **attributes: Any
    ) -> Any:
        results = attributes["results"]
        linear = tuple(isinstance(x, Linear) for x in operands)
        kinds = tuple(x.type for x in operands if isinstance(x, Linear))
        if not all(isinstance(t, TensorType) and t.is_static for t in (*kinds, *results)):
            # Zeros of unknown sizes would be needed: here the rule ends, not the derivative.
            return engine.call(b, callee, operands, cotangents)
        other = [x for x in operands if not isinstance(x, Linear)]
        given = [zeros_of(b, t) if c is None else c for c, t in zip(cotangents, results, strict=True)]
        types = [b.type_of(v) for v in (*other, *given)]
        found = b.custom_batch_call(
            *other,
            *given,
            callee=engine.function(f"{callee}_reversed", types, _reversing(engine, callee, linear, kinds)),
            rule=_derived(f"transpose[{_bits(linear)}]", attributes["rule"]),
            results=kinds,
        )
        return spread(as_list(found), linear)

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, engine: Any, *, callee: str, rule: str, results: Any
    ) -> Any:
        types = [
            b.tensor_type(x).with_shape(b.tensor_type(x).shape[1:]) if has else b.type_of(x)
            for x, has in zip(operands, batched, strict=True)
        ]
        if rule == ONE_BY_ONE:
            return _looped(b, engine, size, callee, operands, types, tuple(batched), results)
        made, flags = batched_by(engine, rule, types, tuple(results), tuple(batched))
        return engine.called(b, made, [*engine.leading(size), *operands]), list(flags)


def _looped(
    b: Any,
    engine: Any,
    size: Any,
    callee: str,
    operands: Sequence[Any],
    types: Sequence[ValueType],
    batched: Flags,
    results: Any,
) -> tuple[list[Any], list[bool]]:
    """A scan that makes the call for each element; in a batch around it, too."""
    shared = tuple(not has for has in batched)

    def build(c: Any, values: Any) -> list[Any]:
        count = shared.count(True)
        whole, slices = spread(values[:count], shared), spread(values[count:], batched)
        own = [s if has else w for w, s, has in zip(whole, slices, batched, strict=True)]
        return as_list(c.custom_batch_call(*own, callee=callee, rule=ONE_BY_ONE, results=results))

    given = [*pick(types, shared), *pick(types, batched)]
    found = b.scan(
        *pick(operands, shared),
        *pick(operands, batched),
        body=engine.function(f"{callee}_one", given, build),
        constant_count=shared.count(True),
        carry_count=0,
        length=(size,),
        reverse=False,
        results=tuple(_with_axis(engine, t) for t in results),
    )
    return as_list(found), [True] * len(results)


def _linearized_loop(
    b: Any, engine: Any, part: Any, primals: Any, moving: Sequence[Any], results: Any
) -> tuple[list[Any], list[Any]]:
    """The two parts of a linearized function, each called for one element after the other."""
    kinds = engine.types_of(part.primal)
    outputs = as_list(b.custom_batch_call(*primals, callee=part.primal, rule=ONE_BY_ONE, results=kinds))
    kinds = engine.types_of(part.linear)
    pushed: list[Any] = []
    if kinds:
        residuals = part.residual_values(primals, outputs)
        given = [*residuals, *moving]
        pushed = as_list(b.custom_batch_call(*given, callee=part.linear, rule=ONE_BY_ONE, results=kinds))
    return outputs[: len(results)], spread(pushed, part.active_results)


def _derived(how: str, rule: str) -> str:
    """The rule of a derivative of a call."""
    return rule if rule == ONE_BY_ONE else f"{how}({rule})"


def batched_by(
    engine: Any, rule: str, types: Sequence[ValueType], results: Sequence[ValueType], batched: Flags
) -> tuple[str, Flags]:
    """The function that a rule makes of operands of these types, and which of its results are batched."""
    derived = _DERIVED.fullmatch(rule)
    if derived is not None:
        kind, bits, base = derived.groups()
        flags = tuple(bit == "1" for bit in bits)
        if kind == "transpose":
            return _transposed(engine, base, flags, types, results, batched)
        # What is below needs its result types only where it is reversed; then all of them carry tangents.
        given = results[: len(results) // 2] if kind == "jvp" else results
        return _forward(engine, base, flags, types, given, batched, values_too=kind == "jvp")
    made = ANNOUNCED.get(rule)
    if made is None:
        raise gone(rule)
    found: tuple[str, Flags] = made(engine, types, batched)
    return found


def _forward(
    engine: Any,
    base: str,
    active: Flags,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    batched: Flags,
    values_too: bool,
) -> tuple[str, Flags]:
    """The rule of a call that pushes tangents of the `active` operands: what `base` makes, differentiated."""
    count = len(active)
    moving = spread(batched[count:], active)
    each = tuple(has or bool(with_it) for has, with_it in zip(batched[:count], moving, strict=True))
    symbol_, flags = batched_by(engine, base, types[:count], results, each)
    wanted = carrying(engine.types_of(symbol_))
    lead = (False,) * len(engine.leading(None))
    linearizer = engine.linearizer
    push = _pushing(linearizer, symbol_, (*lead, *active), wanted, values_too)

    def build(c: Any, values: Any) -> Any:
        first, own = values[: len(lead)], values[len(lead) :]
        width = first[0] if first else engine.size
        targets = (*each, *pick(each, active))
        return push(c, [*first, *_spread_along(c, own, width, batched, targets)])

    made = _function(engine, f"{symbol_}_push", types, batched, build)
    return made, (*(flags if values_too else ()), *pick(flags, wanted))


def _transposed(
    engine: Any,
    base: str,
    linear: Flags,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    batched: Flags,
) -> tuple[str, Flags]:
    """The rule of a call reversed in its `linear` operands: what `base` makes, transposed."""
    count = linear.count(False)
    others, kinds, masks = iter(types[:count]), iter(results), iter(batched[:count])
    full = [next(kinds) if is_linear else next(others) for is_linear in linear]
    each = tuple(True if is_linear else next(masks) for is_linear in linear)
    symbol_, flags = batched_by(engine, base, full, types[count:], each)
    lead = (False,) * len(engine.leading(None))

    def whole(c: Any, values: Any) -> Any:
        width = values[0] if lead else engine.size
        found = engine.called(c, symbol_, values)
        return _spread_along(c, found, width, flags, (True,) * len(flags))

    forward = _function(engine, f"{symbol_}_whole", full, each, whole)
    mapped = [_with_axis(engine, t) for t in results]
    reverse = _reversing(engine.linearizer.transposer, forward, (*lead, *linear), mapped)

    def build(c: Any, values: Any) -> Any:
        first, own = values[: len(lead)], values[len(lead) :]
        width = first[0] if first else engine.size
        targets = (*batched[:count], *(True for _ in batched[count:]))
        return reverse(c, [*first, *_spread_along(c, own, width, batched, targets)])

    return _function(engine, f"{symbol_}_reversed", types, batched, build), (True,) * len(results)


def _pushing(engine: Any, callee: str, active: Flags, wanted: Flags, values_too: bool = False) -> Any:
    """What builds the tangents of the `wanted` results of a function, after its results if `values_too`."""
    part = engine.linearize(callee, active)

    def build(c: Any, values: Any) -> Any:
        primals, moving = values[: len(active)], values[len(active) :]
        outputs = engine.called(c, part.primal, primals)
        residuals = part.residual_values(primals, outputs)
        found = iter(engine.called(c, part.linear, [*residuals, *moving]))
        pushed = [next(found) if has else None for has in part.active_results]
        filled = [
            c.zeros_like(y) if p is None else p
            for p, y, is_wanted in zip(pushed, outputs, wanted, strict=False)
            if is_wanted
        ]
        return [*(outputs[: len(wanted)] if values_too else ()), *filled]

    return build


def _reversing(engine: Any, callee: str, linear: Flags, kinds: Sequence[ValueType]) -> Any:
    """What builds the cotangents of all `linear` operands of a function."""
    made = engine.transpose(callee, linear)

    def build(c: Any, values: Any) -> Any:
        found = iter(engine.called(c, made.symbol, values))
        return [next(found) if has else zeros_of(c, t) for has, t in zip(made.nonzero, kinds, strict=True)]

    return build


def _function(
    engine: Any, name: str, types: Sequence[ValueType], batched: Flags, build: Callable[..., Any]
) -> str:
    """A function of operands of these types, with the batch axis where they have it, after the size."""
    lead = [SIZE for _ in engine.leading(None)]
    mapped = [_with_axis(engine, t) if has else t for t, has in zip(types, batched, strict=True)]
    return str(engine.function(name, [*lead, *mapped], build))


def _with_axis(engine: Any, type_: ValueType) -> TensorType:
    assert isinstance(type_, TensorType)
    return type_.with_shape((engine.size, *type_.shape))


def _spread_along(
    c: Any, values: Sequence[Any], width: Any, batched: Sequence[bool], wanted: Sequence[bool]
) -> list[Any]:
    """The values with the batch axis where it is wanted and missing."""
    return [
        repeated(c, x, width) if is_wanted and not has else x
        for x, has, is_wanted in zip(values, batched, wanted, strict=True)
    ]


def _set(values: Sequence[Any]) -> Flags:
    return tuple(v is not None for v in values)


def _bits(flags: Sequence[bool]) -> str:
    return "".join("01"[flag] for flag in flags)
