"""`jax.experimental.hijax.VJPHiPrimitive`: a function with rules of its own, the methods of a class.

Input: a subclass with `expand`, and the rules that it overrides. Output: calls of its instances. Idea:
`expand` is a function of arrays; `vjp_fwd` with `vjp_bwd` make it a `custom_vjp`, `jvp` or `lin` with
`linearized` a `custom_jvp`, `batch` a `custom_vmap`. Without a rule its own ops are differentiated and
batched. JAX's classes of types are only declared (`hijax_types.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from ...dialects.types import INEXACT
from .. import tree
from ..errors import TraceError, UnsupportedError
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..transforms.custom_batching import custom_vmap
from ..transforms.custom_derivatives import custom_jvp, custom_vjp
from ..transforms.symbolic_zeros import SymbolicZero as Zero
from ..transforms.symbolic_zeros import instantiated as instantiate_zeros
from .core import AbstractValue as AbstractValue
from .core import ShapedArray as ShapedArray
from .hijax_types import AbstractRef as AbstractRef
from .hijax_types import AvalMutableQDD as AvalMutableQDD
from .hijax_types import AvalQDD as AvalQDD
from .hijax_types import HiPrimitive as HiPrimitive
from .hijax_types import HiType as HiType
from .hijax_types import MutableHiType as MutableHiType
from .hijax_types import aval_method as aval_method
from .hijax_types import aval_property as aval_property
from .hijax_types import control_flow_allowed_effects as control_flow_allowed_effects
from .hijax_types import is_undefined_primal as is_undefined_primal
from .hijax_types import register_hitype as register_hitype
from .own_primitives import _first


class AxisData(NamedTuple):
    """What a rule of batching is told of the batch: its size; adze has no name for it there."""

    size: int
    name: Any = None
    spmd_name: Any = None
    explicit_mesh_axis: Any = None


class GradAccum:
    """Where `vjp_bwd` adds the cotangent of an array."""

    def __init__(self) -> None:
        self.value: Any = None

    def accum(self, cotangent: Any) -> None:
        """Add `cotangent`; a symbolic zero or None adds nothing."""
        if cotangent is not None and not isinstance(cotangent, Zero):
            self.value = cotangent if self.value is None else self.value + cotangent


class VJPHiPrimitive:
    """A function of arrays with rules: `expand` computes it, other methods are its derivatives and batches.

    `__init__` sets `in_avals` (a type or a tree of types for each argument), `out_aval` and `params` (Python
    values, which become attributes) before it calls this one. Reverse mode asks for `vjp_fwd`, and `vjp_bwd`
    or `vjp_bwd_retval`; forward mode for `jvp`, or `lin` and `linearized`. Where both are defined, forward
    mode is the transpose of the backward rule.
    """

    in_avals: tuple[Any, ...]
    out_aval: Any
    params: dict[str, Any]

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(
                    f"{type(self).__name__}.__init__ must set self.{name} before it calls super().__init__()"
                )
        if self._overrides("vjp_bwd") and self._overrides("vjp_bwd_retval"):
            raise AttributeError(
                f"{type(self).__name__} overrides both vjp_bwd and vjp_bwd_retval, expected one of them"
            )
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def check(self, *types: Any) -> None:
        """Nothing, unless a subclass checks the types of its arguments."""

    def expand(self, *args: Any) -> Any:
        """The function itself."""
        raise self._missing("expand", "it computes the function")

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        """The result and the residuals; `nzs_in` says which arguments may be differentiated: all of floats.

        What a residual is saved for in vain is not computed: the backward pass drops cotangents nobody wants.
        """
        raise self._missing("vjp_fwd", "grad needs it")

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        """Add the cotangent of each argument to its `GradAccum`."""
        raise self._missing("vjp_bwd or vjp_bwd_retval", "grad needs one of them")

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        """A tuple with the cotangent of each argument, None for zero."""
        raise self._missing("vjp_bwd or vjp_bwd_retval", "grad needs one of them")

    def jvp(self, primals: Any, tangents: Any) -> Any:
        """The result and its tangent."""
        raise self._missing("jvp", "jvp needs it")

    def lin(self, nzs_in: Any, *primals: Any) -> Any:
        """The result and what `linearized` needs."""
        raise self._missing("lin", "linearize needs it")

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """The tangent of the result."""
        raise self._missing("linearized", "linearize needs it")

    def batch(self, axis_data: AxisData, args: Any, dims: Any) -> Any:
        """The batched result and its batch axis; batched like its own ops where it is not overridden."""
        raise self._missing("batch", "vmap needs it")

    def batch_dim_rule(self, axis_data: AxisData, dims: Any, /) -> Any:
        """The batch axis of the result, which adze finds out by itself."""
        raise self._missing("batch_dim_rule", "vmap needs it")

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.in_avals):
            raise TraceError(
                f"{type(self).__name__} takes {len(self.in_avals)} arguments (in_avals), got {len(args)}",
                where=user_location_text(),
            )
        return self._function(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self.params.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VJPHiPrimitive) and type(self) is type(other) and self.params == other.params

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(VJPHiPrimitive, name)

    def _missing(self, name: str, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"{type(self).__name__} does not define {name}: {why}", where=user_location_text()
        )

    @cached_property
    def _function(self) -> Callable[..., Any]:
        """`expand` inside the rules that the class has."""

        def function(*args: Any) -> Any:
            return self.expand(*args)

        function.__name__ = type(self).__name__
        call: Callable[..., Any] = function
        if self._overrides("batch"):
            batched = call = custom_vmap(call)
            batched.def_vmap(self._batch_rule)
        if self._overrides("vjp_fwd"):
            reverse = custom_vjp(call)
            reverse.defvjp(self._forward, self._backward)
            return reverse
        if self._overrides("jvp") or self._overrides("lin"):
            forward = custom_jvp(call)
            forward.defjvp(self._tangent_rule)
            return forward
        return call

    def _batch_rule(self, axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        dims = tree.map(lambda is_batched: 0 if is_batched else None, tuple(in_batched))
        result, axes = self.batch(AxisData(axis_size), args, dims)
        leaves, structure = tree.flatten(result)
        places = tree.broadcast(axes, result, is_leaf=lambda axis: axis is None)
        places = tree.leaves(places, is_leaf=lambda axis: axis is None)
        moved = [_first(leaf, axis) for leaf, axis in zip(leaves, places, strict=True)]
        return tree.unflatten(structure, moved), tree.unflatten(structure, [p is not None for p in places])

    def _forward(self, *args: Any) -> tuple[Any, Any]:
        result, residuals, *_ = self.vjp_fwd(tree.map(_may_move, args), *args)
        return result, residuals

    def _backward(self, residuals: Any, cotangent: Any) -> Any:
        if not self._overrides("vjp_bwd"):
            return self.vjp_bwd_retval(residuals, cotangent)
        accumulators = tree.map(lambda _: GradAccum(), self.in_avals)
        self.vjp_bwd(residuals, cotangent, *accumulators)
        return tree.map(lambda a: a.value, accumulators)

    def _tangent_rule(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        if self._overrides("jvp"):
            result, tangent = self.jvp(primals, tangents)
            return result, tangent
        result, residuals, *_ = self.lin(tree.map(_may_move, primals), *primals)
        return result, self.linearized(residuals, *tangents)


def _may_move(value: Any) -> bool:
    """Whether an argument may be differentiated: all that have derivatives may be."""
    return as_value(value).dtype in INEXACT


__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "ShapedArray",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]
