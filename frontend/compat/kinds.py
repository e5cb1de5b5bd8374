"""Names of `jax.dtypes` that adze has no dtypes for, and of `jax._src.dtypes`."""

from typing import Any

import numpy as np

from ...dialects.types import as_dtype
from ..errors import DtypeError as TypePromotionError
from ..library.numpy import issubdtype as _issubdtype
from ..tracing.default_dtypes import narrowed
from .typed_keys import KeyType


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """`dtype` as a NumPy dtype: float32 and complex64 for those of 64 bits, while `jax_enable_x64` is off."""
    return narrowed(as_dtype(dtype))


class extended:
    """The kind of dtypes that NumPy has not."""


class prng_key(extended):
    """The kind of the dtype of typed keys."""


def issubdtype(a: Any, b: Any) -> bool:
    """Whether a dtype is of a kind; that of typed keys is of `prng_key`."""
    if isinstance(a, KeyType):
        return a is b or b in (extended, prng_key)
    if isinstance(b, type) and issubclass(b, extended):
        return isinstance(a, type) and issubclass(a, b)
    return bool(_issubdtype(a, b))


__all__ = ["TypePromotionError", "canonicalize_dtype", "extended", "issubdtype", "prng_key"]
