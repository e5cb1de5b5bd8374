"""Dtypes under the names of `jax.dtypes`."""

from typing import Any as _Any

import numpy as _numpy

from .dialects.types import as_dtype as _as_dtype
from .frontend import errors as _errors
from .frontend.library.names import public_names as _public_names
from .frontend.library.numpy import bfloat16 as bfloat16
from .frontend.library.numpy import finfo as finfo
from .frontend.library.numpy import iinfo as iinfo
from .frontend.library.numpy import issubdtype as issubdtype
from .frontend.library.numpy import result_type as result_type
from .frontend.tracing.jax_rules import FLOAT0 as _FLOAT0

TypePromotionError = _errors.DtypeError
float0 = _FLOAT0
_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "V": float, "c": complex}


def canonicalize_dtype(dtype: _Any, allow_extended_dtype: bool = False) -> _numpy.dtype:
    """`dtype` as a NumPy dtype: adze narrows none."""
    return _as_dtype(dtype)


def scalar_type_of(x: _Any) -> type:
    """The Python type of the numbers in `x`: bool, int, float or complex."""
    return _SCALARS[_numpy.dtype(result_type(x)).kind]


def itemsize_bits(dtype: _Any) -> int:
    """How many bits an element of `dtype` has."""
    return 8 * _as_dtype(dtype).itemsize


__all__ = _public_names(globals())
