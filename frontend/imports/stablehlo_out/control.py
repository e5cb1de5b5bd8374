"""Calls, branches and loops in StableHLO, whose regions call the functions that adze's ops refer to.

Input: a writer, an application. Output: its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.types import INT32
from .rules import Application, Rule
from .writer import Ref, Writer, ints

_ASSERTIONS: Final = "StableHLO has no assertions and no output"
_CALLBACK: Final = "a program in StableHLO cannot call back into Python"
_WITHOUT: Final = "to_stablehlo(f, drop_effects=True) writes the program without checks and output"


def _call(w: Writer, app: Application) -> list[Ref]:
    return w.call(app.attributes["callee"], app.operands, app.results)


def _cond(w: Writer, app: Application) -> list[Ref]:
    index, *operands = app.operands
    branches = app.attributes["branches"]
    index = w.convert(index, INT32)
    last = w.constant(len(branches) - 1, INT32)
    index = w.one("clamp", (w.zero(), index, last), index.type)
    regions = [
        w.region((), lambda inner, _, symbol=symbol: inner.call(symbol, operands, app.results))  # type: ignore[misc]
        for symbol in branches
    ]
    return w.op("case", (index,), app.results, {}, regions)


def _while(w: Writer, app: Application) -> list[Ref]:
    first = app.attributes["condition_constants"]
    second = first + app.attributes["body_constants"]
    asked, captured, state = app.operands[:first], app.operands[first:second], app.operands[second:]
    types = [v.type for v in state]
    condition, body = app.attributes["condition"], app.attributes["body"]
    regions = [
        w.region(types, lambda inner, xs: inner.call(condition, (*asked, *xs), app.signature(condition))),
        w.region(types, lambda inner, xs: inner.call(body, (*captured, *xs), types)),
    ]
    return w.op("while", state, types, {}, regions)


def _scan(w: Writer, app: Application) -> list[Ref]:
    """A `while` over a counter, the carry and the results so far."""
    k = app.attributes["constant_count"]
    n = k + app.attributes["carry_count"]
    constants, carry, arrays = app.operands[:k], app.operands[k:n], app.operands[n:]
    length = int(app.attributes["length"][0])
    stacked = app.results[n - k :]
    if not length:
        return [*carry, *(w.filled(0, t) for t in stacked)]
    buffers = [w.filled(0, t) for t in stacked]
    state = [w.zero(), *carry, *buffers]
    types = [v.type for v in state]

    def condition(inner: Writer, xs: list[Ref]) -> Sequence[Ref]:
        return [inner.compare("LT", xs[0], inner.constant(length, INT32))]

    def body(inner: Writer, xs: list[Ref]) -> Sequence[Ref]:
        index = xs[0]
        place = index
        if app.attributes["reverse"]:
            place = inner.like("subtract", inner.constant(length - 1, INT32), index)
        slices = [_taken(inner, x, place) for x in arrays]
        carried = xs[1 : 1 + len(carry)]
        results = inner.call(
            app.attributes["body"], (*constants, *carried, *slices), app.signature(app.attributes["body"])
        )
        following = inner.like("add", index, inner.constant(1, INT32))
        filled = [
            _put(inner, buffer, column, place)
            for buffer, column in zip(xs[1 + len(carry) :], results[len(carry) :], strict=True)
        ]
        return [following, *results[: len(carry)], *filled]

    return w.op("while", state, types, {}, [w.region(types, condition), w.region(types, body)])[1:]


def _taken(w: Writer, x: Ref, place: Ref) -> Ref:
    """One slice along the first axis, without it."""
    rest = x.shape[1:]
    zeros = [w.zero()] * len(rest)
    row = w.one(
        "dynamic_slice", (x, place, *zeros), x.type.with_shape((1, *rest)), {"slice_sizes": ints((1, *rest))}
    )
    return w.reshape(row, *rest)


def _put(w: Writer, buffer: Ref, column: Ref, place: Ref) -> Ref:
    row = w.reshape(column, 1, *column.shape)
    zeros = [w.zero()] * column.rank
    return w.one("dynamic_update_slice", (buffer, row, place, *zeros), buffer.type)


def _refused(reason: str, hint: str | None = None) -> Rule:
    def rule(w: Writer, app: Application) -> list[Ref]:
        raise app.error(reason, hint)

    return rule


def _size(w: Writer, app: Application) -> list[Ref]:
    raise app.error("sizes that are known only at run time are not supported", "give every dimension a size")


def _size_constant(w: Writer, app: Application) -> list[Ref]:
    return [w.constant(app.attributes["value"], INT32)]


RULES: Final[dict[str, Rule]] = {
    **{
        name: _call
        for name in (
            *("call", "checkpoint_call", "custom_batch_call", "custom_jvp_call", "custom_vjp_call"),
            *("custom_vjp_linear", "linear_routine", "routine", "while_pullback"),
        )
    },
    **{f"size_{name}": _size for name in ("add", "sub", "mul", "div", "max", "min", "check", "to_array")},
    "dim": _size,
    "size_constant": _size_constant,
    **{name: _refused("a named axis that is not mapped") for name in ("axis_gather", "axis_sum")},
    "check": _refused(f"a run-time check cannot be written: {_ASSERTIONS}", _WITHOUT),
    "print": _refused(f"output cannot be written: {_ASSERTIONS}", _WITHOUT),
    "host_call": _refused(_CALLBACK),
    "host_effect": _refused(_CALLBACK),
    "cond": _cond,
    "scan": _scan,
    "undefined_value": _refused("a value that no rule can compute"),
    "while": _while,
}
