"""How arrays lie between kernels: places, zeros around, and axes that are made one."""

from __future__ import annotations

import numpy as np

from adze.passes.lower.tuning.array_layouts import Layout, plain

PADDED = Layout((2, 3, 4, 5), (0, 2, 3, 1), ((0, 2), (0, 3), (-1, 5), (-2, 6)))


def test_elements_are_where_the_strides_say() -> None:
    x = np.arange(1, 121).reshape(PADDED.shape)
    flat = np.zeros(PADDED.size, int)
    for place in np.ndindex(x.shape):
        flat[PADDED.start + sum(p * s for p, s in zip(place, PADDED.strides, strict=True))] = x[place]
    around = np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 1))).transpose(PADDED.order)
    assert np.array_equal(flat, around.reshape(-1))


def test_zeros_around_are_counted_by_stores() -> None:
    rows = 2 * (2 * -(-8 * 3 // 4))  # of two images those before and behind, of 8 places with 3 features
    sides = 2 * 4 * (-(-2 * 3 // 4) + 1)  # of each row 2 places before and 1 behind
    assert PADDED.runs_around(4) == rows + sides
    assert plain((2, 3)).runs_around(4) == 0


def test_only_neighbours_without_zeros_become_one_axis() -> None:
    last = Layout((2, 3, 4, 5), (0, 2, 3, 1), ((0, 2), (0, 3), (0, 4), (0, 5)))
    assert last.merged(2, 2) == Layout((2, 3, 20), (0, 2, 1), ((0, 2), (0, 3), (0, 20)))
    assert plain((2, 3, 4, 5)).merged(2, 2) == plain((2, 3, 20))
    assert PADDED.merged(2, 2) is None
    assert Layout((2, 3, 4), (1, 0, 2), ((0, 2), (0, 3), (0, 4))).merged(0, 2) is None


def test_all_of_an_array_is_stored_where_less_is_seen() -> None:
    seen = Layout((4, 5), (0, 1), ((1, 3), (-1, 4)))
    assert seen.with_all() == Layout((4, 5), (0, 1), ((0, 4), (-1, 5)))
    assert seen.with_all().covers(seen.ranges)
    assert not seen.covers(seen.with_all().ranges)
    assert plain((4, 5)).is_plain
    assert not seen.with_all().is_plain
