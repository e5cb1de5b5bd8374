"""Python's numbers in the dtypes of arrays, and the wide form of weakly typed arrays: both without ops.

Input: a Python number and a dtype. Output: a 0-d array, or the `OutOfRangeError` for a dtype that does not
hold the number (in programs written for JAX: infinity). Loaded programs need this much of the tracer and no
more.
"""

from __future__ import annotations

import cmath
import math
import sys
from typing import Any, Final

import numpy as np

from ...dialects.types import BFLOAT16, BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, INT64
from ..errors import DtypeError, OutOfRangeError
from .array import Array
from .default_dtypes import is_narrow_program
from .locations import user_location_text

WIDE: Final = {FLOAT32: FLOAT64, COMPLEX64: COMPLEX128}
"""What a weakly typed array of the default dtype is computed in."""

_HELD: Final[dict[tuple[type, np.dtype], tuple[float, float]]] = {
    (bool, BOOL): (False, True),
    (int, INT32): (-(2**31), 2**31 - 1),
    (int, INT64): (-(2**63), 2**63 - 1),
    (int, FLOAT32): (-(2**53), 2**53),
    (int, FLOAT64): (-(2**53), 2**53),
    (float, FLOAT32): (-3.4e38, 3.4e38),
    (float, FLOAT64): (-sys.float_info.max, sys.float_info.max),
}
"""Numbers of a type of Python that a dtype surely holds and that NumPy rounds once, as most are."""


def surely_held(number: type, dtype: np.dtype) -> tuple[float, float] | None:
    """Between which numbers of a type of Python `dtype` surely holds each one, rounded as NumPy does."""
    return _HELD.get((number, dtype))


def widens_to(narrow: np.dtype, dtype: np.dtype) -> bool:
    """Whether `dtype` is `narrow` with twice its bits."""
    return narrow in WIDE and WIDE[narrow] == dtype  # to NumPy, None is float64


def is_python_scalar(x: Any) -> bool:
    """Whether `x` is a number of Python itself: np.float64 derives from float, and is none."""
    return isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)


def scalar_in_dtype(x: bool | int | float | complex, dtype: np.dtype) -> Array:
    """A Python scalar in a dtype that holds it: the one place that says which does."""
    held = _HELD.get((type(x), dtype))
    if held is not None and held[0] <= x <= held[1]:  # type: ignore[operator]
        return Array(np.array(x, dtype))
    shown = f"Python {'integer' if isinstance(x, int) else type(x).__name__} {x}"
    if isinstance(x, complex) and dtype.kind not in "cb":
        raise DtypeError(
            f"{shown} cannot become {dtype.name}", where=user_location_text(), hint="take its .real"
        )
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        if not (_is_finite(x) and low <= int(x) <= high):  # type: ignore[arg-type]
            raise OutOfRangeError(
                f"{shown} is out of range for {dtype.name} ({low} to {high})",
                where=user_location_text(),
                hint="convert the array with .astype to a wider dtype first",
            )
        return Array(np.asarray(int(x), dtype))  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        value = np.asarray(math.inf if _is_giant(x) else x).astype(dtype)
    is_too_large = dtype.kind != "b" and _is_finite(x) and not np.isfinite(value)
    if is_too_large and not (is_narrow_program() and isinstance(x, (float, complex))):
        raise OutOfRangeError(
            f"{shown} is out of range for {dtype.name} (at most {largest(dtype):.6g} in magnitude)",
            where=user_location_text(),
            hint="write adze.numpy.inf where infinity is meant, or convert the array with .astype first",
        )
    return Array(value)


def _is_giant(x: Any) -> bool:
    """Whether `x` is an integer that not even a float64 holds."""
    return isinstance(x, int) and abs(x) > sys.float_info.max


def _is_finite(x: Any) -> bool:
    return isinstance(x, int) or cmath.isfinite(x)


def largest(dtype: np.dtype) -> float:
    """The largest finite number of an inexact dtype, as Python has it."""
    if dtype == BFLOAT16:
        return float.fromhex("0x1.fep127")
    return float(np.finfo(dtype).max)


def wide_array(array: Array) -> Array:
    """A weakly typed float or complex array in float64 or complex128, strongly typed; others as they are."""
    if not array.weak_type or array.dtype not in WIDE:
        return array
    return array.wide if array.wide is not None else Array(array.numpy().astype(WIDE[array.dtype]))
