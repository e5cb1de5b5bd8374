"""Transposes beside a product of matrices disappear into it, and only where nothing else is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.types import FLOAT64, TensorType
from adze.passes.analysis.evaluate import evaluate
from adze.passes.optimize.simplify import simplify

from ..lower.programs import build

NONE: Any = ((), ())
SIZES = {"b": 2, "h": 3, "i": 4, "j": 5, "k": 6, "l": 7}


def product(left: str, right: str, out: str, turned: dict[int, str], final: str) -> Any:
    """The einsum `left, right -> out` of operands transposed from `turned`, itself transposed to `final`."""

    def rule(b: Any, x: Any, y: Any) -> Any:
        given = [x, y]
        for side, lies in turned.items():
            wanted = (left, right)[side]
            given[side] = b.transpose(given[side], permutation=tuple(lies.index(c) for c in wanted))
        shared = [c for c in left if c in right and c in out]
        summed = [c for c in left if c in right and c not in out]
        pairs = [
            tuple(tuple(axes.index(c) for c in group) for axes in (left, right)) for group in (shared, summed)
        ]
        z = b.dot_general(*given, batch=pairs[0], contracting=pairs[1], dtype=FLOAT64)
        return b.transpose(z, permutation=tuple(out.index(c) for c in final))

    return rule


@pytest.mark.parametrize(
    ("left", "right", "out", "turned", "final", "remaining"),
    [
        ("ik", "kj", "ij", {0: "ki"}, "ij", 0),
        ("ik", "kj", "ij", {1: "jk"}, "ij", 0),
        ("ik", "kj", "ij", {0: "ki", 1: "jk"}, "ji", 0),
        ("bik", "bkj", "bij", {1: "bjk"}, "bji", 0),
        ("ikl", "lkj", "ij", {0: "lik", 1: "kjl"}, "ij", 0),
        ("ihk", "jk", "ihj", {}, "jih", 0),
        ("ihk", "jk", "ihj", {0: "khi"}, "ihj", 1),  # the free axes would come out in another order
        ("bik", "bkj", "bij", {0: "ibk"}, "bij", 1),  # the batch is best outermost
        ("bik", "bkj", "bij", {}, "ibj", 1),
        ("ihk", "jk", "ihj", {}, "hij", 1),
    ],
)
def test_transposes_disappear_into_products(
    left: str, right: str, out: str, turned: dict[int, str], final: str, remaining: int
) -> None:
    shapes = [tuple(SIZES[c] for c in turned.get(side, axes)) for side, axes in enumerate((left, right))]
    types = [TensorType(shape, FLOAT64) for shape in shapes]
    module, _ = build({"main": (product(left, right, out, turned, final), types)})
    operands = [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate(shapes)]
    simplify(module)
    names = operations(module)
    assert (names.count("adze.dot_general"), names.count("adze.transpose")) == (1, remaining)
    equation = f"{turned.get(0, left)},{turned.get(1, right)}->{final}"
    np.testing.assert_allclose(evaluate(module, "main", operands)[0], np.einsum(equation, *operands))


def test_a_product_with_another_reader_is_not_made_twice() -> None:
    def rule(b: Any, x: Any, y: Any) -> Any:
        z = b.dot_general(x, y, batch=NONE, contracting=((1,), (0,)), dtype=FLOAT64)
        return b.transpose(z, permutation=(1, 0)), z

    module, _ = build({"main": (rule, [TensorType((3, 4), FLOAT64), TensorType((4, 5), FLOAT64)])})
    simplify(module)
    assert operations(module) == ["adze.dot_general", "adze.transpose", "func.return"]


def operations(module: Any) -> list[str]:
    (function,) = module.body.operations
    return [each.operation.name for each in function.regions[0].blocks[0].operations]
