"""The kernels of routines, by name: each is made by a `MakeKernel`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .....dialects.dataclass import dataclass
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


@dataclass(frozen=True, slots=True)
class Alone:
    """What computes the result `position` of a routine where no other one is used: `make`, which is told what
    the results `told` are."""

    position: int
    make: MakeKernel
    told: tuple[int, ...]


ALONE: Final[Mapping[str, Alone]] = {
    "eigh": Alone(0, eigen(with_vectors=False), (0,)),
    "svd": Alone(1, singular(with_vectors=False), (1,)),
    "thin_svd": Alone(1, thin(with_vectors=False), (1,)),
    "qr": Alone(1, reflections(with_q=False), (0, 1)),
    "qr_complete": Alone(1, reflections(is_complete=True, with_q=False), (0, 1)),
}
"""Values without vectors, triangles without columns, by the name of the routine."""
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
    "qr": reflections(),
    "qr_complete": reflections(is_complete=True),
    **{form.name: triangular_solve(form) for form in FORMS},
}
