"""The chooser of `make test` leaves no value and no pair out, and chooses the same every time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from .selection import cover, each_pair, each_value, quick_selection

PRODUCT = list(itertools.product("abcd", range(5), (False, True)))


def test_each_pair_of_values_occurs_in_the_cover_of_a_product() -> None:
    flags = cover([each_pair(row) for row in PRODUCT])
    chosen = [row for row, flag in zip(PRODUCT, flags, strict=True) if flag]
    for i, j in itertools.combinations(range(3), 2):
        assert {(row[i], row[j]) for row in chosen} == {(row[i], row[j]) for row in PRODUCT}
    assert 20 <= len(chosen) <= 24  # four times five pairs of the first two, out of forty rows
    assert flags == cover([each_pair(row) for row in PRODUCT])


def test_each_value_occurs_in_the_cover_of_values() -> None:
    flags = cover([each_value(row) for row in PRODUCT])
    chosen = [row for row, flag in zip(PRODUCT, flags, strict=True) if flag]
    assert [len({row[i] for row in chosen}) for i in range(3)] == [4, 5, 2]
    assert len(chosen) == 5


def test_rows_that_reach_nothing_are_left_out() -> None:
    assert cover([set(), {1}, {1, 2}, set()]) == [False, False, True, False]


@dataclass(frozen=True)
class Item:
    """What the chooser asks of a test."""

    nodeid: str
    marks: Mapping[str, tuple[object, ...]] = field(default_factory=dict, hash=False)
    parameters: Mapping[str, int] = field(default_factory=dict, hash=False)

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(args=self.marks[name]) if name in self.marks else None

    @property
    def callspec(self) -> SimpleNamespace:
        return SimpleNamespace(params=self.parameters)


def chosen(items: Sequence[Item]) -> list[str]:
    kept = quick_selection(items)  # type: ignore[arg-type]
    return [item.nodeid for item in items if item in kept]


def test_thorough_tests_are_left_out() -> None:
    assert chosen([Item("a"), Item("b", {"thorough": ()}), Item("c")]) == ["a", "c"]


def test_each_value_of_marked_parameters_stays() -> None:
    items = [Item(f"t[{n}-{m}]", {"each_value": ()}, {"n": n, "m": m}) for n in range(2) for m in range(3)]
    assert chosen(items) == ["t[0-0]", "t[0-2]", "t[1-1]"]


def test_one_in_some_cases_stays() -> None:
    items = [Item(f"{name}[{n}]", {"one_in": (3,)}) for name in "st" for n in range(5)]
    assert chosen(items) == ["s[0]", "s[3]", "t[0]", "t[3]"]


def test_a_function_may_say_what_the_factors_are() -> None:
    items = [Item(f"t[{n}]", {"each_value": (lambda n: n % 2,)}, {"n": n}) for n in range(6)]
    assert chosen(items) == ["t[0]", "t[1]"]


def test_tests_of_one_file_are_chosen_apart() -> None:
    items = [Item(f"{name}[{n}]", {"pairwise": ()}, {"n": n}) for name in "st" for n in range(2)]
    assert chosen(items) == ["s[0]", "s[1]", "t[0]", "t[1]"]
