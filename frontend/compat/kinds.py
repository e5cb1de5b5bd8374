"""Names of `jax.dtypes` that adze has no dtypes for, and of `jax._src.dtypes`."""

from typing import Any

from ..errors import DtypeError as TypePromotionError
from ..library.numpy import issubdtype as _issubdtype


class extended:
    """The kind of dtypes that NumPy has not: no array of adze is of one."""


class prng_key(extended):
    """The dtype of typed keys: keys of adze are two unsigned 32-bit integers."""


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind; none is of the kinds that NumPy has not."""
    if isinstance(arg2, type) and issubclass(arg2, extended):
        return isinstance(arg1, type) and issubclass(arg1, arg2)
    return bool(_issubdtype(arg1, arg2))


__all__ = ["TypePromotionError", "extended", "issubdtype", "prng_key"]
