"""Reductions that pass over NaNs. Of nothing but NaNs an extremum or mean is NaN, without a warning."""

from __future__ import annotations

from typing import Any

from ....dialects.types import FLOATS, INEXACT
from .arguments import full_like, refuse_out
from .arithmetic import root_of_squares
from .cumulative import cumprod, cumsum
from .logic import isnan, logical_and, logical_not
from .promotion import asarray_of
from .reductions import all as all_of
from .reductions import argmax, argmin, min, prod, sum, var
from .reductions import max as max_of
from .reductions import mean as mean_of
from .searching import where as choose_where


def _filled(x: Any, fill: Any) -> Any:
    value = asarray_of(x)
    return choose_where(isnan(value), full_like(value, fill), value) if value.dtype in INEXACT else value


def _numbers(x: Any, chosen: Any = None) -> Any:
    value = asarray_of(x)
    is_number = logical_not(isnan(value))
    return is_number if chosen is None else logical_and(is_number, chosen)


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """The sum with NaN counted as 0."""
    refuse_out("nansum", out)
    return sum(_filled(a, 0), axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """The product with NaN counted as 1."""
    refuse_out("nanprod", out)
    return prod(_filled(a, 1), axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums with NaN counted as 0."""
    refuse_out("nancumsum", out)
    return cumsum(_filled(a, 0), axis, dtype)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products with NaN counted as 1."""
    refuse_out("nancumprod", out)
    return cumprod(_filled(a, 1), axis, dtype)


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The greatest number, of those where `where` is true and of `initial`."""
    refuse_out("nanmax", out)
    result = max_of(_filled(a, -float("inf")), axis, keepdims=keepdims, initial=initial, where=where)
    return result if initial is not None else _nan_if_none(a, result, axis, keepdims)


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The least number, of those where `where` is true and of `initial`."""
    refuse_out("nanmin", out)
    result = min(_filled(a, float("inf")), axis, keepdims=keepdims, initial=initial, where=where)
    return result if initial is not None else _nan_if_none(a, result, axis, keepdims)


def _nan_if_none(x: Any, result: Any, axis: Any, keepdims: bool) -> Any:
    if result.dtype not in FLOATS:
        return result
    return choose_where(all_of(isnan(x), axis, keepdims=keepdims), full_like(result, float("nan")), result)


def nanargmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The position of the greatest number; 0 where there is none."""
    refuse_out("nanargmax", out)
    return argmax(_filled(a, -float("inf")), axis, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The position of the least number; 0 where there is none."""
    refuse_out("nanargmin", out)
    return argmin(_filled(a, float("inf")), axis, keepdims=keepdims)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = None
) -> Any:
    """The mean of the numbers, of those where `where` is true."""
    refuse_out("nanmean", out)
    return mean_of(a, axis, dtype, keepdims=keepdims, where=_numbers(a, where))


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
    *,
    correction: float = 0,
) -> Any:
    """The variance of the numbers; NaN where there are not more of them than `correction`."""
    refuse_out("nanvar", out)
    mask = _numbers(a, where)
    result = var(a, axis, dtype, None, ddof, keepdims, where=mask, mean=mean, correction=correction)
    is_enough = sum(mask, axis, keepdims=keepdims) > (ddof or correction)
    return choose_where(is_enough, result, full_like(result, float("nan")))


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
    *,
    correction: float = 0,
) -> Any:
    """The standard deviation of the numbers."""
    refuse_out("nanstd", out)
    return root_of_squares(nanvar(a, axis, dtype, None, ddof, keepdims, where, mean, correction=correction))
