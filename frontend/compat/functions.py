"""Names of JAX's helpers about functions and their frames in tracebacks, as far as clients import them."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..tracing.specs import ShapeDtype
from .partial_tracing import flatten_fun as flatten_fun
from .partial_tracing import flatten_fun_nokwargs as flatten_fun_nokwargs
from .typed_keys import typeof


def api_boundary(fun: Callable[..., Any], *_: Any, **__: Any) -> Callable[..., Any]:
    """The function itself: adze's errors name the user's line, and hide no frames."""
    return fun


def register_exclusion(path: str) -> None:
    """Nothing: frames of no file are hidden."""


def include_frame(frame: Any) -> bool:
    """Whether a frame of a traceback is of interest: all but adze's own are."""
    return not str(frame.f_globals.get("__name__", "")).startswith(f"{__name__.partition('.')[0]}.")


@contextlib.contextmanager
def user_context(*_: Any, **__: Any) -> Iterator[None]:
    """A context that changes nothing."""
    yield


@contextlib.contextmanager
def extend_name_stack(*_: Any) -> Iterator[None]:
    """A context that changes nothing: ops carry the user's line."""
    yield


def debug_info(*_: Any, **__: Any) -> None:
    """None: what is traced carries its own lines."""


def shaped_abstractify(x: Any) -> ShapeDtype:
    """The type of an array or a number."""
    return typeof(x)


def infer_argnums_and_argnames(
    sig: inspect.Signature, argnums: int | Iterable[int] | None, argnames: str | Iterable[str] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and names of the same arguments: of those that may be passed either way, the other follows."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    either = {
        n: name
        for n, (name, p) in enumerate(sig.parameters.items())
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    }
    if argnums is None:
        numbers = tuple(n for n, name in either.items() if name in names)
    elif argnames is None:
        names = tuple(name for n, name in either.items() if n in numbers)
    return numbers, names


def wait_for_tokens() -> None:
    """Return at once: calls of adze return when their effects are done."""


__all__: list[str] = []
