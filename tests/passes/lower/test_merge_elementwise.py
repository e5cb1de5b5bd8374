"""Long computations of elements are one op each, which is compiled as fast as its length says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.passes.lower import merge_elementwise
from adze.passes.lower.kernels import called_functions
from adze.passes.lower.kernels.loops import build

RANDOM = np.random.default_rng(0)


def numbers(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(dtype)


def chain(x: Any) -> Any:
    for _ in range(40):
        x = anp.tanh(x)
    return x


def of_rows(x: Any, row: Any) -> Any:
    for _ in range(36):
        x = anp.maximum(x * row, 0.1) + row
    return x


def with_several_uses(x: Any) -> Any:
    for _ in range(14):
        x = x * x / (1 + x * x) + anp.exp(-x)
    return x.sum(axis=0), x


def of_integers(x: Any) -> Any:
    for number in range(40):
        x = (x * 31 + number) ^ (x >> 3)
    return x


def of_many_arrays(*arrays: Any) -> Any:
    total = arrays[0]
    for each in arrays[1:]:
        for _ in range(3):
            total = anp.tanh(total + each)
    return total


def with_a_table(x: Any) -> Any:
    table = np.linspace(0, 1, 64, dtype=np.float32)
    for _ in range(40):
        x = anp.tanh(x + table)
    return x


SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42], np.float32)
PROGRAMS = {
    "small": (chain, (numbers(16),)),
    "large": (chain, (numbers(150, 201),)),
    "empty": (chain, (numbers(0, 3),)),
    "one number": (chain, (np.float32(0.3),)),
    "special": (chain, (np.tile(SPECIAL, 5000),)),
    "halves": (chain, (numbers(150, 100, dtype=np.float16),)),
    "doubles": (chain, (numbers(150, 100, dtype=np.float64),)),
    "rows": (of_rows, (numbers(400, 300), numbers(300))),
    "several uses": (with_several_uses, (numbers(200, 100),)),
    "integers": (of_integers, (RANDOM.integers(0, 99, 30000),)),
    "many arrays": (of_many_arrays, tuple(numbers(150, 150) for _ in range(20))),
    "a table": (with_a_table, (numbers(500, 64),)),
}


def leaves(result: Any) -> list[np.ndarray]:
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_merged_ops_compute_what_they_compute_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments = PROGRAMS[name]

    def computed() -> list[np.ndarray]:
        return leaves(adze.trace(function, *arguments).lower("cpu").compile(cache=False)(*arguments))

    merged = computed()
    for module in (merge_elementwise, build):
        monkeypatch.setattr(module, "merge_elementwise", lambda module: 0)
    for one, other in zip(merged, computed(), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def lowered(function: Callable[..., Any], *arguments: np.ndarray) -> Any:
    return adze.trace(function, *arguments).lower("cpu")


@pytest.fixture
def without_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no computation become a kernel that calls its functions."""
    monkeypatch.setattr(called_functions, "FEWEST", 1 << 30)


@pytest.mark.usefixtures("without_calls")
def test_the_chain_of_a_large_array_is_one_op() -> None:
    text = lowered(chain, numbers(150, 201)).mlir()
    assert text.count("linalg.generic") == 1
    assert text.count("call @scalar.tanh") == 40


@pytest.mark.usefixtures("without_calls")
def test_an_op_has_no_more_inputs_than_iree_fuses() -> None:
    text = lowered(of_many_arrays, *PROGRAMS["many arrays"][1]).mlir()
    inputs = re.findall(r"linalg\.generic .* ins\((.*?) :", text)
    assert [len(each.split(",")) for each in inputs] == [9, 12]
