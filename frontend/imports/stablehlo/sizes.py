"""Integers that follow from sizes: `get_dimension_size` and the arithmetic that shapes are computed by.

Input: an application whose operands are `Sizes` or constants. Output: `Sizes`, exact and still dimensions.

Idea: the ops that programs of dynamic shapes compute their shapes with have a second meaning, on sizes. It is
taken where an operand is one; the elements of ordinary arrays never become sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...tracing.sizes import maximum, minimum
from .application import Application, Rule, Sizes, known_array

_MOST: Final = 64  # entries: shapes have as many at most


def _entries(value: Any) -> np.ndarray | None:
    if isinstance(value, Sizes):
        return value.entries
    known = known_array(value)
    if known is None or known.dtype.kind not in "iub" or known.size > _MOST:
        return None
    result = np.empty(known.shape, object)
    result[...] = (known.astype(np.int8) if known.dtype == np.bool_ else known).astype(object)
    return result


def _each(function: Callable[[Any, Any], Any]) -> Callable[[Application, list[np.ndarray]], np.ndarray]:
    def apply(app: Application, entries: list[np.ndarray]) -> np.ndarray:
        x, y = entries
        result = np.empty(x.shape, object)
        for place in np.ndindex(x.shape):
            result[place] = function(x[place], y[place])
        return result

    return apply


def _broadcast(app: Application, entries: list[np.ndarray]) -> np.ndarray:
    shape, places = app.static_shape(), app.ints("broadcast_dimensions", ())
    spread = [1] * len(shape)
    for size, place in zip(entries[0].shape, places, strict=True):
        spread[place] = size
    return np.broadcast_to(entries[0].reshape(spread), shape)


def _slice(app: Application, entries: list[np.ndarray]) -> np.ndarray:
    bounds = zip(app.ints("start_indices"), app.ints("limit_indices"), app.ints("strides"), strict=True)
    return entries[0][tuple(slice(*bound) for bound in bounds)]


def _quotient(x: Any, y: Any) -> Any:
    """Rounded towards zero; `y` is positive."""
    if isinstance(x, int):
        return 0 - (-x // y) if x < 0 else x // y
    return maximum(x, 0) // y - maximum(0 - x, 0) // y


def _sign(x: Any) -> Any:
    return minimum(maximum(x, -1), 1)


def _positive(x: Any) -> Any:
    """1 where a size is positive, else 0."""
    return minimum(maximum(x, 0), 1)


_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "EQ": lambda x, y: 1 - _positive(maximum(x - y, y - x)),
    "NE": lambda x, y: _positive(maximum(x - y, y - x)),
    "LT": lambda x, y: _positive(y - x),
    "LE": lambda x, y: 1 - _positive(x - y),
    "GT": lambda x, y: _positive(x - y),
    "GE": lambda x, y: 1 - _positive(y - x),
}
"""Comparisons as numbers 0 and 1, computed of sizes."""


def _compare(app: Application, entries: list[np.ndarray]) -> np.ndarray:
    return _each(_COMPARE[app.attribute("comparison_direction")])(app, entries)


def _chosen(app: Application, entries: list[np.ndarray]) -> np.ndarray:
    chosen, x, y = entries
    result = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        flag = chosen[place] if chosen.shape else chosen[()]
        one = flag if not isinstance(flag, int) else int(flag)
        result[place] = (
            y[place] + one * (x[place] - y[place]) if not isinstance(one, int) else (x if one else y)[place]
        )
    return result


_KINDS: Final = {"stablehlo.compare": "b", "stablehlo.and": "b", "stablehlo.or": "b"}


_ON_SIZES: Final[dict[str, Callable[[Application, list[np.ndarray]], np.ndarray]]] = {
    "stablehlo.add": _each(lambda x, y: x + y),
    "stablehlo.subtract": _each(lambda x, y: x - y),
    "stablehlo.multiply": _each(lambda x, y: x * y),
    "stablehlo.divide": _each(_quotient),
    "stablehlo.remainder": _each(lambda x, y: x - _quotient(x, y) * y),
    "stablehlo.maximum": _each(maximum),
    "stablehlo.minimum": _each(minimum),
    "stablehlo.negate": lambda app, entries: _each(lambda x, y: 0 - x)(app, [entries[0], entries[0]]),
    "stablehlo.sign": lambda app, entries: _each(lambda x, y: _sign(x))(app, [entries[0], entries[0]]),
    "stablehlo.compare": _compare,
    "stablehlo.select": _chosen,
    "stablehlo.and": _each(minimum),
    "stablehlo.or": _each(maximum),
    "stablehlo.convert": lambda app, entries: entries[0],
    "stablehlo.reshape": lambda app, entries: entries[0].reshape(app.static_shape()),
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.concatenate": lambda app, entries: np.concatenate(entries, app.attribute("dimension")),
    "stablehlo.slice": _slice,
}


def _is_short(app: Application) -> bool:
    return int(np.prod(app.static_shape())) <= _MOST


def _fits(entries: np.ndarray, dtype: np.dtype) -> bool:
    """Whether all of these integers are of the dtype: others wrap, which the op itself does."""
    limits = (0, 1) if dtype == np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return all(limits[0] <= n <= limits[1] for n in entries.flat)


def _on_sizes(name: str, rule: Rule) -> Rule:
    meaning = _ON_SIZES[name]

    def apply(app: Application) -> Any:
        has_sizes = any(isinstance(value, Sizes) for value in app.inputs)
        is_known = bool(app.inputs) and all(isinstance(value, np.ndarray) for value in app.inputs)
        if (has_sizes or is_known) and app.dtype.kind in _KINDS.get(name, "iu"):
            entries = [_entries(value) for value in app.inputs]
            known = [e for e in entries if e is not None]
            may_divide = name not in ("stablehlo.divide", "stablehlo.remainder") or all(
                not isinstance(n, int) or n > 0 for n in (known[-1].flat if known else ())
            )
            if len(known) == len(entries) and may_divide and app.result_types[0].is_static:
                result = meaning(app, known) if _is_short(app) else None
                if result is not None and (has_sizes or _fits(result, app.dtype)):
                    return Sizes(result, app.dtype) if has_sizes else result.astype(app.dtype)
        return rule(app)

    return apply


def with_sizes(rules: dict[str, Rule]) -> dict[str, Rule]:
    """The rules, those with a meaning on sizes having both."""
    return {name: _on_sizes(name, rule) if name in _ON_SIZES else rule for name, rule in rules.items()}


def _dimension_size(app: Application) -> Any:
    entries = np.empty((), object)
    entries[()] = app.array().shape[app.attribute("dimension")]
    return Sizes(entries, app.dtype)


RULES: Final[dict[str, Rule]] = {"stablehlo.get_dimension_size": _dimension_size}
