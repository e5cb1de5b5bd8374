"""Taylor series under the name of `jax.experimental.jet`."""

from ..frontend.transforms.taylor import jet as jet

__all__ = ["jet"]
