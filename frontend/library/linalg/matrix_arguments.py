"""Matrices as the algorithms take them: checks of arguments, and the rows and columns that loops pick.

Input: what users pass. Output: inexact values of rank two or more. Their last two sizes are static unless the
function says that it takes named ones. Errors name the function, the type seen and what was expected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import BFLOAT16, COMPLEX, FLOAT16, INEXACT, INT32
from ...tracing.function_scope import keep_dimensions
from ...tracing.interpreter import ops
from ...tracing.sizes import Dim, minimum
from .. import numpy as xp
from ..numpy.arguments import dtype_error, float_value, shape_error
from ..numpy.promotion import asarray_of, broadcast, broadcast_shapes, promote, same_size, type_text
from ..numpy.taking import gather_at

# The width at which blocked algorithms stop splitting and loop over columns.
BLOCK = 128


def inexact(function: str, x: Any) -> Any:
    """`x` as a float or complex array; integers become float64 as in NumPy, half precision is refused."""
    value = float_value(x)
    if value.dtype in (FLOAT16, BFLOAT16):
        raise dtype_error(
            f"{function}: {type_text(value)} is too narrow for linear algebra",
            "convert it: x.astype('float32')",
        )
    return value


def matrix(function: str, x: Any, *, named: bool = False) -> Any:
    """`x` as an inexact array of rank two or more, its last two sizes static unless they may be `named`."""
    value = inexact(function, x)
    if value.ndim < 2:
        raise shape_error(f"{function}: expected an array of at least 2 dimensions, got {type_text(value)}")
    for n in value.shape[-2:]:
        if isinstance(n, Dim) and not named:
            raise shape_error(
                f"{function}: the sizes of the matrices must be static, got the dynamic dimension {n}",
                "trace with a static shape; leading axes may be dynamic",
            )
    return value


def square(function: str, x: Any, *, named: bool = False) -> Any:
    """`matrix` whose last two sizes are equal."""
    value = matrix(function, x, named=named)
    if not same_size(value.shape[-1], value.shape[-2]):
        hint = "give both axes of the matrices one name" if is_named(*value.shape[-2:]) else None
        raise shape_error(f"{function}: expected square matrices, got {type_text(value)}", hint)
    return value


def is_named(*sizes: Any) -> bool:
    """Whether one of the sizes is known only when the program runs."""
    return any(isinstance(n, Dim) for n in sizes)


def is_empty(*sizes: Any) -> bool:
    """Whether one of the sizes is known to be 0."""
    return any(isinstance(n, int) and n == 0 for n in sizes)


def is_less(m: Any, n: Any) -> bool:
    """Whether `m` is known to be less than `n`."""
    return not is_named(m, n) and bool(m < n)


def is_block(n: Any) -> bool:
    """Whether a size is one block: what has a named size is a block of any size."""
    return is_named(n) or bool(n <= BLOCK)


def system(function: str, a: Any, b: Any, *, is_vector: bool) -> tuple[Any, Any]:
    """A matrix and right-hand sides `[..., n, m]` in one dtype, their leading axes broadcast."""
    a, b = asarray_of(a), asarray_of(b)
    if (a.dtype in INEXACT) != (b.dtype in INEXACT):  # integers take the other's dtype
        a, b = promote(a, b)
    left, right = promote(matrix(function, a, named=True), inexact(function, b))
    if is_vector:
        right = xp.expand_dims(right, -1)
    if right.ndim < 2 or not same_size(left.shape[-2], right.shape[-2]):
        raise shape_error(
            f"{function}: {type_text(left)} and {type_text(as_given(right, is_vector))} do not fit: "
            f"expected {left.shape[-2]} rows on the right-hand side"
        )
    shared = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return broadcast(left, (*shared, *left.shape[-2:])), broadcast(right, (*shared, *right.shape[-2:]))


def as_given(right: Any, is_vector: bool) -> Any:
    """The right-hand side as the user gave it, for messages."""
    return xp.squeeze(right, -1) if is_vector else right


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of magnitudes."""
    return np.zeros((), dtype).real.dtype


def epsilon(dtype: np.dtype) -> float:
    """The spacing of numbers at 1."""
    return float(np.finfo(dtype).eps)


def is_complex(x: Any) -> bool:
    """Whether `x` has imaginary parts."""
    return x.dtype in COMPLEX


def conjugate(x: Any) -> Any:
    """`x` conjugated; a real array as it is."""
    return ops.conj(x) if is_complex(x) else x


