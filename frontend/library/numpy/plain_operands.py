"""Elementwise ops on what needs no preparation: two arrays of one dtype and shape, an array and a number.

Input: the operands of a function that is one op of the dialect, or what NumPy has. Output: its result where
nothing is traced and NumPy would neither promote nor repeat an operand; None else. The general way takes
twice the time, which shows where arrays are small and nothing is jitted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Final

import numpy as np

from ....dialects.dialect import BY_NAME
from ....dialects.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, INT64
from ....passes.analysis.evaluate import is_watching
from ...tracing.array import Array
from ...tracing.frames import current_frame
from ...tracing.interludes import suspended_frame
from ...tracing.scalars import surely_held
from .promotion import loop_dtypes

Quick = Callable[..., "Array | None"]

_REAL: Final[frozenset[np.dtype]] = frozenset({FLOAT32, FLOAT64, INT32, INT64})
_DTYPES: Final[frozenset[np.dtype]] = _REAL | {COMPLEX64, COMPLEX128}


def quick(ufunc: np.ufunc, primitive: str, **attributes: Any) -> Quick:
    """The function of one or two operands that applies `primitive` where that is all that `ufunc` does."""
    op = BY_NAME[primitive]
    # NumPy orders complex numbers, and the dialect does not.
    takes = (_REAL if primitive == "compare" else _DTYPES).intersection(op.operands[0].dtypes or ())
    return _quick(ufunc, functools.partial(op.evaluate, **attributes) if attributes else op.evaluate, takes)


def quick_by_numpy(ufunc: np.ufunc) -> Quick:
    """As `quick`, for functions of real numbers that are several ops, and to the bit what NumPy computes."""

    def evaluate(*arrays: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(ufunc(*arrays))

    return _quick(ufunc, evaluate, _REAL)


def _quick(ufunc: np.ufunc, evaluate: Callable[..., Any], takes: AbstractSet[np.dtype]) -> Quick:
    kept: dict[np.dtype, bool] = {}

    def keeps(dtype: np.dtype) -> bool:
        """Whether the loop for operands of a dtype computes with that dtype."""
        found = kept.get(dtype)
        if found is None:
            try:
                dtypes, _ = loop_dtypes(ufunc, (dtype,) * ufunc.nin)
            except Exception:
                dtypes = ()
            found = kept[dtype] = dtype in takes and bool(dtypes) and all(d == dtype for d in dtypes)
        return found

    def of_one(x: Any) -> Array | None:
        if type(x) is not Array or x.weak_type or not keeps(x.dtype) or not _is_at_once():
            return None
        return _result(evaluate, (x.numpy(),))

    def of_two(x: Any, y: Any) -> Array | None:
        first = x if type(x) is Array else y
        if type(first) is not Array or first.weak_type:
            return None
        host = first.numpy()
        dtype = host.dtype
        if not keeps(dtype) or not _is_at_once():
            return None
        left = host if first is x else _other(x, host)
        right = host if first is y else _other(y, host)
        if left is None or right is None:
            return None
        return _result(evaluate, (left, right))

    return of_one if ufunc.nin == 1 else of_two


def _is_at_once() -> bool:
    """Whether an op runs now, and nobody watches."""
    return current_frame() is None and suspended_frame() is None and not is_watching()


def _other(value: Any, like: np.ndarray) -> np.ndarray | None:
    """An operand beside an array: another one of its dtype and shape, NumPy's too, or a number."""
    if type(value) is Array:
        host = value.numpy()
        if value.weak_type:
            return None
    elif type(value) is np.ndarray:
        host = value
    else:
        return _number(value, like.dtype)
    return host if host.dtype is like.dtype and host.shape == like.shape else None


def _number(value: Any, dtype: np.dtype) -> np.ndarray | None:
    """A number of Python that an array of this dtype takes as it is."""
    held = surely_held(type(value), dtype)
    return np.array(value, dtype) if held is not None and held[0] <= value <= held[1] else None


def _result(evaluate: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> Array | None:
    try:
        result = evaluate(*arrays)
    except MemoryError:  # the general way says so
        return None
    result.flags.writeable = False
    return Array(result)
