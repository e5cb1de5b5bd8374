"""Names of `jax.interpreters`: tables of rules for primitives of JAX's tracer, which clients fill at import.

`own_primitives.py` uses those of derivatives and batches. (The rules of adze's ops are their classes'.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...dialects.types import INEXACT
from ..tracing.concrete_values import depends_on_arguments
from ..tracing.frames import Tracer
from ..tracing.rule_tangents import TRANSPOSES
from ..tracing.specs import ShapeDtype
from ..transforms.symbolic_zeros import SymbolicZero, instantiated

primitive_jvps: Final[dict[Any, Any]] = {}
primitive_transposes: Final[dict[Any, Any]] = TRANSPOSES
primitive_batchers: Final[dict[Any, Any]] = {}
axis_primitive_batchers: Final[dict[Any, Any]] = {}
partial_eval_jaxpr_custom_rules: Final[dict[Any, Any]] = {}
custom_staging_rules: Final[dict[Any, Any]] = {}
dce_rules: Final[dict[Any, Any]] = {}
canonicalize_dtype_handlers: Final[dict[Any, Any]] = {np.ndarray: None}
pytype_aval_mappings: Final[dict[Any, Any]] = {np.ndarray: None}
not_mapped: Final = None


class Zero(SymbolicZero):
    """A tangent that is zero and is not computed."""

    @staticmethod
    def from_primal_value(value: Any) -> Zero:
        """The zero tangent of `value`."""
        return Zero(SymbolicZero.from_primal_value(value).aval)


class UndefinedPrimal:
    """A linear argument of a transpose rule: it has a type and no value."""

    def __init__(self, aval: ShapeDtype) -> None:
        self.aval = aval


def is_undefined_primal(x: Any) -> bool:
    """Whether an argument of a transpose rule is linear."""
    return isinstance(x, UndefinedPrimal)


def instantiate_zeros(tangent: Any) -> Any:
    """A tangent, or the zeros that it stands for."""
    return instantiated(tangent)


class _Moving(type):
    """The class of a class whose instances are the values that depend on an argument of what is traced."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Tracer) or instance.kept is not None or instance.dtype not in INEXACT:
            return False
        return depends_on_arguments(instance.frame, instance.value)


class JVPTracer(metaclass=_Moving):
    """JAX's tracer of forward mode: in the function of a `jvp`, a value that depends on its arguments.

    Which of the arguments have a tangent is not known there; every floating one counts.
    """


class BatchTracer:
    """JAX's tracer of `vmap`: nothing in adze is one."""


class DynamicJaxprTracer:
    """JAX's tracer of `jit`: nothing in adze is one."""


def register_lowering(primitive: Any, rule: Callable[..., Any], platform: str | None = None) -> Any:
    """The rule itself; it is not called."""
    return rule


def lower_fun(function: Callable[..., Any], multiple_results: bool = True) -> Callable[..., Any]:
    """The function itself; it is not called."""
    return function


def deflinear2(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """Note the rule of a linear primitive, whose tangent is the primitive of the tangents."""

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        return primitive.bind(*primals, **params), primitive.bind(*map(instantiate_zeros, tangents), **params)

    primitive_jvps[primitive], primitive_transposes[primitive] = jvp, transpose_rule


def deflinear(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """The same for a rule that takes the cotangent and attributes alone."""
    deflinear2(primitive, lambda cotangent, *_, **params: transpose_rule(cotangent, **params))


def register_vmappable(data_type: type, *rules: Any) -> None:
    """Nothing: `vmap` takes arrays, and objects of `data_type` pass where it maps over none."""


def defvectorized(primitive: Any) -> None:
    """Note that a primitive is elementwise."""
    primitive_batchers[primitive] = None


defbroadcasting = defvectorized

__all__: list[str] = []
