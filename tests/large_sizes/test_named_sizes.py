"""Random chains of functions compiled once for named sizes = the same compiled for each size.

What IREE makes of known sizes is tested by everything else; programs of named sizes go other ways through
it (packed products, tiles that divide nothing, kernels that are not ours).
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

SPECS: Final = (
    *("n,m", "n,64", "n,30", "n,128", "b,s,64", "b,s,d", "b,33,m"),
    *("4,n,7", "2,n,m", "b,h,s,33"),
)
SIZES: Final = (1, 2, 3, 7, 16, 17, 33, 64, 65, 100, 130, 200)
MOST: Final = 300_000
"""Elements of an array."""
LEFT: Final = 1e-2
"""Results of chains are compared as if the greatest value were this at least; gradients may all be small."""


def _turned(x: Any) -> Any:
    return xp.swapaxes(x, -1, -2)


def _recurrence(x: Any) -> Any:
    return lax.scan(lambda c, row: (c * 0.5 + row, c + row), xp.zeros_like(x[0]), x)[1]


def _repeated(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, y: y * 0.5 + xp.tanh(y @ _turned(y)) @ y * 0.01, x)


LINKS: Final[dict[str, Callable[[Any], Any]]] = {
    "sine": xp.sin,
    "square": lambda x: x * x * 0.5,
    "relu": lambda x: xp.maximum(x, 0),
    "exponential": lambda x: xp.exp(-xp.abs(x)),
    "shares of rows": lambda x: nn.softmax(x, axis=-1),
    "shares of columns": lambda x: nn.softmax(x, axis=0),
    "normal rows": lambda x: (x - x.mean(-1, keepdims=True)) / xp.sqrt(x.var(-1, keepdims=True) + 1e-3),
    "normal columns": lambda x: (x - x.mean(0)) / (x.std(0) + 0.1),
    "centered": lambda x: x - x.mean(),
    "below the greatest": lambda x: x - x.max(0, keepdims=True),
    "sums of rows": lambda x: x + x.sum(-1, keepdims=True) * 0.01,
    "squared matrix": lambda x: (x @ _turned(x)) @ x * 0.01,
    "attention": lambda x: nn.softmax(x @ _turned(x) * 0.1) @ x,
    "turned": lambda x: _turned(x) * 1,
    "reversed rows": lambda x: x[..., ::-1],
    "reversed": lambda x: x[::-1],
    "rolled": lambda x: xp.roll(x, 3, 0),
    "running sums of rows": lambda x: xp.cumsum(x, axis=-1) * 0.1,
    "running sums": lambda x: xp.cumsum(x, axis=0) * 0.1,
    "twice": lambda x: xp.concatenate([x, x * 0.5], axis=0),
    "cut and joined": lambda x: xp.concatenate([x[..., :1], x[..., 1:]], axis=-1),
    "leaky": lambda x: xp.where(x > 0, x, x * 0.1),
    "places": lambda x: x + x.argmax(-1, keepdims=True).astype(x.dtype) * 0.01,
    "sorted": lambda x: xp.sort(x, axis=-1),
    "padded": lambda x: xp.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1)),
    "by the first": lambda x: x * x[:1],
    "recurrence": _recurrence,
    "repeated": _repeated,
}
SMOOTH: Final = tuple(name for name in LINKS if name not in ("places", "sorted", "below the greatest"))
"""Those whose gradient does not hang on which of two near numbers is the greater."""


def program(names: list[str], is_gradient: bool) -> Callable[[Any], Any]:
    """A chain of functions of an array, or the gradient of the mean of its squares."""

    def chain(x: Any) -> Any:
        for name in names:
            x = LINKS[name](x)
        return x

    return adze.grad(lambda x: (chain(x) ** 2).mean()) if is_gradient else chain


def sizes_of(spec: str, rng: np.random.Generator) -> tuple[int, ...]:
    """Sizes for the names of a spec, and the known ones."""
    while True:
        named = {name: pick(rng, SIZES) for name in sorted(set(spec.split(",")))}
        shape = tuple(int(part) if part.isdigit() else named[part] for part in spec.split(","))
        if np.prod(shape) <= MOST:
            return shape


@pytest.mark.parametrize("seed", seeds(4, 200))
def test_chains_of_named_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    spec, is_gradient = pick(rng, SPECS), bool(seed % 2)
    names = [str(name) for name in rng.choice(SMOOTH if is_gradient else list(LINKS), rng.integers(1, 5))]
    function = program(names, is_gradient)
    dimensions = tuple(int(part) if part.isdigit() else part for part in spec.split(","))
    compiled = adze.trace(function, adze.ShapeDtype(dimensions, np.float32)).lower().compile()
    for _ in range(2):
        x = rng.standard_normal(sizes_of(spec, rng)).astype(np.float32)
        got, want = np.asarray(compiled(x)), np.asarray(adze.jit(function)(x)).astype(np.float64)
        # Values near 0 may be what is left of values near 1, of which rounding is seen.
        floor = 1.0 if is_gradient else LEFT / max(np.abs(want).max(), 1e-6)
        compare(got, want, 2e-3 * max(floor, 1.0), f"{names} of {spec}, {x.shape}")


@pytest.mark.parametrize("shift", [1, -1, 3, -5, 0])
def test_a_named_axis_is_rolled_by_more_than_its_size(shift: int) -> None:
    rolled = adze.trace(lambda x: xp.roll(x, shift, 0), adze.ShapeDtype(("n", 2), np.float32)).lower()
    compiled = rolled.compile()
    for size in (1, 2, 3, 4, 7):
        x = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        np.testing.assert_array_equal(compiled(x), np.roll(x, shift, 0))
