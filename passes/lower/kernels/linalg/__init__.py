"""The kernels of routines, by name: each makes a `Kernel` from a machine and the types of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from .....dialects.types import TensorType
from ....ir.aliases import Type
from ..executable import Kernel
from .cholesky import cholesky
from .eigen import eigen
from .jacobi import jacobi
from .lu import lu
from .reflections import reflections
from .svd import singular
from .triangular import FORMS, triangular_solve
from .vectors import Machine

MakeKernel: TypeAlias = Callable[[Machine, Sequence[TensorType], Sequence[Type]], Kernel]

KERNELS: Final[Mapping[str, MakeKernel]] = {
    "cholesky": cholesky,
    "jacobi": jacobi,
    "lu": lu,
    "eigh": eigen(with_vectors=True),
    "eigvalsh": eigen(with_vectors=False),
    "svd": singular(with_vectors=True),
    "svdvals": singular(with_vectors=False),
    "qr": reflections,
    "qr_complete": reflections,
    **{form.name: triangular_solve(form) for form in FORMS},
}
