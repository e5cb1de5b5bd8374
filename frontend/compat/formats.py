"""Names of `jax.experimental.layout`."""

from ..sharding.formats import Format as Format
from ..sharding.formats import Layout as Layout

__all__ = ["Format", "Layout"]
