"""Products of matrices and vectors, each one `dot_general` and movement around it.

Result dtypes are NumPy's; booleans are multiplied with `and` and summed with `or`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.types import BOOL, COMPLEX, INT32, as_dtype
from ...errors import ShapeError
from ...tracing.interpreter import ops
from ...tracing.sizes import Dim
from ..split_products import is_split, split_product
from .arguments import normalize_axes, normalize_axis, refuse_out, shape_error
from .arithmetic import multiply, subtract
from .promotion import broadcast, broadcast_shapes, promote, type_text
from .reshaping import expand_dims, moveaxis, ravel, squeeze
from .rounding import conj


def contract(
    x: Any,
    y: Any,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
    precision: Any = None,
) -> Any:
    """`dot_general` of promoted operands; booleans by way of integers."""
    if is_split(precision, x, y):
        return split_product(x, y, contracting, batch)
    if x.dtype == BOOL:
        x, y = ops.convert(x, dtype=INT32), ops.convert(y, dtype=INT32)
        return ops.convert(contract(x, y, contracting, batch), dtype=BOOL)
    return ops.dot_general(x, y, contracting=contracting, batch=batch, dtype=x.dtype)


def _require_equal(function: str, x: Any, y: Any, left: int, right: int) -> None:
    n, m = x.shape[left], y.shape[right]
    if not (isinstance(n, Dim) or isinstance(m, Dim) or n == m):
        raise shape_error(
            f"{function}: {type_text(x)} and {type_text(y)} do not fit: "
            f"axis {left % x.ndim} of the first has size {n}, axis {right % y.ndim} of the second {m}"
        )


def _operands(a: Any, b: Any, preferred_element_type: Any) -> tuple[Any, Any]:
    """The operands of a product in one dtype: that of its result, if one is preferred.

    Products are computed in the dtype of their operands, which is the highest `precision`; only
    "BF16_BF16_F32_X3" asks for less (`split_products.py`).
    """
    x, y = promote(a, b)
    if preferred_element_type is None:
        return x, y
    dtype = as_dtype(preferred_element_type)
    return ops.convert(x, dtype=dtype), ops.convert(y, dtype=dtype)


def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The matrix product over the last two axes; leading axes broadcast, vectors count as a row or column."""
    x, y = _operands(a, b, preferred_element_type)
    if x.ndim == 0 or y.ndim == 0:
        raise shape_error(
            f"matmul: 0-d operands are not matrices: {type_text(x)} and {type_text(y)}", "use multiply"
        )
    _require_equal("matmul", x, y, -1, max(y.ndim - 2, 0))
    if x.ndim <= 2 and y.ndim <= 2:
        return contract(x, y, ((x.ndim - 1,), (max(y.ndim - 2, 0),)), precision=precision)
    if y.ndim <= 2:  # one product of all rows
        return contract(x, y, ((x.ndim - 1,), (max(y.ndim - 2, 0),)), precision=precision)
    if x.ndim <= 2:  # [.., j] free axes of y come last, the rows of x before its last one
        result = contract(x, y, ((x.ndim - 1,), (y.ndim - 2,)), precision=precision)
        return result if x.ndim == 1 else moveaxis(result, 0, -2)
    try:
        shared = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ShapeError:
        raise shape_error(
            f"matmul: leading axes of {type_text(x)} and {type_text(y)} could not be broadcast"
        ) from None
    x = broadcast(x, (*shared, *x.shape[-2:]))
    y = broadcast(y, (*shared, *y.shape[-2:]))
    axes = tuple(range(len(shared)))
    return contract(x, y, ((x.ndim - 1,), (y.ndim - 2,)), (axes, axes), precision=precision)


