"""`vmap`: a function that applies another to each slice of its arguments.

Input: a function, and the mapped axis of each argument. Output: results with the mapped axis where
`out_axes` says.

Idea: the function is traced at the shapes of one slice, and the batch engine maps it. There the batch is
always axis 0: other axes are moved to the front before and back after.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialects.types import TensorType
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.concrete_values import KnownArgument, MappedArgument
from ..tracing.frames import Tracer, current_frame, hold
from ..tracing.function_scope import (
    Argument,
    FunctionScope,
    PrivateFunction,
    argument_of,
    keep_dimensions,
    named_sizes,
    resumes_trace,
    with_names,
)
from ..tracing.interpreter import as_value, ops, weak_in_jax, wide_of
from ..tracing.locations import user_location_text
from ..tracing.references import any_alive
from ..tracing.sizes import Dim
from ..tracing.trace import argument_names, function_name
from ..tracing.varying import axes_of_value
from ..tracing.visible import is_plain
from ..tracing.wrapped import wraps
from .compiled_transforms import compiled_transform
from .known_traces import kinds_of, known_trace
from .named_axes import bound_axis
from .reference_effects import mapped as mapped_with_references
from .vmap_axes import Axes, MappedAxis, checked_axis, common_size, leaf_axes, result_axes


def vmap(
    fun: Callable[..., Any] | None = None,
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_name: str | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Any:
    """A function that maps `fun` over the axes `in_axes` of its arguments.

    `in_axes` is an int, None (not mapped: every call sees the whole argument), or a tuple with one entry
    an argument, each an int, None or a tree prefix of the argument. Keyword arguments are mapped along axis
    0. `out_axes` says where the mapped axis goes in the results; None for a result that does not depend on
    it, or, with `sum_match`, is to be summed over it. Arguments that are not mapped, or are no arrays, reach
    the function as the objects they are. `spmd_axis_name` of JAX names axes of a mesh for constraints on
    shardings, and changes no value.

    Raises `ArgumentError` when an axis does not exist, `ShapeError` when the mapped axes differ in size (a
    program with dynamic sizes checks them when it runs).
    """
    if fun is None:
        return functools.partial(
            vmap,
            in_axes=in_axes,
            out_axes=out_axes,
            axis_name=axis_name,
            axis_size=axis_size,
            sum_match=sum_match,
        )
    _check(fun, axis_name)
    mapped: Callable[..., Any] = fun

    def of_function(function: Callable[..., Any]) -> Callable[..., Any]:
        return vmap(
            function, in_axes, out_axes, axis_name=axis_name, axis_size=axis_size, sum_match=sum_match
        )

    @resumes_trace
    @wraps(mapped)
    def batched(*args: Any, **kwargs: Any) -> Any:
        options = "vmap", in_axes, out_axes, axis_name, axis_size, sum_match
        compiled = compiled_transform(mapped, options, of_function)
        if compiled is not None:
            return compiled(*args, **kwargs)
        if any_alive():
            axes = leaf_axes(mapped, in_axes, args, kwargs)

            def of_values(function: Callable[..., Any], out: Axes) -> Callable[..., Any]:
                return lambda *args, **kwargs: _Mapping(
                    function, in_axes, out, axis_size, axis_name, args, kwargs, sum_match
                ).run()

            return mapped_with_references(of_values, mapped, axes, out_axes, args, kwargs)
        return _Mapping(mapped, in_axes, out_axes, axis_size, axis_name, args, kwargs, sum_match).run()

    return batched


def _check(function: object, axis_name: object) -> None:
    """Raise `ArgumentTypeError` for what is no function, and for a name of an axis that is no string."""
    if not callable(function):
        raise ArgumentTypeError(
            f"vmap expects a function, got {type(function).__name__}: {function!r}",
            where=user_location_text(),
        )
    if axis_name is not None and not isinstance(axis_name, str):
        raise ArgumentTypeError(
            f"axis_name is {type(axis_name).__name__}: {axis_name!r}, expected a str",
            where=user_location_text(),
            hint="nest one vmap for each name",
        )


class _Mapping:
    """One call of a mapped function."""

    def __init__(
        self,
        function: Callable[..., Any],
        in_axes: Axes,
        out_axes: Axes,
        axis_size: int | None,
        axis_name: str | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        sum_match: bool,
    ) -> None:
        self.function = function
        self.sum_match = sum_match
        self.args = args
        self.out_axes = out_axes
        self.axis_name = axis_name
        axes = leaf_axes(function, in_axes, args, kwargs)
        leaves, self.structure = tree.flatten(tree.before_slicing((args, kwargs), axes))
        self.is_mapped = [
            axis is not None and _is_array(leaf) for leaf, axis in zip(leaves, axes, strict=True)
        ]
        self.leaves = leaves
        names = argument_names(function, args, kwargs)
        self.values: list[Any] = []
        self.sources: list[MappedArgument] = []
        sizes: list[MappedAxis] = []
        for leaf, axis, name, is_mapped in zip(leaves, axes, names, self.is_mapped, strict=True):
            if axis is None or not is_mapped:
                continue
            value = as_value(leaf)
            axis = checked_axis(axis, name, value)
            sizes.append(MappedAxis(name, axis, value.shape[axis]))
            self.values.append(move_axis(value, axis, 0))
            self.sources.append(MappedArgument(f"argument '{name}', which vmap maps along axis {axis}"))
        self.size = common_size(function, sizes, axis_size)

    def run(self) -> Any:
        operands, sources = list(map(wide_of, self.values)), list(self.sources)
        is_weak = [v.weak_type for v in self.values]
        if self.axis_name is not None:
            # The position along the axis is one more argument, which collectives know their axis by.
            operands.append(ops.iota(shape=(self.size,), axis=0, dtype=np.dtype(np.int32)))
            sources.append(MappedArgument(f"the position along the mapped axis '{self.axis_name}'"))
            is_weak.append(False)
        arguments = [replace(_slice_of(v), weak_type=weak) for v, weak in zip(operands, is_weak, strict=True)]
        scope, nested = self._known(operands, arguments, sources)
        static = self.size if isinstance(self.size, int) else None
        mask = (*(True for _ in operands), *(False for _ in nested.captured))
        mapped = scope.engines.batcher(static).batch(nested.symbol, mask)
        leading = [] if static is not None else [self.size]
        results = scope.call(mapped.symbol, [*leading, *operands, *nested.captured])
        axes = result_axes(self.function, self.out_axes, nested.result_tree)
        sizes = named_sizes([*self.values, *nested.captured])
        for r, has_axis, names in zip(results, mapped.batched_results, nested.result_names, strict=True):
            with_names(r, names, sizes, skipped=int(has_axis))
        placed = [
            self._placed(r, has_axis, axis)
            for r, has_axis, axis in zip(results, mapped.batched_results, axes, strict=True)
        ]
        return tree.unflatten(nested.result_tree, map(weak_in_jax, placed, nested.weak_results))

    def _known(
        self, operands: Sequence[Any], arguments: Sequence[Argument], sources: Sequence[MappedArgument]
    ) -> tuple[FunctionScope, PrivateFunction]:
        """The function of one slice, in a scope that may have it since an earlier call."""
        name, count = function_name(self.function), len(operands)

        def trace(scope: FunctionScope, held: Sequence[Array]) -> PrivateFunction:
            def call(tracers: Sequence[Any]) -> Any:
                hold(held, tracers[count:])
                return self._call(tracers[:count])

            known = [KnownArgument(v, False) for v in held]
            whole = [*arguments, *map(argument_of, held)]
            return scope.trace(name, call, whole, sources=[*sources, *known])

        shared = [leaf for leaf, is_mapped in zip(self.leaves, self.is_mapped, strict=True) if not is_mapped]
        may_know = current_frame() is None and is_plain(self.structure)
        kinds = kinds_of(operands) if may_know else None
        weak = tuple([a.weak_type for a in arguments])
        axes = self.axis_name, self.size, tuple(self.is_mapped), tuple([s.reason for s in sources])
        key = None if kinds is None else ("vmap", self.structure, kinds, weak, axes)
        return known_trace(key, [self.function, self.out_axes, *shared], trace)

    def _call(self, tracers: Sequence[Any]) -> Any:
        """The function on one slice; leaves that are not mapped are passed as they are."""
        arrays = iter(tracers)
        full = [
            next(arrays) if is_mapped else leaf
            for leaf, is_mapped in zip(self.leaves, self.is_mapped, strict=True)
        ]
        args, kwargs = tree.unflatten(self.structure, full)
        if not all(self.is_mapped):
            args = self._shared(args)
        if self.axis_name is None:
            result = self.function(*args, **kwargs)
        else:
            with bound_axis(self.axis_name, self.size, next(arrays)):
                result = self.function(*args, **kwargs)
        return tree.before_stacking(result, result_axes(self.function, self.out_axes, tree.structure(result)))

    def _shared(self, args: Sequence[Any]) -> list[Any]:
        """The arguments of a slice; one without a mapped leaf is the user's object, no copy."""
        flags, arguments = iter(self.is_mapped), []
        for original, arg in zip(self.args, args, strict=True):
            mapped = [next(flags) for _ in range(tree.structure(original).num_leaves)]
            arguments.append(arg if any(mapped) else original)
        return arguments

    def _placed(self, result: Any, has_axis: bool, axis: int | None) -> Any:
        if axis is None:
            if has_axis and self.sum_match:
                return ops.reduce_sum(result, axes=(0,))
            if has_axis:
                raise ArgumentError(
                    f"out_axes of {function_name(self.function)} is None for a result that depends on the "
                    "mapped axis",
                    where=user_location_text(),
                    hint="give the axis where the mapped axis should go",
                )
            return result
        if has_axis:
            keep_dimensions(result, (self.size, *result.shape[1:]))
        else:
            shape = tuple(result.shape)
            dimensions = tuple(range(1, len(shape) + 1))
            result = ops.broadcast_in_dim(result, shape=(self.size, *shape), dimensions=dimensions)
        rank = result.ndim
        if not -rank <= axis < rank:
            raise ArgumentError(
                f"out_axes {axis} is out of range for a result of rank {rank}", where=user_location_text()
            )
        return move_axis(result, 0, axis % rank)


def move_axis(value: Any, source: int, target: int) -> Any:
    """`value` with axis `source` at position `target`."""
    if source == target:
        return value
    order = [i for i in range(value.ndim) if i != source]
    order.insert(target, source)
    return ops.transpose(value, permutation=tuple(order))


def _is_array(leaf: Any) -> bool:
    """Whether a leaf is an array or a number; anything else is shared by all calls as it is."""
    if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic, Array, Tracer, Dim)):
        return True
    return hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")


def _slice_of(value: Any) -> Argument:
    kind = ops.tensor_type(value)
    names = tuple(n.text if isinstance(n, Dim) else None for n in value.shape[1:])
    return Argument(TensorType(kind.shape[1:], kind.dtype), names, value.weak_type, axes_of_value(value))
