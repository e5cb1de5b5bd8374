"""Names of `jax.numpy` that are NumPy's own, and dtypes that clients name and adze's arrays do not take."""

from __future__ import annotations

from typing import Any

from ml_dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from ml_dtypes import float8_e4m3fn as float8_e4m3fn
from ml_dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from ml_dtypes import float8_e5m2 as float8_e5m2
from ml_dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from numpy import dtype as dtype

from .kinds import issubdtype as issubdtype
from .out_shardings import OF_NUMPY, function_of
from .scalar_types import SCALAR_TYPES
from .typed_keys import MOVING, moving_keys
from .wide_defaults import MAKERS

__all__ = ["dtype"]


def __getattr__(name: str) -> Any:
    if name in SCALAR_TYPES:
        return SCALAR_TYPES[name]
    if name not in OF_NUMPY | MAKERS | MOVING["numpy"]:
        raise AttributeError(name)
    function = function_of("numpy", name)
    return moving_keys(function) if name in MOVING["numpy"] else function
