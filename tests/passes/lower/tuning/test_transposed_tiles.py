"""Tiles of ops that transpose: where they are, and values at every size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.tuning.kernel_sizes import transposed_tiles
from adze.runtime.targets import parse_target

AVX2, AVX512 = parse_target("cpu:x86-64-v3"), parse_target("cpu:x86-64-v4")
TILES = "vector_common_parallel = [4, 4]"


def doubled(x: Any) -> Any:
    return x.T * x.dtype.type(2)


def text(function: Callable[..., Any], *shapes: Any, target: Any = AVX2) -> str:
    return adze.trace(function, *map(adze.ShapeDtype, shapes)).at_stage("kernels", target)


def test_tiles_are_of_both_loops_along_memory() -> None:
    assert TILES in (transposed_tiles(AVX2, [401, 513], {0, 1}) or "")
    of_three = transposed_tiles(AVX2, [50, 41, 100], {0, 2}) or ""
    assert "vector_common_parallel = [4, 1, 4]" in of_three
    assert "distribution = [64, 1, 64]" in of_three


@pytest.mark.parametrize(
    ("target", "sizes"),
    [
        (AVX2, [512, 384]),  # which blocks divide
        (AVX2, [3, 20_000]),  # with too few rows
        (AVX2, [30, 31]),  # with too few elements
        (AVX512, [401, 513]),  # which does what is left under masks
    ],
)
def test_other_transposes_keep_their_tiles(target: Any, sizes: list[int]) -> None:
    assert transposed_tiles(target, sizes, {0, 1}) is None


def test_only_what_divides_into_fours_has_no_rest() -> None:
    assert "enable_loop_peeling" not in (transposed_tiles(AVX2, [404, 516], {0, 1}) or "")
    assert "enable_loop_peeling" in (transposed_tiles(AVX2, [404, 513], {0, 1}) or "")
    assert "enable_loop_peeling" in (transposed_tiles(AVX2, [404, -1], {0, 1}) or "")


def test_which_kernels_have_the_tiles() -> None:
    for shape in ((513, 401), ("n", 32), ("n", "m")):
        assert TILES in text(doubled, shape)
    assert TILES in text(lambda x, y: x + y.T, (513, 401), (401, 513))
    assert TILES not in text(doubled, (512, 384))
    assert TILES not in text(doubled, (513, 401), target=AVX512)
    assert TILES not in text(lambda x, y: x + y, (513, 401), (513, 401))


CASES: tuple[tuple[Callable[..., Any], tuple[tuple[int, ...], ...]], ...] = (
    (doubled, ((67, 131),)),
    (doubled, ((9, 1001),)),
    (lambda x, y, z: x.T + y - z[:, None], ((67, 131), (67,), (131,))),
    (lambda x, y: xp.where(x > y.T, x, y.T), ((67, 131), (131, 67))),
    (lambda x: x.transpose(0, 2, 1) + x.dtype.type(1), ((5, 33, 70),)),
    (lambda x: x.transpose(2, 1, 0) + x.dtype.type(1), ((50, 13, 21),)),
    (lambda x: x.transpose(0, 3, 1, 2) + x.dtype.type(1), ((3, 17, 19, 12),)),
    (lambda x: (x.T > 1, (x.T + x.T).astype(np.float32)), ((67, 131),)),
)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_values(case: int, dtype: str) -> None:
    function, shapes = CASES[case]
    if dtype == "bool" and case not in (3, 7):
        function, shapes = (lambda x: ~x.T), shapes[:1]
    rng = np.random.default_rng(case)
    arrays = [rng.integers(0, 9 if dtype != "bool" else 2, shape) for shape in shapes]
    arrays = [array.astype(getattr(ml_dtypes, dtype, dtype)) for array in arrays]
    if len(arrays[0].shape) != 2 and dtype == "bool":
        return
    results = zip(*map(_leaves, (adze.jit(function)(*arrays), function(*arrays))), strict=True)
    for got, want in results:
        np.testing.assert_array_equal(got, want)


def _leaves(results: Any) -> list[np.ndarray]:
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_values_of_named_sizes(dtype: Any) -> None:
    """Of no rows, of fewer than a block has, and of several workgroups."""

    def several(x: Any, y: Any) -> Any:
        return doubled(x), x + y.T, (x[:, None] + x[None]).transpose(2, 0, 1) * x.dtype.type(3)

    specs = adze.ShapeDtype(("n", "m"), dtype), adze.ShapeDtype(("m", "n"), dtype)
    program = adze.trace(several, *specs).lower("cpu").compile()
    rng = np.random.default_rng(4)
    for n, m in ((0, 3), (3, 0), (1, 1), (2, 5), (4, 4), (7, 9), (8, 64), (65, 63), (130, 67)):
        x, y = (rng.integers(0, 9, shape).astype(dtype) for shape in ((n, m), (m, n)))
        for got, want in zip(program(x, y), several(x, y), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"{n} {m}")
