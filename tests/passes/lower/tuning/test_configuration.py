"""The place that decides speed: what it says for each target, and what it leaves alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from adze.dialects.ops.contraction.dot_general import DotGeneral
from adze.dialects.ops.elementwise.transcendental import Exp
from adze.dialects.ops.shape.rearrange import Transpose
from adze.dialects.types import BFLOAT16, FLOAT32, FLOAT64, TensorType
from adze.passes.lower.tuning import configuration, conflicts, product_forms
from adze.passes.lower.tuning import hints as tuning_hints
from adze.passes.pipeline import lower
from adze.runtime.execute.devices import cpu_driver_for
from adze.runtime.targets import parse_target
from adze.runtime.threads import usable_cpus

from ..programs import build, lowered_text

AVX512, AVX2, ARM = (parse_target(f"cpu:{name}") for name in ("x86-64-v4", "x86-64-v3", "aarch64"))
VULKAN = parse_target("vulkan:ampere")
MATMUL = ["m", "n", "k"]


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def square(size: int) -> dict[str, int]:
    return {"b": 1, "m": size, "n": size, "k": size}


def matmul(b: Any, x: Any, y: Any) -> Any:
    dtype = b.tensor_type(x).dtype
    return b.dot_general(x, y, contracting=((1,), (0,)), batch=((), ()), dtype=dtype)


def test_rows_are_reduced_whole_and_columns_in_wide_strips() -> None:
    rows = configuration.reduction(AVX512, (2048, 2048), (1,), FLOAT32)
    columns = configuration.reduction(AVX512, (2048, 2048), (0,), FLOAT32)
    assert rows is not None and "vector_reduction = [0, 2049]" in rows
    assert columns is not None and "vector_common_parallel = [128, 0]" in columns
    assert "distribution = [128, 0]" in columns
    # Sums of 40 or 200 columns do not stay in registers; without masks 8 divide 1000, with them 64 need not.
    for target, size, strip in ((AVX2, 1000, "[8, 0]"), (AVX512, 1000, "[64, 0]"), (AVX2, 1003, "[64, 0]")):
        columns = configuration.reduction(target, (1000, size), (0,), FLOAT32)
        assert columns is not None and f"vector_common_parallel = {strip}" in columns
        assert ("enable_loop_peeling" in columns) is (size == 1003)
    ragged = configuration.reduction(AVX512, (2048, 1000), (1,), FLOAT32)
    assert ragged is not None and "vector_reduction = [0, 1001]" in ragged


@pytest.mark.parametrize(
    ("target", "shape", "axes"),
    [
        (VULKAN, (2048, 2048), (1,)),
        (AVX512, (None, 2048), (1,)),
        (AVX512, (2048, 10), (1,)),  # rows shorter than a vector
        (AVX512, (2048, 4097), (1,)),  # long rows that no multiple of a vector divides
        (AVX512, (2048, 33), (0,)),
        (AVX512, (4, 16), (1,)),
    ],
)
def test_reductions_that_are_left_to_iree(target: Any, shape: tuple[Any, ...], axes: tuple[int, ...]) -> None:
    assert configuration.reduction(target, shape, axes, FLOAT32) is None


@pytest.mark.parametrize(
    ("target", "dtype", "tile"),
    [
        (AVX512, FLOAT32, "[8, 32, 0]"),
        (AVX512, FLOAT64, "[8, 16, 0]"),
        (AVX2, FLOAT32, "[4, 16, 0]"),
        (ARM, FLOAT32, "[8, 8, 0]"),
    ],
)
def test_register_tiles_follow_the_registers_of_the_target(target: Any, dtype: np.dtype, tile: str) -> None:
    form = product_forms.matrix_product(target, {**square(512), "m": 16}, "kn", MATMUL, dtype)
    assert form is not None and f"vector_common_parallel = {tile}" in form.tiles


def test_right_operands_are_transposed_or_cut_into_panels() -> None:
    for target, size, panel in ((AVX512, 160, 32), (AVX2, 48, 16)):
        small = product_forms.matrix_product(target, square(size), "nk", MATMUL, FLOAT32)
        large = product_forms.matrix_product(target, square(4 * size), "nk", MATMUL, FLOAT32)
        assert small is not None and small.transpose and small.panel is None
        assert large is not None and large.panel == panel
        assert "vector_reduction = [0, 0, 0, 4]" in large.tiles  # k unrolled


def test_wide_products_are_rounded_to_two_registers() -> None:
    sizes = {"b": 1, "m": 200, "n": 200, "k": 200}
    assert product_forms.matrix_product(AVX2, sizes, "kn", MATMUL, FLOAT32) is None
    larger = product_forms.rounded_product(AVX2, sizes, MATMUL, FLOAT32)
    assert larger is not None and larger["n"] == 208
    tiny = {**sizes, "m": 8, "k": 8}  # whose copies would not repay
    assert product_forms.rounded_product(AVX2, tiny, MATMUL, FLOAT32) is None
    assert product_forms.matrix_product(AVX2, tiny, "kn", MATMUL, FLOAT32) is not None


def test_products_with_vectors_one_after_another_keep_their_tiles() -> None:
    """The vector of each is needed whole for every element of its result, so they never share a kernel."""

    def chain(b: Any, x: Any, y: Any) -> list[Any]:
        for _ in range(2):
            x = b.dot_general(x, y, contracting=((0,), (1,)), batch=((), ()), dtype=FLOAT32)
        return [x]

    module, _ = build({"main": (chain, (f32(64), f32(64, 64)))})
    lower(module, AVX2)
    assert len(re.findall(r"attrs =\s+\{compilation_info", str(module))) == 2


def test_products_that_are_left_to_iree() -> None:
    def form(target: Any, sizes: dict[str, int], dtype: np.dtype = FLOAT32) -> Any:
        return product_forms.matrix_product(target, sizes, "kn", MATMUL, dtype)

    assert form(VULKAN, square(512)) is None
    assert form(AVX512, square(512), np.dtype(np.int32)) is None
    assert form(AVX512, {**square(512), "n": 10}) is None
    assert form(AVX512, {**square(512), "m": 509}) is None


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [((32, 64), FLOAT32, False), ((None, 64), FLOAT32, True), ((64, 64), BFLOAT16, False)],
)
def test_data_tiling_is_for_unknown_sizes(
    shape: tuple[int | None, ...], dtype: np.dtype, expected: bool
) -> None:
    left, right = TensorType(shape, dtype), TensorType((64, 64), dtype)
    module, _ = build({"main": (matmul, (left, right))})
    hints = lower(module, AVX512)
    assert hints.data_tiling is expected
    assert ("compilation_info" in str(module)) is (not expected and dtype != BFLOAT16)  # that has a kernel


def test_a_large_move_is_work_for_threads() -> None:
    def moved(n: int) -> float:
        seen = tuning_hints.estimate_work(Transpose, (f32(n, n),), (f32(n, n),), {"permutation": (1, 0)})
        return tuning_hints.module_hints(AVX512, [seen]).largest_work

    assert cpu_driver_for(moved(512)) == "local-sync"
    if usable_cpus() > 1:
        assert cpu_driver_for(moved(2048)) == "local-task"


def test_functions_of_elements_are_work_that_adds_up_between_products() -> None:
    """They are one kernel: none of them is worth a thread pool here, a chain of them is."""
    exp = tuning_hints.estimate_work(Exp, (f32(256, 256),), (f32(256, 256),), {})
    product = {"contracting": ((1,), (0,)), "batch": ((), ())}
    dot = tuning_hints.estimate_work(DotGeneral, (f32(64, 64), f32(64, 64)), (f32(64, 64),), product)

    def driver(*ops: tuning_hints.OpWork) -> str:
        return cpu_driver_for(tuning_hints.module_hints(AVX512, ops).largest_work)

    assert driver(exp) == "local-sync"
    if usable_cpus() > 1:
        assert driver(*[exp] * 8) == "local-task"
    assert driver(*[exp, dot] * 8) == "local-sync"


def test_hints_count_the_work_of_a_product() -> None:
    attributes = {"contracting": ((1,), (0,)), "batch": ((), ())}
    seen = tuning_hints.estimate_work(DotGeneral, (f32(4, 5), f32(5, 6)), (f32(4, 6),), attributes)
    hints = tuning_hints.module_hints(AVX512, [seen, seen])
    assert (hints.flops, hints.largest_work) == (480, 2 * 4 * (20 + 30 + 24))  # it waits for memory
    hints = tuning_hints.module_hints(AVX512, [seen])
    assert (hints.flops, hints.bytes_moved, hints.is_static) == (240, 4 * (20 + 30 + 24), True)


def test_a_product_with_a_vector_counts_as_little_as_a_sum() -> None:
    attributes = {"contracting": ((1,), (0,)), "batch": ((), ())}
    seen = tuning_hints.estimate_work(DotGeneral, (f32(40, 50), f32(50)), (f32(40),), attributes)
    assert seen.flops == 2000


def test_the_last_reduction_of_a_kernel_decides_about_its_tiles() -> None:
    def centred_squares(b: Any, x: Any) -> Any:
        shape = b.tensor_type(x).shape
        top = b.broadcast_in_dim(b.reduce_max(x, axes=(1,)), shape=shape, dimensions=(0,))
        return b.reduce_sum(b.sub(x, top), axes=(1,))

    def apart(b: Any, x: Any) -> Any:
        return b.reduce_max(x, axes=(1,)), b.reduce_sum(x, axes=(1,))

    def mean_of_sums(b: Any, x: Any) -> Any:
        return b.reduce_sum(b.exp(b.reduce_sum(x, axes=(1,))), axes=(0,))

    assert lowered_text(centred_squares, f32(128, 256)).count("compilation_info =") == 1
    assert lowered_text(apart, f32(128, 256)).count("compilation_info =") == 2
    assert lowered_text(mean_of_sums, f32(128, 256)).count("compilation_info =") == 1


def test_configuration_can_be_stripped() -> None:
    module, _ = build({"main": (matmul, (f32(32, 64), f32(64, 64)))})
    lower(module, AVX512)
    assert "compilation_info" in str(module)
    assert conflicts.drop_tiles(module)
    assert "compilation_info" not in str(module)
    assert not conflicts.drop_tiles(module)


def test_tiles_are_attributes_that_iree_can_read() -> None:
    text = lowered_text(matmul, f32(32, 64), f32(64, 64))
    assert "#iree_cpu.lowering_config" in text
