"""`adze.numpy.linalg`: NumPy's names, and what the array API standard's extension adds to them."""

from ..numpy.products import matmul, tensordot, vecdot
from ..numpy.reshaping import matrix_transpose
from .cholesky import cholesky
from .determinants import det, slogdet
from .eigh import eigh, eigvalsh
from .leastsquares import cond, lstsq, matrix_rank, pinv
from .lu import inv, solve
from .matrix_axes import cross, diagonal, multi_dot, outer, trace
from .matrix_functions import matrix_power, tensorinv, tensorsolve
from .norms import matrix_norm, norm, vector_norm
from .qr import qr
from .svd import svd, svdvals

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
