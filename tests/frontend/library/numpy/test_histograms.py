"""Histograms of equal bins: computed places are those that the edges say, beside the edges too."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as anp

COUNTS = (1, 3, 10, 31, 33, 128, 1000, 4097)
DTYPES = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)


def beside_edges(edges: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers in the range of `edges`: some edges, their neighbours on both sides, and others."""
    some = edges[rng.integers(0, len(edges), 200)]
    integers = {2: np.int16, 4: np.int32, 8: np.int64}[edges.dtype.itemsize]
    neighbours = [(some.view(integers) + step).view(edges.dtype) for step in (-1, 1)]
    others = rng.uniform(float(edges[0]), float(edges[-1]), 200).astype(edges.dtype)
    numbers = np.concatenate([edges[[0, -1]], some, *neighbours, others])
    wide = numbers.astype(np.float64)  # below zero bits lies a NaN
    return numbers[(wide >= float(edges[0])) & (wide <= float(edges[-1]))]


def counted(numbers: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many numbers each bin holds: a search in the edges."""
    places = np.searchsorted(edges.astype(np.float64), numbers.astype(np.float64), side="right") - 1
    return np.bincount(np.minimum(places, len(edges) - 2), minlength=len(edges) - 1)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_beside_edges_are_in_the_bins_that_the_edges_say(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    for low, high in ((0.0, 1.0), (-3.25, 17.5), (0.125, 0.375)):
        edges = np.asarray(anp.histogram_bin_edges(np.array([low, high], dtype), count))
        numbers = beside_edges(edges, rng)
        got, got_edges = anp.histogram(numbers, count)
        assert np.asarray(got_edges).tolist() == edges.tolist()
        assert np.asarray(got).tolist() == counted(numbers, edges).tolist()


@pytest.mark.parametrize("count", (10, 1000))
@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.int32))
def test_compiled_histogram_is_numpys(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(5)
    numbers = (rng.standard_normal(3000) * 1000).astype(dtype)
    weights = rng.integers(0, 9, 3000).astype(np.float64)
    compiled = adze.jit(lambda x, w: (anp.histogram(x, count)[0], anp.histogram(x, count, weights=w)[0]))
    got, weighted = compiled(numbers, weights)
    edges = np.asarray(anp.histogram_bin_edges(numbers, count))  # NumPy's are of float64
    assert np.asarray(got).tolist() == np.histogram(numbers, edges)[0].tolist()
    assert np.asarray(weighted).tolist() == np.histogram(numbers, edges, weights=weights)[0].tolist()


def test_elements_outside_the_range_are_in_no_bin() -> None:
    numbers = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 2.0], np.float32)
    for histogram in (anp.histogram, adze.jit(anp.histogram, static_argnums=(1, 2))):
        got, _ = histogram(numbers, 2, (0.0, 1.0))
        assert np.asarray(got).tolist() == [1, 2]


def test_number_of_bins_may_be_numpys() -> None:
    got, edges = anp.histogram(np.arange(6.0), np.int64(3))
    assert (np.asarray(got).tolist(), edges.shape) == ([2, 2, 2], (4,))
    assert anp.histogram2d(np.arange(4.0), np.arange(4.0), np.int32(2))[0].shape == (2, 2)


def test_gradient_by_weights_is_that_of_each_elements_bin() -> None:
    numbers = np.array([0.1, 0.9, 0.4, 7.0])
    scale = np.array([3.0, 5.0])
    gradient = adze.grad(lambda w: anp.sum(scale * anp.histogram(numbers, 2, (0.0, 1.0), weights=w)[0]))
    assert np.asarray(gradient(np.ones(4))).tolist() == [3.0, 5.0, 3.0, 0.0]
