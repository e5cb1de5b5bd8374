"""Reads, updates and derivatives at indices of any kind: arrays, slices with steps and integers, mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze

from ..random_programs import seeds
from . import Case, check, drawn, pick

SHAPES: Final = ((300, 70), (40, 50, 30), (9000,), (12, 17, 33, 8), (2000, 3))
UPDATES: Final[dict[str, tuple[str, Callable[..., Any]]]] = {
    "add": ("fdFil", np.add.at),
    "max": ("fdil", np.maximum.at),
    "min": ("fdil", np.minimum.at),
    "multiply": ("fdFil", np.multiply.at),
}
Index = tuple[Any, ...]


def index_of(rng: np.random.Generator, shape: tuple[int, ...]) -> Index:
    """An index with an entry for each axis: at most `several` axes are indexed by arrays that broadcast."""
    several = int(rng.integers(1, len(shape) + 1))
    count = pick(rng, ((int(rng.integers(1, 200)),), (int(rng.integers(1, 30)), int(rng.integers(1, 30)))))
    index: list[Any] = []
    for axis, size in enumerate(shape):
        way = rng.random()
        if axis < several and way < 0.5:
            places = rng.integers(-size, size, count if rng.random() < 0.7 else count[-1:])
            index.append(places.astype(pick(rng, ("int32", "int64"))))
        elif way < 0.7:
            index.append(slice(int(rng.integers(size)), None, pick(rng, (1, 1, 2, 3, -1))))
        elif way < 0.8:
            index.append(int(rng.integers(-size, size)))
        else:
            index.append(slice(None))
    return tuple(index)


class Drawn:
    """One array, an index of it, and cases of both; the arrays of the index are arguments."""

    def __init__(self, rng: np.random.Generator, dtypes: str) -> None:
        self.rng = rng
        self.dtype = pick(rng, dtypes)
        self.x = drawn(rng, pick(rng, SHAPES), self.dtype)
        self.index = index_of(rng, self.x.shape)
        self.places = [entry for entry in self.index if isinstance(entry, np.ndarray)]
        self.values = drawn(rng, self.x[self.index].shape, self.dtype)

    def case(
        self, what: str, function: Callable[..., Any], expected: np.ndarray, *others: np.ndarray
    ) -> Case:
        shown = [e.shape if isinstance(e, np.ndarray) else e for e in self.index]
        name = f"{what} of {self.dtype}{self.x.shape} at {shown}"
        return Case(name, function, (self.x, *others, *self.places), 1e-4, expected)

    def filled(self, places: tuple[Any, ...]) -> Index:
        """The index with other arrays."""
        arrays = iter(places)
        return tuple(next(arrays) if isinstance(entry, np.ndarray) else entry for entry in self.index)


def read(d: Drawn) -> Case:
    return d.case("read", lambda xp, x, *places: xp.asarray(x)[d.filled(places)], d.x[d.index])


def written(d: Drawn) -> Case:
    """One value everywhere, since what places that occur twice get is open otherwise."""
    want = d.x.copy()
    one = np.ones((), d.x.dtype)
    want[d.index] = one
    return d.case("set", lambda xp, x, *places: xp.asarray(x).at[d.filled(places)].set(one), want)


def updated(d: Drawn) -> Case:
    name = pick(d.rng, [name for name, (dtypes, _) in UPDATES.items() if d.dtype in dtypes])
    want = d.x.astype({"f": "d", "F": "D"}.get(d.dtype, d.dtype))
    with np.errstate(over="ignore"):
        UPDATES[name][1](want, d.index, d.values)

    def update(xp: Any, x: Any, values: Any, *places: Any) -> Any:
        return getattr(xp.asarray(x).at[d.filled(places)], name)(values)

    return d.case(name, update, want, d.values)


def slope_of_read(d: Drawn) -> Case:
    want = np.zeros(d.x.shape)
    np.add.at(want, d.index, d.values)

    def slope(xp: Any, x: Any, values: Any, *places: Any) -> Any:
        return adze.grad(lambda x: (x[d.filled(places)] * values).sum())(xp.asarray(x))

    return d.case("slope of read", slope, want, d.values)


def slopes_of_added(d: Drawn) -> Case:
    weights = drawn(d.rng, d.x.shape, d.dtype)

    def slopes(xp: Any, x: Any, values: Any, weights: Any, *places: Any) -> Any:
        def loss(x: Any, values: Any) -> Any:
            return (x.at[d.filled(places)].add(values) * weights).sum()

        return adze.grad(loss, (0, 1))(xp.asarray(x), xp.asarray(values))

    return d.case("slopes of add", slopes, (weights, weights[d.index]), d.values, weights)


CASES: Final = {
    read: "fd?Fil",
    written: "fd?Fil",
    updated: "fdFil",
    slope_of_read: "fd",
    slopes_of_added: "fd",
}


@pytest.mark.parametrize("seed", seeds(2, 30))
def test_indexing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([make(Drawn(rng, dtypes)) for make, dtypes in CASES.items()])
