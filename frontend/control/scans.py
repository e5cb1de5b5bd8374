"""`scan` and `map`: one function over the leading axis of arrays, with a state or without.

The function is traced once and recorded as the body of one `adze.scan`. Unrolling and checkpointing group
the steps: an outer scan over groups, and inside the steps of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import namespace as xp
from .. import tree
from ..errors import ArgumentError, ShapeError, TraceError
from ..tracing.frames import current_frame
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.nested import Nested, Workshop, argument_of, keep_dimensions
from ..tracing.sizes import Dim
from ..tracing.trace import function_name, trace_program
from ..transforms.checkpoints import checkpoint
from .carries import (
    check_carry,
    check_eager_carry,
    constants_first,
    integer,
    sequence,
    settled_result,
    settled_start,
    slice_argument,
    widened,
)
from .saving import Saving

Step = Callable[[Any, Any], tuple[Any, Any]]


def scan(
    f: Step,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
    *,
    checkpoint_every: int | str | None = None,
    memory_budget: int | None = None,
    saved_states: int | None = None,
) -> tuple[Any, Any]:
    """`carry, ys[t] = f(carry, xs[t])` for each slice of the leading axis; the last carry, and `ys` stacked.

    `xs` is a tree of arrays of one leading size, or None with `length`. The carry keeps its tree, shapes
    and dtypes. `reverse` runs from the end. `unroll` repeats the body in one step of the loop (small bodies
    are repeated without being asked).

    What the backward pass keeps is what each step saves, or with one of these less:

    - `checkpoint_every=k`: the carry of every k-th step; the steps between are computed again, k at a time.
      `"sqrt"` takes the square root of the length.
    - `memory_budget` bytes of carries, or `saved_states` carries: groups within groups of steps, at as few
      levels as that allows; each level computes its steps once more.
    """
    leaves, xs_structure = tree.flatten(xs)
    arrays = [as_value(leaf) for leaf in leaves]
    steps = _scan_length(arrays, tree.paths(xs_structure), length)
    width = integer(unroll, "scan: unroll", 1)
    if not isinstance(reverse, (bool, np.bool_)):
        raise ArgumentError(
            f"scan: reverse is {reverse!r}, expected True or False, known while tracing",
            where=user_location_text(),
        )
    saving = Saving("scan", checkpoint_every, memory_budget, saved_states)
    if current_frame() is None:
        return _eager_scan(f, init, arrays, xs_structure, int(steps), reverse)
    groups = saving.groups(steps, [as_value(v) for v in tree.leaves(init)])
    if groups:
        return _checkpointed(f, init, arrays, xs_structure, steps, reverse, groups)
    if isinstance(steps, int) and width > 1 and steps > 1:
        return _Grouped(f, xs_structure, steps, reverse, min(width, steps)).unrolled(init, arrays)
    return _recorded_scan(f, init, arrays, xs_structure, steps, reverse)


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` applied to each slice of the leading axis, one by one; with `batch_size` so many at once."""
    leaves, structure = tree.flatten(xs)
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    from ..transforms.batching import vmap

    width = integer(batch_size, "map: batch_size", 1)
    arrays = [as_value(leaf) for leaf in leaves]
    steps = _scan_length(arrays, tree.paths(structure), None)
    whole = steps // width * width
    parts = []
    if not isinstance(whole, int) or whole:
        grouped = [_grouped(_rows(x, 0, whole), width) for x in arrays]
        found = scan(lambda _, x: (None, vmap(f)(x)), None, tree.unflatten(structure, grouped))[1]
        parts.append(tree.map(_flat, found))
    if not isinstance(whole, int) or whole != steps or not whole:
        rest = [_rows(x, whole, steps) for x in arrays]
        parts.append(vmap(f)(tree.unflatten(structure, rest)))
    return parts[0] if len(parts) == 1 else tree.map(lambda a, b: _joined(a, b, steps), *parts)


