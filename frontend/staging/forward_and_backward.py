"""`fwd_and_bwd`: the forward and the backward pass of a function, as two functions that are compiled once.

Input: a function. Output: `fwd`, whose results are the function's and a pullback, and `bwd`, which takes that
pullback and a cotangent. Idea: a pullback is a pytree of what the forward pass saves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..transforms.argnums import Argnums, checked_positions
from ..transforms.differentiation import vjp
from .jit import jit


def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Callable[..., Any], Callable[[Any, Any], Any]]:
    """The functions `fwd(*args)`, as `vjp(fun, *args)`, and `bwd(pullback, cotangent)`.

    `bwd` returns the cotangents of the arguments `argnums`: a tuple, or one where `argnums` is an integer.
    With `has_aux` `fun` returns a pair, whose second item `fwd` returns as the third. Both are jitted unless
    `jitted` is False, so that a backward pass that is run apart from its forward pass is compiled once.

    Raises `ArgumentError` for `argnums` that a call does not have.
    """
    chosen = Argnums(fun, argnums, ())

    def fwd(*args: Any, **kwargs: Any) -> Any:
        positions = checked_positions(fun, chosen.positions, args, kwargs)

        def of_chosen(*values: Any) -> Any:
            full = list(args)
            for position, value in zip(positions, values, strict=True):
                full[position] = value
            return fun(*full, **kwargs)

        return vjp(of_chosen, *(args[p] for p in positions), has_aux=has_aux)

    def bwd(pullback: Callable[[Any], Any], cotangent: Any) -> Any:
        cotangents = pullback(cotangent)
        return cotangents[0] if chosen.is_single else cotangents

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
