"""`jax.extend.core.Primitive`: a function with rules of its own, declared as JAX's own tracer declares them.

Input: the implementation, and the rules that clients put into the tables of `interpreters.py`. Output: what
`bind` returns. Idea: the implementation is a function of arrays, and is traced. A rule of batching becomes a
`custom_vmap` around it, one of derivatives a `custom_jvp`, in which one of transposition is used
(`own_transposes.py`). Without rules its own ops are batched, differentiated and transposed. Lowerings are not
used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..errors import UnsupportedError
from ..library.lax import primitives as lax
from ..library.numpy import moveaxis
from ..tracing.locations import user_location_text
from ..tracing.rule_tangents import following
from ..transforms.custom_batching import custom_vmap
from ..transforms.custom_derivatives import custom_jvp
from ..transforms.symbolic_zeros import SymbolicZero
from .interpreters import Zero, not_mapped, primitive_batchers, primitive_jvps, primitive_transposes
from .own_transposes import LinearCall

__all__: list[str] = []


class Primitive(lax.Primitive):
    """An op of JAX's tracer by its name. `bind` calls its implementation, with the rules it has.

    Raises `UnsupportedError` where it has no implementation: what it would compute is then only in a lowering
    to XLA.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, self.bind)
        self._impl: Callable[..., Any] | None = None

    def def_impl(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Use `function` of arrays for what the primitive computes."""
        self._impl = function
        return function

    def def_abstract_eval(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: a trace of the implementation says the types."""
        return function

    def_effectful_abstract_eval = def_custom_bind = def_abstract_eval

    def bind(self, *args: Any, **params: Any) -> Any:
        """The result for arrays `args`, or a list of results; `params` are Python values."""
        if self._impl is None:
            raise UnsupportedError(
                f"{self.name} is a primitive of JAX's own tracer without an implementation of arrays",
                where=user_location_text(),
                hint="give it one with def_impl, or write the function with adze.custom_jvp or custom_vjp",
            )
        call: Callable[..., Any] = partial(self._impl, **params)
        if callable(batcher := primitive_batchers.get(self)):
            call = _batched(call, batcher, params, self.name)
        if callable(rule := primitive_jvps.get(self)):
            call = _differentiated(call, rule, params, self.name)
        if callable(transpose := primitive_transposes.get(self)) and (places := following(args)):
            linear = LinearCall(call, partial(transpose, **params), self.name, args, places)
            if linear.is_static:
                return linear.results()
        return call(*args)


def _batched(
    call: Callable[..., Any], batcher: Callable[..., Any], params: dict[str, Any], name: str
) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return call(*args)

    def rule(axis_size: int, in_batched: Sequence[bool], *args: Any) -> tuple[Any, Any]:
        results, axes = batcher(
            args, [0 if is_batched else not_mapped for is_batched in in_batched], **params
        )
        if not isinstance(results, (list, tuple)):
            return _first(results, axes), axes is not not_mapped
        moved = [_first(r, axis) for r, axis in zip(results, axes, strict=True)]
        return type(results)(moved), type(results)(axis is not not_mapped for axis in axes)

    function.__name__ = name
    wrapped = custom_vmap(function)
    wrapped.def_vmap(rule)
    return wrapped


def _first(result: Any, axis: int | None) -> Any:
    """A result with its batch, where it has one, as axis 0."""
    return result if axis in (None, 0) else moveaxis(result, axis, 0)


def _differentiated(
    call: Callable[..., Any], rule: Callable[..., Any], params: dict[str, Any], name: str
) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return call(*args)

    function.__name__ = name
    wrapped = custom_jvp(function)

    def rule_of_zeros(primals: Any, tangents: Any) -> Any:
        zeros = [Zero(t.aval) if isinstance(t, SymbolicZero) else t for t in tangents]
        return rule(primals, zeros, **params)

    wrapped.defjvp(rule_of_zeros, symbolic_zeros=True)
    return wrapped
