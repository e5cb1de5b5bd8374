"""Calls, branches and loops in StableHLO, whose regions call the functions that adze's ops refer to.

Input: a writer, an application. Output: its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.types import INT32, INT64, TensorType
from .rules import Application, Rule
from .writer import Extent, Ref, Writer, ints, known_sizes

_ASSERTIONS: Final = "StableHLO has no assertions and no output"
_CALLBACK: Final = "a program in StableHLO cannot call back into Python"
_WITHOUT: Final = "to_stablehlo(f, drop_effects=True) writes the program without checks and output"


def _call(w: Writer, app: Application) -> list[Ref]:
    callee = app.attributes["callee"]
    return _cast(w, w.call(callee, app.operands, app.signature(callee)), app.results)


def _cond(w: Writer, app: Application) -> list[Ref]:
    index, *operands = app.operands
    branches = app.attributes["branches"]
    index = w.convert(index, INT32)
    last = w.constant(len(branches) - 1, INT32)
    index = w.one("clamp", (w.zero(), index, last), index.type)
    regions = [
        w.region(
            (),
            lambda inner, _, symbol=symbol: _cast(  # type: ignore[misc]
                inner, inner.call(symbol, operands, app.signature(symbol)), app.results
            ),
        )
        for symbol in branches
    ]
    return w.op("case", (index,), app.results, {}, regions)


def _while(w: Writer, app: Application) -> list[Ref]:
    first = app.attributes["condition_constants"]
    second = first + app.attributes["body_constants"]
    asked, captured, state = app.operands[:first], app.operands[first:second], app.operands[second:]
    types = [v.type for v in state]
    condition, body = app.attributes["condition"], app.attributes["body"]
    after = app.signature(body)
    regions = [
        w.region(types, lambda inner, xs: inner.call(condition, (*asked, *xs), app.signature(condition))),
        w.region(types, lambda inner, xs: _cast(inner, inner.call(body, (*captured, *xs), after), types)),
    ]
    return w.op("while", state, types, {}, regions)


def _cast(w: Writer, values: Sequence[Ref], types: Sequence[TensorType]) -> list[Ref]:
    return [w.cast(v, t) for v, t in zip(values, types, strict=True)]


def _scan(w: Writer, app: Application) -> list[Ref]:
    """A `while` over a counter, the carry and the results so far."""
    k = app.attributes["constant_count"]
    n = k + app.attributes["carry_count"]
    constants, carry, arrays = app.operands[:k], app.operands[k:n], app.operands[n:]
    length: Extent = app.attributes["length"][0]
    stacked = app.results[n - k :]
    shapes: list[Sequence[Extent]] = [[m for m in t.shape[1:] if isinstance(m, int)] for t in stacked]
    if not all(t.with_shape(t.shape[1:]).is_static for t in stacked):
        shapes = _row_shapes(w, app, constants, carry, arrays)
    buffers = [w.filled(0, t, (length, *shape)) for t, shape in zip(stacked, shapes, strict=True)]
    if length == 0:
        return [*carry, *buffers]
    number = INT32 if isinstance(length, int) else INT64
    last = w.on_sizes("subtract", length, 1)
    state = [w.constant(0, number), *carry, *buffers]
    types = [v.type for v in state]

    def condition(inner: Writer, xs: list[Ref]) -> Sequence[Ref]:
        return [inner.compare("LT", xs[0], inner.scalar(length, number))]

    def body(inner: Writer, xs: list[Ref]) -> Sequence[Ref]:
        index = xs[0]
        place = index
        if app.attributes["reverse"]:
            place = inner.like("subtract", inner.scalar(last, number), index)
        slices = [_taken(inner, x, place) for x in arrays]
        carried = xs[1 : 1 + len(carry)]
        results = inner.call(
            app.attributes["body"], (*constants, *carried, *slices), app.signature(app.attributes["body"])
        )
        following = inner.like("add", index, inner.constant(1, number))
        filled = [
            _put(inner, buffer, column, place)
            for buffer, column in zip(xs[1 + len(carry) :], results[len(carry) :], strict=True)
        ]
        kept = _cast(inner, results[: len(carry)], types[1 : 1 + len(carry)])
        return [following, *kept, *filled]

    return w.op("while", state, types, {}, [w.region(types, condition), w.region(types, body)])[1:]


def _row_shapes(
    w: Writer, app: Application, constants: Sequence[Ref], carry: Sequence[Ref], arrays: Sequence[Ref]
) -> list[Sequence[Extent]]:
    """The shapes of the rows of the results, from a step on zeros, of which only the shapes are used."""
    rows = [w.filled(0, x.type.with_shape(x.type.shape[1:]), w.extents(x)[1:]) for x in arrays]
    body = app.attributes["body"]
    results = w.call(body, (*constants, *carry, *rows), app.signature(body))
    return [w.extents(row) for row in results[len(carry) :]]


def _taken(w: Writer, x: Ref, place: Ref) -> Ref:
    """One slice along the first axis, without it."""
    rest = w.extents(x)[1:]
    result = x.type.with_shape((1, *known_sizes(rest)))
    zeros = [w.constant(0, place.dtype)] * len(rest)
    if result.is_static:
        sizes = {"slice_sizes": ints([1, *result.shape[1:]])}  # type: ignore[list-item]
        return w.reshape(w.one("dynamic_slice", (x, place, *zeros), result, sizes), *rest)
    start = w.vector([w.convert(place, INT64), *([0] * len(rest))])
    limit = w.like("add", start, w.vector([1, *rest]))
    row = w.one("real_dynamic_slice", (x, start, limit, w.vector([1] * x.rank)), result)
    return w.reshape(row, *rest)


def _put(w: Writer, buffer: Ref, column: Ref, place: Ref) -> Ref:
    row = w.reshape(column, 1, *w.extents(column))
    zeros = [w.constant(0, place.dtype)] * column.rank
    return w.one("dynamic_update_slice", (buffer, row, place, *zeros), buffer.type)


def _refused(reason: str, hint: str | None = None) -> Rule:
    def rule(w: Writer, app: Application) -> list[Ref]:
        raise app.error(reason, hint)

    return rule


def _size(op: str) -> Rule:
    return lambda w, app: [w.like(op, *app.operands)]


def _size_div(w: Writer, app: Application) -> list[Ref]:
    """The floor of a quotient, which StableHLO rounds towards zero."""
    m, n = app.operands
    quotient, rest = w.like("divide", m, n), w.like("remainder", m, n)
    zero = w.constant(0, INT64)
    differs = w.compare("NE", w.compare("LT", rest, zero), w.compare("LT", n, zero))
    is_above = w.like("and", w.compare("NE", rest, zero), differs)
    return [w.like("subtract", quotient, w.convert(is_above, INT64))]


def _size_check(w: Writer, app: Application) -> list[Ref]:
    """As exports of JAX check sizes: a call that shape refinement resolves."""
    m, n = app.operands
    message = app.attributes["message"].replace("{", "(").replace("}", ")")
    quoted = message.replace("\\", "\\\\").replace('"', "'")
    attributes = {
        "api_version": "2 : i32",
        "call_target_name": '"shape_assertion"',
        "has_side_effect": "true",
    }
    error = {"error_message": f'"{quoted} (sizes {{0}} and {{1}})"'}
    return w.op("custom_call", (w.compare("EQ", m, n), m, n), (), attributes, discardable=error)


def _dim(w: Writer, app: Application) -> list[Ref]:
    return [w.scalar(w.size(app.operands[0], app.attributes["axis"]))]


def _size_constant(w: Writer, app: Application) -> list[Ref]:
    return [w.constant(app.attributes["value"], INT64)]


def _size_to_array(w: Writer, app: Application) -> list[Ref]:
    return [w.convert(app.operands[0], app.results[0].dtype)]


def _loop_preference(w: Writer, app: Application) -> list[Ref]:
    """Other compilers have no kernels of loops that adze knows of."""
    return [w.constant(0, app.results[0].dtype)]


RULES: Final[dict[str, Rule]] = {
    **{
        name: _call
        for name in (
            *("call", "checkpoint_call", "custom_batch_call", "custom_jvp_call", "custom_vjp_call"),
            *("custom_vjp_linear", "linear_routine", "routine", "while_pullback"),
        )
    },
    "dim": _dim,
    "size_add": _size("add"),
    "size_check": _size_check,
    "size_constant": _size_constant,
    "size_div": _size_div,
    "size_max": _size("maximum"),
    "size_min": _size("minimum"),
    "size_mul": _size("multiply"),
    "size_sub": _size("subtract"),
    "size_to_array": _size_to_array,
    **{name: _refused("a named axis that is not mapped") for name in ("axis_gather", "axis_sum")},
    "check": _refused(f"a run-time check cannot be written: {_ASSERTIONS}", _WITHOUT),
    "loop_preference": _loop_preference,
    "platform_index": _refused("a choice that waits for its target"),
    "print": _refused(f"output cannot be written: {_ASSERTIONS}", _WITHOUT),
    "host_call": _refused(_CALLBACK),
    "host_effect": _refused(_CALLBACK),
    "cond": _cond,
    "scan": _scan,
    "undefined_value": _refused("a value that no rule can compute"),
    "while": _while,
}
