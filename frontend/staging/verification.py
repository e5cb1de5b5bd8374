"""A program against its own adze IR: compiled code on one side, NumPy op by op on the other.

Input: a loaded program that keeps its IR, and arguments for it, or a seed to draw some. Output: for each
result the largest error over all calls. The error of a float is relative to the largest finite magnitude of
its array (so that cancellation in one element is no failure); integers, bools, NaN and infinities are equal
or wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import BFLOAT16, BOOL, FLOAT16, FLOAT32, INEXACT
from ...runtime.artifact.signature import ArraySpec, FunctionSignature
from ..errors import ArgumentError
from .artifacts import LoadedProgram

LARGEST_ERROR: Final = {BFLOAT16: 5e-2, FLOAT16: 1e-2, FLOAT32: 1e-4, np.dtype(np.complex64): 1e-4}
"""What compiled code may differ by; 1e-10 for float64 and complex128."""

LARGEST_SIZE: Final = 8
"""Of a named dimension where none is asked for."""


@dataclass(frozen=True)
class Agreement:
    """How far one result was off at most, and whether that is within what is allowed."""

    result: ArraySpec
    error: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether the result is right."""
        return self.error <= self.allowed


def drawn(
    signature: FunctionSignature, samples: int, seed: int, sizes: Mapping[str, int]
) -> Iterator[list[np.ndarray]]:
    """Arguments for `samples` calls, the same for equal seeds.

    Floats are standard normal numbers, integers 0 to 4, bools fair. The first call has named dimensions of
    1, the others of up to `LARGEST_SIZE`, unless `sizes` says what they are.
    """
    generator = np.random.default_rng(seed)
    names = dict.fromkeys(n for spec in signature.inputs for n in spec.shape if isinstance(n, str))
    for position in range(samples):
        most = 1 if position == 0 else LARGEST_SIZE
        chosen = {name: int(generator.integers(1, most + 1)) for name in names}
        chosen |= {name: bounds.near(chosen[name]) for name, bounds in signature.bounds.items()}
        chosen |= sizes
        yield [_array(generator, spec, chosen) for spec in signature.inputs]


def _array(generator: np.random.Generator, spec: ArraySpec, sizes: Mapping[str, int]) -> np.ndarray:
    shape = tuple(sizes[n] if isinstance(n, str) else 2 if n is None else n for n in spec.shape)
    if spec.dtype == BOOL:
        return np.asarray(generator.random(shape) < 0.5)
    if spec.dtype not in INEXACT:
        return np.asarray(generator.integers(0, 5, shape)).astype(spec.dtype)
    numbers = np.asarray(generator.standard_normal(shape))
    if spec.dtype.kind == "c":
        return np.asarray(numbers + 1j * generator.standard_normal(shape)).astype(spec.dtype)
    return numbers.astype(spec.dtype)


def compare(
    program: LoadedProgram, calls: Sequence[Sequence[np.ndarray]], allowed: float | None = None
) -> list[Agreement]:
    """The agreement of each result over all `calls`, each a list of leaves in the order of the inputs.

    Raises `ArgumentError` for a program that keeps no IR.
    """
    reference = program.differentiable()
    signature = program.manifest.signatures[0]
    if reference.signature != signature:
        raise ArgumentError(
            f"{signature.name}() has to do with the state of its program: its numbers are compared "
            "as those of a function of the state",
            hint=f"adze transform FILE --function {signature.name} --keep-ir -o NEW, then verify NEW",
        )
    errors = [0.0] * len(signature.outputs)
    for leaves in calls:
        expected = reference.leaves_of(leaves)
        actual = program.leaves_of(leaves)
        for n, (a, e) in enumerate(zip(actual, expected, strict=True)):
            errors[n] = max(errors[n], error_of(np.asarray(a), np.asarray(e)))
    return [
        Agreement(spec, error, _allowed(spec.dtype, allowed))
        for spec, error in zip(signature.outputs, errors, strict=True)
    ]


def _allowed(dtype: np.dtype, asked: float | None) -> float:
    if dtype not in INEXACT:
        return 0.0
    return asked if asked is not None else LARGEST_ERROR.get(dtype, 1e-10)


def error_of(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest finite magnitude; infinite where one is wrong."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float("inf")
    if actual.dtype not in INEXACT:
        return 0.0 if np.array_equal(actual, expected) else float("inf")
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    finite = np.isfinite(e)
    if not _same_outside(a[~finite], e[~finite]) or not np.isfinite(a[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    difference = float(np.abs(a[finite] - e[finite]).max())
    return difference / max(float(np.abs(e[finite]).max()), float(np.finfo(np.float32).tiny))


def _same_outside(actual: Any, expected: Any) -> bool:
    """Whether values that are no finite numbers are the same: both NaN, or the same infinity."""
    if np.iscomplexobj(actual):
        parts = [(actual.real, expected.real), (actual.imag, expected.imag)]
        return all(np.array_equal(a, e, equal_nan=True) for a, e in parts)
    return bool(np.array_equal(actual, expected, equal_nan=True))
