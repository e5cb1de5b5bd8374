"""`while_loop` and `fori_loop`: a function is repeated while a condition holds, or a number of times.

Input: a condition or bounds, a body, an initial state. Output: the last state.

Idea: what reverse mode may save of a loop is the caller's decision: nothing (then there is no reverse
mode), a number of states (`memory_budget`, `saved_states`), or all within a bound on the steps
(`max_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...dialects.types import BOOL, INTEGERS, TensorType, require_possible
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.default_dtypes import integral
from ..tracing.frames import JIT_DISABLED, Tracer, current_frame, known_value
from ..tracing.function_scope import FunctionScope, PrivateFunction, argument_of, resumes_trace, varied_over
from ..tracing.interpreter import as_value, as_weak, ops
from ..tracing.locations import located, user_location, user_location_text
from ..tracing.sizes import Dim, maximum
from ..tracing.trace import function_name
from ..tracing.varying import at_least, axes_of_value
from ..transforms.checkpoints import stop_gradient
from .branches import cond
from .carries import (
    check_carried_sizes,
    check_carry,
    check_eager_carry,
    constants_first,
    grown,
    integer,
    marked,
    scalar,
    selected,
    settled_result,
    settled_start,
    strengthened,
    typed_tree,
    unchanged,
    weak_carry,
    widened,
    with_carried_sizes,
    with_checked_sizes,
    with_unchanged,
    without,
)
from .checkpoint_options import CheckpointOptions
from .eager_types import UNTRACEABLE, checked, evaluated
from .reference_carries import hold, touched, values_of, while_functions
from .scans import scan, scanned


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
    checkpoint_every: int | str | None = None,
    memory_budget: int | None = None,
    saved_states: int | None = None,
) -> Any:
    """`val = init_val; while cond_fun(val): val = body_fun(val); val`, with a state of fixed types.

    Differentiable in forward mode; in reverse mode with one of:

    - `memory_budget`: so many bytes may be kept of the states of the loop, or `saved_states`: so many states
      (at least 2; more than 96 are not used). The backward pass computes the others again (binomial
      checkpointing: Griewank and Walther, ACM TOMS 26, 2000). The number of steps may be any.
    - `max_steps`: an upper bound on the number of steps. The loop becomes a scan whose finished steps do
      nothing, and takes the options of `scan`: `checkpoint_every`, `memory_budget`, `saved_states`.

    A loop that is not done after `max_steps` is an error when the program runs (`CheckFailedError` of what
    is evaluated, `CallError` of what is compiled).
    """
    saving = CheckpointOptions("while_loop", checkpoint_every, memory_budget, saved_states)
    bound = None if max_steps is None else integer(max_steps, "while_loop: max_steps", 0)
    if saving.every is not None and bound is None:
        raise ArgumentError(
            "while_loop: checkpoint_every needs max_steps",
            where=user_location_text(),
            hint="where no bound is known, give memory_budget or saved_states",
        )
    return repeated_while("while_loop", cond_fun, body_fun, init_val, bound, saving)


@resumes_trace
def repeated_while(
    name: str,
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    bound: int | None,
    saving: CheckpointOptions,
) -> Any:
    """The loop that the user calls `name`."""
    refs = touched([(cond_fun, (init_val,)), (body_fun, (init_val,))])
    if refs:
        ask, step = while_functions(cond_fun, body_fun, refs)
        last, values = repeated_while(name, ask, step, (init_val, values_of(refs)), bound, saving)
        hold(refs, values)
        return last

    def record(start: Any) -> Any:
        return _recorded_while(name, cond_fun, body_fun, start, bound, saving)

    if current_frame() is not None:
        return record(init_val)
    options, called = (name, bound, saving.key), (cond_fun, body_fun)
    if not JIT_DISABLED.get():
        results = evaluated(options, called, init_val, record)
        if results is not UNTRACEABLE:
            return results
    known = checked(options, called, init_val, record)
    return _eager_while(name, cond_fun, body_fun, settled_start(init_val, known and known.types), bound)


def _recorded_while(
    name: str,
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    bound: int | None,
    saving: CheckpointOptions,
) -> Any:
    leaves, structure = tree.flatten(init_val)
    state = [as_value(leaf) for leaf in leaves]
    scope = FunctionScope()
    predicate = frozenset[str]() if scope.frame is None else scope.frame.least

    def step(xs: Sequence[Any]) -> Any:
        after = settled_result(body_fun(tree.unflatten(structure, xs)), structure, state)
        return with_checked_sizes(name, xs, after)

    def traced() -> PrivateFunction:
        wanted = [axes_of_value(v) for v in state]
        arguments = [argument_of(v) for v in state]
        with at_least(predicate):
            return scope.trace(function_name(body_fun), step, arguments, result_axes=wanted)

    body = traced()
    while body.result_tree == structure and (wider := widened(state, body.result_types)):
        state = wider
        body = traced()
    while body.result_tree == structure and (strong := strengthened(state, body.weak_results)):
        state = strong
        body = traced()
    while body.result_tree == structure and (varying := grown(state, body.result_axes)):
        state = varying
        body = traced()
    check_carry(name, "body_fun", structure, state, body.result_tree, body.result_types)
    check_carried_sizes(name, "body_fun", structure, state, body)
    if bound is not None:
        return _bounded_loop(cond_fun, body_fun, tree.unflatten(structure, state), bound, saving)

    def asked() -> PrivateFunction:
        arguments = [argument_of(v) for v in state]
        with at_least(predicate):
            return scope.trace(
                "condition", lambda xs: _truth(cond_fun(tree.unflatten(structure, xs))), arguments
            )

    ask = asked()
    while not ask.result_axes[0] <= predicate:  # ranks leave the loop one by one: all in it is their own
        predicate |= ask.result_axes[0]
        state = [varied_over(v, predicate) for v in state]
        body, ask = traced(), asked()
    last = _while(scope, ask, body, state, saving.states_of)
    with_carried_sizes(last, state, body)
    return tree.unflatten(structure, marked(last, weak_carry(state, body.weak_results)))


def _while(
    scope: FunctionScope,
    ask: PrivateFunction,
    body: PrivateFunction,
    state: Sequence[Any],
    states_of: Callable[[Sequence[Any]], int | None],
) -> list[Any]:
    """The last state of one op; what a step gives back as it was given is a constant of it."""
    arguments = [argument_of(v) for v in state]
    places = unchanged(body, len(state))
    fixed, carried = [state[place] for place in places], without(state, places)
    results = ops.while_(
        *ask.captured,
        *fixed,
        *body.captured,
        *fixed,
        *carried,
        condition=constants_first(scope, ask, arguments, places, returns_fixed=True),
        body=constants_first(scope, body, arguments, places),
        condition_constants=len(ask.captured) + len(fixed),
        body_constants=len(body.captured) + len(fixed),
        saved_states=states_of(carried) or 0,
    )
    return with_unchanged(results, state, places)


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    checkpoint_every: int | str | None = None,
    memory_budget: int | None = None,
    saved_states: int | None = None,
) -> Any:
    """`val = init_val; for i in range(lower, upper): val = body_fun(i, val); val`.

    With bounds that are integers or sizes of arrays it is a scan and differentiable in both modes; with
    traced bounds a while loop, which takes `memory_budget` or `saved_states` to be differentiable in reverse
    mode. The options are theirs. The index is weakly typed, unless the bounds are traced arrays both.
    """
    saving = CheckpointOptions("fori_loop", checkpoint_every, memory_budget, saved_states)
    is_weak = (
        type(lower) is int or type(upper) is int or not any(isinstance(b, Tracer) for b in (lower, upper))
    )
    lower, upper = _known_bound(lower), _known_bound(upper)
    are_known = not isinstance(lower, Dim) and not isinstance(upper, Dim)
    known = (int, np.integer) if memory_budget or saved_states else (int, np.integer, Dim)
    if isinstance(lower, known) and isinstance(upper, known):
        steps, indices = _indices(lower, upper)
        if isinstance(steps, Dim) and unroll not in (None, False) and (unroll is True or unroll != 1):
            raise ArgumentError(
                "fori_loop: unroll needs static bounds",
                where=user_location_text(),
                hint=f"the number of steps is {steps}: give Python integers as bounds",
            )
        step = _indexed(body_fun, are_known)
        width = 1 if unroll is None else unroll
        return scanned("fori_loop", step, init_val, indices, steps, False, width, saving)[0]
    return _counted_while(lower, upper, body_fun, init_val, unroll, saving, is_weak=is_weak)


def _counted_while(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    unroll: int | bool | None,
    saving: CheckpointOptions,
    *,
    is_weak: bool,
) -> Any:
    """`fori_loop` with traced bounds: a while loop that counts."""
    first, last = scalar(lower, "the lower bound of fori_loop"), scalar(upper, "the upper bound of fori_loop")
    for value, what in ((first, "lower"), (last, "upper")):
        if value.dtype not in INTEGERS:
            raise ArgumentTypeError(
                f"the {what} bound of fori_loop is {ops.type_of(value)}, expected a 0-d integer",
                where=user_location_text(),
            )
    unroll = None if unroll is False or (unroll == 1 and unroll is not True) else unroll
    if unroll is not None or saving.every is not None:
        raise ArgumentError(
            f"fori_loop: {'unroll' if unroll is not None else 'checkpoint_every'} needs static bounds",
            where=user_location_text(),
            hint="give Python integers as bounds, or memory_budget in place of checkpoint_every",
        )
    strong = [v.dtype for v in (first, last) if not v.weak_type] or [first.dtype]
    dtype = max(strong, key=lambda d: d.itemsize)
    start, end = as_value(first, dtype), as_value(last, dtype)
    if isinstance(start, Array):
        start = Array(start.numpy())  # an array of the user's stays as it is typed

    def keep_going(state: Any) -> Any:
        return state[0] < end

    def advance(state: Any) -> Any:
        i, val = state
        after = i + 1
        return after, body_fun(as_weak(i) if is_weak else i, val)

    return repeated_while("fori_loop", keep_going, advance, (start, init_val), None, saving)[1]


def _known_bound(bound: Any) -> Any:
    """A traced bound as the integer that it is outside `jit`."""
    known = known_value(bound)
    return int(known) if known is not None and known.dtype in INTEGERS and known.ndim == 0 else bound


def _indices(lower: Any, upper: Any) -> tuple[int | Dim, Any]:
    """How many indices there are from `lower` to `upper`, and an array of them."""
    if not isinstance(lower, Dim) and not isinstance(upper, Dim):
        steps = max(int(upper) - int(lower), 0)
        return steps, _counted(int(lower), steps)
    size = maximum(upper - lower, 0)
    return size, ops.iota(shape=(size,), axis=0, dtype=integral()) + as_value(lower, integral())


def _counted(lower: int, steps: int) -> Any:
    """`lower, lower + 1, ...`: a constant, unless it starts at 0."""
    if lower == 0:
        return ops.iota(shape=(steps,), axis=0, dtype=integral())
    with located():
        require_possible("fori_loop", [TensorType((steps,), integral())])
    return as_value(np.arange(lower, lower + steps, dtype=integral()))


def _indexed(body_fun: Callable[[Any, Any], Any], is_weak: bool) -> Callable[[Any, Any], Any]:
    """`body_fun` as a step of a scan over indices, which are Python integers to it if `is_weak`: an index
    never widens an array of integers."""

    def step(val: Any, i: Any) -> Any:
        return body_fun(as_weak(i) if is_weak else i, val), None

    step.__name__ = function_name(body_fun)
    return step


def _eager_while(
    name: str,
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    val: Any,
    bound: int | None,
) -> Any:
    steps, structure = 0, tree.structure(val)
    while left := bool(_truth(cond_fun(val))):
        if steps == bound:
            break
        after = settled_result(body_fun(val), structure, tree.leaves(val))
        if steps == 0:
            check_eager_carry(name, "body_fun", val, after)
        val, steps = after, steps + 1
    if bound is not None:
        _check_done(as_value(left), bound)
    return val


def _bounded_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    start: Any,
    max_steps: int,
    saving: CheckpointOptions,
) -> Any:
    """A scan of `max_steps` steps, of which those after the end keep the state.

    In a batch every step runs the body for all elements. A finished one gets the last state that was not,
    where the body is defined: else its derivative could be infinite there, and 0 times that is NaN.
    """

    def step(pair: Any, _: Any) -> Any:
        val, live = pair
        left = _truth(cond_fun(val))
        live = tree.map(lambda v, other: selected(left, v, stop_gradient(other)), val, live)
        return (cond(left, body_fun, lambda _: val, live), live), None

    val = scan(step, (start, start), None, length=max_steps, **saving.options)[0][0]
    _check_done(_truth(cond_fun(val)), max_steps)
    return val


def _check_done(left: Any, max_steps: int) -> None:
    """Stop the program where a loop is not done: what it has is no result."""
    file, line = user_location()
    # Not the folder: a program must not depend on where its source lies.
    place = f"{Path(file).name}:{line}"
    ops.check(
        ops.not_(left),
        message=f"while_loop at {place}: the condition still holds after max_steps={max_steps} steps; "
        "give it a larger max_steps",
    )


def _truth(value: Any) -> Any:
    """What `cond_fun` returns as one 0-d bool."""
    leaves = [as_value(leaf) for leaf in tree.leaves(value)]
    if len(leaves) != 1 or leaves[0].ndim != 0 or tree.structure(value) != tree.structure(0):
        types = [ops.type_of(v) for v in leaves]
        raise ArgumentTypeError(
            f"cond_fun of while_loop returns {typed_tree(tree.structure(value), types)}, "
            "expected one 0-d bool",
            where=user_location_text(),
            hint="reduce it (.all(), .any()), or map over the loop with adze.vmap",
        )
    if leaves[0].dtype != BOOL:
        raise ArgumentTypeError(
            f"cond_fun of while_loop returns {ops.type_of(leaves[0])}, expected one 0-d bool",
            where=user_location_text(),
            hint="compare it: `!= 0` is true of all numbers but zero",
        )
    return leaves[0]
