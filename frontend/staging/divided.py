"""Calls of functions that are divided among the ranks of a job.

Input: a traced program of whole arrays, the shardings of its arguments and of its results, and calls with
divided arrays. Output: divided arrays. Idea: `passes/partition` makes the program of one rank, which is
compiled and called with this rank's parts. Every rank does the same, so that all meet in one collective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...dialects.communicator import bound
from ...dialects.errors import AdzeError
from ...passes.partition.divide import divide
from ...passes.partition.layouts import Layout, part_of
from ...passes.partition.traffic import stated_grids
from ...passes.pipeline import OPTIMIZE, run_pipeline
from .. import tree
from ..errors import ShardingError
from ..sharding.arrays import ShardedArray, is_divided
from ..sharding.constraints import Shardings, leaf_shardings
from ..sharding.mesh import Mesh, PartitionSpec, local_shape, mesh_of_job, spec_of
from ..sharding.named import NamedSharding
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.trace import Parameter
from .compiled import Compiled
from .entries import Entry
from .parts import part_for_call
from .traced import Traced


class DividedEntry:
    """A compiled program of one rank, ready to be called with leaves."""

    def __init__(self, compiled: Compiled, plan: Plan) -> None:
        self.entry = Entry(compiled)
        self.plan = plan

    def call(self, leaves: Sequence[Any]) -> Any:
        """The results for the leaves of the arguments, divided arrays or whole ones that every rank has."""
        parts = [_part(leaf, s) for leaf, s in zip(leaves, self.plan.arguments, strict=True)]
        results = self.entry.call(parts)
        leaves, structure = tree.flatten(results)
        described = zip(leaves, self.plan.results, self.plan.shapes, strict=True)
        return tree.unflatten(structure, [ShardedArray(part, s, shape) for part, s, shape in described])


class Plan:
    """A program of one rank, and how its arguments and results lie on all of them."""

    def __init__(
        self,
        traced: Traced,
        arguments: Sequence[NamedSharding],
        results: Sequence[NamedSharding],
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self.traced, self.arguments, self.results, self.shapes = traced, arguments, results, shapes


def divided_plan(
    traced: Traced,
    leaves: Sequence[Any],
    stated: Shardings | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Plan | None:
    """The plan of a call; None where every rank runs the program as it is."""
    shardings: list[NamedSharding | None] = [None] * len(leaves)
    if stated is not None:
        shardings = stated.of_arguments(args, kwargs)
    mesh = mesh_of(traced, leaves, shardings, stated)
    if mesh is None:
        return None
    names = [p.name for p in traced.parameters]
    return partitioned(traced, mesh, argument_shardings(leaves, names, shardings), stated)


def partitioned(
    traced: Traced, mesh: Mesh, arguments: Sequence[NamedSharding | None], stated: Shardings | None
) -> Plan:
    """The program of one rank of `mesh` for a traced program, which is used up.

    `arguments` says how the leaves of the arguments lie; None lets propagation decide. Raises
    `MissingShardyError` where nothing can propagate, `ShardingError` for a program that cannot be divided.
    """
    program = traced.program
    _check_static(program.parameters)
    if program.held or program.others:
        raise ShardingError(
            "a program that keeps arrays, or has several functions, is not divided among ranks",
            where=user_location_text(),
            hint="pass the arrays as arguments",
        )
    module = program.module
    run_pipeline(module, OPTIMIZE)
    types = [p.type for p in program.parameters]
    for parameter, sharding in zip(program.parameters, arguments, strict=True):
        if sharding is not None:
            what = f"jit: argument '{parameter.name}'"
            local_shape(what, mesh, sharding.spec, tuple(n or 0 for n in parameter.type.static_shape))
    results = program.result_types
    wanted: list[NamedSharding | None] = [None] * len(results)
    if stated is not None:
        tokens = tree.unflatten(program.result_tree, list(results))
        wanted = leaf_shardings("jit: out_shardings", stated.results, tokens)
    try:
        divided = divide(
            module,
            program.symbol,
            NamedSharding(mesh, PartitionSpec()).grid,
            [None if s is None else s.dimensions(t.rank) for s, t in zip(arguments, types, strict=True)],
            [None if s is None else s.dimensions(t.rank) for s, t in zip(wanted, results, strict=True)],
        )
    except AdzeError as error:
        error.locate(user_location_text())
        raise
    parameters = [
        replace(p, type=part_of(p.type, layout))
        for p, layout in zip(program.parameters, divided.arguments, strict=True)
    ]
    parts = [part_of(t, layout) for t, layout in zip(results, divided.results, strict=True)]
    shapes: list[tuple[int | str | None, ...]] = [t.static_shape for t in parts]
    local = replace(program, parameters=parameters, result_types=parts, result_shapes=shapes, bounds={})
    return Plan(
        Traced(local),
        [_sharding(mesh, layout) for layout in divided.arguments],
        [_sharding(mesh, layout) for layout in divided.results],
        [tuple(n or 0 for n in t.static_shape) for t in results],
    )


def _sharding(mesh: Mesh, layout: Layout) -> NamedSharding:
    """A layout of whole axes, as users state it."""
    return NamedSharding(mesh, spec_of([axis.name for axis in axes] for axes in layout))


def _check_static(parameters: Sequence[Parameter]) -> None:
    for parameter in parameters:
        if not parameter.type.is_static:
            raise ShardingError(
                f"argument '{parameter.name}' is {parameter}: what is divided among ranks has static sizes",
                where=user_location_text(),
            )


def _part(leaf: Any, sharding: NamedSharding) -> Any:
    is_known = type(leaf) is ShardedArray or sharding.is_fully_replicated
    return part_for_call(leaf if is_known else as_value(leaf), sharding)


def mesh_of(
    traced: Traced, leaves: Sequence[Any], shardings: Sequence[NamedSharding | None], stated: Shardings | None
) -> Mesh | None:
    """The mesh of a job that a program is divided over: that of its arguments, of its shardings or of its
    constraints. None for a program that every rank runs as it is. Raises `ShardingError` for two meshes."""
    found = {leaf.sharding.mesh for leaf in leaves if is_divided(leaf)}
    found.update(s.mesh for s in shardings if s is not None and s.is_remote)
    if stated is not None:
        found.update(stated.meshes())
    if not found:
        found.update(_meshes_of_constraints(traced))
    if len(found) > 1:
        shown = " and ".join(sorted(str(mesh.shape) for mesh in found))
        raise ShardingError(
            f"arrays of one program lie on different meshes: {shown}",
            where=user_location_text(),
            hint="put them on one mesh with adze.device_put",
        )
    return found.pop() if found else None


def _meshes_of_constraints(traced: Traced) -> set[Mesh]:
    """The meshes that constraints in a program name, where this process is in a job of their size."""
    communicator = bound()
    if communicator is None or communicator.size == 1:
        return set()
    grids = stated_grids(traced.program.module)
    found = {mesh_of_job(grid.sizes, grid.names) for grid in grids}
    return {mesh for mesh in found if mesh.size == communicator.size}


def argument_shardings(
    leaves: Sequence[Any], names: Sequence[str], stated: Sequence[NamedSharding | None]
) -> list[NamedSharding | None]:
    """How the leaves of a call lie. Raises `ShardingError` for one that lies otherwise than was stated."""
    found: list[NamedSharding | None] = []
    for leaf, name, wanted in zip(leaves, names, stated, strict=True):
        own = leaf.sharding if is_divided(leaf) else None
        if own is not None and wanted is not None and not own.is_equivalent_to(wanted, leaf.ndim):
            raise ShardingError(
                f"jit: argument '{name}' lies on the ranks as {own.spec}, in_shardings says {wanted.spec}",
                where=user_location_text(),
                hint="put it there: adze.device_put(x, sharding), or leave in_shardings out",
            )
        found.append(own if own is not None else wanted)
    return found
