"""Folds that compute their operands, and folds done together: which do, and that the results are the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import FLOAT32, TensorType
from adze.passes.lower.tuning import configuration
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ...random_programs import random_program
from ...selection import part
from .programs import Compiled, build, lowered_text
from .test_random_programs import check

WIDE, SMALL = (256, 512), (16, 32)


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def repeated(b: Any, x: Any, like: Any, axis: int) -> Any:
    return b.broadcast_in_dim(x, shape=b.sizes(like), dimensions=(axis,))


def centred(b: Any, x: Any, gain: Any) -> Any:
    """Squares and weighted sums of what is left of each row without its sum."""
    rest = b.sub(x, repeated(b, b.reduce_sum(x, axes=(1,)), x, 0))
    scaled = b.mul(rest, repeated(b, gain, x, 1))
    return (
        b.reduce_sum(b.mul(rest, rest), axes=(1,)),
        b.reduce_sum(b.neg(scaled), axes=(1,)),
        b.reduce_sum(scaled, axes=(0,)),
        b.reduce_sum(b.mul(scaled, rest), axes=(0,)),
    )


def shared_exponential(b: Any, x: Any) -> Any:
    e = b.exp(x)
    return b.reduce_sum(b.mul(e, e), axes=(1,)), b.reduce_max(b.mul(e, x), axes=(0,))


def returned(b: Any, x: Any) -> Any:
    y = b.mul(x, x)
    return y, b.reduce_sum(b.sub(y, x), axes=(0,))


def stretched(b: Any, x: Any) -> Any:
    """The operand is read nowhere along the axis that is summed over."""
    row = b.reshape(b.reduce_max(x, axes=(0,)), shape=(1, b.tensor_type(x).shape[1]))
    y = b.mul(*(b.broadcast_in_dim(row, shape=b.tensor_type(x).shape, dimensions=(0, 1)) for _ in range(2)))
    return b.reduce_sum(y, axes=(0,)), b.reduce_sum(b.mul(x, y), axes=(1,))


def positions(b: Any, x: Any) -> Any:
    shape = b.tensor_type(x).shape
    here = b.convert(b.iota(shape=shape, axis=0, dtype=np.dtype(np.int32)), dtype=FLOAT32)
    there = b.convert(b.iota(shape=shape, axis=1, dtype=np.dtype(np.int32)), dtype=FLOAT32)
    return b.reduce_sum(b.mul(x, b.sub(here, there)), axes=(0,))


def many_at_once(b: Any, x: Any) -> Any:
    folds = [b.reduce_sum(x, axes=(1,)), b.reduce_max(x, axes=(1,)), b.reduce_min(x, axes=(1,))]
    return (*folds, b.reduce_prod(x, axes=(1,)), b.reduce_sum(b.mul(x, x), axes=(1,)))


# Other folds than these are compiled by `make test-all`.
QUICK = ("centred", "returned", "many_at_once")
EVERY: dict[str, Any] = {
    "centred": (centred, (f32(*WIDE), f32(WIDE[1]))),
    "shared_exponential": (shared_exponential, (f32(*WIDE),)),
    "returned": (returned, (f32(*WIDE),)),
    "stretched": (stretched, (f32(*WIDE),)),
    "positions": (positions, (f32(*WIDE),)),
    "many_at_once": (many_at_once, (f32(*WIDE),)),
}
run = Compiled({name: EVERY[name] for name in part([*EVERY], QUICK)})


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def agree(name: str, arguments: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> None:
    for got, want in zip(run(name, *arguments), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * float(np.abs(want).max()))


def test_results_are_those_of_the_ops_one_by_one() -> None:
    x, gain = drawn(*WIDE), drawn(WIDE[1])
    wide = x.astype(np.float64)
    rest = wide - wide.sum(1, keepdims=True)
    scaled = rest * gain
    folds = ((rest**2).sum(1), -scaled.sum(1), scaled.sum(0), (scaled * rest).sum(0))
    agree("centred", (x, gain), folds)
    agree("returned", (x,), (wide**2, (wide**2 - wide).sum(0)))
    near_one = (1 + x / 100).astype(np.float32)
    one = near_one.astype(np.float64)
    agree("many_at_once", (near_one,), (one.sum(1), one.max(1), one.min(1), one.prod(1), (one**2).sum(1)))


@pytest.mark.thorough
def test_results_of_other_folds_are_those_of_the_ops_one_by_one() -> None:
    x = drawn(*WIDE)
    wide = x.astype(np.float64)
    e = np.exp(wide)
    agree("shared_exponential", (x,), ((e * e).sum(1), (e * wide).max(0)))
    row = wide.max(0) ** 2
    agree("stretched", (x,), (WIDE[0] * row, (wide * row).sum(1)))
    distance = np.arange(WIDE[0])[:, None] - np.arange(WIDE[1])
    agree("positions", (x,), ((wide * distance).sum(0),))


def large_elementwise(text: str) -> int:
    """How many elementwise ops write an array of the large shape."""
    shape = "x".join(map(str, WIDE))
    generics = re.findall(r"linalg\.generic.*?\n    \} -> ([^\n]*)", text, re.DOTALL)
    return sum(shape in result for result in generics)


def test_what_only_folds_read_is_not_written() -> None:
    text = lowered_text(centred, f32(*WIDE), f32(WIDE[1]))
    assert large_elementwise(text) == 0
    assert "compute_barrier" not in text


def test_folds_of_one_array_are_one_op_unless_one_needs_the_other() -> None:
    text = lowered_text(centred, f32(*WIDE), f32(WIDE[1]))
    folds = re.findall(r"%\d+(:\d)? = linalg\.generic [^\n]*\"reduction\"", text)
    assert folds == ["", ":2", ":2"]  # the row sums, what is left of the rows, the columns


def test_a_size_that_shows_at_the_call_counts_as_many() -> None:
    text = lowered_text(centred, f32(None, 512), f32(512))
    assert re.findall(r"%\d+(:\d)? = linalg\.generic [^\n]*\"reduction\"", text) == ["", ":2", ":2"]


def test_only_few_folds_are_done_at_once() -> None:
    text = lowered_text(many_at_once, f32(*WIDE))
    assert re.findall(r"%\d+(:\d)? = linalg\.generic [^\n]*\"reduction\"", text) == [":4", ""]


def test_an_exponential_is_computed_once() -> None:
    text = lowered_text(shared_exponential, f32(*WIDE))
    assert large_elementwise(text) == 1


def test_a_column_fold_reads_what_is_written_anyway() -> None:
    text = lowered_text(returned, f32(*WIDE))
    assert text.count("arith.mulf") == 1
    assert text.count("compute_barrier") == 1


def test_tiles_stay_with_the_fold() -> None:
    """A constant or an axis of size 1 among the operands would cost them: IREE rewrites such an op."""
    text = lowered_text(stretched, f32(*WIDE))
    folds = [line for line in text.splitlines() if '"reduction"' in line]
    assert all("tensor<1x512" not in line and "dense<" not in line for line in folds)
    assert "compilation_info" in folds[-1]


@pytest.mark.parametrize(
    ("types", "target"),
    [
        ((f32(*SMALL), f32(SMALL[1])), "cpu"),
        ((f32(None, 8), f32(8)), "cpu"),
        ((f32(*WIDE), f32(WIDE[1])), "vulkan:ampere"),
    ],
    ids=["small", "narrow", "vulkan"],
)
def test_what_is_left_to_iree(types: tuple[TensorType, ...], target: str) -> None:
    module, _ = build({"main": (centred, types)})
    lower(module, parse_target(target))
    assert not re.search(r"%\d+:\d = linalg\.generic", str(module))


@pytest.mark.thorough
@pytest.mark.parametrize("simplified", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_random_programs_of_arrays_that_count_as_large(
    monkeypatch: pytest.MonkeyPatch, simplified: bool, thorough: bool
) -> None:
    monkeypatch.setattr(configuration, "LARGE", 2)
    check([random_program(5000 + seed) for seed in range(20 if thorough else 2)], simplified)
