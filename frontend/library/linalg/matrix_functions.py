"""Functions of square matrices: powers, the exponential; and equations of tensors, solved as matrices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...control.branches import cond
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, integer, shape_error
from ..numpy.promotion import broadcast, same_size, type_text
from .lu import inv, solve
from .matrix_arguments import epsilon, inexact, is_empty, is_named, positions, square, unit
from .norms import matrix_norm

# Coefficients of the diagonal Pade approximants, and the largest 1-norm at which each is as exact as the
# dtype (Higham 2005, The scaling and squaring method for the matrix exponential revisited, table 2.3).
_PADE_13 = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
_PADE_7 = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
_LARGEST_13 = 5.371920351148152
_LARGEST_7_SINGLE = 3.925724783138660


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The matrix exponential, by scaling and squaring of a Pade approximant.

    Of degree 13 in float64 and 7 in float32. The derivative is that of these operations. A matrix whose norm
    needs more than `max_squarings` squarings yields NaN. `upper_triangular` is accepted, and the same
    method is used.
    """
    del upper_triangular
    value = square("expm", A, named=True)
    if is_empty(value.shape[-1]):
        return value
    is_single = epsilon(value.dtype) > 1e-10
    size = ops.stop_gradient(matrix_norm(value, ord=1))
    largest = _LARGEST_7_SINGLE if is_single else _LARGEST_13
    ratio = xp.maximum(size / size.dtype.type(largest), xp.ones_like(size))
    squarings = xp.ceil(xp.log2(ratio))
    scaled = value * _column(xp.exp2(-squarings), value.dtype)
    even, odd = _pade(scaled, _PADE_7 if is_single else _PADE_13)
    result = solve(even - odd, even + odd)
    squared = _squared_few if is_named(value.shape[-1]) else _squared
    result = squared(result, squarings, max_squarings)
    is_reached = xp.expand_dims(squarings <= max_squarings, (-2, -1))
    return xp.where(is_reached, result, xp.full_like(result, float("nan")))


def _squared(x: Any, count: Any, most: int) -> Any:
    """Matrices squared so many times each, in as many steps as there may be."""

    def step(x: Any, k: Any) -> tuple[Any, None]:
        is_left = xp.astype(k, count.dtype) < count
        squared = cond(
            xp.any(is_left),
            lambda y: xp.where(xp.expand_dims(is_left, (-2, -1)), xp.matmul(y, y), y),
            lambda y: y,
            x,
        )
        return squared, None

    return scan(step, x, positions(most))[0]


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def _squared_few(x: Any, count: Any, most: int) -> Any:
    """The same in as many steps as are needed: the host makes them, where sizes show at the call."""
    end = xp.minimum(xp.max(count, initial=0), most)

    def step(state: Any) -> Any:
        k, x = state
        is_left = xp.expand_dims(k < count, (-2, -1))
        return k + 1, xp.where(is_left, xp.matmul(x, x), x)

    return while_loop(lambda state: state[0] < end, step, (xp.zeros_like(end), x))[1]


@_squared_few.defjvp
def _squared_few_rule(most: int, primals: Any, tangents: Any) -> Any:
    (x, count, *_), (dx, *_) = primals, tangents
    result = _squared_few(x, count, most)
    for k in range(most):  # not a loop, which could not be transposed: its step would not know the sizes
        is_left = xp.expand_dims(k < count, (-2, -1))
        dx = xp.where(is_left, xp.matmul(x, dx) + xp.matmul(dx, x), dx)
        x = xp.where(is_left, xp.matmul(x, x), x)
    return result, dx


def _column(x: Any, dtype: np.dtype) -> Any:
    return xp.astype(xp.expand_dims(x, (-2, -1)), dtype)


def _pade(a: Any, coefficients: tuple[float, ...]) -> tuple[Any, Any]:
    """The even and the odd part of the numerator; the denominator is their difference."""
    one = unit(a.shape[-1], a.dtype)
    b = [a.dtype.type(c) for c in coefficients]
    a2 = xp.matmul(a, a)
    a4 = xp.matmul(a2, a2)
    a6 = xp.matmul(a4, a2)
    even = b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    odd = b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    if len(b) > 8:
        even = even + xp.matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2)
        odd = odd + xp.matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2)
    return even, xp.matmul(a, odd)


def matrix_power(a: Any, n: int) -> Any:
    """The product of `n` copies of square matrices, of the inverses for a negative `n`."""
    power = integer("matrix_power", n, "the power")
    value = xp.asarray(a)
    if value.ndim < 2 or not same_size(value.shape[-1], value.shape[-2]):
        raise shape_error(f"matrix_power: expected square matrices, got {type_text(value)}")
    if power < 0:
        value, power = inv(value), -power
    if power == 0:
        return broadcast(unit(value.shape[-1], value.dtype), value.shape)
    result: Any = None
    while power:
        if power & 1:
            result = value if result is None else xp.matmul(result, value)
        power >>= 1
        value = xp.matmul(value, value) if power else value
    return result


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of `a` under `tensordot(.., .., ind)`, as a matrix of its first `ind` axes by the rest."""
    value = inexact("tensorinv", a)
    if ind <= 0:
        raise argument_error(f"tensorinv: ind is {ind}, expected a positive number of axes")
    first, last = value.shape[:ind], value.shape[ind:]
    rows, columns = int(np.prod(first)), int(np.prod(last))
    if rows != columns:
        raise shape_error(
            f"tensorinv: the first {ind} axes of {type_text(value)} hold {rows} elements, the rest {columns}"
        )
    return xp.reshape(inv(xp.reshape(value, (rows, columns))), (*last, *first))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`x` with ``tensordot(a, x, x.ndim) = b``; `axes` of `a` are moved to its end first."""
    value, right = inexact("tensorsolve", a), inexact("tensorsolve", b)
    if axes is not None:
        order = [k for k in range(value.ndim) if k not in tuple(axes)]
        value = xp.transpose(value, (*order, *axes))
    last = value.shape[right.ndim :]
    columns = int(np.prod(last))
    count = int(np.prod(right.shape))
    if int(np.prod(value.shape)) != columns * columns or count != columns:
        raise shape_error(
            f"tensorsolve: {type_text(value)} and {type_text(right)} do not make a square system: "
            f"{count} equations of {columns} unknowns"
        )
    return xp.reshape(solve(xp.reshape(value, (columns, columns)), xp.reshape(right, (columns,))), last)