def real_part(x: Any) -> Any:
    """The real part; a real array as it is."""
    return ops.real(x) if is_complex(x) else x


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conjugate(xp.matrix_transpose(x))


def squares(x: Any) -> Any:
    """``|x|**2``, elementwise."""
    if not is_complex(x):
        return x * x
    parts = ops.real(x), ops.imag(x)
    return parts[0] * parts[0] + parts[1] * parts[1]


def over(x: Any, scale: Any) -> Any:
    """``x / scale`` of a real `scale`; a complex `x` part by part: a subnormal one has no reciprocal."""
    if not is_complex(x):
        return x / scale
    return ops.complex(ops.real(x) / scale, ops.imag(x) / scale)


def phase(x: Any) -> Any:
    """``x / |x|``, and 1 where `x` is zero."""
    if not is_complex(x):
        return xp.where(x < 0, xp.full_like(x, -1), xp.full_like(x, 1))
    parts = ops.real(x), ops.imag(x)
    largest = xp.maximum(*map(xp.abs, parts))
    is_zero = largest == 0
    scaled = over(x, xp.where(is_zero, xp.ones_like(largest), largest))  # its length may be subnormal
    size = xp.where(is_zero, xp.ones_like(largest), xp.sqrt(squares(scaled)))
    return xp.where(is_zero, xp.ones_like(x), over(scaled, size))


def positions(n: Any) -> Any:
    """``0, 1, ..., n - 1``."""
    return ops.iota(shape=(n,), axis=0, dtype=INT32)


def unit(n: Any, dtype: np.dtype) -> Any:
    """The identity matrix."""
    return xp.eye(n, dtype=dtype)


def unknown_zeros(x: Any, dtype: np.dtype) -> Any:
    """Zeros in the shape of `x` that only show when it is known; ones where it is NaN.

    A loop that carries what follows from constants alone starts from these: IREE 3.13 makes a global of such
    a value, and the loop frees it (a later call fails: "binding capacity of the command buffer").
    """
    return xp.astype(xp.isnan(real_part(x)), dtype)


def row(x: Any, k: Any) -> Any:
    """Row `k` of each matrix, `[..., columns]`."""
    return xp.squeeze(_slice(x, k, x.ndim - 2), -2)


def column(x: Any, k: Any) -> Any:
    """Column `k` of each matrix, `[..., rows]`."""
    return xp.squeeze(_slice(x, k, x.ndim - 1), -1)


def entry(x: Any, k: Any) -> Any:
    """Element `k` of each vector, with its axis kept: `[..., 1]`."""
    if is_named(x.shape[-1]):
        return _masked(x, k, x.ndim - 1)
    return _slice(x, k, x.ndim - 1)


def _slice(x: Any, k: Any, axis: int) -> Any:
    if is_named(x.shape[axis]) and not same_size(*x.shape[-2:]):
        return _masked(x, k, axis)
    if is_named(x.shape[axis]):
        taken = gather_at(x, (axis,), (k,), axis)
        return xp.expand_dims(keep_dimensions(taken, (*x.shape[:axis], *x.shape[axis + 1 :])), axis)
    zero = ops.sub(k, k)
    starts = [k if a == axis else zero for a in range(x.ndim)]
    sizes = tuple(1 if a == axis else n for a, n in enumerate(x.shape))
    return ops.dynamic_slice(x, *starts, slice_sizes=sizes)


def _masked(x: Any, k: Any, axis: int) -> Any:
    """The same along an axis that may be empty: no window would fit, though no step of a loop uses it."""
    is_chosen = ops.iota(shape=x.shape, axis=axis, dtype=INT32) == xp.astype(k, INT32)
    return xp.sum(xp.where(is_chosen, x, xp.zeros_like(x)), axis=axis, dtype=x.dtype, keepdims=True)


def outer(x: Any, y: Any) -> Any:
    """The products of all pairs of elements of vectors, `[..., n, m]`."""
    return xp.expand_dims(x, -1) * xp.expand_dims(y, -2)


def diagonal(x: Any) -> Any:
    """The main diagonal of each matrix, `[..., min(rows, columns)]`; matrices may be empty."""
    rows, columns = x.shape[-2:]
    if not same_size(rows, columns):
        x = x[..., : minimum(rows, columns)]
    is_diagonal = xp.expand_dims(positions(x.shape[-2]), -1) == positions(x.shape[-1])
    return xp.sum(xp.where(is_diagonal, x, xp.zeros_like(x)), axis=-2, dtype=x.dtype)


def zeros(shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """An array of zeros."""
    return xp.zeros(shape, dtype=dtype)
