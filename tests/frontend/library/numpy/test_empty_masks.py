"""Masks that are empty along axes that are not select nothing, as NumPy has it."""

from __future__ import annotations

import numpy as np
import pytest

import adze
import adze.numpy as anp

EMPTY = [((3,), (0,)), ((3, 4), (0,)), ((3, 4), (3, 0)), ((3, 4), (0, 4)), ((0, 4), (0,))]


@pytest.mark.parametrize(("shape", "mask_shape"), EMPTY)
def test_an_empty_mask_selects_nothing(shape: tuple[int, ...], mask_shape: tuple[int, ...]) -> None:
    x, mask = np.ones(shape, np.float32), np.zeros(mask_shape, bool)
    assert anp.asarray(x)[mask].shape == x[mask].shape
    assert adze.jit(lambda x: x[mask])(x).shape == x[mask].shape


@pytest.mark.parametrize(("shape", "mask_shape"), EMPTY)
def test_an_empty_mask_writes_nothing(shape: tuple[int, ...], mask_shape: tuple[int, ...]) -> None:
    x, mask = np.ones(shape, np.float32), np.zeros(mask_shape, bool)
    np.testing.assert_array_equal(anp.asarray(x).at[mask].set(5), x)
    np.testing.assert_array_equal(anp.asarray(x).at[mask].add(5), x)
    np.testing.assert_array_equal(adze.jit(lambda x, m: x.at[m].set(5))(x, mask), x)


def test_a_mask_of_another_size_is_still_an_error() -> None:
    with pytest.raises(IndexError, match=r"a boolean index of shape \(2,\) does not fit"):
        anp.ones(3)[np.ones(2, bool)]
    with pytest.raises(IndexError, match=r"a boolean index of shape \(0, 3\) does not fit"):
        anp.ones((3, 4))[np.ones((0, 3), bool)]
