"""Names of `jax.experimental` that adze has elsewhere."""

from typing import Any

from ..transforms.callbacks import io_callback as io_callback
from .top import enable_x64 as enable_x64


def disable_x64() -> Any:
    """A context in which 32 bits are the default."""
    return enable_x64(False)


__all__ = ["disable_x64", "enable_x64", "io_callback"]
