"""Names of `jax._src.util`: helpers about sequences, which interpreters of jaxprs import."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ArgumentError
from ..tracing.locations import user_location_text


def safe_zip(*iterables: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The tuples of `zip`, as a list. Raises `ArgumentError` where lengths differ."""
    return list(zip(*_of_one_length("safe_zip", iterables), strict=True))


def safe_map(function: Callable[..., Any], *iterables: Iterable[Any]) -> list[Any]:
    """The results of `map`, as a list. Raises `ArgumentError` where lengths differ."""
    return list(map(function, *_of_one_length("safe_map", iterables)))


def _of_one_length(name: str, iterables: Iterable[Iterable[Any]]) -> list[list[Any]]:
    lists = list(map(list, iterables))
    if len({len(items) for items in lists}) > 1:
        raise ArgumentError(
            f"{name}: the lengths differ: {', '.join(str(len(items)) for items in lists)}",
            where=user_location_text(),
        )
    return lists


def foreach(function: Callable[..., Any], *iterables: Iterable[Any]) -> None:
    """`safe_map` for a function that returns nothing."""
    safe_map(function, *iterables)


def unzip2(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The first items of pairs, and the second."""
    items = list(pairs)
    return tuple(a for a, _ in items), tuple(b for _, b in items)


def unzip3(triples: Iterable[tuple[Any, Any, Any]]) -> tuple[tuple[Any, ...], ...]:
    """The first items of triples, the second, and the third."""
    items = list(triples)
    return tuple(tuple(item[i] for item in items) for i in range(3))


def split_list(items: Sequence[Any], lengths: Sequence[int]) -> list[list[Any]]:
    """Consecutive parts of these lengths, and the rest."""
    rest, parts = list(items), []
    for length in lengths:
        parts.append(rest[:length])
        rest = rest[length:]
    return [*parts, rest]


def partition_list(flags: Sequence[bool], items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The items whose flag is false, and those whose flag is true."""
    pairs = safe_zip(flags, items)
    return [item for flag, item in pairs if not flag], [item for flag, item in pairs if flag]


def merge_lists(flags: Sequence[bool], if_false: Sequence[Any], if_true: Sequence[Any]) -> list[Any]:
    """The items that `partition_list` has divided, in their order."""
    first, second = iter(if_false), iter(if_true)
    return [next(second if flag else first) for flag in flags]


def concatenate(parts: Iterable[Iterable[Any]]) -> list[Any]:
    """The items of all parts, as a list."""
    return [item for part in parts for item in part]


def curry(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes the first arguments of `function` and returns one that takes the others."""
    return functools.wraps(function)(functools.partial(functools.partial, function))


def ceil_of_ratio(dividend: int, divisor: int) -> int:
    """The quotient, rounded up."""
    return -(-dividend // divisor)


def prod(factors: Iterable[int]) -> int:
    """The product, as a Python integer."""
    return math.prod(factors)


def cache(max_size: int | None = 4096, **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.lru_cache`."""
    return functools.lru_cache(maxsize=max_size)


def wraps(wrapped: Callable[..., Any], **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps`."""
    return functools.wraps(wrapped)


__all__: list[str] = []
