"""`scan` and `map`: one function over the leading axis of arrays, with a carry or without.

Input: a function of a carry and a slice, an initial carry, arrays. Output: the last carry, and the stacked
ys.

Idea: the function is traced once and recorded as the body of one `adze.scan`. Unrolling and checkpointing
group the steps: an outer scan over groups, each of which runs its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..errors import ArgumentError, ShapeError, TraceError
from ..tracing.frames import JIT_DISABLED, Tracer, current_frame
from ..tracing.function_scope import (
    FunctionScope,
    PrivateFunction,
    argument_of,
    keep_dimensions,
    named_sizes,
    resumes_trace,
)
from ..tracing.interpreter import as_value, ops, stack
from ..tracing.locations import user_location_text
from ..tracing.references import any_alive
from ..tracing.sizes import Dim
from ..tracing.trace import function_name, trace_program
from ..tracing.varying import axes_of_value
from ..transforms.checkpoints import checkpoint
from ..transforms.vmap import vmap
from .carries import (
    check_carried_sizes,
    check_carry,
    check_eager_carry,
    constants_first,
    grown,
    integer,
    marked,
    settled_result,
    settled_start,
    slice_argument,
    strengthened,
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
from .reference_carries import hold, scan_step, touched, values_of

Step = Callable[[Any, Any], tuple[Any, Any]]


def scan(
    f: Step,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    *,
    checkpoint_every: int | str | None = None,
    memory_budget: int | None = None,
    saved_states: int | None = None,
) -> tuple[Any, Any]:
    """`carry, ys[t] = f(carry, xs[t])` for each slice of the leading axis; the last carry, and `ys` stacked.

    `xs` is a tree of arrays of one leading size, or None with `length`. The carry keeps its tree, shapes
    and dtypes. `reverse` runs from the end. `unroll` repeats the body in one step of the loop (small bodies
    are repeated without being asked); True or 0 stand for all steps, which leaves no loop.
    `_split_transpose` of JAX changes nothing.

    What the backward pass keeps is what each step saves, or with one of these less:

    - `checkpoint_every=k`: the carry of every k-th step; the steps between are computed again, k at a time.
      `"sqrt"` takes the square root of the length.
    - `memory_budget` bytes of carries, or `saved_states` carries: groups within groups of steps, at as few
      levels as that allows; each level computes its steps once more.
    """
    saving = CheckpointOptions("scan", checkpoint_every, memory_budget, saved_states)
    return scanned("scan", f, init, xs, length, reverse, unroll, saving)


@resumes_trace
def scanned(
    name: str, f: Step, init: Any, xs: Any, length: Any, reverse: Any, unroll: Any, saving: CheckpointOptions
) -> tuple[Any, Any]:
    """The scan that the user calls `name`."""
    leaves, structure = tree.flatten(tree.before_slicing(xs, 0))
    arrays = [as_value(leaf) for leaf in leaves]
    steps = _length(name, arrays, tree.paths(structure), length)
    width = _width(name, unroll, steps)
    if not isinstance(reverse, (bool, np.bool_)):
        raise ArgumentError(
            f"{name}: reverse is {reverse!r}, expected True or False, known while tracing",
            where=user_location_text(),
        )
    if any_alive() and not (isinstance(steps, int) and steps == 0):
        refs = touched([(f, (init, tree.unflatten(structure, [x[0] for x in arrays])))])
        if refs:
            start = (init, values_of(refs))
            step = scan_step(f, refs)
            (last, values), ys = scanned(name, step, start, xs, length, reverse, unroll, saving)
            hold(refs, values)
            return last, ys
    loop = _Scan(name, f, structure, steps, bool(reverse))

    def record(operands: Any) -> tuple[Any, Any]:
        start, columns = operands
        groups = saving.groups(steps, [as_value(v) for v in tree.leaves(start)])
        if groups:
            return loop.checkpointed(start, columns, groups)
        if isinstance(steps, int) and width > 1 and steps > 1:
            return _Grouped(loop, min(width, steps)).unrolled(start, columns)
        return loop.recorded(start, columns)

    if current_frame() is not None:
        return record((init, arrays))
    options, operands = (name, int(steps), width, loop.reverse, saving.key), (init, arrays)
    if not JIT_DISABLED.get():
        results = evaluated(options, (f,), operands, record)
        if results is not UNTRACEABLE:
            return results
    known = checked(options, (f,), operands, record)
    return loop.eager(settled_start(init, known and known.types), arrays)


def _stacked(rows: Sequence[Any]) -> Any:
    """What steps returned, leaf by leaf in the tree of the first of them.

    Static data of nodes may differ (a counter in a name): where a loop is recorded there is one step alone.
    """
    first, structure = tree.flatten(rows[0])
    columns = [first, *(tree.leaves(row) for row in rows[1:])]
    if any(len(column) != len(first) for column in columns):
        return tree.map(lambda *ys: stack(ys), *rows)  # raises, and shows both trees
    return tree.unflatten(structure, [stack(ys) for ys in zip(*columns, strict=True)])


def _width(name: str, unroll: Any, steps: Any) -> int:
    """How often the body is repeated in one step of the loop: True or 0 stand for every time."""
    if isinstance(unroll, (bool, np.bool_)) or (isinstance(unroll, int) and unroll == 0):
        if unroll is False or unroll is np.False_:
            return 1
        if not isinstance(steps, int):
            raise ArgumentError(
                f"{name}: unroll={unroll!r} repeats the body for all steps, whose number is {steps}",
                where=user_location_text(),
                hint="give a number of steps, or a static length",
            )
        return max(steps, 1)
    return integer(unroll, f"{name}: unroll", 0)


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` applied to each slice of the leading axis, one by one; with `batch_size` so many at once."""
    leaves, structure = tree.flatten(tree.before_slicing(xs, 0))
    if batch_size is None:
        return scanned("map", _without_carry(f), None, xs, None, False, 1, CheckpointOptions("map"))[1]
    width = integer(batch_size, "map: batch_size", 1)
    arrays = [as_value(leaf) for leaf in leaves]
    steps = _length("map", arrays, tree.paths(structure), None)
    whole = steps // width * width
    parts = []
    if not isinstance(whole, int) or whole:
        grouped = [_grouped(_rows(x, 0, whole), width) for x in arrays]
        groups, step = tree.unflatten(structure, grouped), _without_carry(vmap(f))
        ys = scanned("map", step, None, groups, None, False, 1, CheckpointOptions("map"))[1]
        parts.append(tree.map(_flat, ys))
    if not isinstance(whole, int) or whole != steps or not whole:
        rest = [_rows(x, whole, steps) for x in arrays]
        parts.append(vmap(f)(tree.unflatten(structure, rest)))
    return parts[0] if len(parts) == 1 else tree.map(lambda a, b: _joined(a, b, steps), *parts)


