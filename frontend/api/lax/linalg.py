"""Linear algebra under the names and calling conventions of `jax.lax.linalg`."""

from ..frontend.linalg.under_lax import cholesky as cholesky
from ..frontend.linalg.under_lax import cholesky_update as cholesky_update
from ..frontend.linalg.under_lax import eigh as eigh
from ..frontend.linalg.under_lax import lu as lu
from ..frontend.linalg.under_lax import lu_pivots_to_permutation as lu_pivots_to_permutation
from ..frontend.linalg.under_lax import qr as qr
from ..frontend.linalg.under_lax import svd as svd
from ..frontend.linalg.under_lax import symmetric_product as symmetric_product
from ..frontend.linalg.under_lax import triangular_solve as triangular_solve
from ..frontend.linalg.under_lax import tridiagonal_solve as tridiagonal_solve

__all__ = [
    "cholesky",
    "cholesky_update",
    "eigh",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal_solve",
]
