"""Collectives of one array over an axis of a mesh; `collectives.py` chooses them for such axes.

Input: an array and the axis. Output: the op's result, a traced array. An operand that does not vary over the
axis is varied first, as in JAX: `psum` of it is it times the number of ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.collectives.mesh_axes import Vary
from ....dialects.types import INT32, TensorType
from ... import tree
from ...errors import AxisNameError, ShardingError
from ...tracing.frames import Tracer, current_frame
from ...tracing.function_scope import varied_over
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.varying import MeshAxis
from ...transforms.named_axes import axes_of

_SCALAR = TensorType((), INT32)


def mesh_index(axis: MeshAxis) -> Any:
    """The position along the axis."""
    frame = current_frame()
    if frame is None:
        raise AxisNameError(
            f"axis name {axis.name!r} is an axis of a mesh, outside a traced function",
            where=user_location_text(),
        )
    value = axis.index_in(frame)
    return Tracer(frame, value, _SCALAR)


def _varied(x: Any, axis: MeshAxis) -> Any:
    return varied_over(as_value(x), frozenset({axis.name}))


def reduced(x: Any, axis: MeshAxis, kind: str) -> Any:
    """The sum, max or min over the ranks."""
    return ops.all_reduce(_varied(x, axis), mesh_index(axis), kind=kind, **axis.place)


def taken_as_varying(x: Any, axis: MeshAxis) -> Any:
    """A value that is the same in all ranks; where nothing is checked everything counts as varying."""
    return x if axis.is_checked else ops.vary(x, mesh_index(axis), **axis.place)


def unvaried(x: Any, axes: Mapping[str, MeshAxis]) -> Any:
    """`x`, of which all ranks along `axes` have the same, as the caller says."""
    left = dict(axes)
    while isinstance(x, Tracer) and (name := _varied_along(x)) in left:
        x = Tracer(x.frame, x.value.owner.operands[0], x.type)
        del left[name]
    for axis in left.values():
        x = ops.unvary(as_value(x), mesh_index(axis), **axis.place)
    return x


def _varied_along(x: Tracer) -> str:
    """The axis of the `vary` that made a value, else no name."""
    if isinstance(x.value.owner, mlir.ir.Block):
        return ""
    application = Reader(x.frame.program.codec).read(x.value.owner)
    if application is None or application.op is not Vary:
        return ""
    name: str = application.attributes["axis_name"]
    return name


def gathered(x: Any, axis: MeshAxis, dim: int, is_invariant: bool = False) -> Any:
    """The arrays of the ranks one after the other along `dim`."""
    return ops.all_gather(
        _varied(x, axis), mesh_index(axis), dim=dim, is_invariant=is_invariant, **axis.place
    )


def permuted(x: Any, axis: MeshAxis, perm: Sequence[tuple[int, int]]) -> Any:
    """The array of the rank that sends to this one."""
    pairs = tuple((int(s), int(t)) for s, t in perm)
    return ops.ppermute(_varied(x, axis), mesh_index(axis), perm=pairs, **axis.place)


def scattered(x: Any, axis: MeshAxis, dim: int) -> Any:
    """This rank's block of the sum, along `dim`."""
    _divisible("psum_scatter", x, axis, dim)
    return ops.reduce_scatter(_varied(x, axis), mesh_index(axis), dim=dim, **axis.place)


def exchanged(x: Any, axis: MeshAxis, split: int, concat: int) -> Any:
    """Blocks along `split` to all ranks, theirs one after the other along `concat`."""
    _divisible("all_to_all", x, axis, split)
    return ops.all_to_all(_varied(x, axis), mesh_index(axis), split=split, concat=concat, **axis.place)


def _divisible(name: str, x: Any, axis: MeshAxis, dim: int) -> None:
    n = x.shape[dim]
    if isinstance(n, int) and n % axis.size:
        raise ShardingError(
            f"{name}: axis {dim} has {n} elements, which {axis.size} ranks of {axis.name!r} cannot share",
            where=user_location_text(),
        )


def pvary(x: Any, axis_name: Any) -> Any:
    """`x` as arrays that may differ among the ranks of a mesh axis (or of several): its gradient is summed.

    Over the axis of a `vmap` it is `x`. Names and meaning are those of `jax.lax.pvary`.
    """
    names = frozenset(axis.name for axis in axes_of(axis_name) if isinstance(axis, MeshAxis))
    return tree.map(lambda leaf: varied_over(as_value(leaf), names) if names else leaf, x)
