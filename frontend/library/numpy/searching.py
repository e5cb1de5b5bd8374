"""Choosing and searching: where, select, nonzero with a static size, searchsorted, digitize."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, INT32, INT64
from ...tracing.array import Array
from ...tracing.default_dtypes import integral
from ...tracing.frames import current_frame, known_value
from ...tracing.interpreter import as_weak, ops, wide_of
from ...tracing.jax_rules import follows_jax
from .arguments import (
    argument_error,
    concretization_error,
    count_array,
    count_of,
    full_like,
    normalize_axis,
    refuse_out,
    require_sizes,
    scalar,
    shape_error,
    type_error,
)
from .arithmetic import floor_divide, minimum, remainder
from .logic import truth
from .promotion import asarray_of, broadcast, broadcast_together, convert, promote, type_text
from .reductions import sum as sum_of
from .reshaping import atleast_1d, ravel
from .taking import take

COPIED: Final = 512
"""Elements of a table that is copied before it is searched: vectors of a kernel take elements from memory of
its own alone."""

COPIED_FOR_MANY: Final = 4096
"""The same of a table with no more elements than are searched in it (10,000 in 1,000: 107 us, so 28)."""


LONG: Final = 128
"""Elements of a table from which on a search may be a loop (100,000 in 1,000: first call .7 s, so .3)."""


def where(
    condition: Any, x: Any = None, y: Any = None, /, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """`x` where `condition` holds, else `y`; with the condition alone, `nonzero(condition, size=...)`."""
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise argument_error("where: x and y must be given both or not at all")
    chosen = promote(x, y)
    mask, left, right = broadcast_together((truth(condition), *map(wide_of, chosen)))
    result = ops.select(mask, left, right)
    return as_weak(result) if chosen[0].weak_type else result


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Of `choicelist` the array of the first condition that holds, else `default`."""
    if not isinstance(condlist, (list, tuple)) or not isinstance(choicelist, (list, tuple)):
        raise type_error("select: expected a list of conditions and a list of choices")
    if len(condlist) != len(choicelist) or not condlist:
        raise argument_error(f"select: got {len(condlist)} conditions and {len(choicelist)} choices")
    choices = promote(*choicelist, default)
    result = choices[-1]
    for condition, choice in zip(reversed(condlist), reversed(choices[:-1]), strict=True):
        result = where(condition, choice, result)
    return result


def choose(a: Any, choices: Sequence[Any], out: Any = None, mode: str = "clip") -> Any:
    """Elementwise, of the arrays `choices` the one that `a` numbers; numbers are clipped or wrapped."""
    refuse_out("choose", out)
    if choices is None or isinstance(choices, (bool, int, float, complex)):
        raise type_error(f"choose: expected a sequence of arrays as choices, got {choices!r}")
    number, *arrays = broadcast_together([asarray_of(a), *promote(*choices)])
    if mode == "wrap":
        number = remainder(number, len(arrays))
    result = arrays[0]
    for k, array in enumerate(arrays[1:], start=1):
        least = ops.convert(full_like(number, k), dtype=number.dtype)
        result = ops.select(ops.compare(number, least, direction="GE"), array, result)
    return result


