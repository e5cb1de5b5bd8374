"""Meshes of ranks and how arrays lie on them."""

from .frontend.library.names import public_names as _public_names
from .frontend.sharding.mesh import Mesh as Mesh
from .frontend.sharding.mesh import NamedSharding as NamedSharding
from .frontend.sharding.mesh import PartitionSpec as PartitionSpec

__all__ = _public_names(globals())
