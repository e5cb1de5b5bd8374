"""Linear algebra under SciPy's names and calling conventions."""

from ..frontend.library.linalg.cholesky import cho_factor as cho_factor
from ..frontend.library.linalg.cholesky import cho_solve as cho_solve
from ..frontend.library.linalg.counted_matrices import convolution_matrix as convolution_matrix
from ..frontend.library.linalg.counted_matrices import fiedler as fiedler
from ..frontend.library.linalg.counted_matrices import fiedler_companion as fiedler_companion
from ..frontend.library.linalg.counted_matrices import hadamard as hadamard
from ..frontend.library.linalg.counted_matrices import helmert as helmert
from ..frontend.library.linalg.counted_matrices import invhilbert as invhilbert
from ..frontend.library.linalg.counted_matrices import invpascal as invpascal
from ..frontend.library.linalg.counted_matrices import leslie as leslie
from ..frontend.library.linalg.counted_matrices import pascal as pascal
from ..frontend.library.linalg.lu import lu as lu
from ..frontend.library.linalg.lu import lu_factor as lu_factor
from ..frontend.library.linalg.lu import lu_solve as lu_solve
from ..frontend.library.linalg.matrix_functions import expm as expm
from ..frontend.library.linalg.norms import norm as norm
from ..frontend.library.linalg.schur_functions import funm as funm
from ..frontend.library.linalg.schur_functions import hessenberg as hessenberg
from ..frontend.library.linalg.schur_functions import qr_multiply as qr_multiply
from ..frontend.library.linalg.schur_functions import rsf2csf as rsf2csf
from ..frontend.library.linalg.schur_functions import schur as schur
from ..frontend.library.linalg.schur_functions import solve_sylvester as solve_sylvester
from ..frontend.library.linalg.schur_functions import sqrtm as sqrtm
from ..frontend.library.linalg.scipy_names import cholesky as cholesky
from ..frontend.library.linalg.scipy_names import det as det
from ..frontend.library.linalg.scipy_names import eigh as eigh
from ..frontend.library.linalg.scipy_names import eigh_tridiagonal as eigh_tridiagonal
from ..frontend.library.linalg.scipy_names import expm_frechet as expm_frechet
from ..frontend.library.linalg.scipy_names import inv as inv
from ..frontend.library.linalg.scipy_names import polar as polar
from ..frontend.library.linalg.scipy_names import qr as qr
from ..frontend.library.linalg.scipy_names import solve as solve
from ..frontend.library.linalg.scipy_names import svd as svd
from ..frontend.library.linalg.special_matrices import block_diag as block_diag
from ..frontend.library.linalg.special_matrices import circulant as circulant
from ..frontend.library.linalg.special_matrices import companion as companion
from ..frontend.library.linalg.special_matrices import dft as dft
from ..frontend.library.linalg.special_matrices import hankel as hankel
from ..frontend.library.linalg.special_matrices import hilbert as hilbert
from ..frontend.library.linalg.special_matrices import toeplitz as toeplitz
from ..frontend.library.linalg.svd import svdvals as svdvals
from ..frontend.library.linalg.triangular import solve_triangular as solve_triangular
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
