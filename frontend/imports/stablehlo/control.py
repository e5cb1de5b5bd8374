"""`while`, `case`, `if`, and what has no computation: barriers, tuples, tokens.

Input: an application with regions. Output: its results.

Idea: a `while` that counts from a known number to a known number or size becomes a loop of that length, which
has a gradient; any other remains a `while`, which has derivatives in forward mode.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import INT32, INT64
from ...control.branches import cond, switch
from ...control.scans import scan
from ...control.while_loops import fori_loop, while_loop
from ...library import numpy as xp
from ...tracing.interpreter import as_value, ops
from ...tracing.sizes import Dim, maximum
from .application import Application, Counted, Rule, Sizes, as_array, known_array
from .program import Operation, Region, constant_of


@dataclass(frozen=True, slots=True)
class Count:
    """A loop whose state has a counter at `place`: `first, first + step, ...`, so many `steps`."""

    place: int
    first: int
    step: int
    steps: int | Dim


class _Function:
    """A region as a function of one tuple, or of nothing.

    No two are equal: adze checks eager branches and loops once for functions of the same code that close over
    values of the same types, which two regions do that compute something else.
    """

    def __init__(self, app: Application, region: Region, *, is_condition: bool = False) -> None:
        self.app = app
        self.region = region
        self.is_condition = is_condition
        self.__name__ = app.op.name.rpartition(".")[2]

    def __call__(self, *state: tuple[Any, ...]) -> Any:
        results = tuple(as_array(v) for v in self.app.run(self.region, state[0] if state else ()))
        return results[0] if self.is_condition else results


class _Step:
    """The body of a counted loop: a function of the index and the rest of the state."""

    def __init__(self, app: Application, region: Region, count: Count) -> None:
        self.body = _Function(app, region)
        self.count = count

    def __call__(self, index: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        place = self.count.place
        given = [*state[:place], self._counter(as_array(index)), *state[place:]]
        results = self.body(tuple(given))
        return (*results[:place], *results[place + 1 :])

    def _counter(self, index: Any) -> Any:
        dtype = as_array(self.body.app.inputs[self.count.place]).dtype
        position = ops.convert(index, dtype=INT64) if index.dtype != INT64 else index
        scaled = ops.mul(position, ops.full_like(position, self.count.step))
        moved = ops.add(scaled, ops.full_like(position, self.count.first))
        return moved if dtype == INT64 else ops.convert(moved, dtype=dtype)


def _while(app: Application) -> Any:
    condition, body = app.op.regions
    count = _counted(app, condition, body)
    if count is not None:
        return _counted_loop(app, body, count)
    state = tuple(app.arrays)
    if not state:
        raise app.error("a loop without a state never ends, or never starts")
    return list(
        while_loop(
            _Function(app, condition, is_condition=True),
            _Function(app, body),
            state,
        )
    )


def _counted_loop(app: Application, body: Region, count: Count) -> list[Any]:
    dtype = as_array(app.inputs[count.place]).dtype
    arrays = app.arrays
    others = (*arrays[: count.place], *arrays[count.place + 1 :])
    if isinstance(count.steps, int) and not count.steps:
        return list(arrays)
    last = as_value(count.first + count.step * count.steps, dtype)
    state = list(fori_loop(0, count.steps, _Step(app, body, count), others))
    return [*state[: count.place], last, *state[count.place :]]


def _counted(app: Application, condition: Region, body: Region) -> Count | None:
    """How the loop counts, where that is known now."""
    test = condition.producer(condition.results[0])
    if test is None or test.name != "stablehlo.compare" or test.operands[0] not in condition.arguments:
        return None
    place = condition.arguments.index(test.operands[0])
    step = _increment(app, body, place)
    first = _integer(app.inputs[place])
    bound = _bound(app, condition, body, test.operands[1])
    if step is None or step == 0 or first is None or bound is None:
        return None
    steps = _steps(test.attributes.get("comparison_direction"), first, bound, step)
    if steps is None or isinstance(steps, Dim):
        return None if steps is None else Count(place, first, step, steps)
    limits = np.iinfo(as_array(app.inputs[place]).dtype)
    if steps >= 2**31 or not limits.min <= first + steps * step <= limits.max:
        return None
    return Count(place, first, step, steps)


def _steps(direction: Any, first: int, bound: int | Dim, step: int) -> int | Dim | None:
    if isinstance(bound, Dim):
        if step == 1 and direction in ("LT", "LE"):
            return maximum(bound - first + (direction == "LE"), 0)
        return None
    if direction == "LE":
        direction, bound = "LT", bound + 1
    if direction == "GE":
        direction, bound = "GT", bound - 1
    if direction == "LT" and step > 0:
        return max(0, -((first - bound) // step))
    if direction == "GT" and step < 0:
        return max(0, -((bound - first) // -step))
    if direction == "NE" and (bound - first) % step == 0 and (bound - first) // step >= 0:
        return (bound - first) // step
    return None


def _increment(app: Application, body: Region, place: int) -> int | None:
    """By how much the counter changes in each iteration."""
    argument, result = body.arguments[place], body.results[place]
    change = body.producer(result)
    if change is None or change.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    left, right = change.operands
    if change.name == "stablehlo.add" and right == argument:
        left, right = right, left
    step = _integer(_region_value(app, body, right)) if left == argument else None
    return -step if step is not None and change.name == "stablehlo.subtract" else step


def _bound(app: Application, condition: Region, body: Region, value: int) -> int | Dim | None:
    """What the counter is compared with: a constant, a size, or an entry of the state that stays."""
    if value not in condition.arguments:
        return _number(_region_value(app, condition, value))
    place = condition.arguments.index(value)
    stays = body.results[place] == body.arguments[place]
    return _number(app.inputs[place]) if stays else None


def _number(value: Any) -> int | Dim | None:
    if isinstance(value, Sizes) and value.entries.ndim == 0 and isinstance(value.entries[()], Dim):
        size: Dim = value.entries[()]
        return size
    return _integer(value)


def _region_value(app: Application, region: Region, value: int) -> Any:
    """A constant of the region, or a value of an enclosing one; None for what the region computes."""
    producer: Operation | None = region.producer(value)
    if producer is not None:
        return constant_of(producer)
    if value in region.arguments or any(value in op.results for op in region.operations):
        return None
    return app.run(Region((), (), (), (value,)), ())[0]


def _integer(value: Any) -> int | None:
    known = known_array(value)
    return int(known) if known is not None and known.ndim == 0 and known.dtype.kind in "iu" else None


class _ScanStep:
    """The body of a scan: the slices of its inputs come first, then what it carries."""

    def __init__(self, app: Application, inputs: int, outputs: int) -> None:
        self.body = _Function(app, app.op.regions[0])
        self.inputs = inputs
        self.outputs = outputs

    def __call__(self, carry: Any, slices: Any) -> tuple[Any, Any]:
        results = self.body((*(slices or ()), *carry))
        return results[self.outputs :], results[: self.outputs]


def _scan(app: Application) -> Any:
    counts, axis = app.ints("operandSegmentSizes"), app.attribute("dimension")
    outputs = app.ints("resultSegmentSizes")[0]
    arrays = app.arrays
    xs, carry = arrays[: counts[0]], tuple(arrays[counts[0] :])
    if not xs and app.attribute("scan_dim_size") is None:
        raise app.error("a scan without inputs needs a scan_dim_size")
    last, stacked = scan(
        _ScanStep(app, counts[0], outputs),
        carry,
        tuple(xp.moveaxis(x, axis, 0) for x in xs) if xs else None,
        None if xs else app.attribute("scan_dim_size"),
        bool(app.attribute("is_reverse", False)),
    )
    return [*(xp.moveaxis(y, 0, axis) for y in stacked), *last]


def _case(app: Application) -> Any:
    index = app.array()
    count = len(app.op.regions)
    if index.dtype != INT32:
        index = ops.convert(index, dtype=INT32)
    last = ops.full_like(index, count - 1)
    is_outside = ops.or_(
        ops.compare(index, ops.full_like(index, 0), direction="LT"), ops.compare(index, last, direction="GT")
    )
    chosen = ops.select(is_outside, last, index)
    return list(switch(chosen, [_Function(app, region) for region in app.op.regions]))


def _if(app: Application) -> Any:
    on_true, on_false = app.op.regions
    return list(cond(app.array(), _Function(app, on_true), _Function(app, on_false)))


def _barrier(app: Application) -> Any:
    kept = [v is None or isinstance(v, (tuple, Sizes, Counted, np.ndarray)) for v in app.inputs]
    hidden = iter(
        ops.optimization_barrier(*(as_array(v) for v, k in zip(app.inputs, kept, strict=True) if not k))
    )
    return [v if k else next(hidden) for v, k in zip(app.inputs, kept, strict=True)]


def _tuple(app: Application) -> Any:
    return [tuple(app.inputs)]


def _tuple_element(app: Application) -> Any:
    items = app.inputs[0]
    index = app.attribute("index")
    if not isinstance(items, tuple) or not 0 <= index < len(items):
        raise app.error(f"there is no element {index}")
    return [items[index]]


def _token(app: Application) -> Any:
    return [None]


RULES: Final[dict[str, Rule]] = {
    "chlo.scan": _scan,
    "stablehlo.after_all": _token,
    "stablehlo.case": _case,
    "stablehlo.create_token": _token,
    "stablehlo.get_tuple_element": _tuple_element,
    "stablehlo.if": _if,
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.tuple": _tuple,
    "stablehlo.while": _while,
}
