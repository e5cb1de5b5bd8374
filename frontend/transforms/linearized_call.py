"""A function linearized at a point, and what users get of it: a pullback or a pushforward.

Input: a `FlatCall`. Output: its result, the residuals, and `Pullback` or `Pushforward`: pytrees whose
leaves are the residuals, so that they go where arrays go: out of `jit`, through `vmap`, into the residuals
of a custom rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dialects.types import INEXACT, TensorType
from .. import tree
from ..errors import ArgumentTypeError, ShardingError
from ..tracing.frames import Tracer
from ..tracing.function_scope import FunctionScope, check_sizes, keep_dimensions, varied_over, with_all_names
from ..tracing.interpreter import as_value, laid_out, ops, weak_in_jax
from ..tracing.jax_rules import FLOAT0, follows_jax
from ..tracing.layouts import UNKNOWN, Layout, lay, layout_of
from ..tracing.locations import user_location_text
from ..tracing.varying import axes_of_value
from .flat_call import FlatCall
from .reference_effects import BoundPullback

if TYPE_CHECKING:
    from ...passes.autodiff.linearize import Linearized


class TangentType(NamedTuple):
    """What a tangent or cotangent looks like: the type and the shape of its primal."""

    type: TensorType
    shape: tuple[Any, ...]
    axes: frozenset[str] = frozenset()
    """The axes of a mesh that the primal varies over, and the tangent with it."""
    layout: Layout | None = None
    """How the primal lies on a mesh whose axes are explicit."""
    weak_type: bool = False
    """Whether the primal is weakly typed."""

    @staticmethod
    def of(value: Any) -> TangentType:
        """The look of a value."""
        kind = ops.tensor_type(value)
        shape, weak = tuple(value.shape), bool(value.weak_type)
        return TangentType(kind, shape, axes_of_value(value), layout_of(value), weak)

    @property
    def is_inexact(self) -> bool:
        """Whether there are derivatives of it."""
        return self.type.dtype in INEXACT

    def laid(self, cotangent: Any) -> Any:
        """A cotangent that lies as its primal."""
        if self.layout is None or self.layout is UNKNOWN:
            return cotangent
        if not isinstance(cotangent, Tracer):
            return laid_out(cotangent, self.layout.of_cotangent)
        lay(cotangent, self.layout.of_cotangent)
        return cotangent

    def typed(self, tangent: Any) -> Any:
        """A computed tangent with the dimensions of its primal, and weakly typed as that is."""
        return weak_in_jax(keep_dimensions(tangent, self.shape), self.weak_type)

    def zeros(self) -> Any:
        """The tangent of a value that does not move: zeros of its dtype; bools for integers, or JAX's float0
        in programs written for JAX."""
        if self.is_inexact:
            return weak_in_jax(ops.full(0, self.shape, self.type.dtype), self.weak_type)
        if follows_jax() and self.type.static_shape is not None:
            return np.zeros(self.type.static_shape, FLOAT0)
        return ops.full(False, self.shape, np.dtype(np.bool_))

    def read(self, tangent: Any, name: str, what: str = "tangent") -> Any:
        """A tangent as the user passes it; None for one of integers, which has no effect."""
        if not self.is_inexact:
            return None
        value = as_value(tangent)
        if value.weak_type:
            value = as_value(value, self.type.dtype)
        if ops.tensor_type(value) != self.type:
            raise ArgumentTypeError(
                f"the {what} of '{name}' is {ops.tensor_type(value)}, expected {self.type}",
                where=user_location_text(),
            )
        more = axes_of_value(value) - self.axes
        if more:
            raise ShardingError(
                f"the {what} of '{name}' varies over {', '.join(sorted(more))}, and its primal does not",
                where=user_location_text(),
                hint="vary the primal first (lax.pvary), or sum the other (lax.psum)",
            )
        check_sizes(value, self.shape, f"the {what} of '{name}' must have the shape of its primal")
        return varied_over(value, self.axes)


class LinearMap:
    """The derivative of a function at a point, as functions of a program, without the residuals."""

    def __init__(
        self,
        scope: FunctionScope,
        linearized: Linearized,
        mask: Sequence[bool],
        arguments: Sequence[TangentType],
        results: Sequence[TangentType],
    ) -> None:
        self.scope = scope
        self.linearized = linearized
        self.mask = mask
        self.arguments = arguments
        self.results = results

    def push(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the results for tangents of all argument leaves."""
        moving = [t for t, is_active in zip(tangents, self.mask, strict=True) if is_active]
        values = iter(self.scope.call(self.linearized.linear, [*residuals, *moving]))
        return [
            like.typed(next(values)) if is_active else like.zeros()
            for like, is_active in zip(self.results, self.linearized.active_results, strict=True)
        ]

    def pull(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of all argument leaves for cotangents of the results; None stands for zero."""
        active = [
            None if c is None else like.read(c, f"result {i}", "cotangent")
            for i, (like, c) in enumerate(zip(self.results, cotangents, strict=True))
        ]
        active = [c for c, is_active in zip(active, self.linearized.active_results, strict=True) if is_active]
        linear = (False,) * len(residuals) + (True,) * sum(self.mask)
        transposed = self.scope.engines.transposer.transpose(
            self.linearized.linear, linear, tuple(c is not None for c in active)
        )
        values = iter(self.scope.call(transposed.symbol, [*residuals, *(c for c in active if c is not None)]))
        active_cotangents = iter([next(values) if nonzero else None for nonzero in transposed.nonzero])
        leaves = []
        for like, is_active in zip(self.arguments, self.mask, strict=True):
            cotangent = next(active_cotangents) if is_active else None
            leaves.append(like.zeros() if cotangent is None else like.typed(cotangent))
        return [like.laid(leaf) for like, leaf in zip(self.arguments, leaves, strict=True)]


class LinearizedCall:
    """A call of a function: its result, and its derivative there with the residuals."""

    def __init__(self, call: FlatCall, mask: Sequence[bool]) -> None:
        self.call = call
        active = [m and v.dtype in INEXACT for m, v in zip(mask, call.values, strict=True)]
        scope, nested = call.known(active)
        operands = [*call.values, *nested.captured]
        linearized = scope.engines.linearizer.linearize(
            nested.symbol, (*active, *(False for _ in nested.captured))
        )
        outputs = scope.call(linearized.primal, operands)
        self.results = outputs[: len(nested.result_types)]
        with_all_names(self.results, nested.result_names, operands)
        self.results = list(map(weak_in_jax, self.results, nested.weak_results))
        self.residuals = linearized.residual_values(operands, outputs)
        count = len(call.values)
        self.arguments_kept = tuple(
            r.index if r.kind == "input" and r.index < count else None for r in linearized.residuals
        )
        """For each residual the leaf of the arguments that it is, None for what was computed."""
        self.linear = LinearMap(
            scope,
            linearized,
            active,
            [*map(TangentType.of, call.values)],
            [*map(TangentType.of, self.results)],
        )
        self.value = tree.unflatten(nested.result_tree, self.results)
        self.aux: Any = None
        if call.has_aux:
            self.value, self.aux = call.split(self.value)
        self.result_tree = tree.structure(self.value)


class NotNeeded:
    """In place of an argument that a pullback does not need."""

    def __repr__(self) -> str:
        return "NotNeeded()"


class Pullback:
    """What `vjp` returns beside the value: maps a cotangent of the result to cotangents of the arguments.

    May be called any number of times, inside a trace or outside, wherever it was made. A None in the
    cotangent stands for zeros. It is a pytree, whose leaves are the residuals.

    `args_res` has an entry for each argument: a tree of what it keeps of it, `NotNeeded()` where that is
    nothing. Other arrays may be put there before a call; `opaque_residuals` are what was computed.
    """

    def __init__(self, call: LinearizedCall) -> None:
        self._static = (call.linear, call.result_tree, call.call.structure, call.arguments_kept)
        leaves: list[Any] = [NotNeeded()] * len(call.call.values)
        for place, residual in zip(call.arguments_kept, call.residuals, strict=True):
            if place is not None:
                leaves[place] = residual
        self.args_res: list[Any] = list(tree.unflatten(call.call.structure, leaves)[0])
        kept = zip(call.arguments_kept, call.residuals, strict=True)
        self.opaque_residuals: list[Any] = [residual for place, residual in kept if place is None]

    def replace(self, **changed: Any) -> Pullback:
        """A pullback with another `args_res` or `opaque_residuals`."""
        made = object.__new__(Pullback)
        made._static = self._static
        made.args_res = list(changed.pop("args_res", self.args_res))
        made.opaque_residuals = list(changed.pop("opaque_residuals", self.opaque_residuals))
        if changed:
            raise ArgumentTypeError(
                f"a pullback has no {', '.join(sorted(changed))}", where=user_location_text()
            )
        return made

    def _all_residuals(self) -> list[Any]:
        """The residuals in the order in which the linear map takes them."""
        linear, _, argument_tree, kept = self._static
        if all(place is None for place in kept):
            return self.opaque_residuals
        arguments: Any = (tuple(self.args_res), {})
        leaves = argument_tree.flatten_up_to(arguments)
        opaque = iter(self.opaque_residuals)
        return [
            next(opaque) if place is None else self._argument(linear.arguments[place], place, leaves[place])
            for place in kept
        ]

    def _argument(self, like: TangentType, place: int, value: Any) -> Any:
        """What stands for a leaf of the arguments, of its type."""
        if type(value) is NotNeeded or ops.tensor_type(given := as_value(value)) != like.type:
            shown = repr(value) if type(value) is NotNeeded else str(ops.tensor_type(as_value(value)))
            raise ArgumentTypeError(
                f"a pullback needs the leaf {place} of its arguments, {like.type}: args_res has {shown}",
                where=user_location_text(),
            )
        return given

    def __call__(self, cotangent: Any, *more: Any) -> tuple[Any, ...]:
        linear, result_tree, argument_tree, _ = self._static
        if more:
            raise ArgumentTypeError(
                f"a pullback takes one cotangent of the tree {tree.describe(result_tree)}, got "
                f"{1 + len(more)} arguments",
                where=user_location_text(),
                hint="put them into one tree: pullback((a, b))",
            )
        leaves = tree.leaves_along(result_tree, cotangent)
        if leaves is None:
            raise ArgumentTypeError(
                f"the cotangent has the tree {tree.describe(tree.structure(cotangent))}, the result "
                f"{tree.describe(result_tree)}",
                where=user_location_text(),
            )
        none = (None for _ in linear.results[len(leaves) :])
        cotangents = linear.pull(self._all_residuals(), [*leaves, *none])
        args: tuple[Any, ...] = tree.unflatten(argument_tree, cotangents)[0]
        return args

    def with_refs(self, *into: Any) -> BoundPullback:
        """A pullback that adds cotangents to references; `into` has an entry for each argument.

        An entry is a reference (`new_ref`), `GradValue()` for a cotangent that is returned, or `DontWant()`.
        """
        return BoundPullback(self, into)

    def __repr__(self) -> str:
        return f"<pullback of a result {tree.describe(self._static[1])}, {len(self._static[3])} residuals>"


class Pushforward:
    """What `linearize` returns beside the value: maps tangents of the arguments to the tangent of the result.

    It is a pytree, whose leaves are the residuals.
    """

    def __init__(self, call: LinearizedCall) -> None:
        self._residuals: Sequence[Any] = call.residuals
        self._static = (call.linear, call.result_tree, call.call.structure, call.call.names)

    def __call__(self, *tangents: Any) -> Any:
        linear, result_tree, argument_tree, names = self._static
        leaves, structure = tree.flatten((tangents, {}))
        if structure != argument_tree:
            raise ArgumentTypeError(
                f"tangents have the tree {tree.describe(structure)}, primals {tree.describe(argument_tree)}",
                where=user_location_text(),
            )
        moving = [like.read(t, name) for like, t, name in zip(linear.arguments, leaves, names, strict=True)]
        tangent_leaves = linear.push(self._residuals, moving)
        return tree.unflatten(result_tree, tangent_leaves[: result_tree.num_leaves])

    def __repr__(self) -> str:
        return f"<pushforward to a result {tree.describe(self._static[1])}, {len(self._residuals)} residuals>"


def _pushforward(static: Any, residuals: Any) -> Pushforward:
    made = object.__new__(Pushforward)
    made._residuals, made._static = tuple(residuals), static
    return made


def _pullback(static: Any, residuals: Any) -> Pullback:
    made = object.__new__(Pullback)
    made.args_res, made.opaque_residuals = list(residuals[0]), list(residuals[1])
    made._static = static
    return made


tree.register(Pushforward, lambda x: (tuple(x._residuals), x._static), _pushforward)
tree.register(Pullback, lambda x: ((tuple(x.args_res), tuple(x.opaque_residuals)), x._static), _pullback)
tree.register(NotNeeded, lambda _: ((), None), lambda *_: NotNeeded())
