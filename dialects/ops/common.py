"""What the rules of several rooms share: picking along an axis, running recurrences, merging a batch axis."""

from __future__ import annotations

import numpy as np

from ..protocols import Builder, Size, Value, Values
from ..types import TensorType, storage


def take_along(b: Builder, x: Value, indices: Value, axis: int) -> Value:
    """`y[..., i, ...] = x[..., indices[..., i, ...], ...]` along `axis`; the indices are in bounds."""
    kind = b.tensor_type(x)
    if 0 in kind.shape:  # no window fits into it, and none is needed
        return b.full(0, b.sizes(indices), kind.dtype)
    others = tuple(a for a in range(kind.rank) if a != axis)
    where = b.reshape(indices, shape=(*b.sizes(indices), 1))
    return b.gather(
        x,
        where,
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        slice_sizes=(1,) * kind.rank,
        mode="clip",
        fill_value=storage(np.zeros((), kind.dtype)),
    )


def moved_along(b: Builder, x: Value, axis: int, distance: int, fill: float) -> Value:
    """`x` with its elements `distance` further along `axis`, and `fill` where none came."""
    rank = b.tensor_type(x).rank
    low = tuple(distance if a == axis else 0 for a in range(rank))
    high = tuple(-n for n in low)
    value = b.scalar(fill, b.tensor_type(x).dtype)
    return b.pad(x, value, low=low, high=high, interior=(0,) * rank)


def linear_recurrence(b: Builder, factors: Value, terms: Value, axis: int) -> Value:
    """`y[i] = factors[i] * y[i - 1] + terms[i]` with `y[-1] = 0` along `axis`, by doubling (Hillis and
    Steele 1986): each step composes the affine maps of positions that lie twice as far apart. Along an axis
    of dynamic size, whose number of doublings is not known, it is a scan."""
    size = b.tensor_type(factors).static_shape[axis]
    if size is None:
        return _scanned_recurrence(b, factors, terms, axis)
    distance = 1
    while distance < size:
        terms = b.add(terms, b.mul(factors, moved_along(b, terms, axis, distance, 0)))
        factors = b.mul(factors, moved_along(b, factors, axis, distance, 1))
        distance *= 2
    return terms


def _scanned_recurrence(b: Builder, factors: Value, terms: Value, axis: int) -> Value:
    rank = b.tensor_type(factors).rank
    to_front = (axis, *(a for a in range(rank) if a != axis))
    factors, terms = (b.transpose(x, permutation=to_front) for x in (factors, terms))
    steps, *rest = b.sizes(factors)
    whole = b.tensor_type(factors)
    row = whole.with_shape(whole.shape[1:])

    def step(c: Builder, values: Values) -> Values:
        before, factor, term = values
        now = c.add(c.mul(factor, before), term)
        return [now, now]

    _, results = b.scan(
        b.full(0, tuple(rest), whole.dtype),
        factors,
        terms,
        body=b.functions.function("recurrence_step", [row, row, row], step),
        constant_count=0,
        carry_count=1,
        length=(steps,),
        reverse=False,
        results=(row, whole),
    )
    if not all(isinstance(n, int) for n in rest):  # without a step nothing would tell the sizes of a row
        results = b.reshape(results, shape=(steps, *rest))
    return b.transpose(results, permutation=tuple(to_front.index(a) for a in range(rank)))


def as_one_axis(b: Builder, x: Value, axes: tuple[int, ...]) -> Value:
    """`x` with `axes` merged into one, which comes last."""
    kind = b.tensor_type(x)
    kept = tuple(a for a in range(kind.rank) if a not in axes)
    moved = b.transpose(x, permutation=(*kept, *axes)) if (*kept, *axes) != tuple(range(kind.rank)) else x
    shape = b.sizes(moved)
    if len(axes) == 1:
        return moved
    total: Size = 1
    for n in shape[len(kept) :]:
        total = b.size_product(total, n)
    return b.reshape(moved, shape=(*shape[: len(kept)], total))


def merged_batch(b: Builder, x: Value, axis: int, groups: int = 1) -> Value:
    """Axis 0 of `x` merged into axis `axis` of the rest: `[B, .., G * m, ..]` to `[.., G * B * m, ..]`."""
    size, *shape = b.sizes(x)
    inner = b.size_quotient(shape[axis], groups)
    split = b.reshape(x, shape=(size, *shape[:axis], groups, inner, *shape[axis + 1 :]))
    order = list(range(1, len(shape) + 2))
    order.insert(axis + 1, 0)
    moved = b.transpose(split, permutation=tuple(order))
    total = b.size_product(b.size_product(size, groups), inner)
    return b.reshape(moved, shape=(*shape[:axis], total, *shape[axis + 1 :]))


def split_batch(
    b: Builder, y: Value, axis: int, size: Size, groups: int = 1, inner: Size | None = None
) -> Value:
    """The inverse of `merged_batch`: the batch of `size` taken out of `axis`, as axis 0.

    `inner` is what each group of one slice has along `axis`; where it is not given, `size` is not 0.
    """
    shape = list(b.sizes(y))
    inner = b.size_quotient(shape[axis], b.size_product(size, groups)) if inner is None else inner
    split = b.reshape(y, shape=(*shape[:axis], groups, size, inner, *shape[axis + 1 :]))
    order = [axis + 1, *(a for a in range(len(shape) + 2) if a != axis + 1)]
    moved = b.transpose(split, permutation=tuple(order))
    return b.reshape(moved, shape=(size, *shape[:axis], b.size_product(inner, groups), *shape[axis + 1 :]))


def mask_of(b: Builder, predicate: Value, kind: TensorType) -> Value:
    """1 where `predicate`, else 0, in the dtype of `kind`."""
    return b.convert(predicate, dtype=kind.dtype)
