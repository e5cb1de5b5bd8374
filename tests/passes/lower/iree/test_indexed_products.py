"""Transposed products of named sizes that meet positions: they compile, and IREE still needs the barrier."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

SHAPES = (("b", "n", "m"), ("b", "m", "k"))
CHILD = """
from tests.passes.lower.iree import test_indexed_products as fence
from adze.passes.lower.iree import two_index_maps
two_index_maps.indexed_products = lambda module, reader: set()
fence.compiled("int32")
"""


def products(x: Any, y: Any) -> tuple[Any, Any]:
    """A product, times the positions of its columns, in products with both of its operands."""
    weighted = anp.arange(y.shape[2], dtype=x.dtype) * anp.einsum("bnm,bmk->nbk", x, y)
    turned = anp.transpose(weighted, (1, 0, 2))
    return anp.swapaxes(x, 1, 2) @ turned, turned @ anp.swapaxes(y, 1, 2)


def compiled(dtype: str) -> Any:
    specs = [adze.ShapeDtype(shape, np.dtype(dtype)) for shape in SHAPES]
    return adze.trace(products, *specs).lower("cpu").compile()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("shape", [(3, 5, 4, 7), (2, 40, 33, 70), (1, 1, 1, 1), (2, 0, 3, 4)])
def test_products_times_positions(shape: tuple[int, ...], dtype: str) -> None:
    b, n, m, k = shape
    rng = np.random.default_rng(0)
    x, y = ((3 * rng.standard_normal(s)).astype(dtype) for s in ((b, n, m), (b, m, k)))
    for got, want in zip(compiled(dtype)(x, y), products(x, y), strict=True):
        np.testing.assert_allclose(got, np.asarray(want), rtol=1e-4, atol=1e-1)


@pytest.mark.thorough
def test_iree_still_needs_the_barrier() -> None:
    """When this fails IREE has been mended, and `passes/lower/iree/indexed_products.py` can go."""
    environment = {**os.environ, "ADZE_CACHE": "off"}
    child = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, timeout=300)
    assert child.returncode < 0
