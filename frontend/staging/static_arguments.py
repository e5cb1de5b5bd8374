"""Static arguments of jitted functions: which they are, and calls without them put together again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.locations import user_location_text
from ..tracing.trace import function_name


def static_parameters(
    function: Callable[..., Any], nums: tuple[int, ...], names: tuple[str, ...], what: str = "static"
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of all static (or donated) arguments: each may be given either way in a call."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return nums, names
    listed = list(parameters)
    kinds = {p.kind for p in parameters.values()}
    unknown = [n for n in names if n not in parameters]
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        nums = tuple(n + len(listed) if -len(listed) <= n < 0 else n for n in nums)
    beyond = [n for n in nums if not -len(listed) <= n < len(listed)]
    wrong = f"{what}_argnames {unknown}" if unknown and inspect.Parameter.VAR_KEYWORD not in kinds else ""
    if beyond and inspect.Parameter.VAR_POSITIONAL not in kinds:
        wrong = f"{what}_argnums {beyond}"
    if wrong:
        raise ArgumentError(
            f"{wrong} are no parameters of {function_name(function)}({', '.join(listed)})",
            where=user_location_text(),
        )
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = {name: i for i, (name, p) in enumerate(parameters.items()) if p.kind in positional}
    by_name = (named[n] for n in names if n in named)
    by_position = (listed[n] for n in nums if n not in beyond and listed[n] in named)
    return tuple(dict.fromkeys((*nums, *by_name))), tuple(dict.fromkeys((*names, *by_position)))


def unhashable(place: object, value: Any, function: str) -> ArgumentError:
    """The error for a static argument that cannot be part of a key."""
    hint = "make the argument an array argument"
    if isinstance(value, Tracer):
        what = f"a traced array, {value.type}: its value is not known while tracing"
    elif isinstance(value, (np.ndarray, Array)):
        what = f"an array, {value.dtype.name} of shape {value.shape}, which cannot be hashed"
        hint += ", or let the function close over it"
    else:
        what = f"{type(value).__name__}, which cannot be hashed"
        hint = f"pass a tuple instead of a list, or {hint}"
    return ArgumentError(
        f"static argument {place!r} of {function} is {what}", where=user_location_text(), hint=hint
    )


def placed(
    args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call with the static ones back in their places."""
    full, keywords = list(args), dict(kwargs)
    for place, _, value in static:
        if isinstance(place, int):
            full.insert(place, value)
        else:
            keywords[place] = value
    return full, keywords
