"""Linear algebra under the names and calling conventions of `jax.lax.linalg`."""

from ..frontend.library.lax.linalg import cholesky as cholesky
from ..frontend.library.lax.linalg import cholesky_update as cholesky_update
from ..frontend.library.lax.linalg import eigh as eigh
from ..frontend.library.lax.linalg import lu as lu
from ..frontend.library.lax.linalg import lu_pivots_to_permutation as lu_pivots_to_permutation
from ..frontend.library.lax.linalg import qr as qr
from ..frontend.library.lax.linalg import svd as svd
from ..frontend.library.lax.linalg import symmetric_product as symmetric_product
from ..frontend.library.lax.linalg import triangular_solve as triangular_solve
from ..frontend.library.lax.linalg import tridiagonal_solve as tridiagonal_solve
from ..frontend.library.lax.primitives import LINEAR_ALGEBRA_PRIMITIVES as _LINEAR_ALGEBRA_PRIMITIVES
from ..frontend.library.linalg.reflections import EighImplementation as EighImplementation
from ..frontend.library.linalg.reflections import EigImplementation as EigImplementation
from ..frontend.library.linalg.reflections import SvdAlgorithm as SvdAlgorithm
from ..frontend.library.linalg.reflections import eig as eig
from ..frontend.library.linalg.reflections import hessenberg as hessenberg
from ..frontend.library.linalg.reflections import householder_product as householder_product
from ..frontend.library.linalg.reflections import ormqr as ormqr
from ..frontend.library.linalg.reflections import schur as schur
from ..frontend.library.names import public_names as _public_names

globals().update(_LINEAR_ALGEBRA_PRIMITIVES)

__all__ = _public_names(globals())
