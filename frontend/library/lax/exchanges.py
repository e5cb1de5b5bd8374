"""Collectives that move parts of arrays between the elements of a named axis: pieces, sums, whole axes.

Input: a tree of arrays, the name of an axis of `vmap(axis_name=...)`. Output: compositions of `all_gather`,
`psum` and a slice at the element's position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import tree
from ...errors import ArgumentError
from ...tracing.interpreter import as_value
from ...tracing.locations import user_location_text
from ...tracing.varying import MeshAxis
from ...transforms.named_axes import axis_of
from .. import numpy as xp
from .collectives import all_gather, axis_index, no_groups, ppermute, psum
from .indexing import dynamic_index_in_dim, dynamic_slice_in_dim
from .mesh_collectives import exchanged, pvary, scattered


def _length(function: str, axis_name: Any) -> int:
    size = axis_of(axis_name).size
    if not isinstance(size, int):
        raise ArgumentError(f"{function} needs an axis of static size", where=user_location_text())
    return size


def all_to_all(
    x: Any,
    axis_name: str,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Each element's `x` is split along `split_axis`, piece `i` goes to element `i`, and what arrives is put
    together along `concat_axis`.

    Without `tiled`, `split_axis` has the size of the named axis and is removed, and `concat_axis` is new;
    with it, the pieces are blocks of `split_axis` and are joined along `concat_axis`.
    """
    no_groups("all_to_all", axis_index_groups)
    size = _length("all_to_all", axis_name)

    def exchange(leaf: Any) -> Any:
        value = as_value(leaf)
        n = value.shape[split_axis]
        if n % size or (not tiled and n != size):
            raise ArgumentError(
                f"all_to_all: axis {split_axis} has {n} elements, expected "
                f"{'a multiple of ' if tiled else ''}{size}, the size of axis {axis_name!r}",
                where=user_location_text(),
            )
        axis = axis_of(axis_name)
        if isinstance(axis, MeshAxis):
            return _exchanged(value, axis, split_axis, concat_axis, tiled)
        everyone = all_gather(value, axis_name)
        split = split_axis % value.ndim + 1
        if tiled:
            width = n // size
            mine = dynamic_slice_in_dim(everyone, axis_index(axis_name) * width, width, split)
            return xp.concatenate([mine[i] for i in range(size)], axis=concat_axis)
        mine = dynamic_index_in_dim(everyone, axis_index(axis_name), split, keepdims=False)
        return xp.moveaxis(mine, 0, concat_axis)

    return tree.map(exchange, x)


def _exchanged(value: Any, axis: MeshAxis, split_axis: int, concat_axis: int, tiled: bool) -> Any:
    """`all_to_all` over an axis of a mesh."""
    if tiled:
        return exchanged(value, axis, split_axis % value.ndim, concat_axis % value.ndim)
    pieces = exchanged(xp.moveaxis(value, split_axis, 0), axis, 0, 0)
    return xp.moveaxis(pieces, 0, concat_axis)


def psum_scatter(
    x: Any,
    axis_name: str,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """`psum`, of which element `i` of the named axis keeps piece `i` along `scatter_dimension`: a block of it
    with `tiled`, else one index, and the axis is removed."""
    no_groups("psum_scatter", axis_index_groups)
    size = _length("psum_scatter", axis_name)

    def scatter(leaf: Any) -> Any:
        value = as_value(leaf)
        n = value.shape[scatter_dimension]
        if n % size or (not tiled and n != size):
            raise ArgumentError(
                f"psum_scatter: axis {scatter_dimension} has {n} elements, which {size} elements of axis "
                f"{axis_name!r} cannot share",
                where=user_location_text(),
            )
        axis = axis_of(axis_name)
        if isinstance(axis, MeshAxis):
            block = scattered(value, axis, scatter_dimension % value.ndim)
            return block if tiled else xp.squeeze(block, scatter_dimension)
        total, place = psum(value, axis_name), axis_index(axis_name)
        if tiled:
            return dynamic_slice_in_dim(total, place * (n // size), n // size, scatter_dimension)
        return dynamic_index_in_dim(total, place, scatter_dimension, keepdims=False)

    return tree.map(scatter, x)


def pswapaxes(x: Any, axis_name: str, axis: int, *, axis_index_groups: Any = None) -> Any:
    """The named axis and `axis`, of the same size, swapped."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pshuffle(x: Any, axis_name: str, perm: Sequence[int]) -> Any:
    """Element `i` gets the `x` of element `perm[i]`; `perm` is a permutation."""
    if sorted(perm) != [*range(_length("pshuffle", axis_name))]:
        raise ArgumentError(
            f"pshuffle: perm {list(perm)} is no permutation of the axis", where=user_location_text()
        )
    return ppermute(x, axis_name, [(source, target) for target, source in enumerate(perm)])


def pbroadcast(x: Any, axis_name: str, source: int) -> Any:
    """The `x` of element `source` for all elements of the named axis."""
    if not 0 <= source < _length("pbroadcast", axis_name):
        raise ArgumentError(f"pbroadcast: the axis has no element {source}", where=user_location_text())
    return tree.map(lambda leaf: all_gather(leaf, axis_name)[source], x)


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """`x` as another kind of value along an axis of a mesh.

    `to="varying"` is `pvary`; `to="reduced"` is `x`. `to="unreduced"`, of what ranks hold as summands, adds
    it up, for adze has no arrays of summands.
    """
    if to not in ("varying", "reduced", "unreduced"):
        raise ArgumentError(f"pcast: to is {to!r}, expected 'varying'", where=user_location_text())
    if to == "unreduced":
        return psum(x, axis_name)
    return pvary(x, axis_name) if to == "varying" else x
