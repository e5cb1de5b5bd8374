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
    if known is None or known.dtype.kind not in "iu" or known.size > _MOST:
        return None
    result = np.empty(known.shape, object)
    result[...] = known.astype(object)
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
    shape = app.static_shape()
    if entries[0].size != 1:
        return np.broadcast_to(entries[0].reshape(shape), shape)
    return np.broadcast_to(entries[0].reshape(()), shape)


def _slice(app: Application, entries: list[np.ndarray]) -> np.ndarray:
    bounds = zip(app.ints("start_indices"), app.ints("limit_indices"), app.ints("strides"), strict=True)
    return entries[0][tuple(slice(*bound) for bound in bounds)]


_ON_SIZES: Final[dict[str, Callable[[Application, list[np.ndarray]], np.ndarray]]] = {
    "stablehlo.add": _each(lambda x, y: x + y),
    "stablehlo.subtract": _each(lambda x, y: x - y),
    "stablehlo.multiply": _each(lambda x, y: x * y),
    "stablehlo.divide": _each(lambda x, y: x // y),
    "stablehlo.remainder": _each(lambda x, y: x - (x // y) * y),
    "stablehlo.maximum": _each(maximum),
    "stablehlo.minimum": _each(minimum),
    "stablehlo.convert": lambda app, entries: entries[0],
    "stablehlo.reshape": lambda app, entries: entries[0].reshape(app.static_shape()),
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.concatenate": lambda app, entries: np.concatenate(entries, app.attribute("dimension")),
    "stablehlo.slice": _slice,
}


def _on_sizes(name: str, rule: Rule) -> Rule:
    meaning = _ON_SIZES[name]

    def apply(app: Application) -> Any:
        if any(isinstance(value, Sizes) for value in app.inputs) and app.dtype.kind in "iu":
            entries = [_entries(value) for value in app.inputs]
            known = [e for e in entries if e is not None]
            may_divide = name not in ("stablehlo.divide", "stablehlo.remainder") or all(
                isinstance(n, int) and n > 0 for n in (known[-1].flat if known else ())
            )
            if len(known) == len(entries) and may_divide:
                return Sizes(meaning(app, known), app.dtype)
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
