"""What linear algebra makes of normal numbers: vectors with a covariance, orthogonal matrices.

The factorizations are those of `adze.numpy.linalg`, with leading axes as batches.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32
from ...errors import ArgumentError, ShapeError
from ...tracing.interpreter import as_value
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim
from .. import numpy as xp
from ..linalg.cholesky import cholesky
from ..linalg.eigh import eigh
from ..linalg.qr import qr
from ..linalg.svd import svd
from .arguments import as_key, as_shape, float_dtype, joint_shape, parameter
from .inverse_transforms import is_complex_dtype, normal_floats, normal_numbers

METHODS: Final = ("cholesky", "eigh", "svd")


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Any:
    """Normal vectors of a mean `(..., n)` and a covariance matrix `(..., n, n)`; `shape` is without `n`.

    `method` says how the covariance is factored: 'cholesky' (NaN where it is not positive definite), or
    'eigh' or 'svd', which take semidefinite ones too.
    """
    value = as_key("multivariate_normal", key)
    if method not in METHODS:
        raise ArgumentError(
            f"multivariate_normal: method is {method!r}, expected one of {', '.join(map(repr, METHODS))}",
            where=user_location_text(),
        )
    wanted = float_dtype("multivariate_normal", dtype, mean, cov)
    center, spread = as_value(mean), as_value(cov)
    last = center.shape[-1] if center.ndim else None
    if last is None or spread.ndim < 2 or tuple(spread.shape[-2:]) != (last, last):
        raise ShapeError(
            f"multivariate_normal: mean has shape {tuple(center.shape)} and cov {tuple(spread.shape)}, "
            "expected (..., n) and (..., n, n)",
            where=user_location_text(),
        )
    working = FLOAT32 if wanted.itemsize < 4 else wanted
    center = parameter("multivariate_normal", "mean", mean, wanted)
    factor = _factor(parameter("multivariate_normal", "cov", cov, working), method).astype(wanted)
    leading = {"mean": center[..., 0], "cov": factor[..., 0, 0]}
    sizes = joint_shape("multivariate_normal", shape, leading)
    numbers = normal_floats(value, (*sizes, last), wanted)
    return center + xp.squeeze(xp.matmul(factor, xp.expand_dims(numbers, -1)), -1)


def _factor(cov: Any, method: str) -> Any:
    if method == "cholesky":
        return cholesky(cov)
    if method == "eigh":
        w, v = eigh(cov)
    else:
        v, w, _ = svd(cov)
    return v * xp.expand_dims(xp.sqrt(w), -2)


def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Matrices `(*shape, n, m)` with orthonormal rows or columns, whichever are fewer; `m` is `n` if None.

    Unitary ones for a complex dtype. The orthonormal factor of a normal matrix, the signs chosen so that the
    diagonal of the other factor is positive: then the distribution is that of Haar (Mezzadri 2007, How to
    generate random matrices from the classical compact groups).
    """
    value = as_key("orthogonal", key)
    wanted = np.dtype(dtype) if is_complex_dtype(dtype) else float_dtype("orthogonal", dtype)
    rows, columns = as_shape("orthogonal", (n, n if m is None else m))
    if isinstance(rows, Dim) or isinstance(columns, Dim):
        raise ShapeError("orthogonal: n and m must be known while tracing", where=user_location_text())
    long, short = max(rows, columns), min(rows, columns)
    z = normal_numbers(value, (*as_shape("orthogonal", shape), long, short), wanted)
    if short:
        q, r = qr(z if wanted.itemsize >= 4 else z.astype(FLOAT32))
        # Real for complex matrices too, as reflections leave it.
        signs = xp.where(xp.real(xp.diagonal(r, 0, -2, -1)) < 0, -1.0, 1.0)
        z = (q * xp.expand_dims(signs, -2)).astype(wanted)
    return z if rows >= columns else xp.matrix_transpose(z)
