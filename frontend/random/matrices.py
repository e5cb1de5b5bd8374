"""Random orthogonal matrices: the orthonormal factor of a normal matrix.

Gram-Schmidt, each column twice so that it is orthogonal to the last bit; the diagonal of the other factor
is positive, which makes the distribution that of Haar (Mezzadri 2007). A program grows with each column.
"""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from ..errors import ShapeError
from ..tracing.locations import user_location_text
from .arguments import as_key, as_shape, float_dtype
from .transformed import normal_floats


def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Matrices `(*shape, n, m)` with orthonormal rows or columns, whichever are fewer; `m` is `n` if None."""
    value = as_key("orthogonal", key)
    wanted = float_dtype("orthogonal", dtype)
    rows, columns = as_shape("orthogonal", (n, n if m is None else m))
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError("orthogonal: n and m must be known while tracing", where=user_location_text())
    long, short = max(rows, columns), min(rows, columns)
    z = normal_floats(value, (*as_shape("orthogonal", shape), long, short), wanted)
    if short == 0:
        return z if rows >= columns else xp.matrix_transpose(z)
    q = _orthonormal(z, short)
    return q if rows >= columns else xp.matrix_transpose(q)


def _orthonormal(z: Any, columns: int) -> Any:
    done: Any = None
    for j in range(columns):
        v = z[..., j : j + 1]
        if done is not None:
            for _ in range(2):
                v = v - xp.matmul(done, xp.matmul(xp.matrix_transpose(done), v))
        v = v / xp.sqrt(xp.sum(v * v, axis=-2, keepdims=True))
        done = v if done is None else xp.concatenate([done, v], axis=-1)
    return done
