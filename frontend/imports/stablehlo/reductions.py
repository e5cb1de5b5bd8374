"""`reduce`, `select_and_scatter`, `map`: regions along axes, over windows, everywhere.

Input: an application with a region. Output: its results.

Idea: a region that is one op becomes a reduction of adze; the pair (value, position) that JAX's argmax and
argmin are exported as becomes that op; any other region is mapped and applied to halves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, COMPLEX
from ...library import numpy as xp
from ...library.lax import reduce_window as library
from ...tracing.interpreter import ops
from ...transforms.vmap import vmap
from .application import Application, Counted, Rule, as_array, known_array
from .computations import COMBINE, expression, logical, of_lists, single_op
from .program import Region

_REDUCTIONS: Final = {
    "add": "reduce_sum",
    "multiply": "reduce_prod",
    "maximum": "reduce_max",
    "minimum": "reduce_min",
    "and": "reduce_and",
    "or": "reduce_or",
}
_MOST_POSITIONS: Final = 4096


def _reduce(app: Application) -> Any:
    count = len(app.inputs) // 2
    axes = tuple(sorted(app.ints("dimensions")))
    xs, starts = app.arrays[:count], app.arrays[count:]
    region = app.op.regions[0]
    if count == 1:
        kind = logical(single_op(region) or "", xs[0].dtype == BOOL)
        is_ordered = xs[0].dtype not in COMPLEX or kind in ("add", "multiply")
        if kind in _REDUCTIONS and is_ordered:
            reduced = getattr(ops, _REDUCTIONS[kind])(xs[0], axes=axes) if axes else xs[0]
            start = ops.broadcast_in_dim(starts[0], shape=tuple(reduced.shape), dimensions=())
            return COMBINE[kind](start, reduced)
    if count == 2 and len(axes) == 1:
        name = _extremum(region, xs[0].dtype)
        if name and _counts_along(app, axes[0]) and _is_least(app, name):
            position = getattr(ops, f"arg{name}")(xs[0], axis=axes[0], index_dtype=xs[1].dtype)
            kind = logical("maximum" if name == "max" else "minimum", xs[0].dtype == BOOL)
            return [getattr(ops, _REDUCTIONS[kind])(xs[0], axes=axes), position]
    return library.reduce(xs, starts, of_lists(app, region), axes)


def _extremum(region: Region, dtype: np.dtype) -> str | None:
    """`"max"` or `"min"` where the region chooses between pairs as JAX's argmax and argmin do."""
    for name, direction in (("max", "GT"), ("min", "LT")):
        if _without_types([expression(region, v) for v in region.results]) in _choices(direction, dtype):
            return name
    return None


def _without_types(form: Any) -> Any:
    """Comparisons without their compare type, which follows from the dtype there."""
    if isinstance(form, (tuple, list)):
        if len(form) == 4 and form[0] == "compare":
            return ("compare", form[1][0], _without_types(form[2]), _without_types(form[3]))
        return tuple(_without_types(part) for part in form)
    return form


def _choices(direction: str, dtype: np.dtype) -> list[Any]:
    x, i, y, j = (("argument", k) for k in range(4))
    none = (None, None)
    better: Any = ("compare", direction, x, y)
    if dtype.kind in "fV":
        better = ("or", none, better, ("compare", "NE", x, x))
    first = ("and", none, ("compare", "EQ", x, y), ("compare", "LT", i, j))
    take_index = ("or", none, better, first)
    return [(("select", none, better, x, y), ("select", none, take_index, i, j))]


def _counts_along(app: Application, axis: int) -> bool:
    """Whether the second operand counts positions along the axis."""
    positions = app.inputs[1]
    return isinstance(positions, Counted) and positions.axis == axis


def _is_least(app: Application, name: str) -> bool:
    """Whether the initial values are what an extremum of nothing would be."""
    start, position = known_array(app.inputs[2]), known_array(app.inputs[3])
    if start is None or position is None or position.any():
        return False
    dtype = start.dtype
    if dtype.kind in "iu":
        return bool(start == (np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max))
    if dtype == BOOL:
        return bool(start) == (name == "min")
    return bool(
        np.isneginf(start.astype(np.float64)) if name == "max" else np.isposinf(start.astype(np.float64))
    )


def _map(app: Application) -> Any:
    """The region for each element."""
    xs = app.arrays
    shape = tuple(xs[0].shape)
    region = app.op.regions[0]
    each = vmap(lambda *scalars: [as_array(v) for v in app.run(region, scalars)])
    results = each(*(xp.ravel(x) for x in xs))
    return [ops.reshape(xp.asarray(r), shape=shape) for r in results]


