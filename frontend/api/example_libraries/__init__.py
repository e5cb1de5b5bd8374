"""What JAX calls example libraries: `stax` (layers as pairs of functions) and `optimizers` (triples)."""

from . import optimizers as optimizers
from . import stax as stax

__all__ = ["optimizers", "stax"]
