"""Reductions over any axes, extrema, sorts and cumulatives along any axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from adze import lax

from ..random_programs import seeds
from . import Case, check, drawn, pick

SHAPES: Final = (
    *((40, 70, 90), (64, 33, 48), (7, 300, 65), (513, 129)),
    *((3, 5, 64, 64), (20000,), (2, 3, 4000), (130, 2, 3, 40)),
)
OVER_AXES: Final[dict[str, tuple[str, Callable[..., Any]]]] = {
    "sum": ("fdilFbB?", lambda xp, x, axes, keep: xp.sum(x, axis=axes, keepdims=keep)),
    "extrema": (
        "fdilbB",
        lambda xp, x, axes, keep: (xp.max(x, axis=axes), xp.min(x, axis=axes, keepdims=keep)),
    ),
    "variance": ("fd", lambda xp, x, axes, keep: xp.var(x, axis=axes, keepdims=keep)),
    "standardized": (
        "fd",
        lambda xp, x, axes, keep: (
            (x - xp.mean(x, axis=axes, keepdims=True)) / xp.std(x, axis=axes, keepdims=True)
        ),
    ),
    "any and all": (
        "?",
        lambda xp, x, axes, keep: (xp.any(x, axis=axes), xp.all(x, axis=axes), xp.sum(x, axis=axes)),
    ),
}
"""By name: the dtypes, and the function of a library, an array, axes and whether they stay."""
ALONG_AN_AXIS: Final[dict[str, Callable[..., Any]]] = {
    "positions": lambda xp, x, axis: (xp.argmax(x, axis=axis), xp.argmin(x, axis=axis)),
    "sorted": lambda xp, x, axis: (xp.sort(x, axis=axis), xp.argsort(x, axis=axis, stable=True)),
    "median": lambda xp, x, axis: xp.median(x, axis=axis),
    "running": lambda xp, x, axis: (
        xp.cumsum(x, axis=axis),
        (lax.cummax if xp is not np else np.maximum.accumulate)(x, axis),
    ),
    "backwards": lambda xp, x, axis: (
        np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)
        if xp is np
        else lax.cumsum(x, axis=axis, reverse=True)
    ),
}


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_reductions_over_any_axes(seed: int) -> None:
    rng, cases = np.random.default_rng(seed), []
    for name, (dtypes, function) in OVER_AXES.items():
        shape, dtype, keep = pick(rng, SHAPES), pick(rng, dtypes), bool(rng.integers(2))
        axes = tuple(int(a) for a in rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)])
        cases.append(
            Case(
                f"{name} of {dtype}{shape} over {axes}, {keep=}",
                lambda xp, x, function=function, axes=axes, keep=keep: function(xp, x, axes, keep),
                (drawn(rng, shape, dtype),),
                1e-4,
            )
        )
    check(cases)


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_sorts_and_cumulatives_along_any_axis(seed: int) -> None:
    rng, cases = np.random.default_rng(seed), []
    for name, function in ALONG_AN_AXIS.items():
        shape, dtype = pick(rng, SHAPES), pick(rng, "fil")
        axis = int(rng.integers(len(shape)))
        cases.append(
            Case(
                f"{name} of {dtype}{shape} along {axis}",
                lambda xp, x, function=function, axis=axis: function(xp, x, axis),
                (drawn(rng, shape, dtype),),
                1e-4,
            )
        )
    check(cases)


@pytest.mark.parametrize("shape", [(300_000,), (600, 700), (3, 200, 500)])
def test_a_mask_of_one_element_holds_for_all(shape: tuple[int, ...]) -> None:
    """What a large reduction computes itself may read a single element for all of its loops."""
    rng = np.random.default_rng(0)
    axes = tuple(range(len(shape)))[::-1]
    masks = [np.full((1,) * rank, value) for rank in range(len(shape) + 1) for value in (True, False)]
    cases = []
    for mask in masks:
        for name, function in {
            "sum": lambda xp, x, m: xp.sum(x, axis=axes, where=m),
            "any": lambda xp, x, m: xp.any(x > 2, axis=axes, where=m),
            "maximum": lambda xp, x, m: xp.max(x, axis=0, where=m, initial=-1),
        }.items():
            cases.append(Case(f"{name} {mask}", function, [drawn(rng, shape, "float32"), mask]))
    check(cases)
