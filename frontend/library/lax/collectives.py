"""Collectives: sums, extrema, gathers and permutations over the named axes of `vmap(axis_name=...)`.

Input: a tree of arrays, and names that `transforms/named_axes.py` binds while a function is mapped. Output:
the ops `axis_sum` and `axis_gather`, which take the position along the axis, and compositions of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import tree
from ...errors import ArgumentError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.scalars import is_python_scalar
from ...tracing.sizes import Dim, product
from ...tracing.varying import MeshAxis
from ...transforms.named_axes import BoundAxis, axes_of, axis_of
from .. import numpy as xp
from .mesh_collectives import gathered, mesh_index, permuted, reduced, taken_as_varying


def no_groups(function: str, axis_index_groups: Any) -> None:
    """Raise `ArgumentError` for groups of positions of one axis."""
    if axis_index_groups is not None:
        raise ArgumentError(
            f"{function}: axis_index_groups is not supported",
            where=user_location_text(),
            hint="name two axes and reduce over one of them",
        )


def axis_index(axis_name: Any) -> Any:
    """The position along the named axis, an int32; along several, in row-major order."""
    first, *others = axes_of(axis_name)
    index = _index(first)
    for axis in others:
        index = index * as_value(axis.size, np.int32) + _index(axis)
    return index


def axis_size(axis_name: Any) -> Any:
    """The number of elements of the named axis, or of several together."""
    return product(axis.size for axis in axes_of(axis_name))


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum of `x` over the named axis, or over several; of a Python number, it times the axis' size."""
    no_groups("psum", axis_index_groups)
    return _over(axis_name, x, _sum)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean of `x` over the named axis, or over several."""
    no_groups("pmean", axis_index_groups)

    def mean(value: Any, axis: BoundAxis | MeshAxis) -> Any:
        size = axis.size
        count = as_value(size if isinstance(size, Dim) else np.float32(size))
        divisor = as_value(count, xp.result_type(value, np.float32))
        if isinstance(axis, MeshAxis) and not is_python_scalar(value):
            return taken_as_varying(xp.true_divide(_mesh_sum(value, axis), divisor), axis)
        return xp.true_divide(_sum(value, axis), divisor)

    return _over(axis_name, x, mean)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The largest `x` over the named axis, or over several."""
    no_groups("pmax", axis_index_groups)
    return _over(axis_name, x, lambda v, axis: _extreme(v, axis, "max"))


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The smallest `x` over the named axis, or over several."""
    no_groups("pmin", axis_index_groups)
    return _over(axis_name, x, lambda v, axis: _extreme(v, axis, "min"))


def all_gather(
    x: Any,
    axis_name: str,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: Any = None,
) -> Any:
    """All elements' `x` along a new axis at position `axis`; with `tiled`, joined along that axis."""

    no_groups("all_gather", axis_index_groups)
    axis_of(axis_name)

    def gather(value: Any, bound: BoundAxis | MeshAxis) -> Any:
        rank = as_value(value).ndim + (not tiled)
        if not -rank <= axis < rank:
            raise ArgumentError(
                f"all_gather: axis {axis} is out of range for {ops.type_of(as_value(value))}",
                where=user_location_text(),
            )
        if tiled and isinstance(bound, MeshAxis):
            return gathered(as_value(value), bound, axis % rank)
        everyone = xp.moveaxis(_all_of(value, bound), 0, axis % rank)
        if not tiled:
            return everyone
        at = axis % rank
        shape = everyone.shape
        return xp.reshape(everyone, (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]))

    return _over(axis_name, x, gather)


def ppermute(x: Any, axis_name: str, perm: Sequence[tuple[int, int]]) -> Any:
    """For each pair `(source, target)`, `x` of the one element for the other; zeros for the rest."""
    bound = axis_of(axis_name)
    if not isinstance(bound.size, int):
        raise ArgumentError("ppermute needs an axis of static size", where=user_location_text())
    sources, targets = [s for s, _ in perm], [t for _, t in perm]
    out = [n for n in (*sources, *targets) if not 0 <= n < bound.size]
    if out or len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
        raise ArgumentError(
            f"ppermute: perm {list(perm)} must pair distinct positions of axis '{axis_name}', which has "
            f"{bound.size}",
            where=user_location_text(),
        )
    source_of = np.zeros(bound.size, np.int32)
    receives = np.zeros(bound.size, np.bool_)
    for source, target in perm:
        source_of[target], receives[target] = source, True

    def permute(value: Any, axis: BoundAxis | MeshAxis) -> Any:
        if isinstance(axis, MeshAxis):
            return permuted(as_value(value), axis, perm)
        received = _all_of(value, axis)[as_value(source_of)[axis.index]]
        return xp.where(as_value(receives)[axis.index], received, xp.zeros_like(received))

    return _over(axis_name, x, permute)


def _over(axis_name: Any, x: Any, collective: Any) -> Any:
    """`collective` of each leaf, over one named axis after the other; over none the leaves as they are."""
    for axis in [] if axis_name in ((), []) else axes_of(axis_name):
        x = tree.map(lambda leaf, axis=axis: collective(leaf, axis), x)
    return x


def _index(axis: BoundAxis | MeshAxis) -> Any:
    return mesh_index(axis) if isinstance(axis, MeshAxis) else axis.index


def _sum(value: Any, axis: BoundAxis | MeshAxis) -> Any:
    if is_python_scalar(value) and isinstance(axis.size, int):
        return value * axis.size
    if isinstance(axis, MeshAxis):
        return taken_as_varying(_mesh_sum(value, axis), axis)
    return ops.axis_sum(_summand(value), axis.index, axis_name=axis.name, length=(axis.size,))


def _mesh_sum(value: Any, axis: MeshAxis) -> Any:
    return reduced(_summand(value), axis, "sum")


def _summand(value: Any) -> Any:
    """Bools are counted."""
    summand = as_value(value)
    return as_value(summand, np.int64) if summand.dtype == np.bool_ else summand


def _extreme(value: Any, axis: BoundAxis | MeshAxis, kind: str) -> Any:
    if isinstance(axis, MeshAxis):
        return taken_as_varying(reduced(as_value(value), axis, kind), axis)
    return (xp.max if kind == "max" else xp.min)(_all_of(value, axis), axis=0)


def _all_of(value: Any, axis: BoundAxis | MeshAxis) -> Any:
    if isinstance(axis, MeshAxis):
        return gathered(ops.reshape(as_value(value), shape=(1, *np.shape(value))), axis, 0)
    return ops.axis_gather(as_value(value), axis.index, axis_name=axis.name, length=(axis.size,))
