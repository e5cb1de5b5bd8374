"""A benchmark case: a function that every library runs, its inputs, and how results are compared.

Input: sizes as a user has them, or tiny ones for the tests.
Output: `Case` values; the families are tuples of them.

A function takes a `Peer` and arrays, and uses only names that adze and JAX share. Where NumPy has them too,
it runs the same function; where NumPy writes it differently, `numpy` is a function of the arrays; elsewhere
it is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from _peers import Peer, Shape

Function = Callable[..., Any]


class Agreement(Enum):
    """What must be equal in the results of two libraries."""

    CLOSE = "each number, to rounding"
    MAGNITUDES = "the absolute value of each number: the signs of factors are free"
    FIRST = "the first result: vectors of close eigenvalues are free"
    MOMENTS = "mean and standard deviation: random numbers of different generators"


@dataclass(frozen=True)
class Draw:
    """Random inputs from one seed; with `tiny`, each axis of more than eight elements has eight or nine."""

    rng: np.random.Generator
    tiny: bool = False

    def size(self, count: int) -> int:
        return 8 + count % 2 if self.tiny and count > 8 else count

    def shape(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.size(count) for count in sizes)

    def normal(self, *sizes: int, dtype: Any = np.float32) -> np.ndarray:
        return self.rng.standard_normal(self.shape(sizes)).astype(dtype)

    def positive(self, *sizes: int, dtype: Any = np.float32) -> np.ndarray:
        return self.rng.uniform(0.5, 2.0, self.shape(sizes)).astype(dtype)

    def weights(self, *sizes: int, dtype: Any = np.float32) -> np.ndarray:
        """Normal numbers whose products with normal rows are about normal."""
        shape = self.shape(sizes)
        return (self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype(dtype)

    def integers(self, high: int, *sizes: int) -> np.ndarray:
        return self.rng.integers(0, self.size(high), self.shape(sizes), dtype=np.int32)

    def symmetric_definite(self, *sizes: int, dtype: Any = np.float32) -> np.ndarray:
        """Positive definite matrices of the last size; sizes before it are batch axes."""
        *batch, order = self.shape(sizes)
        factor = self.rng.standard_normal((*batch, order, order))
        return (factor @ np.swapaxes(factor, -1, -2) / order + np.eye(order)).astype(dtype)


def _same_function() -> None:
    """Mark of `Case.numpy`: NumPy runs the function of the case."""


SAME: Function = _same_function


@dataclass(frozen=True)
class Case:
    """One row of the results; `quick` cases are those of `make bench-quick`."""

    name: str
    function: Callable[..., Any]
    inputs: Callable[[Draw], tuple[Any, ...]]
    numpy: Function | None = SAME
    agreement: Agreement = Agreement.CLOSE
    quick: bool = False
    tolerance: float = 1.0  # times the usual one
    wide: bool = False  # whether JAX computes with 64-bit numbers whatever the inputs are
    named: tuple[str, ...] = ()  # the sizes of each input, as in "n,64": adze compiles for any of a name

    def arrays(self, tiny: bool = False) -> tuple[Any, ...]:
        return self.inputs(Draw(np.random.default_rng(0), tiny))

    def runs_on(self, peer: Peer) -> bool:
        return peer.name != "numpy" or self.numpy is not None

    def call_on(self, peer: Peer, arrays: tuple[Any, ...]) -> Callable[[], Any]:
        """A function without arguments that computes the case with a library."""
        if peer.name == "numpy" and self.numpy is not SAME:
            function = self.numpy
            assert function is not None, f"{self.name} has no NumPy form"
            return lambda: function(*arrays)
        return peer.prepared(self.function, arrays, self.shapes(arrays))

    def shapes(self, arrays: tuple[Any, ...]) -> tuple[Shape, ...]:
        """For each input its sizes, with the names of those that have one; none where no size has."""
        return tuple(
            tuple(
                name if name.isidentifier() else size
                for name, size in zip(names.split(","), np.shape(array), strict=True)
            )
            for names, array in zip(self.named, arrays, strict=bool(self.named))
        )


def is_wide(arrays: tuple[Any, ...]) -> bool:
    """Whether an input has 64-bit numbers, which JAX computes with only if it is told so."""
    return any(np.asarray(array).dtype in (np.float64, np.complex128, np.int64) for array in arrays)


def gradient_of(loss: Function, *argnums: int) -> Function:
    """The value and gradient of a case's function with respect to some of its arrays."""

    def differentiated(peer: Peer, *arrays: Any) -> Any:
        return peer.library.value_and_grad(lambda *inner: loss(peer, *inner), argnums=argnums)(*arrays)

    return differentiated
