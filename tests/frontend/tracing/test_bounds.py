"""Named dimensions with bounds: how they are written, and the checks that a program gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.frontend.tracing.specs import SpecError
from adze.runtime.artifact.signature import Bounds


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("n: 1..1024, %8", Bounds(1, 1024, 8)),
        ("n:3..", Bounds(3, None, 1)),
        (" n : 0 .. 7 ", Bounds(0, 7, 1)),
        ("n: %4", Bounds(0, None, 4)),
        ("n: 5..5", Bounds(5, 5, 1)),
    ],
)
def test_bounds_are_read(text: str, bounds: Bounds) -> None:
    (name,) = ShapeDtype((text,)).shape
    assert name == "n" and name.bounds == bounds  # type: ignore[union-attr]
    assert ShapeDtype((f"n: {bounds}",)).shape[0].bounds == bounds  # type: ignore[union-attr]
    for size in range(20):
        legal = size >= bounds.least and size <= (bounds.most or 99) and size % bounds.multiple_of == 0
        assert (size in bounds) == legal
        assert bounds.near(size) in bounds


@pytest.mark.parametrize("text", ["n:", "n: 2..1", "n: %0", "n: a", "1: 1..2", "n: 1..2 %8", "n: -1..2", ":"])
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(adze.AdzeError):
        ShapeDtype((text,))


def test_the_ir_checks_them() -> None:
    """For hosts that know nothing of manifests; a function from kept IR has them too."""
    text = adze.trace(lambda x: x + 1, ShapeDtype(("n: 2..6, %2",))).mlir("simplified")
    assert "message = \"adze: dimension 'n' (axis 0 of 'x') must be 2..6, %2\"" in text


def test_one_name_has_one_bound() -> None:
    added = adze.trace(lambda x, y: x + y, ShapeDtype(("n: 1..4",)), ShapeDtype(("n: 1..4",)))
    assert repr(added) == "Traced(lambda(x: f32[n], y: f32[n]) -> (f32[n]))"
    with pytest.raises(adze.AdzeError, match=r"dimension 'n' has two bounds: 1..4 and 1..5"):
        adze.trace(lambda x, y: x + y, ShapeDtype(("n: 1..4",)), ShapeDtype(("n: 1..5",)))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (adze.vmap(np.tanh), "f32[4,n]"),
        (adze.vmap(lambda row: row + 1, in_axes=1, out_axes=1), "f32[4,n]"),
        (adze.vmap(adze.vmap(lambda e: e * 2)), "f32[4,n]"),
        (adze.vmap(adze.grad(lambda row: (row * row).sum())), "f32[4,n]"),
        (lambda x: adze.jit(lambda y: y * 2)(x), "f32[4,n]"),
        (lambda x: adze.vmap(lambda row: row[:, None] * row)(x), "f32[4,n,n]"),
    ],
)
def test_results_of_nested_functions_keep_the_names(function: Any, expected: str) -> None:
    traced = adze.trace(function, ShapeDtype((4, "n")))
    assert repr(traced).endswith(f"-> ({expected}))")


def test_other_sizes_are_expressions() -> None:
    traced = adze.trace(adze.vmap(lambda row: row[1:]), ShapeDtype((4, "n")))
    assert repr(traced).endswith("-> (f32[4,max(n - 1, 0)]))")
    traced = adze.trace(lambda x: x[1:], ShapeDtype((None,)))
    assert repr(traced).endswith("-> (f32[?]))")


def test_an_argument_has_no_expression() -> None:
    with pytest.raises(SpecError) as caught:
        adze.trace(lambda x: x, ShapeDtype(("2*n",)))
    text = str(caught.value)
    assert "argument 'x' has dimension '2*n', expected an integer, a name or None" in text
    assert "test_bounds.py" in text and "give the dimension a name of its own" in text
    with pytest.raises(SpecError, match="'n\\+n' is not a dimension"):
        ShapeDtype(("n+n",))
