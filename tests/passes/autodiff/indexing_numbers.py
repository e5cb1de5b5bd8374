"""Random dimension numbers of gather and scatter, and comparisons of what is differentiated with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adze

EXACT = {"rtol": 1e-11, "atol": 1e-12}


@dataclass(frozen=True)
class Numbers:
    """Dimension numbers in gather's words, with arrays that fit them."""

    x: np.ndarray
    indices: np.ndarray
    windows: np.ndarray
    """An array of the shape of what is gathered, or scattered."""
    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    start_map: tuple[int, ...]
    batching: tuple[tuple[int, ...], tuple[int, ...]]
    sizes: tuple[int, ...]
    mode: str

    def of(self, library: Any, kind: str) -> Any:
        """The dimension numbers of `gather` or `scatter` as a library has them."""
        cls = getattr(library, "GatherDimensionNumbers" if kind == "gather" else "ScatterDimensionNumbers")
        return cls(self.offset, self.collapsed, self.start_map, *self.batching)

    def gather(self, library: Any) -> Callable[[Any, Any], Any]:
        numbers = self.of(library, "gather")
        fill = 7.0 if self.mode == "fill" else None
        return lambda x, indices: library.gather(
            x, indices, numbers, self.sizes, mode=self.mode, fill_value=fill
        )

    def scatter(self, library: Any, kind: str, unique: bool = False) -> Callable[[Any, Any, Any], Any]:
        numbers = self.of(library, "scatter")
        function = library.scatter if kind == "set" else getattr(library, f"scatter_{kind}")
        mode = "drop" if self.mode == "fill" else self.mode
        return lambda x, indices, updates: function(
            x, indices, updates, numbers, mode=mode, unique_indices=unique
        )


def random_numbers(seed: int) -> Numbers:
    """Any of the maps of windows of operands up to rank 4."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    shape = rng.integers(1, 5, rank)
    axes = rng.permutation(rank)
    together = int(rng.integers(0, min(rank, 2) + 1))
    operand_batching = sorted(int(a) for a in axes[:together])
    rest = [int(a) for a in axes[together:]]
    start_map = [a for a in rest if rng.random() < 0.7]
    collapsed = sorted(a for a in rest if rng.random() < 0.4)
    hidden = {*collapsed, *operand_batching}
    sizes = tuple(1 if a in hidden else int(rng.integers(1, shape[a] + 1)) for a in range(rank))
    batch: list[Any] = [*(int(n) for n in rng.integers(1, 4, rng.integers(0, 3))), *([None] * together)]
    batch = [batch[k] for k in rng.permutation(len(batch))]
    places = [k for k, n in enumerate(batch) if n is None]
    for place, axis in zip(places, operand_batching, strict=True):
        batch[place] = int(shape[axis])
    mode = str(rng.choice(["clip", "fill"]))
    dtype = rng.choice(np.array([np.int32, np.int64, np.int8]))
    entries = [rng.integers(-2, shape[a] + 2, batch) for a in start_map]
    indices = np.stack(entries, axis=-1) if entries else np.zeros((*batch, 0))
    window = [n for a, n in enumerate(sizes) if a not in hidden]
    total = len(batch) + len(window)
    offset = tuple(sorted(int(a) for a in rng.permutation(total)[: len(window)]))
    outer, inner = iter(batch), iter(window)
    result = tuple(next(inner) if a in offset else next(outer) for a in range(total))
    return Numbers(
        rng.standard_normal(shape),
        indices.astype(dtype),
        rng.standard_normal(result),
        offset,
        tuple(collapsed),
        tuple(start_map),
        (tuple(operand_batching), tuple(places)),
        sizes,
        mode,
    )


def pulled(library: Any, f: Callable[..., Any], primals: tuple[Any, ...], cotangent: Any) -> list[np.ndarray]:
    value, back = library.vjp(f, *primals)
    return [np.asarray(value), *map(np.asarray, back(cotangent))]


def compare(actual: Any, want: Any, what: object = "") -> None:
    actual, want = np.asarray(actual), np.asarray(want)
    assert actual.shape == want.shape
    np.testing.assert_allclose(actual, want, err_msg=str(what), **EXACT)


def check_derivatives(f: Callable[..., Any], primals: tuple[np.ndarray, ...], seed: int) -> None:
    """Forward mode of a polynomial against differences; reverse mode by the dot identity."""
    rng = np.random.default_rng(seed)
    tangents = tuple(rng.standard_normal(p.shape) for p in primals)
    value, pushed = map(np.asarray, adze.jvp(f, primals, tangents))
    step = 1e-4
    ahead, behind = (
        np.asarray(f(*(p + s * t for p, t in zip(primals, tangents, strict=True)))) for s in (step, -step)
    )
    np.testing.assert_allclose(pushed, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)
    cotangent = rng.standard_normal(value.shape)
    back = pulled(adze, f, primals, cotangent)[1:]
    left = float(np.sum(pushed * cotangent))
    right = sum(float(np.sum(b * t)) for b, t in zip(back, tangents, strict=True))
    np.testing.assert_allclose(right, left, rtol=1e-9, atol=1e-9)


@contextmanager
def wide_jax() -> Iterator[Any]:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax
