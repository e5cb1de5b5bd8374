"""Chooses what `make test` runs of a product of cases; `make test-all` runs all (docs/testing.md).

Input: rows, each a tuple of the values of its factors (a case, a dtype, static or dynamic sizes).
Output: which rows to run. Idea: an error nearly always shows at some pair of values, so a set of rows in
which each pair of values of two factors occurs finds what the product finds, with far fewer rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

Pair = tuple[tuple[int, Hashable], ...]


def pairwise(rows: Sequence[tuple[Hashable, ...]]) -> list[bool]:
    """Flags of a set of `rows` that covers each pair of values which occurs; with one factor, each value.

    The row that adds most pairs is taken first, the earlier one of equals: the same rows give the same flags.
    """
    uncovered = {number: set(_pairs(row)) for number, row in enumerate(rows)}
    holders: dict[Pair, list[int]] = {}
    for number, pairs in uncovered.items():
        for pair in pairs:
            holders.setdefault(pair, []).append(number)
    chosen = [False] * len(rows)
    while any(uncovered.values()):
        best = max(uncovered, key=lambda number: (len(uncovered[number]), -number))
        chosen[best] = True
        for pair in tuple(uncovered[best]):
            for number in holders[pair]:
                uncovered[number].discard(pair)
    return chosen


def _pairs(row: tuple[Hashable, ...]) -> list[Pair]:
    factors = list(enumerate(row))
    return list(itertools.combinations(factors, min(2, len(factors))))


def quick_selection(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items that `make test` runs: see the markers `thorough` and `pairwise` in pyproject.toml."""
    kept = [item for item in items if item.get_closest_marker("thorough") is None]
    products: dict[str, list[pytest.Item]] = {}
    for item in kept:
        if item.get_closest_marker("pairwise") is not None:
            products.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = set(kept)
    for product in products.values():
        flags = pairwise([_factors(item) for item in product])
        chosen -= {item for item, flag in zip(product, flags, strict=True) if not flag}
    return chosen


def _factors(item: pytest.Item) -> tuple[Hashable, ...]:
    """What the marker's function gives for the item's parameters."""
    marker = item.get_closest_marker("pairwise")
    assert marker is not None
    (factors,) = marker.args
    result = factors(**item.callspec.params)  # type: ignore[attr-defined]
    return result if isinstance(result, tuple) else (result,)
