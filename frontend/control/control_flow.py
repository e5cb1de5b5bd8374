"""Control flow as users write it: cond, switch, while_loop, fori_loop; scan, map, associative_scan beside.

Each traces its functions as private functions and records one op that refers to them. Outside a trace, Python
itself is the control flow: the functions run eagerly, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import BOOL, INTEGERS
from .. import namespace as xp
from .. import tree
from ..errors import ArgumentError, TraceError
from ..tracing.frames import capture_key, current_frame
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.nested import Nested, Workshop, argument_of
from ..tracing.trace import function_name
from ..transforms.checkpoints import stop_gradient
from .carries import (
    check_carry,
    check_eager_carry,
    constants_first,
    integer,
    scalar,
    sequence,
    settled_result,
    typed_tree,
    widened,
    yields_to,
)
from .prefix_scan import associative_scan as associative_scan
from .scans import map as map
from .scans import scan as scan

_INT32 = np.dtype(np.int32)


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """`true_fun(*operands)` where the 0-d `pred` is true, else `false_fun(*operands)`.

    Only the chosen branch runs. Both must give the same tree, shapes and dtypes; a Python number takes the
    dtype of the other branch. Under `vmap` with a batched `pred` both run and results are selected; where
    one branch is costly, `adze.map` in place of `vmap` keeps the choice.
    """
    predicate = scalar(pred, "the predicate of cond")
    if current_frame() is None:
        return (true_fun if bool(predicate) else false_fun)(*operands)
    index = ops.convert(_is_true(predicate), dtype=_INT32)
    return _Branches("cond", (false_fun, true_fun), ("false_fun", "true_fun"), operands).record(index)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`, the 0-d integer `index` clamped to the branches there are."""
    if not branches:
        raise ArgumentError("switch needs at least one branch", where=user_location_text())
    value = scalar(index, "the index of switch")
    if value.dtype not in INTEGERS:
        raise ArgumentError(
            f"the index of switch is {ops.type_of(value)}, expected a 0-d integer",
            where=user_location_text(),
            hint="give an integer array, or .astype('int32')",
        )
    if current_frame() is None:
        return branches[min(max(int(value), 0), len(branches) - 1)](*operands)
    roles = [f"branches[{i}]" for i in range(len(branches))]
    # Clamped before it is narrowed: a large int64 must not wrap around.
    last = as_value(len(branches) - 1, value.dtype)
    clamped = ops.clamp(as_value(0, value.dtype), value, last)
    return _Branches("switch", tuple(branches), roles, operands).record(ops.convert(clamped, dtype=_INT32))


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
    checkpoint_every: int | None = None,
) -> Any:
    """`val = init_val; while cond_fun(val): val = body_fun(val); val`, with a state of fixed types.

    Differentiable in forward mode; in reverse mode with `max_steps`, an upper bound on the number of steps
    at which the loop stops in any case: it becomes a scan whose finished steps do nothing.
    `checkpoint_every=k` then saves the state of every k-th step only and computes those between again.
    """
    bound = None if max_steps is None else integer(max_steps, "while_loop: max_steps", 0)
    if checkpoint_every is not None and bound is None:
        raise ArgumentError("while_loop: checkpoint_every needs max_steps", where=user_location_text())
    if current_frame() is None:
        return _eager_while(cond_fun, body_fun, init_val, bound)
    if bound is not None:
        return _bounded_loop(cond_fun, body_fun, init_val, bound, checkpoint_every)
    leaves, structure = tree.flatten(init_val)
    state = [as_value(leaf) for leaf in leaves]
    shop = Workshop()

    def step(xs: Sequence[Any]) -> Any:
        return settled_result(body_fun(tree.unflatten(structure, xs)), structure, state)

    def traced() -> Nested:
        return shop.nested("body", step, [argument_of(v) for v in state])

    body = traced()
    if body.result_tree == structure and any(v.weak_type for v in state):
        settled = [widened(v, t) for v, t in zip(state, body.result_types, strict=True)]
        if any(w is not v for w, v in zip(settled, state, strict=True)):
            state = settled
            body = traced()
    check_carry("while_loop", "body_fun", structure, state, body.result_tree, body.result_types)
    arguments = [argument_of(v) for v in state]
    ask = shop.nested("condition", lambda xs: _truth(cond_fun(tree.unflatten(structure, xs))), arguments)
    ask_first, body_first = constants_first(shop, ask, arguments), constants_first(shop, body, arguments)
    results = ops.while_(
        *ask.captured,
        *body.captured,
        *state,
        condition=ask_first,
        body=body_first,
        condition_constants=len(ask.captured),
        body_constants=len(body.captured),
    )
    return tree.unflatten(structure, sequence(results))


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """`val = init_val; for i in range(lower, upper): val = body_fun(i, val); val`.

    With static bounds it is a scan and differentiable in both modes; with traced bounds a while loop.
    """
    if isinstance(lower, (int, np.integer)) and isinstance(upper, (int, np.integer)):
        steps = max(int(upper) - int(lower), 0)
        indices = xp.arange(int(lower), int(lower) + steps)
        return scan(_indexed(body_fun), init_val, indices, length=steps)[0]
    first, last = scalar(lower, "the lower bound of fori_loop"), scalar(upper, "the upper bound of fori_loop")
    for value, what in ((first, "lower"), (last, "upper")):
        if value.dtype not in INTEGERS:
            raise ArgumentError(
                f"the {what} bound of fori_loop is {ops.type_of(value)}, expected a 0-d integer",
                where=user_location_text(),
            )
    strong = [v.dtype for v in (first, last) if not v.weak_type] or [first.dtype]
    dtype = max(strong, key=lambda d: d.itemsize)

    def keep_going(state: Any) -> Any:
        return state[0] < state[1]

    def step(state: Any) -> Any:
        i, end, val = state
        return i + 1, end, body_fun(i, val)

    return while_loop(keep_going, step, (as_value(first, dtype), as_value(last, dtype), init_val))[2]


