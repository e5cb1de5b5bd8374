"""Chooses what `make test` runs of a product of cases; `make test-all` runs all (docs/testing.md).

Input: rows, each a tuple of the values of its factors (a case, a dtype, static or dynamic sizes).
Output: which rows to run. Idea: an error nearly always shows at some pair of values, so a set of rows in
which each pair of values of two factors occurs finds what the product finds, with far fewer rows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest

Row = TypeVar("Row")


def each_value(row: Sequence[Hashable]) -> set[Hashable]:
    """The goals of a row where every value of every factor has to occur."""
    return set(enumerate(row))


def each_pair(row: Sequence[Hashable]) -> set[Hashable]:
    """The goals of a row where every two values that occur together have to."""
    return set(itertools.combinations(enumerate(row), 2)) or each_value(row)


def cover(goals: Sequence[Iterable[Hashable]]) -> list[bool]:
    """Flags of a set of rows which together reach all `goals`, given those that each row reaches.

    The row that adds most goals is taken first; of equals the one whose goals were reached least often, so
    that no value is left to one row where others could share it; then the earlier one.
    """
    everything = [tuple(reached) for reached in goals]
    missing = [set(reached) for reached in everything]
    times: Counter[Hashable] = Counter()
    rows_of: dict[Hashable, list[int]] = {}
    for number, reached in enumerate(missing):
        for goal in reached:
            rows_of.setdefault(goal, []).append(number)
    chosen = [False] * len(missing)
    while any(missing):
        most = max(map(len, missing))
        equals = [number for number, left in enumerate(missing) if len(left) == most]
        best = min(equals, key=lambda number: sum(times[goal] for goal in everything[number]))
        chosen[best] = True
        times.update(everything[best])
        for goal in tuple(missing[best]):
            for number in rows_of[goal]:
                missing[number].discard(goal)
    return chosen


_is_thorough = False


def select_all() -> None:
    """Called before any test is imported where `--all` runs, or tests that are named one by one."""
    global _is_thorough
    _is_thorough = True


def part(everything: Sequence[Row], quick: Sequence[Row]) -> list[Row]:
    """The cases that a module compiles together: `quick` for `make test`, else `everything`."""
    return list(everything if _is_thorough else quick)


def quick_first(values: Sequence[Row], count: int) -> list[Any]:
    """Parameters of a test: the first `count` always, the others in a thorough run."""
    return [*values[:count], *(pytest.param(value, marks=pytest.mark.thorough) for value in values[count:])]


def some(rows: Sequence[Row], factors: Callable[[Row], Sequence[Hashable]], thorough: bool) -> list[Row]:
    """Rows in which each value of each factor occurs; all where the run is thorough."""
    if thorough:
        return list(rows)
    flags = cover([each_value(factors(row)) for row in rows])
    return [row for row, is_chosen in zip(rows, flags, strict=True) if is_chosen]


MARKERS: Final = {"pairwise": each_pair, "each_value": each_value}


def quick_selection(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items that `make test` runs: pyproject.toml says what the markers mean."""
    products: dict[tuple[str, str], list[pytest.Item]] = {}
    kept = {item for item in items if item.get_closest_marker("thorough") is None}
    for item in items:
        for name in MARKERS:
            if item in kept and item.get_closest_marker(name) is not None:
                products.setdefault((item.nodeid.partition("[")[0], name), []).append(item)
    kept -= _not_drawn([item for item in items if item in kept])
    for (_, name), product in products.items():
        flags = cover([MARKERS[name](_factors(item, name)) for item in product])
        kept -= {item for item, flag in zip(product, flags, strict=True) if not flag}
    return kept


def _not_drawn(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Of each test marked `one_in(n)` all cases but the first of every `n`."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_in") is not None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for of_one_test in cases.values():
        marker = of_one_test[0].get_closest_marker("one_in")
        assert marker is not None
        (count,) = marker.args
        left_out.update(item for number, item in enumerate(of_one_test) if number % count)
    return left_out


def _factors(item: pytest.Item, name: str) -> tuple[Hashable, ...]:
    """The parameters of the item, or what the marker's function makes of them."""
    marker = item.get_closest_marker(name)
    assert marker is not None
    values = tuple(item.callspec.params.values())  # type: ignore[attr-defined]
    if marker.args:
        (factors,) = marker.args
        result = factors(*values)
        values = result if isinstance(result, tuple) else (result,)
    return tuple(map(_identity, values))


def _identity(value: object) -> Hashable:
    """The value, or which object it is where it has no hash (arrays)."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
