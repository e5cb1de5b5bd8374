"""Products of bfloat16 and int8 in groups: every access within bounds, and products as those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze.dialects.types import BFLOAT16, FLOAT32, INT32
from adze.passes.lower.kernels.executable import tensor_sizes
from adze.passes.lower.kernels.group_packing import pack_panels, pack_rows, packed_panels
from adze.passes.lower.kernels.grouped_products import multiply_few_rows, multiply_groups
from adze.passes.lower.tuning.group_tiles import GroupTiles, group_tiles
from adze.passes.lower.tuning.product_tiles import ProductSizes
from adze.runtime.cpu import host_cpu
from adze.runtime.targets import parse_target

from .test_products import dispatches_of, module_with, run_dispatch

RNG = np.random.default_rng(11)
WITH_TILES = "cpu:sapphirerapids"
INSTRUCTIONS = {"bf16": ("tdpbf16ps", BFLOAT16), "i8": ("tdpbssd", np.int8), "ui8": ("tdpbuud", np.uint8)}
OF_TILES = [(GroupTiles(name, 4 // np.dtype(t).itemsize, 32, 2), t) for name, t in INSTRUCTIONS.values()]
OF_VECTORS = [
    (GroupTiles(name, group, 32, 2, t == np.int8, lanes, rows), t)
    for name, group in (("vpdpbusd", 4), ("vpmaddwd", 2))
    for t in (np.int8, np.uint8)
    for lanes, rows in ((8, 4), (16, 8))
]


def given(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Whole numbers, whose sums are exact, with the greatest and the smallest ones of integers."""
    x = RNG.integers(0 if dtype == np.uint8 else -8, 9, shape).astype(dtype)
    if dtype != BFLOAT16 and x.size:
        x.flat[0], x.flat[-1] = np.iinfo(dtype).max, np.iinfo(dtype).min
    return x


def wanted(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left.astype(np.float64) @ right.astype(np.float64)


SIZES = [(1, 16, 32, 64), (2, 9, 17, 33), (1, 33, 5, 70), (1, 70, 40, 1), (2, 2, 65, 128), (1, 48, 100, 96)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("sizes", "t", "dtype"),
    [
        *((sizes, *of) for sizes, of in zip(SIZES, OF_TILES * 2, strict=True)),
        *((sizes, *of) for sizes, of in zip((*SIZES, *SIZES[1:3]), OF_VECTORS, strict=True)),
    ],
    ids=str,
)
@pytest.mark.parametrize("left_along_k", [True, False])
@pytest.mark.parametrize("right_along_k", [True, False])
@pytest.mark.parametrize("is_known", [True, False])
def test_all_accesses_are_within_bounds(
    sizes: tuple[int, ...], t: GroupTiles, dtype: Any, left_along_k: bool, right_along_k: bool, is_known: bool
) -> None:
    b, m, n, k = sizes
    left = given((b, m, k) if left_along_k else (b, k, m), dtype)
    right = given((b, n, k) if right_along_k else (b, k, n), dtype)
    shapes = [x.shape if is_known else (None,) * 3 for x in (left, right)]
    stored = "bf16" if dtype == BFLOAT16 else "i8"

    def body(kernels: Any, values: Any) -> None:
        rows = tensor_sizes(values[0])[1 if left_along_k else 2]
        columns = tensor_sizes(values[1])[1 if right_along_k else 2]
        is_whole = is_known and left_along_k and k % (16 * t.group) == 0 and (m >= 16 or t.is_of_vectors)
        is_whole = is_whole and t.instruction != "vpmaddwd"
        packed = values[0] if is_whole else pack_rows(kernels, values[0], t, along_k=left_along_k)
        panels = pack_panels(kernels, values[1], t, along_k=right_along_k)
        multiply_groups(kernels, packed, panels, t, rows=rows, columns=columns)

    module = module_with(shapes, body, [stored, stored])
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    arrays = dict(zip(main.arguments, (left, right), strict=True))
    # The packing kernels see bits, and what they are passed are arrays of them.
    bits = {**arrays, **{v: x.view(f"i{x.itemsize}") for v, x in arrays.items()}}
    *packing, product = dispatches_of(module)
    for each in packing:
        (arrays[each.results[0]],) = run_dispatch(module, each, {**arrays, **bits})
        bits[each.results[0]] = arrays[each.results[0]]
    assert np.array_equal(arrays[packing[-1].results[0]], packed_panels(right, t, along_k=right_along_k))
    (got,) = run_dispatch(module, product, arrays)
    want = wanted(
        left if left_along_k else left.swapaxes(1, 2), right.swapaxes(1, 2) if right_along_k else right
    )
    assert np.array_equal(got, want)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("sizes", "t", "dtype"),
    [
        (sizes, *of)
        for sizes, of in zip([(1, 7, 290, 70), (2, 20, 64, 64), (1, 32, 33, 130)], OF_TILES, strict=True)
    ],
    ids=str,
)
@pytest.mark.parametrize("right_along_k", [True, False])
def test_few_rows_are_within_bounds(
    sizes: tuple[int, ...], t: GroupTiles, dtype: Any, right_along_k: bool
) -> None:
    b, m, n, k = sizes
    left, right = given((b, m, k), dtype), given((b, n, k) if right_along_k else (b, k, n), dtype)
    stored = "bf16" if dtype == BFLOAT16 else "i8"

    def body(kernels: Any, values: Any) -> None:
        rows = values[0] if k % (16 * t.group) == 0 else pack_rows(kernels, values[0], t, along_k=True)
        multiply_few_rows(kernels, rows, values[1], t, rows=m, along_k=right_along_k)

    module = module_with([left.shape, right.shape], body, [stored, stored])
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    bits = [x.view(f"i{x.itemsize}") for x in (left, right)]
    arrays = dict(zip(main.arguments, bits, strict=True))
    *packing, product = dispatches_of(module)
    for each in packing:
        (arrays[each.results[0]],) = run_dispatch(module, each, arrays)
    (got,) = run_dispatch(module, product, arrays)
    want = wanted(left, right.swapaxes(1, 2) if right_along_k else right)
    got = got.view(np.float32) if dtype == BFLOAT16 else got  # the kernel sees bits
    assert np.array_equal(got, want)


