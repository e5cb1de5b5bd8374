"""Programs divided among ranks, and computed by threads with NumPy; results are joined to whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import adze
from adze.dialects import mlir
from adze.frontend.staging.modules import clone_module
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.partition.combine import CombineCollectives
from adze.passes.partition.divide import divide
from adze.passes.partition.layouts import Axis, Grid, Layout, Spec


@dataclass(frozen=True)
class Outcome:
    """The results of a divided program as whole arrays, how they lay, and the names of its collectives in the
    order of the text: as it was divided, and after small ones were combined."""

    results: list[np.ndarray]
    layouts: tuple[Layout, ...]
    collectives: list[str]
    combined: list[str]


def collectives(module: mlir.ir.Module) -> list[str]:
    """The names of the collectives of a module."""
    names = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "ppermute")
    words = str(module).replace("(", " ").split()
    return [word.strip('"').removeprefix("adze.") for word in words if word.strip('"')[5:] in names]


def place(grid: Grid, rank: int, axes: Sequence[Axis], n: int) -> slice:
    """Where a rank's part of `n` elements is that `axes` divide."""
    where = dict(zip(grid.names, np.unravel_index(rank, grid.sizes), strict=True))
    sizes = dict(zip(grid.names, grid.sizes, strict=True))
    number, parts = 0, 1
    for axis in axes:
        after = sizes[axis.name] // (axis.before * axis.size)
        number = number * axis.size + int(where[axis.name]) // after % axis.size
        parts *= axis.size
    return slice(number * n // parts, (number + 1) * n // parts)


def part(grid: Grid, rank: int, layout: Layout, x: np.ndarray) -> np.ndarray:
    """What a rank has of `x`."""
    return x[tuple(place(grid, rank, axes, n) for axes, n in zip(layout, x.shape, strict=True))]


def on_ranks(
    module: mlir.ir.Module,
    symbol: str,
    arguments: Sequence[np.ndarray],
    grid: Grid,
    specs: Sequence[Spec | None],
    wanted: Sequence[Spec | None],
    shapes: Sequence[tuple[int, ...]],
) -> Outcome:
    """Divide the function of a module, which stays as it is, and compute it on every rank of the grid."""
    own = clone_module(module)
    divided = divide(own, symbol, grid, specs, wanted)
    verify(own)
    before = collectives(own)
    CombineCollectives().run(own)
    verify(own)

    def rank() -> tuple[int, list[np.ndarray]]:
        number = adze.distributed.process_index()
        parts = [part(grid, number, s, x) for s, x in zip(divided.arguments, arguments, strict=True)]
        return number, evaluate(own, symbol, [np.array(x) for x in parts])

    size = int(np.prod(grid.sizes))
    whole: list[np.ndarray] | None = None
    for number, results in adze.distributed.run(rank, size):
        if whole is None:
            whole = [np.empty(shape, r.dtype) for shape, r in zip(shapes, results, strict=True)]
        for target, result, layout in zip(whole, results, divided.results, strict=True):
            where = tuple(place(grid, number, axes, n) for axes, n in zip(layout, target.shape, strict=True))
            target[where] = result
    assert whole is not None
    return Outcome(whole, divided.results, before, collectives(own))


def function_on_ranks(
    function: Any,
    arguments: Sequence[Any],
    grid: Grid,
    specs: Sequence[Spec | None],
    wanted: Sequence[Spec | None] | None = None,
) -> Outcome:
    """As `on_ranks`, of a Python function."""
    from adze.passes.pipeline import OPTIMIZE, run_pipeline

    program = adze.trace(function, *arguments).program
    run_pipeline(program.module, OPTIMIZE)
    shapes = [tuple(n or 0 for n in t.static_shape) for t in program.result_types]
    given = [np.asarray(x) for x in adze.tree.leaves(list(arguments))]
    return on_ranks(
        program.module, program.symbol, given, grid, specs, wanted or [None] * len(shapes), shapes
    )
