"""Linear algebra under SciPy's names."""

from ..frontend.linalg.cholesky import cho_factor as cho_factor
from ..frontend.linalg.cholesky import cho_solve as cho_solve
from ..frontend.linalg.functions import expm as expm
from ..frontend.linalg.lu import lu as lu
from ..frontend.linalg.lu import lu_factor as lu_factor
from ..frontend.linalg.lu import lu_solve as lu_solve
from ..frontend.linalg.norms import norm as norm
from ..frontend.linalg.svd import svdvals as svdvals
from ..frontend.linalg.triangular import solve_triangular as solve_triangular

__all__ = [
    "cho_factor",
    "cho_solve",
    "expm",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "solve_triangular",
    "svdvals",
]
