"""Functions of the library, a few as one program of named sizes = evaluated at known sizes.

Chains are drawn by `test_named_sizes.py`; here are functions whose code asks for sizes: of the last element,
of a diagonal, of what is left of an axis, of evenly spaced numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax, nn

from ..random_programs import seeds
from . import compare, pick

SIZES: Final = (3, 4, 5, 16, 33, 65, 130)
FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "last rows": lambda x: (lax.index_in_dim(x, -1, 0), x[-2:], x[:-1, -1], xp.take(x, -1, axis=1)),
    "updated ends": lambda x: x.at[-1].set(5.0).at[:, -2].add(2.0),
    "parts": lambda x: xp.split(x, [1, -2], axis=1),
    "slices": lambda x: (lax.slice_in_dim(x, 1, -1), lax.slice_in_dim(x, -3, None, 2, axis=1)),
    "moved windows": lambda x: lax.dynamic_update_slice_in_dim(x, xp.ones_like(x[:2]), np.int32(-1), 0),
    "cut and padded": lambda x: lax.pad(x, np.float32(7), ((-1, 2, 0), (1, -1, 1))),
    "triangles": lambda x: (xp.tril(x, -1), xp.triu(x, 2), xp.eye(x.shape[0], x.shape[1], 1)),
    "diagonals": lambda x: (xp.diagonal(x), xp.diagonal(x, 1), xp.trace(x, -2)),
    "slopes": lambda x: (*xp.gradient(x, edge_order=2), xp.trapezoid(x, axis=0)),
    "differences": lambda x: (xp.diff(x, 2, axis=0), xp.ediff1d(x), xp.diff(x, axis=1, append=x[:, :1])),
    "ranges": lambda x: (xp.arange(2, x.shape[0] + 2), xp.linspace(0, 1, x.shape[1]), xp.indices(x.shape)),
    "positions": lambda x: (xp.argmax(x, 0), xp.nanargmin(x), *xp.unravel_index(xp.argmax(x), x.shape)),
    "norms": lambda x: [xp.linalg.norm(x, order) for order in (None, 1, np.inf, -1)],
    "variances": lambda x: (xp.std(x, 0, ddof=1), xp.nanvar(x, 1), xp.cov(x, rowvar=False)),
    "quantiles": lambda x: [
        xp.quantile(x, np.float32(0.37), axis=0, method=m) for m in ("linear", "lower", "higher", "midpoint")
    ],
    "middles": lambda x: (xp.median(x), xp.median(x, axis=1, keepdims=True), xp.nanmedian(x, axis=0)),
    "orders": lambda x: (xp.sort(x, axis=None), xp.argsort(x, axis=0, stable=True), xp.partition(x, 1)[:, 1]),
    "places": lambda x: xp.searchsorted(xp.sort(x[0]), x[:, 0], side="right"),
    "choices": lambda x: xp.select([x > 1, x > 0], [x, x * 2], -1.0),
    "turned": lambda x: (xp.rot90(x, 3), xp.roll(x, (-2, 3), (0, 1)), x[::-2, ::3]),
    "joined": lambda x: (xp.stack([x, x], -1), xp.dstack([x, x]), xp.column_stack([x, x[:, 0]])),
    "reshaped": lambda x: (x.reshape(x.shape[::-1]), xp.ravel(x, order="F"), xp.repeat(x, 2)),
    "shares": lambda x: (nn.softmax(x, 0), nn.log_softmax(x, (0, 1)), nn.softmax(x, where=x <= x[:, :1])),
    "cumulated": lambda x: (lax.cummax(x, 0), lax.cummin(x, 1, reverse=True), lax.cumlogsumexp(x, 1)),
    "segments": lambda x: adze.ops.segment_sum(x, xp.argsort(x[:, 0]) // 2, num_segments=x.shape[0]),
    "masked rows": lambda x: x.at[x[:, 0] > 0].add(2.0),
    "sums of products": lambda x: (xp.einsum("ij,ij->i", x, x), xp.einsum("ij,kj", x, x)),
    "pooled": lambda x: lax.reduce_window(x, np.float32(0), lax.add, (3, 2), (2, 1), "VALID"),
}


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_functions_of_named_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.choice(list(FUNCTIONS), 8, replace=False)]

    def every(x: Any) -> list[Any]:
        return [FUNCTIONS[name](x) for name in names]

    compiled = adze.trace(every, adze.ShapeDtype(("n", "m"), np.float32)).lower("cpu").compile()
    for _ in range(3):
        x = rng.standard_normal((pick(rng, SIZES), pick(rng, SIZES))).astype(np.float32)
        for name, results in zip(names, compiled(x), strict=True):
            wanted = adze.tree.leaves(FUNCTIONS[name](xp.asarray(x)))
            for got, want in zip(adze.tree.leaves(results), wanted, strict=True):
                compare(np.asarray(got), np.asarray(want), 1e-4, f"{name} of {x.shape}")
