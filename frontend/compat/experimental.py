"""Names of `jax.experimental` that adze has elsewhere."""

from ..transforms.callbacks import io_callback as io_callback

__all__ = ["io_callback"]
