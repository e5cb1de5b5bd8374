"""Collectives of meshes as the equations that JAX has for them, and axes that `make_jaxpr` binds.

Input: an op along an axis of a mesh, or JAX's `axis_env`. Output: JAX's name and attributes of the op; a
context in which names mean axes. Idea: a function that is traced for one position of each axis holds the
collectives, as a function of `shard_map` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from ..errors import ArgumentTypeError
from ..tracing.locations import user_location_text
from ..tracing.varying import MeshAxis, bound_mesh


def bound_axes_of(axis_env: Sequence[tuple[str, int]] | None) -> AbstractContextManager[None]:
    """A context in which each name of `axis_env` means an axis of its size.

    Raises `ArgumentTypeError` where `axis_env` is no sequence of a name and a positive size each.
    """
    if not axis_env:
        return nullcontext()
    entries = list(axis_env)
    for entry in entries:
        if not (isinstance(entry, tuple) and len(entry) == 2 and _is_axis(*entry)):
            raise ArgumentTypeError(
                f"axis_env has {entry!r}, expected a name and a size",
                where=user_location_text(),
                hint='write axis_env=[("i", 4)]',
            )
    sizes = tuple(int(size) for _, size in entries)
    return bound_mesh([MeshAxis(n, sizes, i, is_checked=False) for i, (n, _) in enumerate(entries)])


def _is_axis(name: object, size: object) -> bool:
    return isinstance(name, str) and isinstance(size, int) and not isinstance(size, bool) and size > 0


def jax_name(op: str, attributes: dict[str, Any]) -> str | None:
    """JAX's name of an op along an axis of a mesh; None for another op."""
    if op == "all_reduce":
        return {"sum": "psum", "max": "pmax", "min": "pmin"}[attributes["kind"]]
    return _NAMES.get(op)


def jax_attributes(op: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """JAX's attributes of an op that `jax_name` has a name for."""
    name = attributes["axis_name"]
    size = attributes["mesh"][attributes["axis"]]
    groups = {"axis_index_groups": None, "axis_name": (name,), "axis_size": size, "tiled": True}
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "all_reduce": lambda: {"axes": (name,), "axis_index_groups": None},
        "vary": lambda: {"axes": (name,)},
        "mesh_index": lambda: {"axis_name": name},
        "ppermute": lambda: {"axis_name": (name,), "perm": attributes["perm"]},
        "all_gather": lambda: {"all_gather_dimension": attributes["dim"], **groups},
        "reduce_scatter": lambda: {"scatter_dimension": attributes["dim"], **groups},
        "all_to_all": lambda: {
            "axis_index_groups": None,
            "axis_name": (name,),
            "concat_axis": attributes["concat"],
            "split_axis": attributes["split"],
            "tiled": True,
        },
    }
    return make[op]()


_NAMES: Final = {
    "all_gather": "all_gather",
    "all_to_all": "all_to_all",
    "mesh_index": "axis_index",
    "ppermute": "ppermute",
    "reduce_scatter": "reduce_scatter",
    "vary": "pvary",
}
