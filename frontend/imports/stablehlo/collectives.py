"""Collectives of a program for many ranks: adze's own, over the named axes that are bound at the call.

Input: an application within `adze.shard_map`, or `adze.vmap(..., axis_name=...)`. Output: its result on one
rank.

Idea: a program names groups of ranks, adze names axes. Ranks are numbered row by row over the bound axes, and
the groups must be those that some of the axes form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL
from ...library import numpy as xp
from ...library.lax import collectives, exchanges
from ...library.lax.indexing import dynamic_slice_in_dim
from ...tracing.interpreter import ops
from ...tracing.varying import mesh_axes
from ...transforms.named_axes import bound_axes
from .application import Application, Rule
from .computations import COMBINE, logical, single_op

_HINT: Final = "call the function within adze.shard_map over a mesh of its ranks"


def _axes(app: Application) -> dict[str, int]:
    """The axes that are bound here with their sizes, the outermost first."""
    sizes: dict[str, Any] = {axis.name: axis.size for axis in bound_axes()}
    sizes |= {axis.name: axis.size for axis in mesh_axes().values()}
    if not all(isinstance(n, int) for n in sizes.values()):
        raise app.error("a named axis has no static size")
    count = int(np.prod(list(sizes.values())))
    ranks = app.ranks.replicas * app.ranks.partitions
    if app.ranks.replicas > 1 and app.ranks.partitions > 1:
        raise app.error("a program of several replicas of several partitions is not supported")
    if ranks not in (1, count):
        bound = ", ".join(f"{name}: {n}" for name, n in sizes.items()) or "none"
        raise app.error(f"the program is for {ranks} ranks, bound axes are {bound}", _HINT)
    return sizes


def _numbering(app: Application, *, both: bool) -> str:
    """What groups number: "ranks", "replicas", "partitions", or replicas in "all" partitions."""
    channel = app.attribute("channel_handle")
    has_channel = isinstance(channel, dict) and channel.get("handle", 0) > 0
    if app.attribute("use_global_device_ids") or app.ranks.replicas * app.ranks.partitions == 1:
        return "ranks"
    if not has_channel:
        return "replicas"
    return "all" if both else "partitions"


def _groups(app: Application, count: int, *, both: bool) -> list[tuple[int, ...]]:
    """The groups as numbers of ranks."""
    table = app.attribute("replica_groups")
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise app.error("its replica_groups are no table of numbers")
    groups = [tuple(int(n) for n in row if n >= 0) for row in table]
    numbering = _numbering(app, both=both)
    alone = {"replicas": app.ranks.partitions, "partitions": app.ranks.replicas}.get(numbering, 1)
    if alone > 1:  # each rank is a group of its own
        groups = [(n,) for n in range(alone)] if groups == [(0,)] else groups
    if numbering == "all" and app.ranks.partitions > 1:
        groups = [tuple(range(app.ranks.partitions))] if groups == [(0,)] else groups
    if not groups:
        groups = [tuple(range(count))]
    if sorted(n for group in groups for n in group) != list(range(count)):
        raise app.error(f"its groups {[list(g) for g in groups]} do not divide {count} ranks", _HINT)
    return groups


def _names(app: Application, *, both: bool = True) -> tuple[str, ...]:
    """The axes whose ranks form the groups; none where each rank is alone."""
    sizes = _axes(app)
    shape = tuple(sizes.values())
    groups = set(_groups(app, int(np.prod(shape)), both=both))
    ranks = np.arange(int(np.prod(shape))).reshape(shape)
    places = [i for i, n in enumerate(shape) if n > 1]
    for size in range(len(places) + 1):
        for chosen in combinations(places, size):
            others = [i for i in range(len(shape)) if i not in chosen]
            length = int(np.prod([shape[i] for i in chosen]))
            rows = ranks.transpose(*others, *chosen).reshape(-1, length)
            if {tuple(int(n) for n in row) for row in rows} == groups:
                return tuple(list(sizes)[i] for i in chosen)
    raise app.error(
        f"its groups {sorted(list(g) for g in groups)} are no axes of {sizes}",
        "name the axes of the mesh so that the ranks of a group differ along some of them only",
    )


def _everyone(x: Any, names: Sequence[str]) -> Any:
    """The arrays of a group along a new first axis, in the order of the group."""
    gathered = x[None]
    for name in reversed(names):
        gathered = collectives.all_gather(gathered, name, axis=0, tiled=True)
    return gathered


def _reduced(app: Application, x: Any, names: Sequence[str]) -> Any:
    kind = logical(single_op(app.op.regions[0]) or "", x.dtype == BOOL)
    known = {"add": collectives.psum, "maximum": collectives.pmax, "minimum": collectives.pmin}
    if kind not in known and kind not in COMBINE:
        raise app.error("only reductions by one commutative op are supported")
    if not names:
        return x
    if kind in known and x.dtype.kind in "fiuV":
        return known[kind](x, tuple(names))
    if kind == "add":  # of complex numbers
        return xp.sum(_everyone(x, names), axis=0)
    parts = _everyone(x, names)
    total = parts[0]
    for i in range(1, parts.shape[0]):
        total = COMBINE[kind](total, parts[i])
    return total


def _all_reduce(app: Application) -> Any:
    names = _names(app)
    return [_reduced(app, x, names) for x in app.arrays]


def _all_gather(app: Application) -> Any:
    names, dim = _names(app), app.attribute("all_gather_dim")
    results = []
    for x in app.arrays:
        for name in reversed(names):
            x = collectives.all_gather(x, name, axis=dim, tiled=True)
        results.append(x)
    return results


def _reduce_scatter(app: Application) -> Any:
    names, dim, x = _names(app), app.attribute("scatter_dimension"), app.array()
    if single_op(app.op.regions[0]) == "add" and x.dtype.kind in "fiuV":
        for name in names:
            x = exchanges.psum_scatter(x, name, scatter_dimension=dim, tiled=True)
        return x
    total = _reduced(app, x, names)
    if not names:
        return total
    length = app.static_shape()[dim]
    return dynamic_slice_in_dim(total, collectives.axis_index(names) * length, length, dim)


def _all_to_all(app: Application) -> Any:
    names = _names(app, both=False)
    if len(names) > 1:
        raise app.error("an exchange over several axes of a mesh is not supported")
    split, concat = app.attribute("split_dimension"), app.attribute("concat_dimension")
    if not names:
        return app.arrays
    return [exchanges.all_to_all(x, names[0], split, concat, tiled=True) for x in app.arrays]


def _collective_broadcast(app: Application) -> Any:
    """The array of the first rank of each group; zeros for a rank of no group."""
    table = np.asarray(app.attribute("replica_groups"))
    groups = [[int(n) for n in row if n >= 0] for row in table.reshape(-1, table.shape[-1])]
    return _sent(app, [(group[0], n) for group in groups for n in group])


def _collective_permute(app: Application) -> Any:
    table = np.asarray(app.attribute("source_target_pairs")).reshape(-1, 2)
    return _sent(app, [(int(s), int(t)) for s, t in table])


def _sent(app: Application, pairs: Sequence[tuple[int, int]]) -> Any:
    """For each pair `(source, target)` the array of the one rank for the other, zeros for the rest."""
    sizes, x = _axes(app), app.array()
    count = int(np.prod(list(sizes.values())))
    targets = [t for _, t in pairs]
    if any(not 0 <= n < count for pair in pairs for n in pair) or len(set(targets)) < len(targets):
        raise app.error(f"{pairs} are no pairs of {count} ranks with distinct targets", _HINT)
    if not sizes:
        return x if pairs else ops.full_like(x, 0)
    if len(sizes) == 1 and len({s for s, _ in pairs}) == len(pairs):
        return collectives.ppermute(x, next(iter(sizes)), pairs)
    source, receives = np.zeros(count, np.int32), np.zeros(count, np.bool_)
    for s, t in pairs:
        source[t], receives[t] = s, True
    place = collectives.axis_index(tuple(sizes))
    sent = _everyone(x, tuple(sizes))[xp.asarray(source)[place]]
    return xp.where(xp.asarray(receives)[place], sent, xp.zeros_like(sent))


def _rank(kind: str) -> Rule:
    """The number of the replica, or of the partition: 0 in a program of one."""

    def rule(app: Application) -> Any:
        if getattr(app.ranks, kind) == 1:
            return np.zeros((), np.uint32)
        place = collectives.axis_index(tuple(_axes(app)))
        return ops.convert(place, dtype=np.dtype(np.uint32))

    return rule


RULES: Final[dict[str, Rule]] = {
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_broadcast": _collective_broadcast,
    "stablehlo.collective_permute": _collective_permute,
    "stablehlo.partition_id": _rank("partitions"),
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.replica_id": _rank("replicas"),
}
