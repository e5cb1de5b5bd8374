"""Derivatives of a function, checked against each other and against differences, on drawn inputs.

Input: a function with the specs of its arguments. Output: the errors of the checks. NumPy evaluates all of
it: no device, nothing compiled.

Idea: with a direction `v` and cotangents `c`, forward mode computes `J v` and reverse mode `c J`, whose
products `<c, J v>` and `<c J, v>` are one number. A central difference along `v` approximates `J v`. Inputs
are taken in 64 bits, where a difference has about nine right digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import INEXACT
from .. import tree
from ..tracing.interpreter import as_value
from ..tracing.specs import BoundedName, ShapeDtype
from ..transforms.differentiation import jvp, vjp
from .derived import Specified

_SIZE: Final = 3
"""Of each named dimension."""
_STEP: Final = 1e-5
_COARSE_STEP: Final = 1e-2
_EXACT_TOLERANCE: Final = {"reverse": 1e-9, "difference": 1e-5}
_COARSE_TOLERANCE: Final = {"reverse": 1e-3, "difference": 1e-1}


@dataclass(frozen=True)
class GradientCheck:
    """The errors of `reverse` against forward mode and of forward mode against a `difference`.

    Both are relative to the lengths of cotangents and tangents. `skipped` says why nothing was checked.
    """

    reverse: float = 0.0
    difference: float = 0.0
    is_coarse: bool = False
    skipped: str | None = None

    def failures(self) -> list[str]:
        """What does not agree, in words."""
        allowed = _COARSE_TOLERANCE if self.is_coarse else _EXACT_TOLERANCE
        pairs = (
            ("reverse", self.reverse, "reverse mode and forward mode"),
            ("difference", self.difference, "forward mode and a difference of values"),
        )
        return [
            f"{what} differ by {error:.2g} of their size: expected at most {allowed[name]:.2g}"
            for name, error, what in pairs
            if not error <= allowed[name]
        ]


def check_gradients(specified: Specified, seed: int = 0) -> GradientCheck:
    """Check the derivatives of a function by all its inputs of floats."""
    leaves, structure = tree.flatten((specified.args, specified.kwargs))
    by = [n for n, leaf in enumerate(leaves) if leaf.dtype in INEXACT]
    if not by:
        return GradientCheck(skipped="no input is of floats")
    # A model of another framework is of the dtypes that it declares, and its check is a coarse one.
    is_typed = getattr(specified.function, "takes_declared_dtypes", False)
    generator = np.random.default_rng(seed)
    for place in (_anywhere, _positive):
        values = [_drawn(generator, leaf, place) for leaf in leaves]

        def call(*chosen: Any, values: Sequence[np.ndarray] = values) -> list[Any]:
            full = list(values)
            for n, value in zip(by, chosen, strict=True):
                full[n] = as_value(value, leaves[n].dtype) if is_typed else value
            args, kwargs = tree.unflatten(structure, full)
            results, _ = tree.flatten(specified.function(*args, **kwargs))
            return [result for result in results if getattr(result, "dtype", None) in INEXACT]

        checked = _checked(call, [values[n] for n in by], generator)
        if checked is not None:
            return checked
    return GradientCheck(skipped="its results are not finite at the inputs that were drawn")


def _checked(
    call: Callable[..., list[Any]], points: list[np.ndarray], generator: np.random.Generator
) -> GradientCheck | None:
    """The check at these points; None where results are not finite there."""
    tangents = [_normal(generator, point) for point in points]
    primals, forward = jvp(call, tuple(points), tuple(tangents))
    values = list(map(np.asarray, primals))
    if not values:
        return GradientCheck(skipped="no result is of floats")
    if not all(np.isfinite(value).all() for value in values):
        return None
    cotangents = [_normal(generator, value) for value in values]
    _, pullback = vjp(call, *points)
    reverse = pullback(list(cotangents))
    is_coarse = any(value.dtype.itemsize < (16 if value.dtype.kind == "c" else 8) for value in values)
    step = _COARSE_STEP if is_coarse else _STEP
    moves = [step * tangent for tangent in tangents]
    ahead, behind = (
        jvp(call, tuple(p + sign * move for p, move in zip(points, moves, strict=True)), tuple(tangents))[0]
        for sign in (1, -1)
    )
    difference = [
        (np.asarray(a).astype(_wide(a)) - np.asarray(b).astype(_wide(b))) / (2 * step)
        for a, b in zip(ahead, behind, strict=True)
    ]
    scale = _length(cotangents) * max(_length(forward), _length(difference)) or 1.0
    along = _product(cotangents, forward)
    return GradientCheck(
        abs(along - _product(reverse, tangents)) / scale,
        abs(along - _product(cotangents, difference)) / scale,
        is_coarse,
    )


def _anywhere(numbers: np.ndarray) -> np.ndarray:
    return numbers


def _positive(numbers: np.ndarray) -> np.ndarray:
    """Inside the domain of logarithms and roots."""
    return np.asarray(np.abs(numbers) / 4 + 0.5)


def _drawn(
    generator: np.random.Generator, spec: ShapeDtype, place: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    shape = tuple(n if isinstance(n, int) else _size_of(n) for n in spec.shape)
    if spec.dtype not in INEXACT:
        return np.asarray(generator.integers(0, 2, shape)).astype(spec.dtype)
    numbers = place(np.asarray(generator.standard_normal(shape)))
    if spec.dtype.kind == "c":
        return np.asarray(numbers + 1j * place(np.asarray(generator.standard_normal(shape))))
    return numbers


def _size_of(name: str | None) -> int:
    """A size that a dimension may have."""
    return name.bounds.near(_SIZE) if isinstance(name, BoundedName) else _SIZE


def _normal(generator: np.random.Generator, like: np.ndarray) -> np.ndarray:
    numbers = np.asarray(generator.standard_normal(like.shape))
    if like.dtype.kind == "c":
        numbers = numbers + 1j * generator.standard_normal(like.shape)
    return np.asarray(numbers.astype(like.dtype))


def _wide(array: Any) -> type:
    return np.complex128 if np.asarray(array).dtype.kind == "c" else np.float64


def _length(arrays: Sequence[Any]) -> float:
    return float(np.sqrt(sum(float((np.abs(np.asarray(a).astype(_wide(a))) ** 2).sum()) for a in arrays)))


def _product(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real part of the product of two lists of arrays, without conjugation, as cotangents are defined."""
    total = 0.0
    for a, b in zip(left, right, strict=True):
        total += float((np.asarray(a).astype(_wide(a)) * np.asarray(b).astype(_wide(b))).sum().real)
    return total
