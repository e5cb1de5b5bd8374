"""Random compositions of array functions at the sizes of kernels: what adze and JAX both compute.

`composed(seed)` draws a program: arrays of some dtype with two to four axes of 1 to 1000 elements, and a
chain of 4 to 12 steps over them (`steps.py`, `loop_steps.py`); as it is, or batched along odd axes, or
differentiated. A program is a function of a library, `adze` or `jax`, and of arrays; `exact` asks JAX for the
values in 64 bits. Values stay near 1 by construction, and no step is discontinuous but on integers and bools,
so that differences are roundings or errors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .array_values import dtype_of, kind_of
from .drawing import Drawing, Scope
from .loop_steps import LOOPS
from .steps import STEPS

SIZES: Final = (1, 2, 3, 5, 8, 16, 17, 33, 64, 65, 130, 300, 1000)
MOST_ELEMENTS: Final = 60_000
DTYPES: Final = (
    *("float32",) * 8, "float64", "float64", "float16", "bfloat16", "complex64", "complex64",
    "int32", "int32", "int8", "int64", "uint8", "uint32", "bool",
)  # fmt: skip
FLOATS: Final = ("float32", "float32", "float32", "float64", "float64")
TRANSFORMS: Final = (
    *("plain",) * 5, *("grad",) * 4, "vmap", "vmap", "jvp", "vmap of grad", "grad of vmap", "jvp of grad",
)  # fmt: skip
WIDE: Final = {**dict.fromkeys(("float16", "bfloat16", "float32"), "float64"), "complex64": "complex128"}
TOLERANCES: Final = {"float16": 2e-2, "bfloat16": 1.5e-1, "float32": 2e-4, "complex64": 2e-4}
"""Relative to the greatest value of a result: a dozen roundings, some of them multiplied."""
_AGAIN: Final = {f"{name} {number}": step for name, step in LOOPS.items() for number in range(2)}
"""Loops are drawn often where there are some."""


@dataclass(frozen=True)
class Composed:
    """A program; its arguments are two arrays of its dtype, an integer array and a vector of indices."""

    seed: int
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    steps: int
    transform: str
    has_loops: bool
    axes: tuple[int | None, ...]
    batch: int

    def arguments(self) -> list[np.ndarray]:
        rng = np.random.default_rng(self.seed)
        shapes = [*self.shapes, (64,)]
        batched = "vmap" in self.transform
        result = []
        for number, shape in enumerate(shapes):
            axis = self.axes[number] if batched else None
            if axis is not None:
                axis %= len(shape) + 1
                shape = (*shape[:axis], self.batch, *shape[axis:])
            result.append(_drawn(rng, shape, self.dtype if number < 2 else "int32"))
        return result

    def __call__(self, library: Any, *arrays: Any) -> Any:
        """The results, by the functions of `library`."""
        plain = self._plain(library)
        if self.transform == "plain":
            return plain(*arrays)
        axes = tuple(self.axes)
        if self.transform == "vmap":
            return library.vmap(plain, axes)(*arrays)
        first, second, *others = arrays
        if self.transform == "grad of vmap":
            plain = library.vmap(plain, axes)
        loss = _loss(library, plain)
        slopes = library.grad(loss, (0, 1))
        if self.transform == "vmap of grad":
            return library.vmap(slopes, axes)(*arrays)
        if self.transform in ("jvp", "jvp of grad"):
            function: Callable[..., Any] = plain if self.transform == "jvp" else slopes
            return library.jvp(
                lambda x, y: function(x, y, *others), (first, second), (first * 0.5, second * 0.25)
            )
        return slopes(*arrays)

    def exact(self, jax: Any, *arrays: Any) -> Any:
        """The results in 64 bits."""
        wide = replace(self, dtype=WIDE.get(self.dtype, self.dtype))
        return wide(jax, *(x.astype(WIDE.get(x.dtype.name, x.dtype)) for x in arrays))

    @property
    def tolerance(self) -> float:
        return TOLERANCES.get(self.dtype, 1e-9)

    def _plain(self, library: Any) -> Callable[..., Any]:
        def plain(*arrays: Any) -> tuple[Any, ...]:
            first, second, integers, places = map(library.numpy.asarray, arrays)
            is_differentiated = self.transform not in ("plain", "vmap")
            scope = Scope(library, dtype_of(self.dtype), places, integers, STEPS, is_differentiated)
            steps = {**STEPS, **LOOPS, **_AGAIN} if self.has_loops else STEPS
            drawing = Drawing(scope, self.seed, [first, second, integers], steps)
            last = drawing.run(self.steps)
            return last, *drawing.rng.sample(drawing.pool[3:], 2)

        return plain


def composed(seed: int) -> Composed:
    """The program of this seed."""
    rng = random.Random(seed)
    transform = rng.choice(TRANSFORMS)
    dtype = rng.choice(DTYPES if transform in ("plain", "vmap") else FLOATS)
    has_loops = rng.random() < 0.3
    return Composed(
        seed=rng.randrange(1 << 30),
        dtype=dtype,
        shapes=tuple(_shape(rng, MOST_ELEMENTS // (8 if "vmap" in transform else 1)) for _ in range(3)),
        steps=rng.randint(4, 12),
        transform=transform,
        has_loops=has_loops,
        axes=(rng.choice((0, 1, -1)), *(rng.choice((0, 1, 2, -1, None)) for _ in range(2)), None),
        batch=rng.choice((1, 2, 3, 5, 8)),
    )


def _shape(rng: random.Random, most: int) -> tuple[int, ...]:
    while True:
        shape = tuple(rng.choice(SIZES) for _ in range(rng.choice((2, 2, 3, 3, 4))))
        if np.prod(shape) <= most:
            return shape


def _drawn(rng: np.random.Generator, shape: Sequence[int], name: str) -> np.ndarray:
    dtype = dtype_of(name)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) > 0.5)
    if dtype.kind in "iu":
        return rng.integers(0, 50, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


def _loss(library: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A smooth number of all results that are floats."""

    def loss(*arrays: Any) -> Any:
        total: Any = 0.0
        for number, x in enumerate(function(*arrays)):
            if kind_of(x) == "f":
                weights = np.cos(np.arange(x.size, dtype=x.dtype)).reshape(x.shape).astype(x.dtype)
                terms = library.numpy.sin(x * (1 + number)) * weights
                total = total + library.numpy.sum(terms).astype(np.float64)
        return total

    return loss
