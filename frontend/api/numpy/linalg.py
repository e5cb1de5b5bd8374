"""Linear algebra under NumPy's names; a matrix that no exception can report results in NaN."""

from ..frontend.library.linalg.eig import eig as eig
from ..frontend.library.linalg.eig import eigvals as eigvals
from ..frontend.library.linalg.numpy_names import cholesky as cholesky
from ..frontend.library.linalg.numpy_names import cond as cond
from ..frontend.library.linalg.numpy_names import cross as cross
from ..frontend.library.linalg.numpy_names import det as det
from ..frontend.library.linalg.numpy_names import diagonal as diagonal
from ..frontend.library.linalg.numpy_names import eigh as eigh
from ..frontend.library.linalg.numpy_names import eigvalsh as eigvalsh
from ..frontend.library.linalg.numpy_names import inv as inv
from ..frontend.library.linalg.numpy_names import lstsq as lstsq
from ..frontend.library.linalg.numpy_names import matmul as matmul
from ..frontend.library.linalg.numpy_names import matrix_norm as matrix_norm
from ..frontend.library.linalg.numpy_names import matrix_power as matrix_power
from ..frontend.library.linalg.numpy_names import matrix_rank as matrix_rank
from ..frontend.library.linalg.numpy_names import matrix_transpose as matrix_transpose
from ..frontend.library.linalg.numpy_names import multi_dot as multi_dot
from ..frontend.library.linalg.numpy_names import norm as norm
from ..frontend.library.linalg.numpy_names import outer as outer
from ..frontend.library.linalg.numpy_names import pinv as pinv
from ..frontend.library.linalg.numpy_names import qr as qr
from ..frontend.library.linalg.numpy_names import slogdet as slogdet
from ..frontend.library.linalg.numpy_names import solve as solve
from ..frontend.library.linalg.numpy_names import svd as svd
from ..frontend.library.linalg.numpy_names import svdvals as svdvals
from ..frontend.library.linalg.numpy_names import tensordot as tensordot
from ..frontend.library.linalg.numpy_names import tensorinv as tensorinv
from ..frontend.library.linalg.numpy_names import tensorsolve as tensorsolve
from ..frontend.library.linalg.numpy_names import trace as trace
from ..frontend.library.linalg.numpy_names import vecdot as vecdot
from ..frontend.library.linalg.numpy_names import vector_norm as vector_norm
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
