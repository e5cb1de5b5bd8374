"""Types for annotations, under the names of `jax.typing`."""

from typing import Any as _Any

import numpy as _numpy

from .frontend.tracing.array import Array as _Array

ArrayLike = _Array | _numpy.ndarray | _numpy.bool_ | _numpy.number | bool | int | float | complex
DTypeLike = str | type[_Any] | _numpy.dtype

__all__ = ["ArrayLike", "DTypeLike"]
