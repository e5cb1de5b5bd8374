"""Statistics of samples: standard errors, ranks, most frequent elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...tracing.interpreter import ops
from .. import numpy as xp
from ..numpy.arguments import argument_error, count_of, normalize_axis
from ..numpy.promotion import asarray_of


class ModeResult(NamedTuple):
    """The most frequent elements, and how often they occur."""

    mode: Any
    count: Any


def _along(function: str, a: Any, axis: int | None, nan_policy: str) -> tuple[Any, int]:
    """The array and its axis; all axes become one for None."""
    if nan_policy != "propagate":
        raise argument_error(f"{function}: nan_policy is {nan_policy!r}, only 'propagate' is possible")
    value = xp.atleast_1d(asarray_of(a))
    if axis is None:
        return xp.ravel(value), 0
    return value, normalize_axis(function, axis, value.ndim)


def sem(
    a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Any:
    """The standard error of the mean along `axis`."""
    value, place = _along("sem", a, axis, nan_policy)
    deviation = xp.std(value, place, ddof=ddof, keepdims=keepdims and axis is not None)
    result = deviation / xp.sqrt(xp.astype(xp.asarray(count_of(value.shape, (place,))), deviation.dtype))
    return xp.reshape(result, (1,) * xp.ndim(a)) if keepdims and axis is None else result


_RANKS = ("average", "min", "max", "dense", "ordinal")


def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Any:
    """The ranks of the elements along `axis` (of the flat array if None), from 1 on; `method` is for ties."""
    if method not in _RANKS:
        raise argument_error(f"rankdata: method is {method!r}, expected one of {', '.join(_RANKS)}")
    value, place = _along("rankdata", a, axis, nan_policy)
    order = xp.argsort(value, axis=place)
    places = ops.iota(shape=tuple(value.shape), axis=place, dtype=np.dtype(np.int64))
    ordinal = xp.put_along_axis(xp.zeros_like(places), order, places, axis=place)
    float_type = value.dtype if value.dtype.kind in "fV" else np.dtype(np.float32)
    if method == "ordinal":
        return xp.astype(ordinal + 1, float_type)
    ordered = xp.moveaxis(xp.take_along_axis(value, order, axis=place), place, -1)
    first = xp.ones_like(ordered[..., :1], dtype=np.bool_)
    is_new = xp.concatenate([first, ordered[..., 1:] != ordered[..., :-1]], axis=-1)
    number = xp.arange(ordered.shape[-1])
    dense = xp.cumsum(is_new, axis=-1)
    least = xp.cummax(xp.where(is_new, number, 0), axis=-1)
    is_last = xp.concatenate([is_new[..., 1:], first], axis=-1)
    ends = xp.where(is_last, number, ordered.shape[-1])
    most = xp.flip(xp.cummin(xp.flip(ends, axis=-1), axis=-1), axis=-1)
    doubled = {"dense": 2 * dense, "min": 2 * least + 2, "max": 2 * most + 2, "average": least + most + 2}
    ranks = xp.moveaxis(xp.astype(doubled[method], float_type) / 2, -1, place)
    return xp.take_along_axis(ranks, ordinal, axis=place)


def mode(a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """The most frequent element along `axis`, the least of several, and how often it occurs."""
    value, place = _along("mode", a, axis, nan_policy)
    ordered = xp.moveaxis(xp.sort(value, axis=place), place, -1)
    number = xp.arange(ordered.shape[-1])
    first = xp.ones_like(ordered[..., :1], dtype=np.bool_)
    is_new = xp.concatenate([first, ordered[..., 1:] != ordered[..., :-1]], axis=-1)
    length = number - xp.cummax(xp.where(is_new, number, 0), axis=-1) + 1
    best = xp.argmax(length, axis=-1, keepdims=True)
    found = xp.take_along_axis(ordered, best, axis=-1)[..., 0]
    count = xp.max(length, axis=-1)
    if not keepdims:
        return ModeResult(found, count)
    if axis is None:
        shape = (1,) * xp.ndim(a)
        return ModeResult(xp.reshape(found, shape), xp.reshape(count, shape))
    return ModeResult(xp.expand_dims(found, place), xp.expand_dims(count, place))
