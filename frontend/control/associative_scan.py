"""`associative_scan`: prefix combinations, by a tree of logarithmic depth or by a loop.

A tree has few combinations of many slices each, which suits GPUs and NumPy. A loop combines one slice at a
time and half as many in all, which suits a CPU that has the whole loop in one kernel. A program has both:
the pass `choose-branches` keeps one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .. import tree
from ..errors import ArgumentError, ShapeError, TraceError
from ..tracing.frames import current_frame
from ..tracing.function_scope import keep_dimensions
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.references import any_in_reach
from ..tracing.trace import function_name
from .branches import chosen_branch
from .carries import typed_tree
from .scans import scan
from .while_loops import while_loop

Combine = Callable[[Sequence[Any], Sequence[Any]], list[Any]]

_INT32 = np.dtype(np.int32)
_FEW: Final = 4
"""Slices up to which a tree has no more combinations than a loop has steps."""


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All prefix combinations of `elems` along `axis` under the associative `fn`.

    Two forms are traced, and the target chooses: a loop where that becomes a kernel, as on CPUs, or the
    recursion of Blelloch (1990), of logarithmic depth: combine neighbours, scan the half, fill in between.
    Along an axis of dynamic size it is Hillis and Steele's loop (1986), which combines each slice with the
    one 1, 2, 4, ... before it. `fn` maps two trees of slices to one and must work on many slices at once.
    """
    leaves, structure = tree.flatten(elems)
    arrays = [as_value(leaf) for leaf in leaves]
    axis = _common_axis(arrays, tree.paths(structure), axis)

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        results, result_structure = tree.flatten(
            fn(tree.unflatten(structure, a), tree.unflatten(structure, b))
        )
        values = [as_value(x) for x in results]
        argument_types, types = [ops.type_of(x) for x in a], [ops.type_of(x) for x in values]
        if result_structure != structure or types != argument_types:
            raise TraceError(
                f"{function_name(fn)} of associative_scan changes its type:\n"
                f"    expects: {typed_tree(structure, argument_types)}\n"
                f"    returns: {typed_tree(result_structure, types)}",
                where=user_location_text(),
                hint="it must combine many slices at once, elementwise along the scanned axis",
            )
        return values

    def at_once(xs: Sequence[Any]) -> list[Any]:
        return _at_once(combine, xs, axis, reverse)

    def one_by_one(xs: Sequence[Any]) -> list[Any]:
        return _one_by_one(combine, xs, axis, reverse)

    size = arrays[0].shape[axis]
    if not isinstance(size, int) or size <= _FEW or current_frame() is None or any_in_reach():
        return tree.unflatten(structure, at_once(arrays))
    types = typed_tree(structure, [ops.type_of(x) for x in arrays])
    index = ops.loop_preference(label=f"associative_scan of {function_name(fn)} over {types}, axis {axis}")
    branches, roles = (at_once, one_by_one), ("the tree", "the loop")
    return tree.unflatten(structure, chosen_branch("associative_scan", index, branches, roles, [arrays]))


def _at_once(combine: Combine, arrays: Sequence[Any], axis: int, reverse: bool) -> list[Any]:
    """Prefixes by combinations of many slices each."""
    form = _by_halves if isinstance(arrays[0].shape[axis], int) else _by_doubling
    if not reverse:
        return form(combine, arrays, axis)
    prefixes = form(combine, [ops.reverse(x, axes=(axis,)) for x in arrays], axis)
    return [ops.reverse(x, axes=(axis,)) for x in prefixes]


def _by_halves(combine: Combine, arrays: Sequence[Any], axis: int) -> list[Any]:
    """Prefixes of a known number of slices."""
    n = arrays[0].shape[axis]
    if n < 2:
        return list(arrays)
    evens, odds = ([_part(x, start, n - n % 2, axis, 2) for x in arrays] for start in (0, 1))
    odd = _by_halves(combine, combine(evens, odds), axis)
    even = [_part(x, 0, 1, axis) for x in arrays]
    count = (n - 1) // 2
    if count:
        later = [_part(x, 2, n, axis, 2) for x in arrays]
        combined = combine([_part(y, 0, count, axis) for y in odd], later)
        even = [ops.concatenate(f, e, axis=axis) for f, e in zip(even, combined, strict=True)]
    return [_interleaved(e, o, axis, n) for e, o in zip(even, odd, strict=True)]


def _one_by_one(combine: Combine, arrays: Sequence[Any], axis: int, reverse: bool) -> list[Any]:
    """Prefixes of a known number of slices by a loop."""
    n = arrays[0].shape[axis]
    first, start, stop = (n - 1, 0, n - 1) if reverse else (0, 1, n)
    firsts = [_part(x, first, first + 1, axis) for x in arrays]
    others = [_axis_first(_part(x, start, stop, axis), axis) for x in arrays]

    def step(carry: Sequence[Any], slices: Sequence[Any]) -> tuple[Any, Any]:
        following = combine(
            carry, [ops.reshape(x, shape=tuple(c.shape)) for x, c in zip(slices, carry, strict=True)]
        )
        return following, [
            ops.reshape(y, shape=tuple(x.shape)) for y, x in zip(following, slices, strict=True)
        ]

    _, rows = scan(step, firsts, others, reverse=reverse)
    prefixes = [_axis_back(y, axis) for y in rows]
    pairs = zip(firsts, prefixes, strict=True)
    return [ops.concatenate(*((y, x) if reverse else (x, y)), axis=axis) for x, y in pairs]