def _select_and_scatter(app: Application) -> Any:
    """One position of the window after the other: first which one is selected, then where it scatters to.

    Padding is never selected. `select(x, y)` tells whether `x` stays when `y` comes.
    """
    x, source, start = app.arrays
    rank = x.ndim
    ones = (1,) * rank
    windows, strides = app.ints("window_dimensions", ones), app.ints("window_strides", ones)
    pads = app.pads(rank)
    if math.prod(windows) > _MOST_POSITIONS:
        raise app.error(f"windows of {math.prod(windows)} elements, expected at most {_MOST_POSITIONS}")
    low, high = tuple(p[0] for p in pads), tuple(p[1] for p in pads)
    wide = ops.pad(x, ops.full_like(start, 0), low=low, high=high, interior=(0,) * rank)
    inside = ops.pad(
        ops.compare(x, x, direction="EQ") if x.dtype.kind not in "fcV" else _ones(x),
        xp.asarray(np.array(False)),
        low=low,
        high=high,
        interior=(0,) * rank,
    )
    select, scatter = app.op.regions
    places = list(product(*(range(n) for n in windows)))
    limits = tuple((n - 1) * s + 1 for n, s in zip(source.shape, strides, strict=True))
    chosen = _chosen(app, select, wide, inside, places, limits, strides)
    return _scattered(app, scatter, source, start, chosen, places, limits, strides, wide.shape, low, x.shape)


def _ones(x: Any) -> Any:
    return ops.broadcast_in_dim(xp.asarray(np.array(True)), shape=tuple(x.shape), dimensions=())


def _elements(app: Application, region: Region, x: Any, y: Any) -> Any:
    """A region of two scalars, for each pair of elements."""
    several = vmap(lambda a, b: as_array(app.run(region, (a, b))[0]))
    return ops.reshape(several(xp.ravel(x), xp.ravel(y)), shape=tuple(x.shape))


def _chosen(
    app: Application,
    select: Region,
    wide: Any,
    inside: Any,
    places: Sequence[tuple[int, ...]],
    limits: tuple[int, ...],
    strides: tuple[int, ...],
) -> Any:
    """For each window which of its positions is selected, -1 where there is none."""
    best: Any = None
    for number, place in enumerate(places):
        end = tuple(p + n for p, n in zip(place, limits, strict=True))
        value = ops.slice(wide, start=place, limit=end, strides=strides)
        is_in = ops.slice(inside, start=place, limit=end, strides=strides)
        if best is None:
            best, chosen = value, ops.convert(is_in, dtype=np.dtype(np.int32)) - np.int32(1)
            continue
        stays = ops.and_(
            _elements(app, select, best, value),
            ops.compare(chosen, ops.full_like(chosen, 0), direction="GE"),
        )
        takes = ops.and_(is_in, ops.not_(stays))
        best = ops.select(takes, value, best)
        chosen = ops.select(takes, ops.full_like(chosen, number), chosen)
    return chosen


def _scattered(
    app: Application,
    scatter: Region,
    source: Any,
    start: Any,
    chosen: Any,
    places: Sequence[tuple[int, ...]],
    limits: tuple[int, ...],
    strides: tuple[int, ...],
    wide_shape: Sequence[int],
    low: tuple[int, ...],
    shape: Sequence[int],
) -> Any:
    total = ops.broadcast_in_dim(start, shape=tuple(wide_shape), dimensions=())
    is_sum = single_op(scatter) == "add"
    interior = tuple(s - 1 for s in strides)
    no = xp.asarray(np.array(False))
    for number, place in enumerate(places):
        rest = tuple(w - p - n for w, p, n in zip(wide_shape, place, limits, strict=True))
        hit = ops.compare(chosen, ops.full_like(chosen, number), direction="EQ")
        zero = ops.full_like(start, 0)
        part = ops.select(hit, source, ops.full_like(source, 0)) if is_sum else source
        spread = ops.pad(part, zero, low=place, high=rest, interior=interior)
        if is_sum:
            total = ops.add(total, spread)
            continue
        mask = ops.pad(hit, no, low=place, high=rest, interior=interior)
        total = ops.select(mask, _elements(app, scatter, total, spread), total)
    limit = tuple(first + n for first, n in zip(low, shape, strict=True))
    return ops.slice(total, start=low, limit=limit, strides=(1,) * len(low))


RULES: Final[dict[str, Rule]] = {
    "stablehlo.map": _map,
    "stablehlo.reduce": _reduce,
    "stablehlo.select_and_scatter": _select_and_scatter,
}
