"""Names of `jax.numpy` that are NumPy's own, and dtypes that clients name and adze's arrays do not take.

`finfo` and `iinfo` hold NumPy's scalars of the dtype, as JAX's do; those of `adze.numpy` hold Python numbers.
"""

from __future__ import annotations

from typing import Any

from ml_dtypes import finfo as finfo
from ml_dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from ml_dtypes import float8_e4m3fn as float8_e4m3fn
from ml_dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from ml_dtypes import float8_e5m2 as float8_e5m2
from ml_dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from ml_dtypes import iinfo as iinfo
from numpy import dtype as dtype

from . import kinds
from .out_shardings import OF_NUMPY, function_of
from .scalar_types import SCALAR_TYPES
from .typed_keys import MOVING, moving_keys
from .wide_defaults import MAKERS

__all__ = ["dtype"]


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind; that of typed keys is of `prng_key`."""
    return kinds.issubdtype(arg1, arg2)


def __getattr__(name: str) -> Any:
    if name in SCALAR_TYPES:
        return SCALAR_TYPES[name]
    if name not in OF_NUMPY | MAKERS | MOVING["numpy"]:
        raise AttributeError(name)
    function = function_of("numpy", name)
    return moving_keys(function) if name in MOVING["numpy"] else function
