"""Meshes of ranks and how arrays lie on them, under the names of `jax.sharding`."""

from .frontend.compat.sharding import AbstractMesh as AbstractMesh
from .frontend.compat.sharding import AxisType as AxisType
from .frontend.compat.sharding import Mesh as Mesh
from .frontend.compat.sharding import auto_axes as auto_axes
from .frontend.compat.sharding import explicit_axes as explicit_axes
from .frontend.compat.sharding import get_abstract_mesh as get_abstract_mesh
from .frontend.compat.sharding import use_abstract_mesh as use_abstract_mesh
from .frontend.library.names import public_names as _public_names
from .frontend.sharding.autoshard import ShardingPlan as ShardingPlan
from .frontend.sharding.autoshard import measure_machine as measure_machine
from .frontend.sharding.constraints import reshard as reshard
from .frontend.sharding.mesh import PartitionSpec as PartitionSpec
from .frontend.sharding.mesh import get_mesh as get_mesh
from .frontend.sharding.mesh import set_mesh as set_mesh
from .frontend.sharding.named import NamedSharding as NamedSharding
from .frontend.sharding.named import Sharding as Sharding
from .frontend.sharding.named import SingleDeviceSharding as SingleDeviceSharding
from .passes.partition.choices import Machine as Machine

__all__ = _public_names(globals())
