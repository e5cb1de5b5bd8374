"""Sorting of short rows by the kernel that exchanges neighbours: what its words are.

Input: the operands of a sort along an axis of known size. Output: the operands, sorted together.
An element is one word, a signed integer, where its key determines it, and two where it does not: keys of
floats are equal for both zeros and for all NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, COMPLEX, FLOATS, INT32, INT64
from ..builder import LinalgBuilder, Size, Type, Value
from ..kernels.builder import Number
from ..kernels.exchanged_rows import Exchanges, Field, Words, exchange_rows
from ..kernels.sorting import MOST_WORKGROUPS
from ..lowering import LoweringContext
from ..tuning import ordering_forms
from .sort_keys import float_key
from .tensor_ops import collapse_axes, convert_elements, drop_unit_axes, expand_axes, permute, size_product

BYTE = np.dtype(np.int8)


@dataclass(frozen=True, slots=True)
class Sorted:
    """One operand of a sort: an array, or None for the places along the axis, and how it takes part."""

    array: Value | None
    dtype: np.dtype
    is_key: bool = False
    is_falling: bool = False
    is_kept: bool = True


def exchanged(
    ctx: LoweringContext, operands: Sequence[Sorted], shape: Sequence[Size], axis: int, kept: Size
) -> list[Value] | None:
    """The operands, sorted along an axis of `shape`: the first `kept` elements, of those that are kept.

    None where the kernel does not sort them.
    """
    size = shape[axis]
    if any(o.dtype in COMPLEX for o in operands) or not isinstance(size, int) or not isinstance(kept, int):
        return None
    b = ctx.builder
    word = INT64 if any(o.dtype.itemsize == 8 for o in operands if o.array is not None) else INT32
    fields = tuple(_field(b, operand, word) for operand in operands)
    before, behind = (size_product(b, part) for part in (shape[:axis], shape[axis + 1 :]))
    count = size_product(b, (before, behind))
    words = sum(f.words for f in fields)
    lanes = ordering_forms.exchanged_lanes(ctx.target, word, count, size, words, kept)
    if lanes is None:
        return None
    how = Exchanges(fields, lanes, b.scalars.element_type(word), size, kept)
    arrays = [_stored(b, o.array, o.dtype) for o in operands if o.array is not None]
    if isinstance(behind, int) and 2 * behind < lanes:
        order = [*(a for a in range(len(shape)) if a != axis), axis]
        last = len(shape) - 1
        groups, sizes = [list(range(last)), [last]], [count, size]
    else:
        order = list(range(len(shape)))
        groups, sizes = [order[:axis], [axis], order[axis + 1 :]], [before, size, behind]
    rows = [collapse_axes(b, permute(b, b.retype(a, shape), order), groups) for a in arrays]
    lengths = [kept if a == axis else shape[a] for a in order]
    share = lanes * ordering_forms.exchanged_blocks(size)
    shares = b.calculate("size_add", b.calculate("size_div", count, share), 1)
    workgroups = b.calculate("size_min", shares, MOST_WORKGROUPS)
    found = exchange_rows(ctx.kernels, rows, sizes, how, workgroups)
    sizes[1] = kept
    results = []
    kinds = [o.dtype for o in operands if o.is_kept]
    for result, dtype in zip(found, kinds, strict=True):
        bound = b.bind_shape(result, sizes)
        whole = _expanded(b, bound, groups, lengths)
        results.append(_loaded(b, permute(b, whole, [order.index(a) for a in range(len(order))]), dtype))
    return results


def _expanded(b: LinalgBuilder, x: Value, groups: Sequence[Sequence[int]], lengths: Sequence[Size]) -> Value:
    """The inverse of `collapse_axes`, also of groups that are empty."""
    present = [group for group in groups if group]
    if len(present) < len(groups):
        x = drop_unit_axes(b, x, [bool(group) for group in groups])
    return expand_axes(b, x, present, lengths)


def _field(b: LinalgBuilder, operand: Sorted, word: np.dtype) -> Field:
    """How an operand is sorted as words of dtype `word`."""
    dtype, width = operand.dtype, 8 * word.itemsize
    stored = b.scalars.element_type(BYTE if dtype == BOOL else dtype)
    flips = dtype.kind == "u" and dtype.itemsize == word.itemsize
    has_two = operand.is_key and operand.is_kept and dtype in FLOATS

    def to_words(elements: Number) -> Words:
        bits = _resized(_as_integers(elements), width, is_signed=dtype.kind != "u" and dtype != BOOL)
        if not operand.is_key:
            return [bits]
        key = float_key(bits, dtype) if dtype in FLOATS else bits ^ (-1 << (width - 1)) if flips else bits
        key = key ^ -1 if operand.is_falling else key
        return [key, bits] if has_two else [key]

    def from_words(words: Words) -> Number:
        bits = words[-1]
        if operand.is_key and not has_two:
            bits = bits ^ -1 if operand.is_falling else bits
            bits = bits ^ (-1 << (width - 1)) if flips else bits
        return _as_elements(_resized(bits, _width(stored), is_signed=True), stored)

    name = f"{dtype}{'-falling' if operand.is_falling else ''}"
    return Field(
        name,
        stored,
        1 + has_two,
        int(operand.is_key),
        to_words,
        from_words,
        is_place=operand.array is None,
        is_kept=operand.is_kept,
    )


def _stored(b: LinalgBuilder, x: Value, dtype: np.dtype) -> Value:
    return convert_elements(b, BOOL, BYTE, x) if dtype == BOOL else x


def _loaded(b: LinalgBuilder, x: Value, dtype: np.dtype) -> Value:
    return convert_elements(b, BYTE, BOOL, x) if dtype == BOOL else x


def _width(element: Type) -> int:
    """Bits of an element."""
    return int(element.width)


def _integer(width: int) -> Type:
    return mlir.ir.IntegerType.get_signless(width)


def _like(vector: Number, element: Type) -> Type:
    return mlir.ir.VectorType.get(mlir.ir.VectorType(vector.type).shape, element)


def _as_integers(vector: Number) -> Number:
    """The bits of elements."""
    if not vector.is_float:
        return vector
    return Number(mlir.arith.bitcast(_like(vector, _integer(_width(vector.element))), vector.value))


def _as_elements(bits: Number, element: Type) -> Number:
    return bits if bits.element == element else Number(mlir.arith.bitcast(_like(bits, element), bits.value))


def _resized(bits: Number, width: int, *, is_signed: bool) -> Number:
    """Integers of another width."""
    has = _width(bits.element)
    if has == width:
        return bits
    emit = mlir.arith.trunci if has > width else mlir.arith.extsi if is_signed else mlir.arith.extui
    return Number(emit(_like(bits, _integer(width)), bits.value))
