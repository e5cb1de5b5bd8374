"""Products of float32 as products of bfloat16, which tensor cores compute: `precision="BF16_BF16_F32_X3"`.

Input: two float32 arrays and the axes of a `dot_general`. Output: their product in float32.
Idea: ``x = high + low``, both bfloat16, to 16 bits of the 24; the product is ``high high`` and the two mixed
ones, each summed in float32. What is left out is about 2^-16 of the largest terms. To derivatives it is a
product like any other: tangents and cotangents are split in the same way, and no cotangent is narrowed.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from ...dialects.ops.contraction.dot_general import operand_axes
from ...dialects.types import BFLOAT16, FLOAT32
from ..errors import ArgumentError
from ..tracing.interpreter import ops
from ..tracing.locations import user_location_text
from ..transforms.custom_derivatives import custom_jvp
from .numpy.arguments import full_like
from .routines import linear_routine

SPLIT: Final = "BF16_BF16_F32_X3"
"""JAX's name of the algorithm, an entry of `lax.DotAlgorithmPreset`."""
Pairs = tuple[tuple[int, ...], tuple[int, ...]]


def is_split(precision: Any, x: Any, y: Any) -> bool:
    """Whether `precision` asks for this algorithm, and the operands are what it is for."""
    name = getattr(precision, "name", precision)
    return isinstance(name, str) and name == SPLIT and x.dtype == FLOAT32 and y.dtype == FLOAT32


def split_product(x: Any, y: Any, contracting: Any, batch: Any) -> Any:
    """`dot_general` of float32 arrays by three products of bfloat16."""
    for operand in (x, y):
        if not all(isinstance(n, int) for n in operand.shape):
            raise ArgumentError(
                f"precision={SPLIT!r} takes arrays of known sizes, got {ops.type_of(operand)}",
                where=user_location_text(),
                hint="leave precision out, or trace the function for static sizes",
            )
    rows = [tuple(tuple(int(a) for a in row) for row in pair) for pair in (contracting, batch)]
    return _product(x, y, rows[0], rows[1])


@functools.partial(custom_jvp, nondiff_argnums=(2, 3))
def _product(x: Any, y: Any, contracting: Pairs, batch: Pairs) -> Any:
    return _linear(x, y, 0, contracting, batch)


@_product.defjvp
def _product_rule(contracting: Pairs, batch: Pairs, primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    left = _linear(y, dx, 1, contracting, batch)
    return _product(x, y, contracting, batch), left + _linear(x, dy, 0, contracting, batch)


def _linear(other: Any, linear: Any, side: int, contracting: Pairs, batch: Pairs) -> Any:
    """The product as a function that is linear in its last operand; `other` is on `side` of it."""

    def product(other: Any, linear: Any) -> Any:
        return _three(other, linear, side, contracting, batch)

    def transposed(other: Any, cotangent: Any) -> Any:
        return _cotangent(other, cotangent, linear.ndim, side, contracting, batch)

    axes = "_".join("x".join(map(str, row)) for row in (*contracting, *batch))
    name = f"split_{'right' if side else 'left'}_{axes}"
    return linear_routine(name, product, f"{name}_transposed", transposed, other, linear)


def _three(other: Any, linear: Any, side: int, contracting: Pairs, batch: Pairs) -> Any:
    x, y = (linear, other) if side else (other, linear)
    (x_high, x_low), (y_high, y_low) = _parts(x), _parts(y)

    def product(a: Any, b: Any) -> Any:
        return ops.dot_general(a, b, contracting=contracting, batch=batch, dtype=FLOAT32)

    mixed = product(x_high, y_low) + product(x_low, y_high)
    # An infinity times the zero that is left of a number is NaN; the product of both high parts is right.
    return product(x_high, y_high) + ops.select(ops.is_finite(mixed), mixed, full_like(mixed, 0))


def _parts(x: Any) -> tuple[Any, Any]:
    """The nearest bfloat16, and what is left of `x`; nothing is left of infinities."""
    high = ops.convert(x, dtype=BFLOAT16)
    back = ops.convert(high, dtype=FLOAT32)
    rest = ops.select(ops.is_finite(back), x - back, full_like(x, 0))
    return high, ops.convert(rest, dtype=BFLOAT16)


def _cotangent(other: Any, cotangent: Any, rank: int, side: int, contracting: Pairs, batch: Pairs) -> Any:
    """The cotangent of the linear operand: that of the product times `other`, over the free axes of that."""
    place = 0 if side else 1  # of the linear operand
    mine = operand_axes(rank, place, contracting, batch)
    its = operand_axes(other.ndim, 1 - place, contracting, batch)
    shared = tuple(range(len(mine.batch)))
    first = len(shared) + (len(mine.free) if place == 0 else 0)
    freed = tuple(range(first, first + len(its.free)))
    product = _three(cotangent, other, 0, (freed, its.free), (shared, its.batch))
    paired = dict(zip(its.contracting, mine.contracting, strict=True))
    places = (*mine.batch, *mine.free, *(paired[a] for a in sorted(its.contracting)))
    order = tuple(places.index(a) for a in range(len(places)))
    return product if order == tuple(range(len(order))) else ops.transpose(product, permutation=order)
