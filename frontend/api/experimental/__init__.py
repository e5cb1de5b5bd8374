"""What JAX calls experimental: `adze.experimental.checkify`, `jet`, `ode` and `sparse`."""

from ..frontend.transforms.callbacks import io_callback as io_callback
from . import checkify as checkify
from . import jet as jet
from . import ode as ode
from . import sparse as sparse

__all__ = ["checkify", "io_callback", "jet", "ode", "sparse"]
