"""Iterative solvers of linear systems under SciPy's names."""

from ...frontend.library.names import public_names as _public_names
from ...frontend.library.solvers.krylov import bicgstab as bicgstab
from ...frontend.library.solvers.krylov import cg as cg
from ...frontend.library.solvers.krylov import gmres as gmres

__all__ = _public_names(globals())
