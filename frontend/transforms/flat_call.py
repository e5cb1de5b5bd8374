"""One call of a function that is differentiated, as a function of flat leaves.

Input: a function of pytrees and the arguments of the call. Output: a function of the flat leaves of the
differentiated arguments. All others reach the function as the objects they are: a bool stays a bool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.concrete_values import KnownArgument
from ..tracing.frames import Tracer, current_frame, hold
from ..tracing.function_scope import FunctionScope, PrivateFunction, argument_of
from ..tracing.interpreter import as_value, ops, scalar_value, wide_of
from ..tracing.locations import user_location_text
from ..tracing.scalars import is_python_scalar
from ..tracing.sizes import Dim
from ..tracing.trace import argument_names, function_name
from ..tracing.visible import is_plain
from .known_traces import kinds_of, known_trace

_NO_KEYWORDS: Final[Mapping[str, Any]] = {}


class FlatCall:
    """A call as a function of flat leaves; `positions` and `names` choose arguments (None: all of `args`)."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any] = _NO_KEYWORDS,
        *,
        positions: Sequence[int] | None = None,
        names: Sequence[str] = (),
        has_aux: bool = False,
    ) -> None:
        self.function = function
        self.has_aux = has_aux
        self._args = args
        self._kwargs = kwargs
        self._positions = range(len(args)) if positions is None else positions
        self._keys = names
        self._aux: list[Any] = []
        self._is_traced: list[bool] = []
        self._aux_tree: tree.Structure | None = None
        chosen = tuple(args[i] for i in self._positions), {key: kwargs[key] for key in names}
        self._leaves, self.structure = tree.flatten(chosen)
        # A gradient of a Python float is of the default dtype, in a trace as outside; the function has all of
        # its bits.
        self.values = [self._value(i, leaf) for i, leaf in enumerate(self._leaves)]
        self._lost = [_lost_bits(v) for v in self.values]

    @property
    def names(self) -> list[str]:
        """What each leaf is called in messages."""
        first = argument_names(self.function, self._args, self._kwargs)
        parts: list[list[str]] = []
        for arg in (*self._args, *(self._kwargs[key] for key in sorted(self._kwargs))):
            count = tree.structure(arg).num_leaves
            parts.append(first[:count])
            del first[:count]
        keys = {key: len(self._args) + i for i, key in enumerate(sorted(self._kwargs))}
        places = [*self._positions, *(keys[key] for key in sorted(self._keys))]
        return [name for place in places for name in parts[place]]

    def traced(self, scope: FunctionScope, differentiated: Sequence[bool] = ()) -> PrivateFunction:
        """The function as one of the program; with `differentiated` traced for this call alone."""
        arguments = [argument_of(v) for v in self.values]
        sources = (
            [KnownArgument(v, by) for v, by in zip(self.values, differentiated, strict=True)]
            if differentiated
            else []
        )
        return scope.trace(function_name(self.function), self._call, arguments, sources=sources)

    def traced_beside(self, scope: FunctionScope, others: Sequence[Any]) -> PrivateFunction:
        """The function with further arguments, which it does not use."""
        arguments = [argument_of(v) for v in (*self.values, *others)]
        count = len(self.values)
        return scope.trace(function_name(self.function), lambda leaves: self._call(leaves[:count]), arguments)

    def known(self, differentiated: Sequence[bool]) -> tuple[FunctionScope, PrivateFunction]:
        """As `traced`, in a scope that may have the function since an earlier call."""
        rest = [a for i, a in enumerate(self._args) if i not in self._positions]
        rest += [a for name, a in self._kwargs.items() if name not in self._keys]
        may_know = not self.has_aux and is_plain(self.structure) and all(v is None for v in self._lost)
        kinds = kinds_of(self.values) if may_know and current_frame() is None else None
        places = len(self._args), tuple(self._positions), tuple(self._kwargs), tuple(self._keys)
        key = None if kinds is None else ("derivative", places, tuple(differentiated), self.structure, kinds)
        return known_trace(
            key, [self.function, *rest], lambda scope, held: self._traced_with(scope, differentiated, held)
        )

    def _traced_with(
        self, scope: FunctionScope, differentiated: Sequence[bool], held: Sequence[Array]
    ) -> PrivateFunction:
        """`traced`, with arrays that the function sees as arguments."""
        if not held:
            return self.traced(scope, differentiated)
        count = len(self.values)

        def call(leaves: Sequence[Any]) -> Any:
            hold(held, leaves[count:])
            return self._call(leaves[:count])

        values, by = [*self.values, *held], [*differentiated, *(False for _ in held)]
        sources = [KnownArgument(v, moves) for v, moves in zip(values, by, strict=True)]
        arguments = [argument_of(v) for v in values]
        return scope.trace(function_name(self.function), call, arguments, sources=sources)

    def _call(self, leaves: Sequence[Any]) -> Any:
        for leaf, lost in zip(leaves, self._lost, strict=True):
            if lost is not None:
                leaf.wide = ops.add(ops.convert(leaf, dtype=lost.dtype), lost)
        chosen, keywords = tree.unflatten(self.structure, leaves)
        args, kwargs = list(self._args), {**self._kwargs, **keywords}
        for position, arg in zip(self._positions, chosen, strict=True):
            args[position] = arg
        result = self.function(*args, **kwargs)
        if not self.has_aux:
            return result
        value, aux = pair(self.function, result)
        self._aux, self._aux_tree = tree.flatten(aux)
        frame = current_frame()
        self._is_traced = [isinstance(leaf, (Tracer, Dim)) and leaf.frame is frame for leaf in self._aux]
        return value, [leaf for leaf, own in zip(self._aux, self._is_traced, strict=True) if own]

    def split(self, result: Any) -> tuple[Any, Any]:
        """With `has_aux`: the result of the function, and aux, whose leaves may be anything."""
        value, traced = result
        values = iter(traced)
        leaves = [next(values) if own else leaf for leaf, own in zip(self._aux, self._is_traced, strict=True)]
        assert self._aux_tree is not None
        return value, tree.unflatten(self._aux_tree, leaves)

    def _value(self, position: int, leaf: Any) -> Any:
        try:
            value = as_value(leaf)
        except ArgumentError as error:
            raise ArgumentTypeError(
                f"argument '{self.names[position]}' is differentiated: {error.message}",
                where=user_location_text(),
                hint="only arguments that argnums and argnames do not choose may be anything",
            ) from None
        if is_python_scalar(leaf):
            scalar_value(leaf, value.dtype)  # raises for a number beyond the dtype of its derivative
        return value


def _lost_bits(value: Any) -> Any:
    """What a weak number of 64 bits is more than the number of the default dtype that stands for it; nothing
    where that is not finite."""
    wide = wide_of(value)
    if wide is value:
        return None
    lost = ops.sub(wide, ops.convert(value, dtype=wide.dtype))
    if isinstance(lost, Array):
        bits = lost.numpy()
        kept = np.where(np.isfinite(bits), bits, np.zeros_like(bits))
        return Array(kept) if kept.any() else None
    zero = ops.zeros_like(lost)
    return ops.select(ops.compare(ops.sub(lost, lost), zero, direction="EQ"), lost, zero)


def pair(function: Callable[..., Any], value: Any) -> tuple[Any, Any]:
    """What a function with `has_aux` returns, or an error that says what it returns instead."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise ArgumentTypeError(
            f"with has_aux=True {function_name(function)} must return a pair (result, aux), it returns "
            f"{tree.describe(tree.structure(value))}",
            where=user_location_text(),
        )
    return value
