"""Extrema of windows: of elements that are equal, the first one takes the derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects.types import FLOATS
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..same_functions import original_of
from . import elementwise_pairs


@custom_jvp
def first_max(x: Any, y: Any) -> Any:
    """The maximum of two arrays of one shape and dtype, NaN if one is; at ties the tangent is that of `x`."""
    return ops.max(x, y)


@custom_jvp
def first_min(x: Any, y: Any) -> Any:
    """The minimum, as `first_max`."""
    return ops.min(x, y)


@first_max.defjvp
def _first_max_rule(primals: Any, tangents: Any) -> Any:
    return first_max(*primals), _of_chosen(primals, tangents, "GE")


@first_min.defjvp
def _first_min_rule(primals: Any, tangents: Any) -> Any:
    return first_min(*primals), _of_chosen(primals, tangents, "LE")


def _of_chosen(primals: Any, tangents: Any, direction: str) -> Any:
    """The tangent of the operand that is the result: NaN comes first."""
    (x, y), (dx, dy) = primals, tangents
    is_first = ops.or_(ops.compare(x, y, direction=direction), ops.compare(x, x, direction="NE"))
    return ops.select(is_first, dx, dy)


_KNOWN: tuple[tuple[Callable[..., Any], Any], ...] = (
    *((elementwise_pairs.max, first_max), (elementwise_pairs.min, first_min)),
    *((xp.maximum, first_max), (xp.minimum, first_min)),
)


def for_windows(computation: Callable[..., Any], dtype: np.dtype) -> Callable[..., Any]:
    """What combines two elements of a window of `dtype`: `computation`, or the extremum that it is."""
    original = original_of(computation)
    first = next((extremum for known, extremum in _KNOWN if original is known), None)
    return computation if first is None or dtype not in FLOATS else first
