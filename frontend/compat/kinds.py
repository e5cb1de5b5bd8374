"""Names of `jax.dtypes` that adze has no dtypes for, and of `jax._src.dtypes`."""

from ..errors import DtypeError as TypePromotionError


class extended:
    """The kind of dtypes that NumPy has not: no array of adze is of one."""


class prng_key(extended):
    """The dtype of typed keys: keys of adze are two unsigned 32-bit integers."""


__all__ = ["TypePromotionError", "extended", "prng_key"]
