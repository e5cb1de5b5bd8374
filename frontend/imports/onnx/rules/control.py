"""Control flow: If, Loop, Scan, by branches and loops of adze where a predicate or a count is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....dialects.errors import AdzeError
from ....control.branches import cond
from ....control.scans import scan
from ....control.while_loops import while_loop
from ....library import numpy as xp
from ....tracing.interpreter import as_value
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call, constant, has_elements
from ..sizes import Sizes


def if_(call: Call, predicate: Any) -> Any:
    """One of two graphs, which see the values around the node."""
    then, other = call.get("then_branch"), call.get("else_branch")
    if has_elements(predicate):
        return call.run(then if bool(np.asarray(predicate).all()) else other, [])

    def branch(graph: Any, name: str) -> tuple[Any, ...]:
        try:
            return tuple(map(_array, call.run(graph, [])))
        except ModelUnsupportedError:
            raise
        except AdzeError as error:
            raise ModelError(
                f"its {name} branch fits no inputs of these shapes: {error.message}",
                where=error.where,
                hint="both branches are traced, since the predicate depends on the inputs: "
                "call the model with a NumPy number for the input that decides",
            ) from error

    return list(cond(xp.reshape(predicate, ()), lambda: branch(then, "then"), lambda: branch(other, "else")))


def _array(value: Any) -> Any:
    if isinstance(value, Sizes):
        return value.traced()
    if isinstance(value, list) or value is None:
        raise ModelUnsupportedError("a branch that depends on the inputs returns a sequence, or nothing")
    return as_value(value)


def loop(call: Call, most: Any, go_on: Any, *state: Any) -> Any:
    """At most `most` iterations while a condition holds: carried values, and stacks of what each yields."""
    body = call.get("body")
    is_counted = most is not None and has_elements(most)
    if (most is None or is_counted) and has_elements(go_on, *(s for s in state if not isinstance(s, list))):
        return _run_here(call, most, go_on, state)
    if is_counted and _always_goes_on(body) and has_elements(go_on):
        begins = go_on is None or bool(np.asarray(go_on).all())
        return _counted(call, int(np.asarray(most).item()) if begins else 0, state)
    if len(body.outputs) > 1 + len(state):
        raise ModelUnsupportedError(
            "a loop whose number of iterations depends on the inputs stacks a value of each iteration, "
            "so that the size of its result would depend on the inputs' elements"
        )
    return _conditional(call, most, go_on, state)


def _always_goes_on(body: Any) -> bool:
    """Whether the condition that the body returns is the constant true, or the one that it was given."""
    name, given = body.outputs[0].name, body.inputs[1].name
    makers = {output: node for node in body.nodes for output in node.outputs}
    while name in makers and makers[name].op == "Identity":
        name = makers[name].inputs[0]
    if name == given:
        return True
    value = body.initializers.get(name)
    if name in makers and makers[name].op == "Constant":
        value = makers[name].attributes.get("value")
    return value is not None and bool(np.asarray(value).all())


def _run_here(call: Call, most: Any, go_on: Any, state: Any) -> Any:
    """Every iteration is traced, or computed, on its own: the number of them is known."""
    limit = None if most is None else int(np.asarray(most).item())
    running = True if go_on is None else bool(np.asarray(go_on).all())
    values, step = list(state), 0
    stacks: list[list[Any]] = [[] for _ in call.get("body").outputs[1 + len(state) :]]
    while running and (limit is None or step < limit):
        outputs = call.run(call.get("body"), [constant(np.int64(step)), constant(np.bool_(True)), *values])
        if not has_elements(outputs[0]):
            raise ModelUnsupportedError("its condition depends on the inputs of the model")
        running = bool(np.asarray(outputs[0]).all())
        values = outputs[1 : 1 + len(state)]
        for stack, value in zip(stacks, outputs[1 + len(state) :], strict=True):
            stack.append(value)
        step += 1
    declared = call.get("body").outputs[1 + len(state) :]
    return [*values, *(xp.stack(s) if s else _nothing(v) for s, v in zip(stacks, declared, strict=True))]


def _nothing(value: Any) -> Any:
    """The stack of no values, of the type that the body declares."""
    sizes = [n if isinstance(n, int) else 0 for n in value.shape or ()]
    return xp.zeros((0, *sizes), dtype=value.dtype or np.float32)


def _counted(call: Call, count: int, state: Any) -> Any:
    body, carried = call.get("body"), len(state)

    def step(values: Any, i: Any) -> Any:
        outputs = [_array(v) for v in call.run(body, [i, constant(np.bool_(True)), *values])[1:]]
        return tuple(outputs[:carried]), tuple(outputs[carried:])

    final, stacks = scan(step, tuple(_array(s) for s in state), xp.arange(count, dtype=np.int64))
    return [*final, *stacks]


def _conditional(call: Call, most: Any, go_on: Any, state: Any) -> Any:
    body = call.get("body")
    limit = np.int64(np.iinfo(np.int64).max) if most is None else xp.reshape(most, ())
    running = np.bool_(True) if go_on is None else xp.reshape(go_on, ())

    def step(carry: Any) -> Any:
        i, condition, *values = carry
        outputs = [_array(v) for v in call.run(body, [i, condition, *values])]
        return (i + 1, xp.reshape(outputs[0], ()), *outputs[1:])

    start = (as_value(np.int64(0)), as_value(running), *(_array(s) for s in state))
    return list(while_loop(lambda carry: carry[1] & (carry[0] < limit), step, start)[2:])


def scan_(call: Call, *inputs: Any) -> Any:
    """A graph along an axis of its scanned inputs, with carried values; before op set 9 for each batch."""
    body, count = call.get("body"), call.integer("num_scan_inputs")
    if call.opset < 9:
        return _batched_scan(call, inputs, count)
    carried = len(inputs) - count
    scanned, results = inputs[carried:], len(body.outputs) - carried
    axes = call.ints("scan_input_axes", (0,) * count)
    backwards = call.ints("scan_input_directions", (0,) * count)
    out_axes = call.ints("scan_output_axes", (0,) * results)
    reversed_out = call.ints("scan_output_directions", (0,) * results)
    xs = tuple(
        xp.flip(moved, axis=0) if back else moved
        for moved, back in (
            (xp.moveaxis(x, a, 0), b) for x, a, b in zip(scanned, axes, backwards, strict=True)
        )
    )
    final, ys = _scan(call, body, inputs[:carried], xs)
    stacks = [
        xp.moveaxis(xp.flip(y, axis=0) if back else y, 0, a)
        for y, a, back in zip(ys, out_axes, reversed_out, strict=True)
    ]
    return [*final, *stacks]


def _scan(call: Call, body: Any, state: Any, xs: Any) -> Any:
    def step(values: Any, items: Any) -> Any:
        outputs = [_array(v) for v in call.run(body, [*values, *items])]
        return tuple(outputs[: len(values)]), tuple(outputs[len(values) :])

    return scan(step, tuple(_array(s) for s in state), xs)


def _batched_scan(call: Call, inputs: Any, count: int) -> Any:
    body, (lengths, *rest) = call.get("body"), inputs
    if lengths is not None:
        raise ModelUnsupportedError(
            "a Scan of op set 8 has lengths of sequences", hint="export it for op set 9"
        )
    if any(call.ints("directions", (0,) * count)):
        raise ModelUnsupportedError("a Scan of op set 8 runs backwards", hint="export it for op set 9")
    carried = len(rest) - count
    rows = []
    for i in range(rest[0].shape[0]):
        final, ys = _scan(call, body, [s[i] for s in rest[:carried]], tuple(x[i] for x in rest[carried:]))
        rows.append([*final, *ys])
    if not rows:
        raise ModelError("its batch is empty")
    return [xp.stack(list(column)) for column in zip(*rows, strict=True)]
