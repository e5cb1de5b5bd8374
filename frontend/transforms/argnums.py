"""Which arguments are differentiated: what `argnums` and `argnames` mean for a call."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.locations import user_location_text
from ..tracing.trace import function_name


class Argnums:
    """The arguments that a derivative is taken by, as the user chooses them."""

    def __init__(
        self, function: Callable[..., Any], argnums: int | Sequence[int] | None, argnames: str | Sequence[str]
    ) -> None:
        if not callable(function):
            raise ArgumentTypeError(
                f"expected a function to differentiate, got {type(function).__name__}: {str(function)[:40]}",
                where=user_location_text(),
                hint="give the function itself: grad(f)(x), not grad(f(x))",
            )
        self.function = function
        self.is_default = argnums is None
        self.is_single = argnums is None or hasattr(argnums, "__index__")
        self.positions = _integers(0 if argnums is None else argnums)
        self.is_single_name = isinstance(argnames, str)
        self.names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
        if not self.positions and not self.names:
            raise ArgumentError(
                "argnums and argnames are empty: there is nothing to differentiate by",
                where=user_location_text(),
            )

    def of_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[int], list[str]]:
        """The positions and the keywords of a call that are chosen."""
        positions = checked_positions(self.function, self._numbers(args), args, kwargs)
        keywords = [name for name in self.names if name in kwargs]
        by_position = [self._position(name, args) for name in self.names if name not in kwargs]
        return sorted({*positions, *by_position}), keywords

    def gradient(
        self, args: Sequence[Any], gradients: Mapping[int, Any], named_gradients: Mapping[str, Any]
    ) -> Any:
        """What the user gets: gradients by position, by name, or both."""
        numbers = self._numbers(args)
        by_position: Any = tuple(gradients[n % len(args)] for n in numbers)
        if numbers and self.is_single:
            (by_position,) = by_position
        if not self.names:
            return by_position
        by_name = {
            name: named_gradients[name] if name in named_gradients else gradients[self._position(name, args)]
            for name in self.names
        }
        if numbers:
            return by_position, by_name
        return by_name[self.names[0]] if self.is_single_name else by_name

    def _numbers(self, args: Sequence[Any]) -> tuple[int, ...]:
        """`argnums`; by default the first argument, where there is one or no names are given."""
        return () if self.is_default and self.names and not args else self.positions

    def _position(self, name: str, args: Sequence[Any]) -> int:
        """Where the call has an argument that is chosen by name and given by position."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        for position, parameter in enumerate(parameters[: len(args)]):
            if parameter.name == name and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                return position
        raise ArgumentError(
            f"argnames names {name!r}, which {function_name(self.function)} was not called with",
            where=user_location_text(),
        )


def _integers(argnums: Any) -> tuple[int, ...]:
    try:
        return (
            (operator.index(argnums),)
            if hasattr(argnums, "__index__")
            else tuple(map(operator.index, argnums))
        )
    except TypeError:
        raise ArgumentTypeError(
            f"argnums is {argnums!r}, expected an integer or a sequence of integers",
            where=user_location_text(),
        ) from None


def checked_positions(
    function: Callable[..., Any], numbers: Sequence[int], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[int]:
    """`argnums` counted from the front, or an error that says how the function was called."""
    for n in numbers:
        if not -len(args) <= n < len(args):
            also = f" and the keywords {', '.join(sorted(kwargs))}" if kwargs else ""
            raise ArgumentError(
                f"argnums names argument {n}, {function_name(function)} was called with {len(args)} "
                f"arguments{also}",
                where=user_location_text(),
                hint="choose arguments that are given by keyword with argnames" if kwargs else None,
            )
    return [n % len(args) for n in numbers]
