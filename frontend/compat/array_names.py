"""Names of `jax.numpy` that are NumPy's own."""

from numpy import dtype as dtype

__all__ = ["dtype"]
