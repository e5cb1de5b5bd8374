"""Functions of arrays at the sizes of kernels, with odd axes and layouts: compiled = NumPy in a wider type.

The rows of `tests/op_cases.py` are small. Kernels, tiles and loops over lanes begin at sizes of some hundred
elements, and treat axes of 1, 3, 33 or 65 in ways of their own. Each test draws a few cases from a seed and
compiles them as one program; docs/testing.md says how many seeds run when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import adze

WIDE: Final = {"f": np.float64, "c": np.complex128}


@dataclass(frozen=True)
class Case:
    """A function of arrays of one library, and what it is called with.

    `function` takes `adze.numpy` or NumPy, and the arrays; `expected` is the result where NumPy has no
    function of that name. Floats may differ by `tolerance` relative to the greatest value.
    """

    name: str
    function: Callable[..., Any]
    arguments: Sequence[np.ndarray]
    tolerance: float = 2e-5
    expected: Any = None

    def wanted(self) -> list[np.ndarray]:
        """What NumPy computes in 64 bits."""
        if self.expected is not None:
            return _leaves(self.expected)
        with np.errstate(over="ignore"):
            return _leaves(self.function(np, *map(wide, self.arguments)))


def check(cases: Sequence[Case]) -> None:
    """Compile all cases as one program, run it, and compare each with what is wanted."""

    def every(*arguments: Any) -> list[Any]:
        return [case.function(adze.numpy, *some) for case, some in zip(cases, arguments, strict=True)]

    results = adze.jit(every)(*(tuple(case.arguments) for case in cases))
    for case, result in zip(cases, results, strict=True):
        for got, want in zip(_leaves(result), case.wanted(), strict=True):
            compare(got, want, case.tolerance, case.name)


def compare(got: np.ndarray, want: np.ndarray, tolerance: float, name: str) -> None:
    """Integers and bools are equal; floats differ by `tolerance` times the greatest value at most."""
    assert got.shape == want.shape, f"{name}: {got.shape} instead of {want.shape}"
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want.astype(got.dtype), name)
        return
    greatest = float(np.abs(want).max(initial=1e-6))
    np.testing.assert_allclose(wide(got), want, rtol=0, atol=tolerance * greatest, err_msg=name)


def wide(x: np.ndarray) -> np.ndarray:
    """Floats in 64 bits, integers and bools as they are."""
    return x.astype(WIDE.get(x.dtype.kind, x.dtype))


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> np.ndarray:
    """Random numbers near 1, integers from -50 (or 0) to 50, bools."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.random(shape) > 0.5)
    if kind in "iu":
        return rng.integers(-50 if kind == "i" else 0, 50, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if kind == "c" else x).astype(dtype)


def pick(rng: np.random.Generator, values: Sequence[Any]) -> Any:
    """One of the values, of whatever type they are."""
    return values[int(rng.integers(len(values)))]


def _leaves(value: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in adze.tree.leaves(value)]
