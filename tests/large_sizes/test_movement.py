"""Transposes, joins, slices, updates of slices, takes and pads along any axis."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ..random_programs import seeds
from . import Case, check, drawn, pick

SHAPES: Final = (
    *((40, 70, 90), (64, 33, 48), (7, 300, 65), (513, 129)),
    *((3, 5, 64, 64), (20000,), (2, 3, 4000), (130, 2, 3, 40)),
)
PADS: Final = ("constant", "edge", "reflect", "wrap")


class Drawn:
    """One array, an axis, and cases along it."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shape = pick(rng, SHAPES)
        self.dtype = pick(rng, "f?FdB")
        self.axis = int(rng.integers(len(self.shape)))
        self.x = drawn(rng, self.shape, self.dtype)

    def case(self, name: str, function: Any, *others: np.ndarray) -> Case:
        what = f"{name} of {self.dtype}{self.shape} along {self.axis}"
        return Case(what, function, (self.x, *others))

    def transposed(self) -> Case:
        order = tuple(int(a) for a in self.rng.permutation(len(self.shape)))
        return self.case(
            f"transpose to {order}", lambda xp, x: (x.transpose(order), xp.flip(x.transpose(order), 0))
        )

    def joined(self) -> Case:
        axis, short = self.axis, list(self.shape)
        short[axis] = int(self.rng.integers(1, 9))
        y, z = (drawn(self.rng, shape, self.dtype) for shape in (self.shape, short))
        return self.case(
            "joins",
            lambda xp, x, y, z: (
                xp.concatenate([x, y], axis),
                xp.concatenate([x, z, y], axis),
                xp.stack([x, y], axis),
                xp.repeat(z, 3, axis),
            ),
            y,
            z,
        )

    def moved(self) -> Case:
        axis, places = self.axis, self.rng.integers(-self.shape[self.axis], self.shape[self.axis], 17)
        return self.case(
            "flip, roll, take",
            lambda xp, x, at: (xp.flip(x, axis), xp.roll(x, 3, axis), xp.take(x, at, axis=axis)),
            places,
        )

    def sliced(self) -> Case:
        at = [slice(None)] * len(self.shape)
        at[self.axis] = slice(int(self.rng.integers(2)), None, int(self.rng.integers(1, 4)))
        back = (slice(None, None, -1),) * len(self.shape)
        return self.case(
            f"slice {at}", lambda xp, x: (x[tuple(at)], _with(xp, x, tuple(at), x[tuple(at)][back]))
        )

    def padded(self) -> Case:
        widths = [(0, 0)] * len(self.shape)
        widths[self.axis] = (int(self.rng.integers(4)), int(self.rng.integers(4)))
        mode = pick(self.rng, PADS)
        return self.case(f"{mode} pad by {widths}", lambda xp, x: xp.pad(x, widths, mode=mode))


def _with(xp: Any, x: Any, at: Any, values: Any) -> Any:
    """`x` with other values at some places."""
    if xp is not np:
        return x.at[at].set(values)
    result = x.copy()
    result[at] = values
    return result


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_movement_along_any_axis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    methods = (Drawn.transposed, Drawn.joined, Drawn.moved, Drawn.sliced, Drawn.padded)
    check([method(Drawn(rng)) for method in methods])
