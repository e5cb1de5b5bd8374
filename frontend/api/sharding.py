"""Meshes of ranks and how arrays lie on them, under the names of `jax.sharding`."""

from .frontend.compat.sharding import AbstractMesh as AbstractMesh
from .frontend.compat.sharding import AxisType as AxisType
from .frontend.compat.sharding import Mesh as Mesh
from .frontend.compat.sharding import NamedSharding as NamedSharding
from .frontend.compat.sharding import Sharding as Sharding
from .frontend.compat.sharding import SingleDeviceSharding as SingleDeviceSharding
from .frontend.compat.sharding import get_abstract_mesh as get_abstract_mesh
from .frontend.library.names import public_names as _public_names
from .frontend.sharding.mesh import PartitionSpec as PartitionSpec

__all__ = _public_names(globals())