def product(left: int, right: int, batch: int, dtype: Any) -> Any:
    axes = tuple(range(batch))
    numbers = (((batch + left,), (batch + right,)), (axes, axes))
    return lambda x, y: adze.lax.dot_general(x, y, numbers, preferred_element_type=dtype)


@pytest.mark.skipif(
    "amx_int8" not in (host_cpu().features or ()), reason="this processor has no matrix tiles"
)
@pytest.mark.parametrize("element", INSTRUCTIONS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_on_this_processor(element: str, batch: tuple[int, ...]) -> None:
    _, dtype = INSTRUCTIONS[element]
    sums = np.float32 if element == "bf16" else np.int32
    for m, k, n in [(64, 64, 64), (9, 133, 77), (300, 100, 45), (17, 1000, 33), (2, 256, 300), (32, 96, 290)]:
        for left, right in [(1, 0), (0, 0), (1, 1), (0, 1)]:
            x = given((*batch, m, k) if left else (*batch, k, m), dtype)
            y = given((*batch, n, k) if right else (*batch, k, n), dtype)
            got = adze.jit(product(left, right, len(batch), sums))(x, y)
            want = wanted(x if left else x.swapaxes(-1, -2), y.swapaxes(-1, -2) if right else y)
            np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:alderlake", "cpu:icelake-server"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_products_by_vectors(target: str, dtype: Any) -> None:
    if host_cpu().missing(parse_target(target).required_features):
        pytest.skip("this processor lacks something of the target's")
    for m, k, n, left, right in [
        (64, 64, 64, 1, 0),
        (9, 133, 77, 0, 1),
        (300, 100, 45, 1, 1),
        (17, 512, 33, 1, 0),
    ]:
        x, y = given((m, k) if left else (k, m), dtype), given((n, k) if right else (k, n), dtype)
        x.flat[::3], y.flat[::2] = np.iinfo(dtype).min, np.iinfo(dtype).max  # sums that 16 bits do not hold
        lowered = adze.trace(product(left, right, 0, np.int32), x, y).lower(target)
        assert "llvm.call_intrinsic" in lowered.mlir()
        want = wanted(x if left else x.T, y.T if right else y)
        np.testing.assert_array_equal(np.asarray(lowered.compile()(x, y)), want)


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:icelake-server"])
def test_named_sizes_by_vectors(target: str) -> None:
    if host_cpu().missing(parse_target(target).required_features):
        pytest.skip("this processor lacks something of the target's")
    x, y = given((70, 100), np.int8), given((100, 90), np.int8)
    specs = adze.ShapeDtype(("n", "k"), np.int8), adze.ShapeDtype(("k", 90), np.int8)
    program = adze.trace(product(1, 0, 0, np.int32), *specs).lower(target).compile()
    for rows, steps in [(70, 100), (1, 3), (0, 4), (33, 0), (5, 64)]:
        want = wanted(x[:rows, :steps], y[:steps])
        np.testing.assert_array_equal(np.asarray(program(x[:rows, :steps], y[:steps])), want)


@pytest.mark.skipif(
    "amx_int8" not in (host_cpu().features or ()), reason="this processor has no matrix tiles"
)
def test_special_numbers_and_named_sizes_on_this_processor() -> None:
    x, w = given((70, 100), BFLOAT16), given((100, 90), BFLOAT16)
    x[3, 5], x[60, 99], w[7, 11] = np.nan, np.inf, -np.inf
    layers = adze.trace(
        lambda x, w: x @ w, adze.ShapeDtype(("n", "k"), BFLOAT16), adze.ShapeDtype(("k", 90), BFLOAT16)
    )
    program = layers.lower().compile()
    with np.errstate(all="ignore"):
        for rows, steps in [(70, 100), (1, 3), (0, 4), (33, 0), (5, 64)]:
            want = (x[:rows, :steps].astype(np.float32) @ w[:steps].astype(np.float32)).astype(BFLOAT16)
            got = program(x[:rows, :steps], w[:steps])
            np.testing.assert_array_equal(np.asarray(got, np.float32), want.astype(np.float32))


@pytest.mark.parametrize(
    ("target", "dtype", "instruction"),
    [
        (WITH_TILES, BFLOAT16, "tdpbf16ps"),
        (WITH_TILES, np.int8, "tdpbssd"),
        ("cpu:icelake-server", np.int8, "vpdpbusd"),
    ],
    ids=str,
)
def test_constants_are_packed_before_the_program_runs(target: str, dtype: Any, instruction: str) -> None:
    x, w = given((40, 64), dtype), given((64, 90), dtype)
    sums = np.float32 if dtype == BFLOAT16 else np.int32
    text = adze.trace(lambda x: product(1, 0, 0, sums)(x, w), x).lower(target).mlir()
    assert instruction in text
    assert "@kernel_pack_groups" not in text


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:icelake-server"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_products_with_constants(target: str, dtype: Any) -> None:
    if host_cpu().missing(parse_target(target).required_features):
        pytest.skip("this processor lacks something of the target's")
    x, w = given((40, 70), dtype), given((70, 90), dtype)
    w.flat[::2] = np.iinfo(dtype).max
    program = adze.trace(lambda x: product(1, 0, 0, np.int32)(x, w), x).lower(target).compile()
    np.testing.assert_array_equal(np.asarray(program(x)), wanted(x, w))


def test_programs_for_other_machines_compile() -> None:
    x = given((64, 64), BFLOAT16)
    lowered = adze.trace(lambda x: (x @ x, x.T @ x, x @ x.T), x).lower(WITH_TILES)
    assert "tdpbf16ps" in lowered.mlir()
    lowered.compile()


@pytest.mark.parametrize(
    ("target", "sizes", "source", "carried", "is_chosen"),
    [
        (WITH_TILES, (1, 64, 64, 64), BFLOAT16, FLOAT32, True),
        (WITH_TILES, (None, None, 64, None), BFLOAT16, FLOAT32, True),
        (WITH_TILES, (1, 1, 1024, 1024), BFLOAT16, FLOAT32, False),  # a row waits for memory
        (WITH_TILES, (1, 4, 64, 64), BFLOAT16, FLOAT32, False),  # too little work
        (WITH_TILES, (0, 64, 64, 64), BFLOAT16, FLOAT32, False),
        (WITH_TILES, (1, 64, 64, 64), np.dtype(np.float16), FLOAT32, False),
        (WITH_TILES, (1, 64, 64, 64), np.dtype(np.int8), INT32, True),
        (WITH_TILES, (1, 64, 64, 64), np.dtype(np.int8), np.dtype(np.int8), False),
        ("cpu:x86-64-v4", (1, 64, 64, 64), BFLOAT16, FLOAT32, False),
        ("cpu:x86-64-v4", (1, 64, 64, 64), np.dtype(np.int8), INT32, True),
        ("cpu:icelake-server", (1, 2, 1024, 1024), np.dtype(np.uint8), INT32, True),
        ("cpu:x86-64-v3", (1, 2, 1024, 1024), np.dtype(np.int8), INT32, False),  # widening costs more
        ("cpu:x86-64-v3", (1, 4, 1024, 1024), np.dtype(np.int8), INT32, True),
        ("cpu:aarch64", (1, 64, 64, 64), BFLOAT16, FLOAT32, False),
        ("cpu:aarch64", (1, 64, 64, 64), np.dtype(np.int8), INT32, False),
        ("cuda:sm_80", (1, 64, 64, 64), BFLOAT16, FLOAT32, False),
    ],
    ids=str,
)
def test_which_products_are_done_in_groups(
    target: str, sizes: tuple[Any, ...], source: np.dtype, carried: np.dtype, is_chosen: bool
) -> None:
    tiles = group_tiles(parse_target(target), ProductSizes(*sizes), np.dtype(source), carried)
    assert (tiles is not None) == is_chosen
