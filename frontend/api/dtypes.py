"""Dtypes under the names of `jax.dtypes`."""

from typing import Any as _Any

import numpy as _numpy

from .dialects.types import as_dtype as _as_dtype
from .frontend import errors as _errors
from .frontend.library.names import public_names as _public_names
from .frontend.library.numpy import bfloat16 as bfloat16
from .frontend.library.numpy import finfo as finfo
from .frontend.library.numpy import iinfo as iinfo
from .frontend.library.numpy import issubdtype as _issubdtype
from .frontend.library.numpy import result_type as _result_type
from .frontend.library.numpy.promotion import is_weak_together as _is_weak_together
from .frontend.tracing.jax_rules import FLOAT0 as _FLOAT0

TypePromotionError = _errors.DtypeError
float0 = _FLOAT0
_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "V": float, "c": complex}


def canonicalize_dtype(dtype: _Any, allow_extended_dtype: bool = False) -> _numpy.dtype:
    """`dtype` as a NumPy dtype: adze narrows none."""
    return _as_dtype(dtype)


def issubdtype(a: _Any, b: _Any) -> bool:
    """Whether a dtype is of one of NumPy's kinds (`floating`, `integer`, ...) or is a dtype."""
    return bool(_issubdtype(a, b))


def result_type(*args: _Any, return_weak_type_flag: bool = False) -> _Any:
    """The dtype that arrays, dtypes and Python scalars meet in; on request with whether it is weak."""
    dtype = _result_type(*args)
    return (dtype, _is_weak_together(args)) if return_weak_type_flag else dtype


def scalar_type_of(x: _Any) -> type:
    """The Python type of the numbers in `x`: bool, int, float or complex."""
    return _SCALARS[_numpy.dtype(result_type(x)).kind]


def itemsize_bits(dtype: _Any) -> int:
    """How many bits an element of `dtype` has."""
    return 8 * _as_dtype(dtype).itemsize


__all__ = _public_names(globals())
