"""The stages of a compile as classes, under the names of `jax.stages`."""

from .frontend.library.names import public_names as _public_names
from .frontend.staging.compiled import Compiled as Compiled
from .frontend.staging.lowered import Lowered as Lowered
from .frontend.staging.traced import Traced as Traced

__all__ = _public_names(globals())
