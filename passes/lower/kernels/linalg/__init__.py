"""The kernels of routines, by name: each is made by a `MakeKernel`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .cholesky import cholesky
from .eigen import eigen
from .factored_systems import factored_solve
from .jacobi import jacobi
from .lu import lu, signed_pivots
from .matrices import MakeKernel
from .reflections import reflections
from .schur import real_schur
from .svd import singular
from .thin_svd import thin
from .triangular import FORMS, triangular_solve

KERNELS: Final[Mapping[str, MakeKernel]] = {
    "cholesky": cholesky,
    "jacobi": jacobi,
    "lu": lu,
    "lu_solve": factored_solve(is_transposed=False),
    "lu_solve_transposed": factored_solve(is_transposed=True),
    "signed_pivots": signed_pivots,
    "eigh": eigen(with_vectors=True),
    "eigvalsh": eigen(with_vectors=False),
    "svd": singular(with_vectors=True),
    "svdvals": singular(with_vectors=False),
    "real_schur": real_schur(with_vectors=True),
    "real_schur_blocks": real_schur(with_vectors=False),
    "thin_svd": thin(with_vectors=True),
    "thin_svdvals": thin(with_vectors=False),
    "qr": reflections(is_complete=False),
    "qr_complete": reflections(is_complete=True),
    **{form.name: triangular_solve(form) for form in FORMS},
}