def dot(a: Any, b: Any, out: Any = None, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """NumPy's `dot`: a product of scalars, or the sum over the last axis of `a`, last but one of `b`."""
    refuse_out("dot", out)
    x, y = _operands(a, b, preferred_element_type)
    if x.ndim == 0 or y.ndim == 0:
        return multiply(x, y)
    _require_equal("dot", x, y, -1, max(y.ndim - 2, 0))
    return contract(x, y, ((x.ndim - 1,), (max(y.ndim - 2, 0),)), precision=precision)


def matvec(x1: Any, x2: Any, /) -> Any:
    """Matrices times vectors; leading axes broadcast."""
    x, y = promote(x1, x2)
    if x.ndim < 2 or y.ndim < 1:
        raise shape_error(f"matvec: expected a matrix and a vector, got {type_text(x)} and {type_text(y)}")
    return squeeze(matmul(x, expand_dims(y, -1)), -1)


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Conjugated vectors times matrices; leading axes broadcast."""
    x, y = promote(x1, x2)
    if x.ndim < 1 or y.ndim < 2:
        raise shape_error(f"vecmat: expected a vector and a matrix, got {type_text(x)} and {type_text(y)}")
    return squeeze(matmul(expand_dims(conj(x), -2), y), -2)


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The inner product of flattened arrays, the first one conjugated."""
    x, y = _operands(ravel(a), ravel(b), preferred_element_type)
    _require_equal("vdot", x, y, 0, 0)
    return contract(conj(x) if x.dtype in COMPLEX else x, y, ((0,), (0,)), precision=precision)


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The sum of products over the last axes."""
    x, y = _operands(a, b, preferred_element_type)
    if x.ndim == 0 or y.ndim == 0:
        return multiply(x, y)
    _require_equal("inner", x, y, -1, -1)
    return contract(x, y, ((x.ndim - 1,), (y.ndim - 1,)), precision=precision)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Every element of one flat array times every element of the other."""
    refuse_out("outer", out)
    x, y = promote(ravel(a), ravel(b))
    return multiply(ops.reshape(x, shape=(x.shape[0], 1)), ops.reshape(y, shape=(1, y.shape[0])))


def vecdot(
    x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The inner product along `axis`, the first one conjugated; the other axes broadcast."""
    x, y = _operands(x1, x2, preferred_element_type)
    place = normalize_axis("vecdot", axis, min(x.ndim, y.ndim)) - min(x.ndim, y.ndim)
    x, y = moveaxis(x, place, -1), moveaxis(y, place, -1)
    _require_equal("vecdot", x, y, -1, -1)
    x = conj(x) if x.dtype in COMPLEX else x
    shared = broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = broadcast(x, (*shared, x.shape[-1])), broadcast(y, (*shared, y.shape[-1]))
    axes = tuple(range(len(shared)))
    return contract(x, y, ((x.ndim - 1,), (y.ndim - 1,)), (axes, axes), precision=precision)


def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The sum over pairs of axes: the last n of one and the first n of the other, or two lists of axes."""
    x, y = _operands(a, b, preferred_element_type)
    if isinstance(axes, (tuple, list)):
        left = normalize_axes("tensordot", axes[0], x.ndim)
        right = normalize_axes("tensordot", axes[1], y.ndim)
    else:
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise shape_error(f"tensordot: axes {axes} for {type_text(x)} and {type_text(y)}")
        left, right = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    if len(left) != len(right):
        raise shape_error(f"tensordot: axes {axes} must pair up")
    for i, j in zip(left, right, strict=True):
        _require_equal("tensordot", x, y, i, j)
    return contract(x, y, (left, right), precision=precision)


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of `a` times all of `b`, as blocks."""
    x, y = promote(a, b)
    rank = max(x.ndim, y.ndim)
    left = (1,) * (rank - x.ndim) + tuple(x.shape)
    right = (1,) * (rank - y.ndim) + tuple(y.shape)
    x = ops.reshape(x, shape=tuple(n for size in left for n in (size, 1)))
    y = ops.reshape(y, shape=tuple(n for size in right for n in (1, size)))
    return ops.reshape(multiply(x, y), shape=tuple(n * m for n, m in zip(left, right, strict=True)))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross product of vectors of 3 (or 2, which yields the third component) along an axis."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promote(a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    sizes = (x.shape[-1], y.shape[-1])
    if not all(n in (2, 3) for n in sizes):
        raise shape_error(
            f"cross: vectors must have 2 or 3 components, got {type_text(x)} and {type_text(y)}"
        )
    xs = [x[..., k] for k in range(sizes[0])]
    ys = [y[..., k] for k in range(sizes[1])]
    third = subtract(multiply(xs[0], ys[1]), multiply(xs[1], ys[0]))
    if sizes == (2, 2):
        return third
    zero = np.zeros((), x.dtype)
    x2 = xs[2] if sizes[0] == 3 else zero
    y2 = ys[2] if sizes[1] == 3 else zero
    first = subtract(multiply(xs[1], y2), multiply(x2, ys[1]))
    second = subtract(multiply(x2, ys[0]), multiply(xs[0], y2))
    rows = [ops.reshape(v, shape=(*v.shape, 1)) for v in (first, second, third)]
    return moveaxis(ops.concatenate(*rows, axis=rows[0].ndim - 1), -1, axisc)
