"""`shard_map`: a function written for one rank, called with arrays that are divided among all.

Input: a function, a mesh, and how arguments and results lie on it. Output: a function of whole arrays.

Idea: the function is traced at the shapes of one rank's parts, with the axes of the mesh bound. In a job of
several ranks each takes its part of the arguments (by its position) and the results are gathered again. On a
mesh of local ranks the batch engine maps the function over each axis, which dissolves the collectives: one
program computes all ranks, and every transform of it is one of ordinary ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ...dialects.types import INT32, TensorType
from .. import tree
from ..errors import ArgumentTypeError, ShardingError
from ..library.lax.mesh_collectives import gathered, unvaried
from ..tracing.frames import Tracer, current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of, varied_over
from ..tracing.interpreter import as_value, ops
from ..tracing.layouts import UNKNOWN, lay, layout_of
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.trace import argument_names, function_name
from ..tracing.varying import MeshAxis, at_least, axes_of_value, bound_mesh, mesh_axes
from ..transforms.named_axes import hidden_axes
from .arrays import laid_out
from .local_parts import divided, joined
from .mesh import Mesh, PartitionSpec, check_spec, current_mesh, local_shape
from .named import NamedSharding, of_layout


class _OfArguments:
    """What `in_specs` is by default."""

    def __repr__(self) -> str:
        return "as arguments lie"


OF_ARGUMENTS: Final = _OfArguments()


def shard_map(
    f: Callable[..., Any] | None = None,
    *,
    mesh: Mesh | None = None,
    in_specs: Any = OF_ARGUMENTS,
    out_specs: Any,
    axis_names: Collection[str] | None = None,
    check_vma: bool = True,
) -> Any:
    """A function of whole arrays that calls `f` in each rank of `mesh` with that rank's parts of them.

    `in_specs` has a `PartitionSpec` for each argument (or one for all), `out_specs` for each result, trees
    of them where arguments are trees; None stands for what all ranks have. Without `in_specs` each argument
    is divided as it lies on the mesh, where `device_put` put it. Without `mesh` it is the one in force when
    the function is called (`adze.set_mesh`). A result whose spec does not name an axis must be the same along
    it (`lax.psum` makes it so); otherwise `ShardingError` is raised.

    With `check_vma=False` nothing is checked: such a result is taken for the same in all ranks, and a
    collective may stand under a predicate whose ranks agree without being known to. Derivatives are those of
    the result of the first rank. `axis_names` are the axes that `f` knows, all if it is None: ranks along
    others compute the same. Names are those of `jax.shard_map`.
    """
    if f is None:
        return functools.partial(
            shard_map,
            mesh=mesh,
            in_specs=in_specs,
            out_specs=out_specs,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    if not callable(f) or not (mesh is None or isinstance(mesh, Mesh)):
        raise ArgumentTypeError(
            f"shard_map expects a function and a Mesh, got {type(f).__name__} and {type(mesh).__name__}",
            where=user_location_text(),
            hint="make the mesh with adze.make_mesh((4,), ('data',))",
        )
    mapped = f

    @functools.wraps(mapped)
    def sharded(*args: Any) -> Any:
        used = _mesh_in_force(mesh)
        return _Call(mapped, used, in_specs, out_specs, args, axis_names, check_vma).run()

    return sharded


def _mesh_in_force(mesh: Mesh | None) -> Mesh:
    found = mesh or current_mesh()
    if found is None:
        raise ShardingError(
            "shard_map has no mesh: it was given none, and none is in force",
            where=user_location_text(),
            hint="write shard_map(f, mesh=adze.make_mesh((4,), ('data',)), ...), or adze.set_mesh(mesh)",
        )
    return found


class _Call:
    """One call of a sharded function."""

    def __init__(
        self,
        function: Callable[..., Any],
        mesh: Mesh,
        in_specs: Any,
        out_specs: Any,
        args: tuple[Any, ...],
        axis_names: Collection[str] | None,
        check_vma: bool,
    ) -> None:
        self.function, self.mesh, self.out_specs, self.is_checked = function, mesh, out_specs, check_vma
        self.names = _known_axes(mesh, axis_names)
        if mesh_axes():
            raise ShardingError(
                "shard_map inside shard_map", where=user_location_text(), hint="use a mesh with all the axes"
            )
        leaves, self.structure = tree.flatten(args)
        if in_specs is OF_ARGUMENTS:
            in_specs = tree.map(functools.partial(_own_spec, mesh), tuple(args))
        if isinstance(in_specs, (tuple, list)) and not isinstance(in_specs, PartitionSpec):
            in_specs = tuple(in_specs)
            if len(in_specs) != len(args):
                raise ShardingError(
                    f"shard_map: in_specs has {len(in_specs)} entries, {function_name(function)} got "
                    f"{len(args)} arguments",
                    where=user_location_text(),
                )
        self.specs = _leaf_specs("in_specs", mesh, in_specs, args)
        self._check_known("in_specs", self.specs)
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

    def _check_known(self, what: str, specs: Sequence[PartitionSpec]) -> None:
        """Raise unless specs name axes that the function knows."""
        for spec in specs:
            for name in sorted(spec.names().difference(self.names)):
                raise ShardingError(
                    f"shard_map: {what} {spec} names {name!r}, which is not among axis_names "
                    f"{list(self.names)}",
                    where=user_location_text(),
                    hint=f"add {name!r} to axis_names, or leave axis_names out",
                )

    @contextmanager
    def _bound(self, indices: Sequence[Any] = ()) -> Iterator[None]:
        """The axes that the function knows, with its positions along them where these are arguments."""
        mesh = self.mesh
        axes = [mesh.axis_names.index(name) for name in self.names]
        positions = indices or (None,) * len(axes)
        bound = [
            MeshAxis(mesh.axis_names[i], mesh.axis_sizes, i, position, self.is_checked)
            for i, position in zip(axes, positions, strict=True)
        ]
        with bound_mesh(bound), hidden_axes(self.names):
            yield

    def _called(self, leaves: Sequence[Any]) -> Any:
        """The results of one rank."""
        if self.is_checked:
            return self.function(*tree.unflatten(self.structure, leaves))
        # All its values count as varying: what it is given is varied, so that cotangents are summed.
        scope, everything = FunctionScope(), frozenset(self.names)
        values = [varied_over(v, everything) for v in leaves]
        with at_least(everything):
            function = scope.trace(
                function_name(self.function), self._unchecked, [argument_of(v) for v in values]
            )
        captured = [v if isinstance(v, Dim) else varied_over(v, everything) for v in function.captured]
        return tree.unflatten(function.result_tree, scope.call(function.symbol, [*values, *captured]))

    def _unchecked(self, leaves: Sequence[Any]) -> Any:
        """The results, those that its specs say are the same in all ranks taken for it."""
        result = self.function(*tree.unflatten(self.structure, leaves))
        results, structure = tree.flatten(result)
        specs = _leaf_specs("out_specs", self.mesh, self.out_specs, result)
        same = [
            unvaried(leaf, {n: axis for n, axis in mesh_axes().items() if n not in spec.names()})
            for leaf, spec in zip(results, specs, strict=True)
        ]
        return tree.unflatten(structure, same)

    def _result_specs(self, result: Any) -> list[PartitionSpec]:
        """The specs of the results, checked against what they vary over."""
        specs = _leaf_specs("out_specs", self.mesh, self.out_specs, result)
        self._check_known("out_specs", specs)
        for leaf, spec, path in zip(
            tree.leaves(result), specs, tree.paths(tree.structure(result)), strict=True
        ):
            value = as_value(leaf)
            named = spec.names()
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
        with self._bound():
            parts = [self._part(v, s, n) for v, s, n in zip(values, self.specs, self.shapes, strict=True)]
            result = self._called(parts)
            specs = self._result_specs(result)
            leaves, structure = tree.flatten(result)
            whole = [self._whole(as_value(v), spec) for v, spec in zip(leaves, specs, strict=True)]
            return tree.unflatten(structure, whole)

    def _part(self, value: Any, spec: PartitionSpec, shape: tuple[int, ...]) -> Any:
        from ..library.lax.collectives import axis_index

        named = spec.names()
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
        count = len(self.names)
        names = [spec.names() for spec in self.specs]
        arguments = [
            Argument(TensorType(shape, v.dtype), (None,) * len(shape), v.weak_type, axes)
            for v, shape, axes in zip(self.values, self.shapes, names, strict=True)
        ]
        arguments += [Argument(TensorType((), INT32), (), False, frozenset({name})) for name in self.names]
        specs: list[PartitionSpec] = []

        def call(tracers: Sequence[Any]) -> Any:
            with self._bound(tracers[len(tracers) - count :]):
                result = self._called(tracers[: len(tracers) - count])
                specs[:] = self._result_specs(result)
                return result

        nested = scope.trace(function_name(self.function), call, arguments)
        operands = [divided(v, self.mesh, s) for v, s in zip(self.values, self.specs, strict=True)]
        for name in self.names:
            operands.append(ops.iota(shape=(self.mesh.shape[name],), axis=0, dtype=INT32))
        own = [*names, *(frozenset({name}) for name in self.names)]
        results, varying = self._mapped(scope, nested, [*operands, *nested.captured], own)
        whole = [
            joined(r, axes, self.mesh, spec) for r, axes, spec in zip(results, varying, specs, strict=True)
        ]
        whole = [_lying(r, NamedSharding(self.mesh, s)) for r, s in zip(whole, specs, strict=True)]
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
        for name in reversed(self.names):
            batched = scope.engines.batcher(self.mesh.shape[name]).batch(
                symbol, tuple(name in axes for axes in own)
            )
            symbol = batched.symbol
            for axes, is_batched in zip(varying, batched.batched_results, strict=True):
                if is_batched:
                    axes.insert(0, name)
        return scope.call(symbol, operands), varying


def _lying(result: Any, sharding: NamedSharding) -> Any:
    """A result that lies as its spec says, where that is part of its type."""
    layout = sharding.layout(result.ndim)
    if layout is None:
        return result
    if isinstance(result, Tracer):
        lay(result, layout)
        return result
    return laid_out(result, layout)


def _own_spec(mesh: Mesh, value: Any) -> PartitionSpec:
    """How an argument lies on the mesh. Raises `ShardingError` for one that is traced."""
    layout = layout_of(value)
    if layout is not None and layout is not UNKNOWN and layout.mesh.shape == mesh.shape:
        return of_layout(layout).spec
    if layout is UNKNOWN or (isinstance(value, Tracer) and not mesh.are_all_axes_explicit):
        raise ShardingError(
            "shard_map without in_specs: how a traced array lies is not known",
            where=user_location_text(),
            hint="state in_specs, a PartitionSpec for each argument",
        )
    sharding = getattr(value, "sharding", None)
    if isinstance(sharding, NamedSharding) and sharding.mesh.shape == mesh.shape:
        return sharding.spec
    return PartitionSpec()


def _known_axes(mesh: Mesh, axis_names: Collection[str] | None) -> tuple[str, ...]:
    """The axes that a function knows, in the order of the mesh."""
    if axis_names is None:
        return mesh.axis_names
    if isinstance(axis_names, str) or not set(axis_names) <= set(mesh.axis_names) or not axis_names:
        raise ShardingError(
            f"shard_map: axis_names is {axis_names!r}, expected a set of axes of the mesh {mesh.shape}",
            where=user_location_text(),
        )
    return tuple(name for name in mesh.axis_names if name in axis_names)


def _leaf_specs(what: str, mesh: Mesh, specs: Any, value: Any) -> list[PartitionSpec]:
    """The spec of each leaf of a tree, of which `specs` is a prefix. None is that of what all ranks have."""
    if specs is None:
        specs = PartitionSpec()
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
