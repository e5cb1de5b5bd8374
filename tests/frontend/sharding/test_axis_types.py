"""What a mesh says of the types of its axes, under JAX's names (flax and optax ask)."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze.sharding import AbstractMesh, AxisType, Mesh

KINDS = (AxisType.Auto, AxisType.Explicit, AxisType.Manual)


@pytest.mark.parametrize("kinds", [(), (KINDS[0],) * 2, (KINDS[1],) * 2, (KINDS[2],) * 2, KINDS])
def test_the_types_of_axes(kinds: tuple[AxisType, ...]) -> None:
    names = tuple("abc"[: len(kinds)])
    mesh = AbstractMesh((2,) * len(kinds), names, kinds)
    of_type = {kind: tuple(n for n, k in zip(names, kinds, strict=True) if k is kind) for kind in KINDS}
    assert (mesh.auto_axes, mesh.explicit_axes, mesh.manual_axes) == tuple(of_type.values())
    alone = (mesh.are_all_axes_auto, mesh.are_all_axes_explicit, mesh.are_all_axes_manual)
    assert alone == tuple(bool(kinds) and of_type[kind] == names for kind in KINDS)


def test_a_mesh_is_changed_in_part() -> None:
    mesh = Mesh(np.array([0]).reshape(1, 1), ("a", "b"))
    named = mesh.update(axis_names=("x", "y"))
    assert isinstance(named, Mesh) and named.axis_names == ("x", "y") and named.axis_types == mesh.axis_types
    assert mesh.update(axis_types=(AxisType.Explicit,) * 2).are_all_axes_explicit
    assert mesh.update(np.array([0]), ("z",), (AxisType.Auto,)).shape == {"z": 1}
    abstract = mesh.abstract_mesh
    assert abstract.update((3, 4)).shape == {"a": 3, "b": 4}
    assert abstract.update_axis_types({"b": AxisType.Manual}).manual_axes == ("b",)


def test_a_mesh_decorates_a_function() -> None:
    mesh = Mesh(np.array([0]), ("a",))

    @mesh
    def seen() -> Mesh:
        return adze.sharding.get_mesh()

    assert seen() == mesh and adze.sharding.get_mesh() != mesh
