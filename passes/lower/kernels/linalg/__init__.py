"""The kernels of routines, by name: each is made by a `MakeKernel`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .cholesky import cholesky
from .eigen import eigen
from .jacobi import jacobi
from .lu import lu
from .matrices import MakeKernel
from .reflections import reflections
from .svd import singular
from .triangular import FORMS, triangular_solve

KERNELS: Final[Mapping[str, MakeKernel]] = {
    "cholesky": cholesky,
    "jacobi": jacobi,
    "lu": lu,
    "eigh": eigen(with_vectors=True),
    "eigvalsh": eigen(with_vectors=False),
    "svd": singular(with_vectors=True),
    "svdvals": singular(with_vectors=False),
    "qr": reflections(is_complete=False),
    "qr_complete": reflections(is_complete=True),
    **{form.name: triangular_solve(form) for form in FORMS},
}
