"""What the rules of LAPACK's calls share: letters, `info`, batches, one step of a QR factorization.

Input: an application, or matrices. Output: see each function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects.types import INT32
from ...library import numpy as xp
from ...library.linalg.matrix_arguments import conjugate, is_complex, real_part, squares
from ...tracing.interpreter import ops
from ...transforms.vmap import vmap
from .application import Application


def letter(app: Application, name: str) -> str:
    """An argument of LAPACK, one letter."""
    config = app.attribute("mhlo.backend_config")
    value = config.get(name) if isinstance(config, dict) else None
    if not isinstance(value, int) or not 0 < value < 128:
        raise app.error(f"its argument {name} is {value!r}, expected a letter of LAPACK")
    return chr(value)


def info(app: Application) -> Any:
    """Zeros: what failed is NaN."""
    return xp.zeros(tuple(app.array().shape)[: app.result_types[-1].rank], INT32)


def batched(function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    """A function of matrices, for arrays with so many axes before."""
    for _ in range(axes):
        function = vmap(function)
    return function


def reflect_column(r: Any, k: Any) -> tuple[Any, Any]:
    """`r` with column `k` reflected onto its diagonal, the reflector's vector below it, and its factor."""
    rows, columns = r.shape
    row = ops.iota(shape=(rows,), axis=0, dtype=INT32)
    column = ops.iota(shape=(columns,), axis=0, dtype=INT32)
    x = r[:, k]
    below = row > k
    alpha = x[k]
    rest = xp.sum(xp.where(below, squares(x), 0))
    is_done = rest == 0
    if is_complex(r):
        is_done = is_done & (xp.imag(alpha) == 0)
    size = xp.sqrt(xp.where(is_done, 1, rest + squares(alpha)))
    beta = xp.where(real_part(alpha) >= 0, -size, size)
    tau = xp.where(is_done, 0, (beta - alpha) / beta)
    scale = xp.where(is_done, 1, alpha - beta)
    v = xp.where(below, x / scale, xp.where(row == k, 1, 0).astype(r.dtype))
    change = conjugate(tau) * v[:, None] * (conjugate(v) @ r)[None, :]
    r = xp.where((column >= k)[None, :], r - change, r)
    return xp.where(below[:, None] & (column == k)[None, :] & ~is_done, v[:, None], r), tau