def _length(name: str, arrays: Sequence[Any], paths: Sequence[str], length: Any) -> Any:
    for x, path in zip(arrays, paths, strict=True):
        if x.ndim == 0:
            raise ShapeError(
                f"{name} scans over the leading axis of xs{path}, which is {ops.type_of(x)}",
                where=user_location_text(),
            )
    sizes: list[tuple[str, Any]] = []
    if length is not None:
        known = length if isinstance(length, Dim) else integer(length, f"{name}: length", 0)
        sizes.append(("length", known))
    sizes += [(f"xs{path}", x.shape[0]) for x, path in zip(arrays, paths, strict=True)]
    if not sizes:
        raise ArgumentError(f"{name} without xs needs a length", where=user_location_text())
    static = [(what, n) for what, n in sizes if isinstance(n, (int, np.integer))]
    if len({int(n) for _, n in static}) > 1:
        listed = ", ".join(f"{what} has {n}" for what, n in static)
        raise ShapeError(f"{name}: numbers of steps differ: {listed}", where=user_location_text())
    return int(static[0][1]) if static else sizes[0][1]


class _Scan:
    """One function over the leading axis of arrays; `name` is what the user called."""

    def __init__(self, name: str, f: Step, structure: Any, steps: Any, reverse: bool) -> None:
        self.name = name
        self.f = f
        self.structure = structure
        self.steps = steps
        self.reverse = reverse

    def of(self, steps: Any) -> _Scan:
        """The same over another number of steps."""
        return _Scan(self.name, self.f, self.structure, steps, self.reverse)

    def step(self, carry: Any, slices: Sequence[Any]) -> tuple[Any, Any]:
        """One step, from the slices of the arrays."""
        pair = self.f(carry, tree.unflatten(self.structure, slices))
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            return pair[0], tree.before_stacking(pair[1], 0)
        raise TraceError(
            f"the function of {self.name} must return a pair (carry, y), {function_name(self.f)} returns "
            f"{tree.describe(tree.structure(pair))}",
            where=user_location_text(),
            hint="write return carry, y, with None for y where nothing is stacked",
        )

    def recorded(self, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """One op."""
        leaves, structure = tree.flatten(init)
        state = [as_value(leaf) for leaf in leaves]
        slices = [slice_argument(x) for x in arrays]
        scope = FunctionScope()

        def step(leaves: Sequence[Any]) -> Any:
            carry = tree.unflatten(structure, leaves[: len(state)])
            next_carry, y = self.step(carry, leaves[len(state) :])
            next_carry = settled_result(next_carry, structure, state)
            return with_checked_sizes(self.name, leaves[: len(state)], next_carry), y

        def traced() -> tuple[PrivateFunction, Any, Any, int]:
            arguments = [*(argument_of(v) for v in state), *slices]
            wanted = [axes_of_value(v) for v in state]
            body = scope.trace(function_name(self.f), step, arguments, result_axes=wanted)
            return body, *_pair_trees(body)

        body, carry_tree, y_tree, count = traced()
        while carry_tree == structure and (wider := widened(state, body.result_types[:count])):
            state = wider
            body, carry_tree, y_tree, count = traced()
        while carry_tree == structure and (strong := strengthened(state, body.weak_results[:count])):
            state = strong
            body, carry_tree, y_tree, count = traced()
        while carry_tree == structure and (varying := grown(state, body.result_axes)):
            state = varying
            body, carry_tree, y_tree, count = traced()
        carry_types = body.result_types[:count]
        check_carry(self.name, function_name(self.f), structure, state, carry_tree, carry_types)
        check_carried_sizes(self.name, function_name(self.f), structure, state, body)
        static = self.steps if isinstance(self.steps, int) else None
        columns = [t.with_shape((static, *t.shape)) for t in body.result_types[count:]]
        fixed = unchanged(body, count)
        computed = ops.scan(
            *body.captured,
            *(state[place] for place in fixed),
            *without(state, fixed),
            *arrays,
            body=constants_first(scope, body, [*(argument_of(v) for v in state), *slices], fixed),
            constant_count=len(body.captured) + len(fixed),
            carry_count=len(state) - len(fixed),
            length=(self.steps,),
            reverse=self.reverse,
            results=(*without(carry_types, fixed), *columns),
        )
        results = with_unchanged(computed, state, fixed)
        with_carried_sizes(results, state, body)
        sizes = named_sizes([*arrays, *body.captured])
        for y, names in zip(results[count:], body.result_names[count:], strict=True):
            if isinstance(y, Tracer) and not y.type.is_static:
                own = [sizes.get(name or "", n) for name, n in zip(names, y.shape[1:], strict=False)]
                keep_dimensions(y, (self.steps, *(own or y.shape[1:])))
        are_weak = [*weak_carry(state, body.weak_results), *body.weak_results[count:]]
        typed = marked(results, are_weak)
        return tree.unflatten(structure, typed[:count]), tree.unflatten(y_tree, typed[count:])

    def checkpointed(self, init: Any, arrays: Sequence[Any], groups: Sequence[int]) -> tuple[Any, Any]:
        """The backward pass keeps the carries before groups of steps."""
        groups = [n for n in groups if not isinstance(self.steps, int) or n < self.steps]
        if not groups:
            return self.recorded(init, arrays)
        if groups[0] == 1:
            again = _Scan(self.name, checkpoint(self.f), self.structure, self.steps, self.reverse)
            return again.recorded(init, arrays)
        return _Grouped(self, groups[0]).checkpointed(init, arrays, groups[1:])

    def eager(self, carry: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Step by step, by Python."""
        rows = []
        order = range(self.steps)
        for count, t in enumerate(reversed(order) if self.reverse else order):
            after, y = self.step(carry, [x[t] for x in arrays])
            after = settled_result(after, tree.structure(carry), [as_value(v) for v in tree.leaves(carry)])
            if count == 0:
                check_eager_carry(self.name, function_name(self.f), carry, after)
            carry = after
            rows.append(y)
        if self.reverse:
            rows.reverse()
        if rows:
            return carry, _stacked(rows)
        return carry, self._nothing(carry, arrays)

    def _nothing(self, carry: Any, arrays: Sequence[Any]) -> Any:
        """What no step returns: its types are those of one step."""
        slices = [ops.full(0, x.shape[1:], x.dtype) for x in arrays]
        traced = trace_program(self.step, (carry, slices), {})
        kinds = traced.result_types[len(tree.leaves(carry)) :]
        pair = tree.unflatten(traced.result_tree, range(len(traced.result_types)))
        empty = [as_value(np.zeros((0, *t.shape), t.dtype)) for t in kinds]
        return tree.unflatten(tree.structure(pair[1]), empty)


def _pair_trees(body: PrivateFunction) -> tuple[Any, Any, int]:
    """The trees of carry and result of a traced step, and the number of leaves of the carry."""
    pair = tree.unflatten(body.result_tree, range(body.result_tree.num_leaves))
    carry, y = pair
    return tree.structure(carry), tree.structure(y), len(tree.leaves(carry))


def _without_carry(f: Callable[[Any], Any]) -> Step:
    def step(_: Any, x: Any) -> Any:
        return None, f(x)

    step.__name__ = function_name(f)
    return step


class _Grouped:
    """A scan whose steps are taken `width` at a time, and the rest one by one."""

    def __init__(self, whole: _Scan, width: int) -> None:
        self.whole = whole
        self.steps = whole.steps
        self.reverse = whole.reverse
        self.width = width

    def checkpointed(self, init: Any, arrays: Sequence[Any], inner: Sequence[int]) -> tuple[Any, Any]:
        """Only the carry between groups is kept for the backward pass, which computes each group again."""

        def part(steps: Any) -> Any:
            return lambda carry, xs: self.whole.of(steps).checkpointed(carry, xs, inner)

        rest = part(self._rest)
        return self._run(checkpoint(part(self.width)), checkpoint(rest) if inner else rest, init, arrays)

    def unrolled(self, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """The body repeated in one step of the loop."""

        def group(carry: Any, part: Sequence[Any]) -> Any:
            rows = []
            for t in reversed(range(self.width)) if self.reverse else range(self.width):
                carry, y = self.whole.step(carry, [x[t] for x in part])
                rows.append(y)
            if self.reverse:
                rows.reverse()
            return carry, tree.map(lambda *ys: stack(ys), *rows)

        group.__name__ = function_name(self.whole.f)
        if self.width == self.steps:
            return self._written_out(group, init, arrays)
        return self._run(group, self.whole.of(self._rest).recorded, init, arrays)

    def _written_out(self, group: Any, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """All steps, without a loop around them."""
        leaves, structure = tree.flatten(init)
        state = [as_value(leaf) for leaf in leaves]
        carry, ys = group(tree.unflatten(structure, state), arrays)
        carry = settled_result(carry, structure, state)
        check_eager_carry(self.whole.name, function_name(self.whole.f), init, carry)
        return carry, ys

    @property
    def _rest(self) -> Any:
        """How many steps are in no group."""
        return self.steps - self.steps // self.width * self.width

    def _run(self, group: Any, rest_of: Any, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """`group` over whole groups, and `rest_of` over what is left, in the order of the steps."""
        whole = self.steps // self.width * self.width

        def main(carry: Any) -> tuple[Any, Any]:
            parts = [_grouped(_rows(x, 0, whole), self.width) for x in arrays]
            count = self.steps // self.width
            groups = _Scan(self.whole.name, group, tree.structure(parts), count, self.reverse)
            carry, ys = groups.recorded(carry, parts)
            return carry, tree.map(_flat, ys)

        def tail(carry: Any) -> tuple[Any, Any]:
            return rest_of(carry, [_rows(x, whole, self.steps) for x in arrays])

        if isinstance(whole, int) and whole == self.steps:
            return main(init)
        if self.reverse:
            carry, late = tail(init)
            carry, early = main(carry)
        else:
            carry, early = main(init)
            carry, late = tail(carry)
        return carry, tree.map(lambda a, b: _joined(a, b, self.steps), early, late)


def _rows(x: Any, start: int, stop: int) -> Any:
    starts, limits = [start, *[0] * (x.ndim - 1)], [stop, *x.shape[1:]]
    return ops.slice(x, start=tuple(starts), limit=tuple(limits), strides=(1,) * x.ndim)


def _joined(early: Any, late: Any, steps: Any) -> Any:
    """Rows of `steps` steps, of which some came from whole groups."""
    joined = ops.concatenate(early, late, axis=0)
    return keep_dimensions(joined, (steps, *joined.shape[1:]))


def _grouped(x: Any, width: int) -> Any:
    """The leading axis in groups of `width`."""
    return ops.reshape(x, shape=(x.shape[0] // width, width, *x.shape[1:]))


def _flat(y: Any) -> Any:
    """The inverse of `_grouped`."""
    return ops.reshape(y, shape=(y.shape[0] * y.shape[1], *y.shape[2:]))
