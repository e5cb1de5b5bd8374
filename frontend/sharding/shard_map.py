"""`shard_map`: a function written for one rank, called with arrays that are divided among all.

Input: a function, a mesh, and how arguments and results lie on it. Output: a function of whole arrays.

Idea: the function is traced at the shapes of one rank's parts, with the axes of the mesh bound. In a job of
several ranks each takes its part of the arguments (by its position) and the results are gathered again. On a
mesh of local ranks the batch engine maps the function over each axis, which dissolves the collectives: one
program computes all ranks, and every transform of it is one of ordinary ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import INT32, TensorType
from .. import tree
from ..errors import ArgumentTypeError, ShardingError
from ..library import numpy as xp
from ..library.lax.mesh_collectives import gathered
from ..tracing.frames import current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, varied_over
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.trace import argument_names, function_name
from ..tracing.varying import MeshAxis, axes_of_value, bound_mesh, mesh_axes
from .mesh import Mesh, PartitionSpec, check_spec, local_shape


def shard_map(
    f: Callable[..., Any] | None = None,
    *,
    mesh: Mesh,
    in_specs: Any,
    out_specs: Any,
    check_vma: bool = True,
) -> Any:
    """A function of whole arrays that calls `f` in each rank of `mesh` with that rank's parts of them.

    `in_specs` has a `PartitionSpec` for each argument (or one for all), `out_specs` for each result, trees
    of them where arguments are trees. A result whose spec does not name an axis must be the same along it
    (`lax.psum` makes it so); otherwise `ShardingError` is raised. Names are those of `jax.shard_map`.
    """
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_vma
        )
    if not callable(f) or not isinstance(mesh, Mesh):
        raise ArgumentTypeError(
            f"shard_map expects a function and a Mesh, got {type(f).__name__} and {type(mesh).__name__}",
            where=user_location_text(),
            hint="make the mesh with adze.make_mesh((4,), ('data',))",
        )
    if not check_vma:
        raise ShardingError(
            "shard_map: check_vma=False is not supported: derivatives need to know what varies",
            where=user_location_text(),
            hint="leave it out, and use lax.pvary or lax.psum where the error says so",
        )
    mapped = f

    @functools.wraps(mapped)
    def sharded(*args: Any) -> Any:
        return _Call(mapped, mesh, in_specs, out_specs, args).run()

    return sharded


class _Call:
    """One call of a sharded function."""

    def __init__(
        self, function: Callable[..., Any], mesh: Mesh, in_specs: Any, out_specs: Any, args: tuple[Any, ...]
    ) -> None:
        self.function, self.mesh, self.out_specs = function, mesh, out_specs
        if mesh_axes():
            raise ShardingError(
                "shard_map inside shard_map", where=user_location_text(), hint="use a mesh with all the axes"
            )
        leaves, self.structure = tree.flatten(args)
        if isinstance(in_specs, (tuple, list)) and not isinstance(in_specs, PartitionSpec):
            in_specs = tuple(in_specs)
            if len(in_specs) != len(args):
                raise ShardingError(
                    f"shard_map: in_specs has {len(in_specs)} entries, {function_name(function)} got "
                    f"{len(args)} arguments",
                    where=user_location_text(),
                )
        self.specs = _leaf_specs("in_specs", mesh, in_specs, args)
        self.values = [as_value(leaf) for leaf in leaves]
        names = argument_names(function, args, {})
        self.shapes = [
            local_shape(f"shard_map: argument '{name}'", mesh, spec, tuple(v.shape))
            for name, spec, v in zip(names, self.specs, self.values, strict=True)
        ]

    def run(self) -> Any:
        if self.mesh.is_local:
            return self._on_local_ranks()
        if current_frame() is not None:
            return self._on_this_rank(self.values)
        # Outside a trace: as one function, so that its ops are recorded and then evaluated.
        scope = FunctionScope()
        arguments = [Argument(ops.tensor_type(v), (None,) * v.ndim, v.weak_type) for v in self.values]
        whole = scope.trace(function_name(self.function), self._on_this_rank, arguments)
        return tree.unflatten(whole.result_tree, scope.call(whole.symbol, self.values))

    def _axes(self, indices: Sequence[Any] = ()) -> list[MeshAxis]:
        sizes = self.mesh.axis_sizes
        return [
            MeshAxis(name, sizes, i, indices[i] if indices else None)
            for i, name in enumerate(self.mesh.axis_names)
        ]

    def _called(self, leaves: Sequence[Any]) -> Any:
        return self.function(*tree.unflatten(self.structure, leaves))

    def _result_specs(self, result: Any) -> list[PartitionSpec]:
        """The specs of the results, checked against what they vary over."""
        specs = _leaf_specs("out_specs", self.mesh, self.out_specs, result)
        for leaf, spec, path in zip(
            tree.leaves(result), specs, tree.paths(tree.structure(result)), strict=True
        ):
            value = as_value(leaf)
            named = {name for names in spec.axes() for name in names}
            if len(spec) > value.ndim:
                raise ShardingError(
                    f"shard_map: out_specs {spec} for a result of rank {value.ndim}",
                    where=user_location_text(),
                )
            over = sorted(axes_of_value(value) - named)
            if over:
                raise ShardingError(
                    f"shard_map: out_specs {spec} says that result{path} of {function_name(self.function)} "
                    f"is the same along {', '.join(map(repr, over))}, but it may vary along it",
                    where=user_location_text(),
                    hint=f"reduce it (lax.psum(x, {over[0]!r})), or name the axis in its out_specs",
                )
        return specs

    # -- a job of several ranks ------------------------------------------------------------------

    def _on_this_rank(self, values: Sequence[Any]) -> Any:
        with bound_mesh(self._axes()):
            parts = [self._part(v, s, n) for v, s, n in zip(values, self.specs, self.shapes, strict=True)]
            result = self._called(parts)
            specs = self._result_specs(result)
            leaves, structure = tree.flatten(result)
            whole = [self._whole(as_value(v), spec) for v, spec in zip(leaves, specs, strict=True)]
            return tree.unflatten(structure, whole)

    def _part(self, value: Any, spec: PartitionSpec, shape: tuple[int, ...]) -> Any:
        from ..library.lax.collectives import axis_index

        named = frozenset(name for names in spec.axes() for name in names)
        if not named:
            return value
        starts: list[Any] = [as_value(0, INT32)] * value.ndim
        for dimension, names in enumerate(spec.axes()):
            if names:
                starts[dimension] = ops.mul(axis_index(names), as_value(shape[dimension], INT32))
        return ops.dynamic_slice(varied_over(value, named), *starts, slice_sizes=shape)

    def _whole(self, value: Any, spec: PartitionSpec) -> Any:
        for dimension, names in enumerate(spec.axes()):
            for name in reversed(names):
                value = gathered(value, mesh_axes()[name], dimension, is_invariant=True)
        return value

    # -- local ranks -----------------------------------------------------------------------------

    def _on_local_ranks(self) -> Any:
        scope = FunctionScope()
        count = len(self.mesh.axis_names)
        names = [frozenset(n for names in spec.axes() for n in names) for spec in self.specs]
        arguments = [
            Argument(TensorType(shape, v.dtype), (None,) * len(shape), v.weak_type, axes)
            for v, shape, axes in zip(self.values, self.shapes, names, strict=True)
        ]
        arguments += [
            Argument(TensorType((), INT32), (), False, frozenset({name})) for name in self.mesh.axis_names
        ]
        specs: list[PartitionSpec] = []

        def call(tracers: Sequence[Any]) -> Any:
            with bound_mesh(self._axes(tracers[len(tracers) - count :])):
                result = self._called(tracers[: len(tracers) - count])
                specs[:] = self._result_specs(result)
                return result

        nested = scope.trace(function_name(self.function), call, arguments)
        operands = [_divided(v, self.mesh, s) for v, s in zip(self.values, self.specs, strict=True)]
        for size in self.mesh.axis_sizes:
            operands.append(ops.iota(shape=(size,), axis=0, dtype=INT32))
        own = [*names, *(frozenset({name}) for name in self.mesh.axis_names)]
        results, varying = self._mapped(scope, nested, [*operands, *nested.captured], own)
        whole = [
            _joined(r, axes, self.mesh, spec) for r, axes, spec in zip(results, varying, specs, strict=True)
        ]
        return tree.unflatten(nested.result_tree, whole)

    def _mapped(
        self,
        scope: FunctionScope,
        nested: PrivateFunction,
        operands: list[Any],
        own: list[frozenset[str]],
    ) -> tuple[list[Any], list[list[str]]]:
        """The results for all ranks, and the axes in front of each: those it is batched over."""
        own = [*own, *(frozenset[str]() for _ in nested.captured)]
        symbol = nested.symbol
        varying: list[list[str]] = [[] for _ in nested.result_types]
        # The last axis of the mesh is mapped first, so that the first one is in front.
        for name, size in reversed(list(zip(self.mesh.axis_names, self.mesh.axis_sizes, strict=True))):
            batched = scope.engines.batcher(size).batch(symbol, tuple(name in axes for axes in own))
            symbol = batched.symbol
            for axes, is_batched in zip(varying, batched.batched_results, strict=True):
                if is_batched:
                    axes.insert(0, name)
        return scope.call(symbol, operands), varying


def _leaf_specs(what: str, mesh: Mesh, specs: Any, value: Any) -> list[PartitionSpec]:
    """The spec of each leaf of a tree: `specs` is a prefix of the tree."""
    if isinstance(specs, PartitionSpec):
        check_spec(f"shard_map: {what}", mesh, specs)
        return [specs] * len(tree.leaves(value))
    if isinstance(specs, dict) and isinstance(value, dict) and specs.keys() == value.keys():
        return [s for key in sorted(specs) for s in _leaf_specs(what, mesh, specs[key], value[key])]
    is_sequence = isinstance(specs, (tuple, list)) and isinstance(value, (tuple, list))
    if is_sequence and len(specs) == len(value):
        return [s for part, v in zip(specs, value, strict=True) for s in _leaf_specs(what, mesh, part, v)]
    if value is None or (is_sequence and not value):
        return []
    raise ShardingError(
        f"shard_map: {what} {specs!r} is no prefix of {tree.describe(tree.structure(value))}",
        where=user_location_text(),
        hint="give a PartitionSpec for each array, or one for a whole tree",
    )


def _divided(value: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    """An array with an axis in front for each axis of the mesh that divides it, in the order of the mesh."""
    shape: list[int] = []
    at: dict[str, int] = {}
    kept: list[int] = []
    entries = spec.axes() + [()] * (value.ndim - len(spec))
    for n, names in zip(value.shape, entries, strict=True):
        for name in names:
            at[name] = len(shape)
            shape.append(mesh.shape[name])
        kept.append(len(shape))
        shape.append(n // int(np.prod([mesh.shape[name] for name in names], dtype=int)))
    if not at:
        return value
    order = [at[name] for name in mesh.axis_names if name in at] + kept
    return ops.transpose(ops.reshape(value, shape=tuple(shape)), permutation=tuple(order))


def _joined(value: Any, varying: list[str], mesh: Mesh, spec: PartitionSpec) -> Any:
    """The inverse, for a result with the axes `varying` in front; it repeats over others of its spec."""
    named = [name for name in mesh.axis_names if any(name in names for names in spec.axes())]
    for name in [name for name in varying if name not in named]:  # batched, and yet the same for all
        value = xp.take(value, 0, axis=varying.index(name))
        varying = [other for other in varying if other != name]
    local = tuple(value.shape)[len(varying) :]
    if named != varying:
        dimensions = [i for i, name in enumerate(named) if name in varying]
        dimensions += range(len(named), len(named) + len(local))
        shape = (*(mesh.shape[name] for name in named), *local)
        value = ops.broadcast_in_dim(value, shape=shape, dimensions=tuple(dimensions))
    order: list[int] = []
    sizes: list[int] = []
    for dimension, n in enumerate(local):
        names = spec.axes()[dimension] if dimension < len(spec) else ()
        order += [named.index(name) for name in names]
        order.append(len(named) + dimension)
        sizes.append(n * int(np.prod([mesh.shape[name] for name in names], dtype=int)))
    if not named:
        return value
    return xp.reshape(ops.transpose(value, permutation=tuple(order)), tuple(sizes))