def _checkpointed(
    f: Step,
    init: Any,
    arrays: Sequence[Any],
    structure: Any,
    steps: Any,
    reverse: bool,
    groups: Sequence[int],
) -> tuple[Any, Any]:
    """A scan of which the backward pass keeps the carries before groups of steps."""
    groups = [n for n in groups if not isinstance(steps, int) or n < steps]
    if not groups:
        return _recorded_scan(f, init, arrays, structure, steps, reverse)
    if groups[0] == 1:
        return _recorded_scan(checkpoint(f), init, arrays, structure, steps, reverse)
    return _Grouped(f, structure, steps, reverse, groups[0]).checkpointed(init, arrays, groups[1:])


def _recorded_scan(
    f: Step, init: Any, arrays: Sequence[Any], xs_structure: Any, steps: Any, reverse: bool
) -> tuple[Any, Any]:
    init_leaves, structure = tree.flatten(init)
    state = [as_value(leaf) for leaf in init_leaves]
    slices = [slice_argument(x) for x in arrays]
    shop = Workshop()

    def step(found: Sequence[Any]) -> Any:
        carry = tree.unflatten(structure, found[: len(state)])
        next_carry, y = _pair(f, f(carry, tree.unflatten(xs_structure, found[len(state) :])))
        return settled_result(next_carry, structure, state), y

    def traced() -> tuple[Nested, Any, Any, int]:
        body = shop.nested(function_name(f), step, [*(argument_of(v) for v in state), *slices])
        return body, *_pair_trees(body)

    body, carry_tree, y_tree, count = traced()
    while carry_tree == structure and (wider := widened(state, body.result_types[:count])):
        state = wider
        body, carry_tree, y_tree, count = traced()
    carry_types = body.result_types[:count]
    check_carry(loop_name(f), function_name(f), structure, state, carry_tree, carry_types)
    first = constants_first(shop, body, [*(argument_of(v) for v in state), *slices])
    static = steps if isinstance(steps, int) else None
    columns = [t.with_shape((static, *t.shape)) for t in body.result_types[count:]]
    results = sequence(
        ops.scan(
            *body.captured,
            *state,
            *arrays,
            body=first,
            constant_count=len(body.captured),
            carry_count=len(state),
            length=(steps,),
            reverse=reverse,
            results=(*carry_types, *columns),
        )
    )
    return tree.unflatten(structure, results[:count]), tree.unflatten(y_tree, results[count:])


def loop_name(f: Step) -> str:
    """What the user called to have `f` scanned: `scan`, or a loop that is made of it."""
    return str(getattr(f, "loop", "scan"))


def _pair(f: Step, found: Any) -> tuple[Any, Any]:
    if isinstance(found, (tuple, list)) and len(found) == 2:
        return found[0], found[1]
    raise TraceError(
        f"the function of scan must give a pair (carry, y), {function_name(f)} gives "
        f"{tree.describe(tree.structure(found))}",
        where=user_location_text(),
    )


def _pair_trees(body: Nested) -> tuple[Any, Any, int]:
    """The trees of carry and result of a traced step, and the number of leaves of the carry."""
    pair = tree.unflatten(body.result_tree, range(body.result_tree.num_leaves))
    carry, y = pair
    return tree.structure(carry), tree.structure(y), len(tree.leaves(carry))


def _scan_length(arrays: Sequence[Any], paths: Sequence[str], length: Any) -> Any:
    for x, path in zip(arrays, paths, strict=True):
        if x.ndim == 0:
            raise ShapeError(
                f"scan walks over the leading axis of xs{path}, which is {ops.type_of(x)}",
                where=user_location_text(),
            )
    sizes: list[tuple[str, Any]] = []
    if length is not None:
        known = length if isinstance(length, Dim) else integer(length, "scan: length", 0)
        sizes.append(("length", known))
    sizes += [(f"xs{path}", x.shape[0]) for x, path in zip(arrays, paths, strict=True)]
    if not sizes:
        raise ArgumentError("scan without xs needs a length", where=user_location_text())
    static = [(name, n) for name, n in sizes if isinstance(n, (int, np.integer))]
    if len({int(n) for _, n in static}) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in static)
        raise ShapeError(f"scan: numbers of steps differ: {listed}", where=user_location_text())
    return int(static[0][1]) if static else sizes[0][1]