# -- loops -------------------------------------------------------------------------------------------


def _indexed(body_fun: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def step(val: Any, i: Any) -> Any:
        return body_fun(i, val), None

    step.__name__ = function_name(body_fun)
    return step


def _eager_while(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, bound: int | None
) -> Any:
    val, steps = tree.map(as_value, init_val), 0
    structure = tree.structure(val)
    while (bound is None or steps < bound) and bool(_truth(cond_fun(val))):
        found = settled_result(body_fun(val), structure, tree.leaves(val))
        if steps == 0:
            check_eager_carry("while_loop", "body_fun", val, found)
        val, steps = found, steps + 1
    return val


def _bounded_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    max_steps: int,
    checkpoint_every: int | None,
) -> Any:
    """A scan of `max_steps` steps, of which those after the end keep the state.

    In a batch every step runs the body for all elements. A finished one gets the last state that was not,
    where the body is defined: else its derivative could be infinite there, and 0 times that is NaN.
    """

    def step(pair: Any, _: Any) -> Any:
        val, live = pair
        left = _truth(cond_fun(val))
        live = tree.map(lambda v, other: xp.where(left, v, stop_gradient(other)), val, live)
        return (cond(left, body_fun, lambda _: val, live), live), None

    start = tree.map(as_value, init_val)
    return scan(step, (start, start), None, length=max_steps, checkpoint_every=checkpoint_every)[0][0]


def _truth(found: Any) -> Any:
    """What `cond_fun` gives as one 0-d bool."""
    leaves = [as_value(leaf) for leaf in tree.leaves(found)]
    if len(leaves) != 1 or leaves[0].ndim != 0 or tree.structure(found) != tree.structure(0):
        types = [ops.type_of(v) for v in leaves]
        raise ArgumentError(
            f"cond_fun of while_loop gives {typed_tree(tree.structure(found), types)}, expected one 0-d bool",
            where=user_location_text(),
            hint="reduce it (.all(), .any()), or map over the loop with adze.vmap",
        )
    return _is_true(leaves[0])


