"""Functions that are traced once and called elsewhere, under the names of `jax.export`."""

from .frontend.exporting.checks import DisabledSafetyCheck as DisabledSafetyCheck
from .frontend.exporting.checks import default_export_platform as default_export_platform
from .frontend.exporting.description import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from .frontend.exporting.description import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from .frontend.exporting.exported import Exported as Exported
from .frontend.exporting.exported import deserialize as deserialize
from .frontend.exporting.exported import export as export
from .frontend.exporting.symbolic_shapes import is_symbolic_dim as is_symbolic_dim
from .frontend.exporting.symbolic_shapes import symbolic_args_specs as symbolic_args_specs
from .frontend.exporting.symbolic_shapes import symbolic_shape as symbolic_shape
from .frontend.exporting.written_nodes import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from .frontend.exporting.written_nodes import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)
from .frontend.library.names import public_names as _public_names
from .frontend.tracing.symbolic import SymbolicScope as SymbolicScope

__all__ = _public_names(globals())
