"""Every op of the table, divided among four ranks in several ways, gives what it gives whole."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from adze.dialects.dialect import OPS
from adze.dialects.ops.collectives.mesh_axes import MeshAxisOp
from adze.dialects.types import TensorType
from adze.passes.partition.layouts import Grid, Spec

from ...dialects.ops.cases import Instance, instances
from ...dialects.ops.programs import ModuleOfCases, inferred
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


def is_static(instance: Instance) -> bool:
    types = (*instance.types, *inferred(instance))
    return all(isinstance(t, TensorType) and t.is_static for t in types) and not instance.dynamic


def dtype_of(instance: Instance, thorough: bool) -> str:
    if instance.dtype is None:
        return ""
    return instance.dtype.name if thorough else instance.dtype.kind


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
def test_divided_is_whole(name: str, thorough: bool) -> None:
    """Each case, and each dtype or, without `--all`, one of each kind: no division depends on the width."""
    pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    static = [i for i in instances(BY_OP[name]) if is_static(i)]
    for instance in some(static, lambda i: (dtype_of(i, thorough), id(i.case)), False):
        program = ModuleOfCases.of([instance])  # small: each is cloned, verified and written for the ranks
        (function,) = program.functions
        specs = [some_spec(rng, a.shape) for a in function.arguments]
        shapes = [a.shape for a in function.expected]
        wanted = [some_spec(rng, shape) for shape in shapes]
        outcome = on_ranks(program.module, function.name, function.arguments, GRID, specs, wanted, shapes)
        for actual, expected in zip(outcome.results, function.expected, strict=True):
            tolerance = TOLERANCES[instance.row.tolerance]
            assert not difference(expected, actual, tolerance), (instance, specs, wanted)
