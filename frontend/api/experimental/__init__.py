"""What JAX calls experimental: `adze.experimental.checkify`, `ode` and `sparse`."""

from ..frontend.transforms.callbacks import io_callback as io_callback
from . import checkify as checkify
from . import ode as ode
from . import sparse as sparse

__all__ = ["checkify", "io_callback", "ode", "sparse"]
