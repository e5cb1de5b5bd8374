"""Contractions with axes in all orders, einsum, and the derivatives of einsum."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import lax

from ..random_programs import seeds
from ..selection import quick_first
from . import Case, check, drawn, pick, wide

SIZES: Final = {
    "tiles": {"b": 8, "c": 3, "m": 64, "n": 32, "k": 64, "j": 5, "p": 6},
    "odd": {"b": 3, "c": 2, "m": 70, "n": 45, "k": 33, "j": 4, "p": 5},
    "row": {"b": 4, "c": 2, "m": 1, "n": 50, "k": 60, "j": 3, "p": 2},
    "column": {"b": 4, "c": 2, "m": 50, "n": 1, "k": 60, "j": 3, "p": 2},
    "small": {"b": 16, "c": 2, "m": 16, "n": 16, "k": 16, "j": 2, "p": 2},
}
"""Sizes by letter: b and c are batches, k and j are contracted."""
SEVERAL: Final = (
    *(("bmkc", "bnkc"), ("mbkc", "nbkc"), ("bcmk", "bckn"), ("mbck", "bnck"), ("bkmj", "bnkj")),
    *(("mkbj", "bnkj"), ("kbm", "kbn"), ("bmpk", "bnk"), ("mbpk", "knb")),
)
ORDERS: Final = [
    *itertools.product(
        map("".join, itertools.permutations("mk")), map("".join, itertools.permutations("nk"))
    ),
    *itertools.product(
        map("".join, itertools.permutations("bmk")), map("".join, itertools.permutations("bnk"))
    ),
    *SEVERAL,
]
EINSUM_SIZES: Final = (1, 2, 3, 8, 16, 31, 40, 64)
MOST_PRODUCTS: Final = 3_000_000


def product(rng: np.random.Generator, sizes: dict[str, int], left: str, right: str, dtype: str) -> Case:
    """`dot_general` of operands whose axes are in these orders."""
    shared = [c for c in left if c in right]
    contracted = [c for c in shared if c in "kj"]
    batch = [c for c in shared if c in "bc"]
    free = [c for c in left + right if c not in shared]
    numbers = tuple((tuple(map(left.index, of)), tuple(map(right.index, of))) for of in (contracted, batch))
    x, y = (drawn(rng, [sizes[c] for c in letters], dtype) for letters in (left, right))
    return Case(
        f"{left},{right} of {dtype}, {sizes}",
        lambda xp, x, y: lax.dot_general(x, y, numbers),
        (x, y),
        1e-4,
        np.einsum(f"{left},{right}->{''.join(batch + free)}", wide(x), wide(y), optimize=True),
    )


@pytest.mark.parametrize("name", quick_first(list(SIZES), 1))
@pytest.mark.parametrize("number", quick_first(range(7), 1))
def test_products_in_all_orders_of_axes(name: str, number: int) -> None:
    """Every seventh of the orders of axes, of several dtypes."""
    rng, sizes = np.random.default_rng(number), SIZES[name]
    check([product(rng, sizes, left, right, pick(rng, "ffffdF")) for left, right in ORDERS[number::7]])


def einsum(rng: np.random.Generator, with_slopes: bool) -> Case:
    """An einsum of one to three operands, each of some letters in some order."""
    letters = [str(c) for c in rng.permutation(list("abcdefg"))[: rng.integers(2, 6)]]
    sizes = {c: pick(rng, EINSUM_SIZES) for c in letters}
    while np.prod(list(sizes.values())) > MOST_PRODUCTS:
        sizes[pick(rng, letters)] = 2
    operands = [_some(rng, letters, 1, 4) for _ in range(rng.integers(1, 4))]
    result = _some(rng, sorted(set("".join(operands))), 0, 3)
    text, dtype = f"{','.join(operands)}->{result}", pick(rng, "fd" if with_slopes else "fdFi")
    arrays = [drawn(rng, [sizes[c] for c in of], dtype) for of in operands]
    name = f"einsum {text} of {dtype}, {sizes}, {with_slopes=}"
    if not with_slopes:
        return Case(name, lambda xp, *xs: xp.einsum(text, *xs), arrays, 2e-4)
    weights = drawn(rng, [sizes[c] for c in result], dtype)

    def slopes(xp: Any, weights: Any, *xs: Any) -> Any:
        def loss(*xs: Any) -> Any:
            return (xp.einsum(text, *xs) * weights).sum()

        return adze.grad(loss, tuple(range(len(xs))))(*xs)

    want = _slopes(operands, result, sizes, [wide(x) for x in (weights, *arrays)])
    return Case(name, slopes, (weights, *arrays), 1e-3, want)


def _slopes(
    operands: list[str], result: str, sizes: dict[str, int], arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The cotangent of each operand: an einsum of the weights and of the other operands."""
    weights, *xs = arrays
    slopes = []
    for number, of in enumerate(operands):
        ones = [np.ones(sizes[c]) for c in of]
        others = [x for k, x in enumerate(xs) if k != number]
        inputs = ",".join([result, *(o for k, o in enumerate(operands) if k != number), *of])
        slopes.append(np.einsum(f"{inputs}->{of}", weights, *others, *ones, optimize=True))
    return slopes


def _some(rng: np.random.Generator, letters: Sequence[str], least: int, most: int) -> str:
    """Some of the letters, in any order."""
    return "".join(rng.permutation(list(letters))[: rng.integers(least, min(most, len(letters)) + 1)])


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_einsum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([einsum(rng, with_slopes) for with_slopes in (False, False, False, True, True)])
