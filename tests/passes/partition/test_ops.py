"""Every op of the table, divided among four ranks in several ways, gives what it gives whole."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import pytest

from adze.dialects.dialect import OPS
from adze.dialects.ops.collectives.mesh_axes import MeshAxisOp
from adze.dialects.types import TensorType
from adze.passes.partition.layouts import Grid, Spec

from ...dialects.ops.cases import instances
from ...dialects.ops.programs import Function, ModuleOfCases
from ...dialects.ops.tolerances import TOLERANCES, difference
from ...op_cases import BY_OP
from ...selection import some
from .ranks import on_ranks

GRID = Grid((2, 2), ("x", "y"))
NAMES = [
    op.name
    for op in OPS
    if not issubclass(op, MeshAxisOp)
    and not op.name.startswith("size_")  # what is divided has static sizes
    and op.name not in ("dim", "undefined_value")
]


@cache
def module_of(name: str) -> ModuleOfCases:
    return ModuleOfCases.of(tuple(instances(BY_OP[name])))


def is_static(function: Function) -> bool:
    types = (*function.input_types, *function.output_types)
    return all(isinstance(t, TensorType) and t.is_static for t in types) and not function.instance.dynamic


def some_spec(rng: np.random.Generator, shape: tuple[int, ...]) -> Spec | None:
    """A division of an array of this shape into equal parts, or none."""
    if rng.integers(4) == 0:
        return None
    left = ["x", "y"]
    entries: list[tuple[str, ...]] = []
    for n in shape:
        names: list[str] = []
        while left and n % (2 ** (len(names) + 1)) == 0 and rng.integers(2):
            names.append(left.pop(int(rng.integers(len(left)))))
        entries.append(tuple(names))
    return tuple(entries)


@pytest.mark.parametrize("name", NAMES)
def test_divided_is_whole(name: str) -> None:
    pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")
    module = module_of(name)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    chosen = [f for f in module.functions if is_static(f)]
    for function in some(chosen, lambda f: (str(f.instance.dtype), id(f.instance.case)), False):
        shapes = [a.shape for a in function.arguments]
        specs = [some_spec(rng, shape) for shape in shapes]
        made = [e.shape for e in function.expected]
        wanted = [some_spec(rng, shape) for shape in made]
        outcome = on_ranks(module.module, function.name, function.arguments, GRID, specs, wanted, made)
        for actual, expected in zip(outcome.results, function.expected, strict=True):
            tolerance = TOLERANCES[function.instance.row.tolerance]
            assert not difference(expected, actual, tolerance), (function.instance, specs, wanted)
