"""Complex Schur forms of square matrices, by the real form where these are real.

Input: square matrices, batches as leading axes. Output: triangular matrices and unitary ones, both complex;
for real matrices two conjugate values stand beside each other, the one of positive imaginary part first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from .. import numpy as xp
from .matrix_arguments import diagonal, is_complex, square
from .real_schur import complex_schur_form, scaled_values
from .schur import complex_of, each_matrix, triangular_form


def schur_form(a: Any) -> tuple[Any, Any]:
    """A triangular `t` and a unitary `z` with ``z t z^H = a``, complex; NaN where it does not converge, and
    where an element is not finite."""
    t, z, scale = scaled_schur_form(a)
    return t * scale, z


def scaled_schur_form(a: Any) -> tuple[Any, Any, Any]:
    """`schur_form` of ``a / scale``, and the scale `[..., 1, 1]`, near which elements are."""
    value = square("schur", a)
    if value.shape[-1] == 0:
        value = complex_of(value)
        return value, value, xp.ones((*value.shape[:-2], 1, 1), dtype=value.dtype)
    value, scale, is_sound = _scaled(value)
    t, z = each_matrix(triangular_form, value) if is_complex(value) else complex_schur_form(value)
    return xp.where(is_sound, t, np.nan), xp.where(is_sound, z, np.nan), complex_of(scale)


def eigenvalues(a: Any) -> Any:
    """The diagonal of the form alone."""
    if is_complex(a) or a.shape[-1] == 0:
        return diagonal(schur_form(a)[0])
    value, scale, is_sound = _scaled(a)
    factor = xp.where(is_sound, scale, np.nan)[..., 0]
    return ops.complex(*(part * factor for part in scaled_values(value)))


def _scaled(a: Any) -> tuple[Any, Any, Any]:
    """Matrices divided by the size of their largest element, these sizes, and whether they are finite; other
    matrices are zeros, as NaN would keep a loop going.
    """
    size = xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)
    is_sound = xp.isfinite(size)
    # Near 1 nothing overflows on the way.
    scale = xp.astype(xp.where((size > 0) & is_sound, size, 1), a.dtype)
    return xp.where(is_sound, a, 0) / scale, scale, is_sound
