"""Reductions and running reductions along axes; positions of extrema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, as_dtype
from ...control.associative_scan import associative_scan
from ...tracing.interpreter import as_value, ops
from .. import numpy as xp
from .scalar_operands import axes_of, axis_of

_OF_TRUTHS: Final = {"reduce_max": "reduce_or", "reduce_min": "reduce_and"}


def _reduction(name: str) -> Any:
    def reduce(operand: Any, axes: Sequence[int]) -> Any:
        value = as_value(operand)
        chosen = _OF_TRUTHS.get(name, name) if value.dtype == BOOL else name
        return getattr(ops, chosen)(value, axes=tuple(sorted(axes_of(axes, value.ndim))))

    reduce.__name__ = name
    reduce.__doc__ = f"The primitive `{name}` over `axes`, which are removed."
    return reduce


def _running(name: str) -> Any:
    def running(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        value = as_value(operand)
        return getattr(ops, name)(value, axis=axis_of(axis, value.ndim), reverse=reverse)

    running.__name__ = name
    running.__doc__ = f"The primitive `{name}`: running values along `axis`, from its end with `reverse`."
    return running


reduce_sum = _reduction("reduce_sum")
reduce_prod = _reduction("reduce_prod")
reduce_max = _reduction("reduce_max")
reduce_min = _reduction("reduce_min")
reduce_and = _reduction("reduce_and")
reduce_or = _reduction("reduce_or")
cumsum = _running("cumsum")
cumprod = _running("cumprod")
cummax = _running("cummax")
cummin = _running("cummin")


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """`log(exp(x[0]) + ... + exp(x[i]))` along `axis`, from its end with `reverse`, without overflow."""
    value = as_value(operand)
    return associative_scan(xp.logaddexp, value, reverse, axis_of(axis, value.ndim))


def argmax(operand: Any, axis: int, index_dtype: Any = np.int32) -> Any:
    """The position of the first largest element along `axis`; NaN counts as largest."""
    value = as_value(operand)
    return ops.argmax(value, axis=axis_of(axis, value.ndim), index_dtype=as_dtype(index_dtype))


def argmin(operand: Any, axis: int, index_dtype: Any = np.int32) -> Any:
    """The position of the first smallest element along `axis`; NaN counts as smallest."""
    value = as_value(operand)
    return ops.argmin(value, axis=axis_of(axis, value.ndim), index_dtype=as_dtype(index_dtype))
