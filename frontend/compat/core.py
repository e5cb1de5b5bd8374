"""Names of `jax.core` and `jax.extend.core`: what clients ask of tracers, and classes of JAX's own tracer.

`get_aval` means adze's, and instances of `Tracer` are adze's tracers. A `Primitive` is a function with rules
of its own; a new op is a class of adze's dialect (docs/add_an_op.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from ..errors import UnsupportedError
from ..staging import jaxprs
from ..staging.equations import ClosedJaxpr as ClosedJaxpr
from ..staging.equations import Jaxpr as Jaxpr
from ..staging.equations import JaxprEqn as JaxprEqn
from ..staging.equations import Literal as Literal
from ..staging.equations import Var as Var
from ..staging.equations import jaxprs_in_params as jaxprs_in_params
from ..staging.equations import subjaxprs as subjaxprs
from ..tracing import frames
from ..tracing.array import Array
from ..tracing.frames import current_frame
from ..tracing.locations import user_location_text
from ..tracing.specs import ShapeDtype
from . import interpreters
from .own_primitives import Primitive
from .typed_keys import KeyArray, typeof, words


class _AnyTracer(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(words(value), frames.Tracer)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, frames.Tracer)


class Tracer(metaclass=_AnyTracer):
    """The class of traced arrays, of keys too."""


def eval_jaxpr(jaxpr: Any, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The flat results of a traced function, in which arrays of keys are their words."""
    return jaxprs.eval_jaxpr(jaxpr, list(map(words, consts)), *map(words, args))


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A traced function as a function of its flat arguments."""
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


ShapedArray = ShapeDtype
AbstractValue = ShapeDtype
get_aval = typeof


class OfJaxprs:
    """A part of JAX's own IR: a class for annotations and `isinstance`, of which nothing in adze is."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnsupportedError(
            f"{type(self).__name__} is a part of JAX's IR",
            where=user_location_text(),
            hint="adze.make_jaxpr(f)(x) prints adze's IR; docs/architecture.md says how passes rewrite it",
        )


class TypedNdArray(OfJaxprs):
    """A literal array of JAX's IR."""


class LiteralArray(OfJaxprs):
    """A literal array of JAX's IR."""


class Effect:
    """An effect of JAX's IR. Libraries declare some; ops of adze say themselves whether they have one."""


class Token(OfJaxprs):
    """An order of effects in JAX's IR."""


Atom = Var | Literal


def mapped_aval(size: int, axis: int | None, aval: ShapeDtype) -> ShapeDtype:
    """The type of one element of a batch along `axis`."""
    if axis is None:
        return aval
    return ShapeDtype((*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.dtype)


def unmapped_aval(size: int, axis: int | None, aval: ShapeDtype) -> ShapeDtype:
    """The type of a batch of `size` along `axis`."""
    return aval if axis is None else ShapeDtype((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype)


def get_opaque_trace_state(convention: str | None = None) -> Any:
    """An object that is the same as long as the same trace goes on."""
    frame = current_frame()
    return None if frame is None else frame.program


def find_top_trace(values: Any = ()) -> Any:
    """What is being traced now; None where nothing is."""
    return current_frame()


def valid_jaxtype(x: Any) -> bool:
    """Whether `x` is an array or a number, which functions of arrays take."""
    return isinstance(x, (frames.Tracer, Array, KeyArray, np.ndarray, np.generic, bool, int, float, complex))


def concrete_or_error(force: Any, val: Any, context: str = "") -> Any:
    """`force(val)`, for a value that Python needs now."""
    return val if force is None else force(val)


class Trace(OfJaxprs):
    """What JAX's tracer interprets ops with."""


class TraceTag(OfJaxprs):
    """What tells traces of JAX's tracer apart."""


class DropVar(OfJaxprs):
    """A result of JAX's IR that nothing uses."""


pytype_aval_mappings: dict[Any, Any] = interpreters.pytype_aval_mappings


def take_current_trace() -> NoReturn:
    """An error: traces of adze cannot be taken off."""
    raise UnsupportedError("take_current_trace is about JAX's own tracer", where=user_location_text())


def set_current_trace(trace: Any) -> NoReturn:
    """An error: adze has one kind of trace."""
    raise UnsupportedError("set_current_trace is about JAX's own tracer", where=user_location_text())


def trace_state_clean() -> bool:
    """Whether nothing is being traced."""
    return current_frame() is None


__all__ = [
    "AbstractValue",
    "Atom",
    "ClosedJaxpr",
    "Effect",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "LiteralArray",
    "Primitive",
    "ShapedArray",
    "Token",
    "Tracer",
    "TypedNdArray",
    "Var",
    "concrete_or_error",
    "eval_jaxpr",
    "find_top_trace",
    "get_aval",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "subjaxprs",
    "trace_state_clean",
    "unmapped_aval",
]
