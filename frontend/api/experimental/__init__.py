"""What JAX calls experimental: `adze.experimental.ode`, `adze.experimental.sparse`."""

from ..frontend.transforms.callbacks import io_callback as io_callback
from . import ode as ode
from . import sparse as sparse

__all__ = ["io_callback", "ode", "sparse"]