def _is_true(value: Any) -> Any:
    return value if value.dtype == BOOL else ops.compare(value, ops.zeros_like(value), direction="NE")


# -- branches ----------------------------------------------------------------------------------------


class _Branches:
    """Functions of the same operands that give the same types, one of which will run."""

    def __init__(
        self,
        name: str,
        functions: Sequence[Callable[..., Any]],
        roles: Sequence[str],
        operands: Sequence[Any],
    ) -> None:
        self.name = name
        self.functions = functions
        self.roles = roles
        leaves, self.structure = tree.flatten(tuple(operands))
        self.values = [as_value(leaf) for leaf in leaves]
        self.arguments = [argument_of(v) for v in self.values]
        self.dtypes: list[np.dtype] | None = None
        self.leaves: list[list[Any]] = [[] for _ in functions]
        self.shop = Workshop()

    def record(self, index: Any) -> Any:
        """The results of the branch that `index` chooses."""
        made = self._traced([])
        if self._must_settle(made):
            made = self._traced([])
        self._check(made)
        captured = list({capture_key(v): v for m in made for v in m.captured}.values())
        if captured:
            made = self._traced(captured)
        results = ops.cond(
            index,
            *self.values,
            *captured,
            branches=[m.symbol for m in made],
            results=made[0].result_types,
        )
        return tree.unflatten(made[0].result_tree, sequence(results))

    def _traced(self, captured: Sequence[Any]) -> list[Nested]:
        """Every branch as a function of the operands and of what any branch captures."""
        count = len(self.arguments)
        arguments = [*self.arguments, *(argument_of(v) for v in captured)]
        bound = {count + i: v for i, v in enumerate(captured)}

        def call(position: int) -> Callable[[Sequence[Any]], Any]:
            return lambda found: self._call(position, found[:count])

        return [
            self.shop.nested(function_name(f), call(position), arguments, bound)
            for position, f in enumerate(self.functions)
        ]

    def _call(self, position: int, operands: Sequence[Any]) -> Any:
        found = self.functions[position](*tree.unflatten(self.structure, operands))
        leaves, structure = tree.flatten(found)
        values = [as_value(leaf) for leaf in leaves]
        if self.dtypes is not None:
            values = [as_value(v, dtype) for v, dtype in zip(values, self.dtypes, strict=True)]
        self.leaves[position] = values
        return tree.unflatten(structure, values)

    def _must_settle(self, made: Sequence[Nested]) -> bool:
        """Whether Python numbers can take the dtypes of other branches; `dtypes` says which then."""
        if len({m.result_tree for m in made}) > 1 or len({m.result_types for m in made}) == 1:
            return False
        wanted = []
        for column in zip(*self.leaves, strict=True):
            strong = {v.dtype for v in column if not v.weak_type}
            strongest = max((v.dtype for v in column), key=lambda d: "biufVc".index(d.kind))
            dtype = strong.pop() if len(strong) == 1 else strongest
            if strong or not all(v.dtype == dtype or yields_to(v, dtype) for v in column):
                return False
            wanted.append(dtype)
        self.dtypes = wanted
        return True

    def _check(self, made: Sequence[Nested]) -> None:
        texts = [typed_tree(m.result_tree, m.result_types) for m in made]
        first = made[0]
        if all(m.result_tree == first.result_tree and m.result_types == first.result_types for m in made):
            return
        order = reversed(range(len(made))) if self.name == "cond" else range(len(made))
        width = max(len(role) for role in self.roles)
        listed = "".join(f"\n    {self.roles[i]:{width}} gives {texts[i]}" for i in order)
        raise TraceError(
            f"the branches of {self.name} differ:{listed}",
            where=user_location_text(),
            hint="give all of them the same tree, shapes and dtypes (.astype)",
        )
