"""Arrays sampled between their elements: `map_coordinates`, and interpolation on rectangular grids.

Input: an array of static rank and positions in it. Output: nearest values, or sums of the elements around
each position weighted by its distances (multilinear interpolation).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import INEXACT, INT64
from ...tracing.array import Array
from ...tracing.frames import known_value
from .. import numpy as xp
from ..numpy.arguments import argument_error, float_value, shape_error
from ..numpy.promotion import asarray_of, promote, type_text


def _kept(index: Any, size: int) -> Any:
    return xp.clip(index, 0, size - 1)


def _mirrored(index: Any, size: int) -> Any:
    last = size - 1
    return xp.abs((index + last) % (2 * last) - last) if last else xp.zeros_like(index)


def _reflected(index: Any, size: int) -> Any:
    inside = index % (2 * size)
    return xp.where(inside < size, inside, 2 * size - 1 - inside)


_MODES: Final[dict[str, Callable[[Any, int], Any]]] = {
    "constant": _kept,
    "nearest": _kept,
    "wrap": lambda index, size: index % size,
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Any:
    """`input` at `coordinates`, one array of positions an axis: the nearest element (`order` 0) or the
    multilinear interpolation (`order` 1), in the dtype of `input`.

    Beyond the edges the array is `cval` (`mode` constant), its edge (nearest), or repeats as wrap, mirror
    (about edge elements) or reflect (about edges) says. Orders above 1 raise `ArgumentError`.
    """
    value = asarray_of(input)
    places = [asarray_of(c) for c in coordinates]
    if len(places) != value.ndim:
        raise shape_error(
            f"map_coordinates: expected {value.ndim} arrays of coordinates for {type_text(value)}, "
            f"got {len(places)}"
        )
    if mode not in _MODES:
        raise argument_error(f"map_coordinates: mode is {mode!r}, expected one of {', '.join(_MODES)}")
    if order not in (0, 1):
        raise argument_error(
            f"map_coordinates: order is {order!r}, expected 0 (nearest) or 1 (linear)",
            "splines need a banded system to be solved first: adze.scipy.linalg.solve_banded",
        )
    # Half precision is rounded once, at the end; nearest elements are copied.
    carried = value if order == 0 else _wide(value)
    corners = [_corners(p, order) for p in places]
    total: Any = None
    for chosen in itertools.product(*corners):
        term = _corner(carried, chosen, mode, cval)
        total = term if total is None else total + term
    if total is None:
        return value
    is_rounded = order == 1 and value.dtype not in INEXACT
    return (xp.round(total) if is_rounded else total).astype(value.dtype)


def _wide(value: Any) -> Any:
    if value.dtype in INEXACT:
        return value if value.dtype.itemsize > 2 else value.astype(np.float32)
    return xp.astype(value, np.float64)


def _corners(place: Any, order: int) -> list[tuple[Any, Any]]:
    """The elements beside a position, each with its weight."""
    place = place if place.dtype in INEXACT else xp.astype(place, np.float64)
    if order == 0:
        away = xp.where(place >= 0, xp.floor(place + 0.5), xp.ceil(place - 0.5))
        return [(away.astype(int), None)]
    low = xp.floor(place)
    upper = place - low
    index = low.astype(int)
    return [(index, 1 - upper), (index + 1, upper)]


def _corner(value: Any, chosen: Sequence[tuple[Any, Any]], mode: str, cval: Any) -> Any:
    indices = [_MODES[mode](i, value.shape[a]) for a, (i, _) in enumerate(chosen)]
    term = value[tuple(indices)]
    if mode == "constant":
        is_inside: Any = True
        for axis, (index, _) in enumerate(chosen):
            is_inside = is_inside & (index >= 0) & (index < value.shape[axis])
        term = xp.where(is_inside, term, xp.astype(xp.asarray(cval), value.dtype))
    for _, weight in chosen:
        term = term if weight is None else term * xp.astype(weight, value.real.dtype)
    return term


class RegularGridInterpolator:
    """Interpolation of values that are known on a rectangular grid: called with points `[..., axes]`."""

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        """`points` are the ascending coordinates along each axis, `values` `[*sizes, *rest]`; outside of them
        is `fill_value`, where None an extrapolation. `method` is `linear` or `nearest`. A program cannot
        raise for a point, so `bounds_error=True` is refused."""
        if bounds_error:
            raise argument_error(
                "RegularGridInterpolator: bounds_error=True is not supported", "check the points before"
            )
        self.method = _interpolation(method)
        self.grid = tuple(float_value(p) for p in points)
        self.values = float_value(values)
        self.fill_value = fill_value
        for axis, place in enumerate(self.grid):
            if place.ndim != 1 or axis >= self.values.ndim or place.shape[0] != self.values.shape[axis]:
                raise shape_error(
                    f"RegularGridInterpolator: points {type_text(place)} do not fit axis {axis} of "
                    f"{type_text(self.values)}"
                )
            known = place.numpy() if isinstance(place, Array) else known_value(place)
            if known is not None and not (np.diff(known) > 0).all():
                raise argument_error(
                    f"RegularGridInterpolator: the points of axis {axis} do not ascend",
                    "flip them, and the values along that axis",
                )

    def __call__(self, xi: Any, method: str | None = None) -> Any:
        """The values at `xi`: an array `[..., axes]`, or a tuple of arrays that broadcast."""
        kind = self.method if method is None else _interpolation(method)
        if isinstance(xi, tuple):
            xi = xp.stack(xp.broadcast_arrays(*(float_value(x) for x in xi)), axis=-1)
        points = float_value(xi)
        axes = len(self.grid)
        if axes == 1 and (points.ndim < 2 or points.shape[-1] != 1):
            points = points[..., None]
        points = points[None] if points.ndim == 1 else points
        if points.shape[-1] != axes:
            raise shape_error(
                f"RegularGridInterpolator: expected points of {axes} coordinates, got {type_text(points)}"
            )
        sides = [self._sides(axis, points[..., axis], kind) for axis in range(axes)]
        rest = self.values.ndim - axes
        total: Any = None
        for chosen in itertools.product(*sides):
            term = self.values[tuple(index for index, _ in chosen)]
            for _, weight in chosen:
                if weight is not None:
                    term = term * xp.astype(weight, term.real.dtype)[(..., *[None] * rest)]
            total = term if total is None else total + term
        if self.fill_value is None:
            return total
        is_outside: Any = False  # NaN is not outside: it stays NaN
        for axis, place in enumerate(self.grid):
            is_outside = is_outside | (points[..., axis] < place[0]) | (points[..., axis] > place[-1])
        return xp.where(is_outside[(..., *[None] * rest)], self.fill_value, total)

    def _sides(self, axis: int, x: Any, kind: str) -> list[tuple[Any, Any]]:
        place, x = promote(self.grid[axis], x)
        if place.shape[0] == 1:
            return [(xp.zeros(x.shape, dtype=INT64), None)]
        low = xp.clip(xp.searchsorted(place, x, side="right") - 1, 0, place.shape[0] - 2)
        share = (x - place[low]) / (place[low + 1] - place[low])
        if kind == "nearest":
            return [(xp.where(share <= 0.5, low, low + 1), None)]
        return [(low, 1 - share), (low + 1, share)]


def _interpolation(method: str) -> str:
    if method not in ("linear", "nearest"):
        raise argument_error(f"RegularGridInterpolator: method is {method!r}, expected 'linear' or 'nearest'")
    return method
