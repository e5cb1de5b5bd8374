"""Linear algebra under NumPy's names; a matrix that no exception can report gives NaN."""

from ..frontend.linalg.public import cholesky as cholesky
from ..frontend.linalg.public import cond as cond
from ..frontend.linalg.public import cross as cross
from ..frontend.linalg.public import det as det
from ..frontend.linalg.public import diagonal as diagonal
from ..frontend.linalg.public import eigh as eigh
from ..frontend.linalg.public import eigvalsh as eigvalsh
from ..frontend.linalg.public import inv as inv
from ..frontend.linalg.public import lstsq as lstsq
from ..frontend.linalg.public import matmul as matmul
from ..frontend.linalg.public import matrix_norm as matrix_norm
from ..frontend.linalg.public import matrix_power as matrix_power
from ..frontend.linalg.public import matrix_rank as matrix_rank
from ..frontend.linalg.public import matrix_transpose as matrix_transpose
from ..frontend.linalg.public import multi_dot as multi_dot
from ..frontend.linalg.public import norm as norm
from ..frontend.linalg.public import outer as outer
from ..frontend.linalg.public import pinv as pinv
from ..frontend.linalg.public import qr as qr
from ..frontend.linalg.public import slogdet as slogdet
from ..frontend.linalg.public import solve as solve
from ..frontend.linalg.public import svd as svd
from ..frontend.linalg.public import svdvals as svdvals
from ..frontend.linalg.public import tensordot as tensordot
from ..frontend.linalg.public import tensorinv as tensorinv
from ..frontend.linalg.public import tensorsolve as tensorsolve
from ..frontend.linalg.public import trace as trace
from ..frontend.linalg.public import vecdot as vecdot
from ..frontend.linalg.public import vector_norm as vector_norm

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
