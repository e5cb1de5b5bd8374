"""`ds(start, size)` in indices: windows of traced starts, read and written, under transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import ds
from adze.frontend.errors import ArgumentError

X = np.arange(24.0, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize("start", [0, 1, 3, -2, 9])
def test_reads_move_the_window_inside(start: int) -> None:
    wanted = X[min(start % 4 if start < 0 else start, 2) :][:2]
    read = adze.jit(lambda x, i: (x[ds(i, 2)], x[..., ds(i, 2), 3], x[None, ds(i, 2)]))
    whole, column, new = read(X, np.int32(start))
    np.testing.assert_array_equal(whole, wanted)
    np.testing.assert_array_equal(column, wanted[:, 3])
    np.testing.assert_array_equal(new, wanted[None])


@pytest.mark.parametrize("start", [0, 2, 3, -1])
def test_updates_leave_out_what_sticks_out(start: int) -> None:
    wanted = X.copy()
    if 0 <= start <= 2:
        wanted[start : start + 2, 1:3] = 0
    got = adze.jit(lambda x, i: x.at[ds(i, 2), 1:3].set(0))(X, np.int32(start))
    np.testing.assert_array_equal(got, wanted)


def test_several_strides_and_known_starts() -> None:
    both = adze.jit(lambda x, i: x[ds(i, 2), ds(i + 1, 2, 2)])(X, np.uint8(1))
    np.testing.assert_array_equal(both, X[1:3, 2:5:2])
    x = adze.numpy.asarray(X)
    np.testing.assert_array_equal(x[ds(1, 2), ds(2)], X[1:3, :2])
    np.testing.assert_array_equal(x[ds(None), 0], X[:, 0])
    assert x[ds(1, 0)].shape == (0, 6)


def test_slices_are_arguments_and_transforms_pass_them() -> None:
    assert adze.jit(lambda s: adze.numpy.asarray(X)[s])(ds(np.int32(1), 2)).tolist() == X[1:3].tolist()
    slope = adze.grad(lambda x, i: x[ds(i, 2)].sum())(X, np.int32(1))
    np.testing.assert_array_equal(slope.sum(axis=1), [0, 6, 6, 0])
    rows = adze.vmap(lambda i: adze.numpy.asarray(X)[ds(i, 2), 0])(np.arange(3))
    np.testing.assert_array_equal(rows, [[0, 6], [6, 12], [12, 18]])


@pytest.mark.parametrize(
    "index", [lambda: ds(-1, 2), lambda: ds(3, 2), lambda: ds(0, 2, 0), lambda: ds(np.float32(1), 2)]
)
def test_windows_that_are_none(index: Any) -> None:
    with pytest.raises(ArgumentError, match="ds:"):
        adze.numpy.asarray(X)[index()]


def test_updates_of_two_traced_slices_are_refused() -> None:
    with pytest.raises(ArgumentError, match="dynamic_update_slice"):
        adze.jit(lambda x, i: x.at[ds(i, 2), ds(i, 2)].set(0))(X, np.int32(0))