def _axis_first(x: Any, axis: int) -> Any:
    """`x` with `axis` before the others."""
    order = (axis, *(i for i in range(x.ndim) if i != axis))
    return ops.transpose(x, permutation=order) if axis else x


def _axis_back(x: Any, axis: int) -> Any:
    """`x` with its first axis at `axis`."""
    order = (*range(1, axis + 1), 0, *range(axis + 1, x.ndim))
    return ops.transpose(x, permutation=order) if axis else x


def _part(x: Any, start: int, stop: int, axis: int, stride: int = 1) -> Any:
    """Every `stride`-th slice of `x` from `start` to before `stop`."""
    starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], limits[axis], strides[axis] = min(start, stop), stop, stride
    return ops.slice(x, start=tuple(starts), limit=tuple(limits), strides=tuple(strides))


def _by_doubling(combine: Combine, arrays: Sequence[Any], axis: int) -> list[Any]:
    """Prefixes of a number of slices that is known only when the program runs."""
    size = arrays[0].shape[axis]
    count = as_value(size, _INT32)
    position = ops.iota(shape=(size,), axis=0, dtype=_INT32)

    def step(state: Any) -> Any:
        distance, xs = state
        far = ops.broadcast_in_dim(distance, shape=(size,), dimensions=())
        combined = combine([_rolled(x, ops.sub(count, distance), axis) for x in xs], xs)
        is_far = ops.compare(position, far, direction="GE")
        chosen = [
            ops.select(ops.broadcast_in_dim(is_far, shape=tuple(x.shape), dimensions=(axis,)), new, x)
            for new, x in zip(combined, xs, strict=True)
        ]
        return distance * 2, [keep_dimensions(new, x.shape) for new, x in zip(chosen, xs, strict=True)]

    # At most 31 steps, so that few states are enough to reverse them.
    start = as_value(1, _INT32), list(arrays)
    _, prefixes = while_loop(lambda state: state[0] < count, step, start, saved_states=5)
    return [keep_dimensions(y, x.shape) for y, x in zip(prefixes, arrays, strict=True)]


def _rolled(x: Any, start: Any, axis: int) -> Any:
    """`x` from `start` on, then what was before it."""
    starts = [start if i == axis else as_value(0, _INT32) for i in range(x.ndim)]
    twice = ops.concatenate(x, x, axis=axis)
    return keep_dimensions(ops.dynamic_slice(twice, *starts, slice_sizes=tuple(x.shape)), x.shape)


def _common_axis(arrays: Sequence[Any], paths: Sequence[str], axis: int) -> int:
    """`axis` as it is counted from the front; all arrays must have one size there."""
    if not arrays:
        raise ArgumentError("associative_scan needs at least one array", where=user_location_text())
    for x, path in zip(arrays, paths, strict=True):
        if not -x.ndim <= axis < x.ndim:
            raise ArgumentError(
                f"associative_scan: axis {axis} is out of range for elems{path}, which is {ops.type_of(x)}",
                where=user_location_text(),
            )
    sizes = [x.shape[axis] for x in arrays]
    if len({str(n) for n in sizes}) > 1:
        listed = ", ".join(f"elems{path} has {n}" for path, n in zip(paths, sizes, strict=True))
        raise ShapeError(
            f"associative_scan: sizes of axis {axis} differ: {listed}", where=user_location_text()
        )
    return axis % int(arrays[0].ndim)


def _interleaved(even: Any, odd: Any, axis: int, n: int) -> Any:
    """`even` and `odd` by turns along `axis`, `n` in all."""
    zero = as_value(0, even.dtype)
    rank = even.ndim
    stride = tuple(1 if i == axis else 0 for i in range(rank))
    width = tuple(0 for _ in range(rank))
    missing = tuple(n - (2 * even.shape[axis] - 1) if i == axis else 0 for i in range(rank))
    spread_even = ops.pad(even, zero, low=width, high=missing, interior=stride)
    one = tuple(1 if i == axis else 0 for i in range(rank))
    after = tuple(n - 2 * odd.shape[axis] if i == axis else 0 for i in range(rank))
    spread_odd = ops.pad(odd, zero, low=one, high=after, interior=stride)
    position = ops.iota(shape=(*even.shape[:axis], n, *even.shape[axis + 1 :]), axis=axis, dtype=_INT32)
    is_odd = ops.compare(
        ops.and_(position, ops.full_like(position, 1)), ops.full_like(position, 1), direction="EQ"
    )
    return ops.select(is_odd, spread_odd, spread_even)