def piecewise(x: Any, condlist: Sequence[Any], funclist: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """Functions of `x` (or constants), each where its condition holds; one more for the rest."""
    value = asarray_of(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise argument_error(f"piecewise: {len(funclist)} functions for {len(conditions)} conditions")

    def of(function: Callable[..., Any] | Any) -> Any:
        result = function(value, *args, **kwargs) if callable(function) else function
        result = convert(asarray_of(result), value.dtype)
        return broadcast(result, value.shape)

    result = of(funclist[-1]) if len(funclist) > len(conditions) else full_like(value, 0)
    for condition, function in zip(conditions, funclist, strict=False):  # of several that hold, the last one
        result = where(condition, of(function), result)
    return result


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """The positions of nonzero elements, one int64 array for each axis.

    Of a traced array their number is not known: `size` states it; positions beyond the last are
    `fill_value` (0 by default), and more than `size` of them are cut off.
    """
    value = asarray_of(a)
    if value.ndim == 0:
        raise shape_error("nonzero: a 0-d array has no axes to name positions on", "use atleast_1d")
    if size is None:
        known = value.numpy() if isinstance(value, Array) else known_value(value)
        if known is not None:
            return tuple(Array(axis.astype(integral())) for axis in known.nonzero())
        raise concretization_error(
            f"nonzero of a traced array {type_text(value)} has a shape that depends on values",
            "state how many positions there are: nonzero(x, size=n), or use adze.numpy.where",
        )
    mask = ravel(truth(value))
    total = sum_of(mask)
    # The k-th true element is where the running count first exceeds k.
    running = ops.cumsum(ops.convert(mask, dtype=integral()), axis=0, reverse=False)
    wanted = ops.iota(shape=(size,), axis=0, dtype=integral())
    flat = places_among(running, wanted, side="right")
    flat = minimum(flat, count_array(count_of(mask.shape, (0,)), integral()) - 1)
    is_position = ops.compare(wanted, broadcast(total, wanted.shape), direction="LT")
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * value.ndim
    positions: list[Any] = []
    for n in reversed(value.shape):
        positions.append(remainder(flat, n))
        flat = floor_divide(flat, n)
    return tuple(
        ops.select(is_position, position, full_like(position, fill))
        for position, fill in zip(reversed(positions), fills, strict=True)
    )


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The positions of nonzero elements in the flat array."""
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The positions of nonzero elements as rows of a matrix."""
    columns = nonzero(atleast_1d(a), size=size, fill_value=fill_value)
    return ops.concatenate(*(ops.reshape(c, shape=(*c.shape, 1)) for c in columns), axis=1)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The elements of `arr` where `condition` holds; traced arrays need `size`."""
    return compress(ravel(truth(condition)), ravel(arr), size=size, fill_value=fill_value)


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: Any = None,
) -> Any:
    """The slices of `a` along `axis` where a vector of conditions holds; traced ones need `size`."""
    refuse_out("compress", out)
    value = asarray_of(a)
    if axis is None:
        value, axis = ravel(value), 0
    place = normalize_axis("compress", axis, value.ndim)
    (positions,) = nonzero(
        atleast_1d(condition), size=size, fill_value=np.iinfo(integral()).max if size else None
    )
    return take(value, positions, axis=place, mode="fill" if size else None, fill_value=fill_value)


def searchsorted(
    a: Any, v: Any, *args: Any, side: str = "left", sorter: Any = None, method: str = "scan"
) -> Any:
    """Where each of `v` belongs in the ascending vector `a`, as int64: before equal elements or after.

    A binary search of `ceil(log2(n + 1))` steps, in a long table by a loop where that becomes a kernel;
    `method` is a hint. NaNs belong at the end. In programs written for JAX the places are int32, unless `a`
    is longer than these reach.
    """
    places = places_among(a, v, *args, side=side, sorter=sorter)
    is_long = isinstance(size := asarray_of(a).shape[0], int) and size > np.iinfo(np.int32).max
    return ops.convert(places, dtype=INT32) if follows_jax() and not is_long else places


def places_among(a: Any, v: Any, *args: Any, side: str = "left", sorter: Any = None) -> Any:
    """The same, of the dtype that positions have elsewhere (`integral`)."""
    side = args[0] if args else side
    if side not in ("left", "right"):
        raise argument_error(f"searchsorted: side is {side!r}, expected 'left' or 'right'")
    table, wanted = promote(a, v)
    if table.ndim != 1:
        raise shape_error(f"searchsorted: expected an ascending vector, got {type_text(table)}")
    if sorter is not None:
        order = asarray_of(sorter)
        require_sizes("searchsorted", "sorter", order, table.shape, "a")
        table = take(table, order)
    size = table.shape[0]
    if not isinstance(size, int):
        return _halve(table, wanted, side)
    if size == 0:
        return ops.convert(_zeros(wanted, INT32), dtype=integral())
    if size < LONG or current_frame() is None:
        return ops.convert(_unrolled(table, wanted, side), dtype=integral())
    return ops.convert(_in_either_form(table, wanted, side), dtype=integral())


def _zeros(wanted: Any, dtype: np.dtype) -> Any:
    """A place before all elements for each of `wanted`."""
    return ops.broadcast_in_dim(count_array(0, dtype), shape=wanted.shape, dimensions=())


def _places_dtype(size: int) -> np.dtype:
    return INT32 if size < 1 << 30 else INT64


def _in_either_form(table: Any, wanted: Any, side: str) -> Any:
    """The places in a table of known length, by steps written out or by a loop: the target chooses."""
    from ...control.branches import chosen_branch  # loads the engines, which other searches do not need

    label = f"searchsorted of {type_text(wanted)} in {type_text(table)}, {side}"
    branches = [lambda t, x: _unrolled(t, x, side), lambda t, x: _by_loop(t, x, side)]
    index = ops.loop_preference(label=label)
    return chosen_branch("searchsorted", index, branches, ("the steps", "the loop"), [table, wanted])


def _unrolled(table: Any, wanted: Any, side: str) -> Any:
    """The places in a table of known length, each step written out."""
    size = table.shape[0]
    if size <= (COPIED_FOR_MANY if _has_at_least(wanted, size) else COPIED):
        table = ops.pad(table, scalar(0, table.dtype), low=(0,), high=(1,), interior=(0,))
    low = _zeros(wanted, _places_dtype(size))
    for step in _halves(size):
        low = _after_step(table, wanted, side, low, full_like(low, step - 1), full_like(low, step))
    return low


def _by_loop(table: Any, wanted: Any, side: str) -> Any:
    """The same by a loop over the steps, which is a tenth of the code in a table of a thousand elements."""
    from ...control.scans import scan  # loads the engines, which other searches do not need

    dtype = _places_dtype(table.shape[0])
    steps = np.array(list(_halves(table.shape[0])), dtype)

    def step(low: Any, counts: tuple[Any, Any]) -> tuple[Any, None]:
        last, count = (ops.broadcast_in_dim(n, shape=wanted.shape, dimensions=()) for n in counts)
        return _after_step(table, wanted, side, low, last, count), None

    return scan(step, _zeros(wanted, dtype), (steps - 1, steps))[0]


def _halves(size: int) -> Iterator[int]:
    """How many elements each step of a search in `size` elements finds to come before, or not."""
    while size:  # elements that may come before: ask the one in their middle
        yield (size + 1) // 2
        size //= 2


def _after_step(table: Any, wanted: Any, side: str, low: Any, last: Any, count: Any) -> Any:
    """How many elements come before for sure: `low`, and `count` more if the `last` of these does."""
    element = take(table, ops.add(low, last), axis=0, mode="clip")
    return ops.select(_is_before(element, wanted, side), ops.add(low, count), low)


def _has_at_least(array: Any, count: int) -> bool:
    """Whether an array is known to have so many elements."""
    sizes = [n for n in array.shape if isinstance(n, int)]
    return len(sizes) == len(array.shape) and math.prod(sizes) >= count


def _is_before(element: Any, wanted: Any, side: str) -> Any:
    """Whether an element of the table comes before the place of `wanted`; NaN is the greatest number."""
    if element.dtype == BOOL:
        element, wanted = (ops.convert(v, dtype=np.dtype(np.int8)) for v in (element, wanted))
    plain = ops.compare(element, wanted, direction="LT" if side == "left" else "LE")
    if element.dtype.kind not in "fV":
        return plain
    wanted_is_nan = ops.compare(wanted, wanted, direction="NE")
    if side == "right":
        return ops.or_(plain, wanted_is_nan)
    return ops.or_(plain, ops.and_(wanted_is_nan, ops.compare(element, element, direction="EQ")))


def _halve(table: Any, wanted: Any, side: str) -> Any:
    """The same in a table of unknown length, by a loop of as many steps as it takes."""
    from ...control.while_loops import while_loop  # loads the engines, which other searches do not need

    def with_shape(value: Any) -> Any:
        return ops.broadcast_in_dim(value, shape=wanted.shape, dimensions=())

    def step(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        low, left = carry
        half = floor_divide(left + 1, 2)
        element = take(table, ops.add(low, with_shape(half - 1)), axis=0, mode="clip")
        more = ops.add(low, with_shape(half))
        return ops.select(_is_before(element, wanted, side), more, low), floor_divide(left, 2)

    start = (with_shape(count_array(0, INT64)), count_array(table.shape[0], INT64))
    low, _ = while_loop(lambda carry: carry[1] > 0, step, start)
    return ops.convert(low, dtype=integral())


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """Which of the intervals between ascending (or descending, if known) `bins` each element lies in.

    `method` is a hint.
    """
    edges = asarray_of(bins)
    descending = isinstance(edges, Array) and edges.ndim == 1 and edges.shape[0] > 1
    if descending and edges.numpy()[0] > edges.numpy()[-1]:
        place = searchsorted(ops.reverse(edges, axes=(0,)), x, side="left" if not right else "right")
        return ops.sub(full_like(place, edges.shape[0]), place)
    return searchsorted(edges, x, side="left" if right else "right")
