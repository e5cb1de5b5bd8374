"""Gathers that NumPy's own indexing computes are those of the general way, whatever the indices are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.ops.indexing.gather import Gather
from adze.dialects.ops.indexing.windows import WindowMap
from adze.dialects.types import storage

DTYPES = ["int8", "uint8", "int32", "int64", "uint64"]


def gathers(seed: int, dtype: str) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """An array, indices and attributes: indices of any size, windows of all kinds, axes anywhere."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 300], rank, p=[0.2, 0.35, 0.35, 0.1]))
    count, batch = int(rng.integers(1, rank + 1)), int(rng.integers(0, 3))
    first = int(rng.integers(0, rank - count + 1))
    scattered = tuple(sorted(rng.permutation(rank)[:count].tolist()))
    axes = tuple(range(first, first + count)) if rng.random() < 0.7 else scattered
    info = np.iinfo(dtype)
    special = np.array([info.min, info.max, 0, 1, 2], dtype)
    indices = rng.choice(special, (*rng.integers(1, 4, batch), count))
    rest = rank - count
    place = min(axes[0] if rng.random() < 0.7 else int(rng.integers(0, rest + 1)), rest)
    window = tuple(1 if axis in axes or rng.random() < 0.1 else n for axis, n in enumerate(shape))
    return (
        rng.standard_normal(shape),
        indices,
        {
            "offset_dims": tuple(d if d < place else d + batch for d in range(rest)),
            "collapsed_slice_dims": axes,
            "start_index_map": axes,
            "operand_batching_dims": (),
            "start_indices_batching_dims": (),
            "slice_sizes": window,
            "mode": "clip",
            "fill_value": storage(np.zeros(())),
        },
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_are_the_same(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = 0
    for seed in range(200):
        x, indices, attributes = gathers(seed, dtype)
        numbers = WindowMap(x.ndim, indices.ndim, *list(attributes.values())[:5])
        short += numbers.taken(x, indices, attributes["slice_sizes"]) is not None
        found = Gather.evaluate(x, indices, **attributes)
        with monkeypatch.context() as general:
            general.setattr(WindowMap, "taken", lambda *_: None)
            expected = Gather.evaluate(x, indices, **attributes)
        np.testing.assert_array_equal(found, expected)
        assert found.shape == expected.shape and not np.shares_memory(found, x)
    assert short > 50
