"""Names of `jax.interpreters`: tables of rules for primitives of JAX's tracer, which clients fill at import.

`own_primitives.py` uses those of derivatives and batches. (The rules of adze's ops are their classes'.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..transforms.symbolic_zeros import SymbolicZero

primitive_jvps: Final[dict[Any, Any]] = {}
primitive_transposes: Final[dict[Any, Any]] = {}
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
    """A linear argument of a transpose rule."""


def is_undefined_primal(x: Any) -> bool:
    """False: rules of primitives are not called."""
    return isinstance(x, UndefinedPrimal)


class JVPTracer:
    """JAX's tracer of forward mode: nothing in adze is one."""


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
    """Note the rule of a linear primitive."""
    primitive_transposes[primitive] = transpose_rule


def defvectorized(primitive: Any) -> None:
    """Note that a primitive is elementwise."""
    primitive_batchers[primitive] = None


defbroadcasting = defvectorized

__all__: list[str] = []
