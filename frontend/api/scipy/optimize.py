"""Minimization under SciPy's name."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.solvers.minimize import OptimizeResults as OptimizeResults
from ..frontend.library.solvers.minimize import minimize as minimize

__all__ = _public_names(globals())
