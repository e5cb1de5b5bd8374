"""Linear algebra under SciPy's names and calling conventions."""

from ..frontend.linalg.cholesky import cho_factor as cho_factor
from ..frontend.linalg.cholesky import cho_solve as cho_solve
from ..frontend.linalg.functions import expm as expm
from ..frontend.linalg.lu import lu as lu
from ..frontend.linalg.lu import lu_factor as lu_factor
from ..frontend.linalg.lu import lu_solve as lu_solve
from ..frontend.linalg.norms import norm as norm
from ..frontend.linalg.special_matrices import block_diag as block_diag
from ..frontend.linalg.special_matrices import circulant as circulant
from ..frontend.linalg.special_matrices import companion as companion
from ..frontend.linalg.special_matrices import dft as dft
from ..frontend.linalg.special_matrices import hankel as hankel
from ..frontend.linalg.special_matrices import hilbert as hilbert
from ..frontend.linalg.special_matrices import toeplitz as toeplitz
from ..frontend.linalg.svd import svdvals as svdvals
from ..frontend.linalg.triangular import solve_triangular as solve_triangular
from ..frontend.linalg.under_scipy import cholesky as cholesky
from ..frontend.linalg.under_scipy import det as det
from ..frontend.linalg.under_scipy import eigh as eigh
from ..frontend.linalg.under_scipy import eigh_tridiagonal as eigh_tridiagonal
from ..frontend.linalg.under_scipy import expm_frechet as expm_frechet
from ..frontend.linalg.under_scipy import inv as inv
from ..frontend.linalg.under_scipy import polar as polar
from ..frontend.linalg.under_scipy import qr as qr
from ..frontend.linalg.under_scipy import solve as solve
from ..frontend.linalg.under_scipy import svd as svd

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "hankel",
    "hilbert",
    "inv",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "polar",
    "qr",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "toeplitz",
]