def _eager_scan(
    f: Step, init: Any, arrays: Sequence[Any], structure: Any, steps: int, reverse: bool
) -> tuple[Any, Any]:
    slices = [xp.zeros(x.shape[1:], dtype=x.dtype) for x in arrays]
    carry = settled_start(init, f, (tree.unflatten(structure, slices),))
    rows = []
    for count, t in enumerate(reversed(range(steps)) if reverse else range(steps)):
        found, y = _pair(f, f(carry, tree.unflatten(structure, [x[t] for x in arrays])))
        found = settled_result(found, tree.structure(carry), [as_value(v) for v in tree.leaves(carry)])
        if count == 0:
            check_eager_carry(loop_name(f), function_name(f), carry, found)
        carry = found
        rows.append(y)
    if reverse:
        rows.reverse()
    if rows:
        return carry, tree.map(lambda *ys: xp.stack(ys), *rows)
    traced = trace_program(f, (carry, tree.unflatten(structure, slices)), {})
    kinds = traced.result_types[len(tree.leaves(init)) :]
    pair = tree.unflatten(traced.result_tree, range(len(traced.result_types)))
    empty = [as_value(np.zeros((0, *t.shape), t.dtype)) for t in kinds]
    return carry, tree.unflatten(tree.structure(pair[1]), empty)


class _Grouped:
    """A scan whose steps are taken `width` at a time, and the rest one by one."""

    def __init__(self, f: Step, structure: Any, steps: Any, reverse: bool, width: int) -> None:
        self.f = f
        self.structure = structure
        self.steps = steps
        self.reverse = reverse
        self.width = width

    def checkpointed(self, init: Any, arrays: Sequence[Any], inner: Sequence[int]) -> tuple[Any, Any]:
        """Only the carry between groups is kept for the backward pass, which computes each group again."""

        def part(steps: Any) -> Any:
            def run(carry: Any, xs: Sequence[Any]) -> Any:
                return _checkpointed(self.f, carry, xs, self.structure, steps, self.reverse, inner)

            return run

        rest = part(self._rest)
        return self._run(checkpoint(part(self.width)), checkpoint(rest) if inner else rest, init, arrays)

    def unrolled(self, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """The body repeated in one step of the loop."""

        def group(carry: Any, part: Sequence[Any]) -> Any:
            rows = []
            for t in reversed(range(self.width)) if self.reverse else range(self.width):
                carry, y = _pair(self.f, self.f(carry, tree.unflatten(self.structure, [x[t] for x in part])))
                rows.append(y)
            if self.reverse:
                rows.reverse()
            return carry, tree.map(lambda *ys: xp.stack(ys), *rows)

        group.__name__ = function_name(self.f)
        return self._run(group, self._one_by_one, init, arrays)

    @property
    def _rest(self) -> Any:
        """How many steps are in no group."""
        return self.steps - self.steps // self.width * self.width

    def _one_by_one(self, carry: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        return _recorded_scan(self.f, carry, arrays, self.structure, self._rest, self.reverse)

    def _run(self, group: Any, rest_of: Any, init: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """`group` over whole groups, and `rest_of` over what is left, in the order of the steps."""
        whole = self.steps // self.width * self.width

        def main(carry: Any) -> tuple[Any, Any]:
            parts = [_grouped(_rows(x, 0, whole), self.width) for x in arrays]
            carry, ys = scan(group, carry, parts, length=self.steps // self.width, reverse=self.reverse)
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
