"""Vector quantization under SciPy's name."""

from ...frontend.library.names import public_names as _public_names
from ...frontend.library.solvers.clusters import vq as vq

__all__ = _public_names(globals())
