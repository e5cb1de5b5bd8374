"""Gather, scatter and dynamic slices: forms, order, far indices, and the caller's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects.dialect import BY_NAME
from adze.dialects.errors import TypeCheckError
from adze.dialects.types import FLOAT32, INT32, INT64, TensorType, storage
from adze.passes.analysis.evaluate import evaluate
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ..programs import Compiled, build, lowered_text

ROWS = 4096


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def i64(*shape: int | None) -> TensorType:
    return TensorType(shape, INT64)


def gathering(mode: str = "clip", **changes: Any) -> dict[str, Any]:
    """Attributes of a gather of rows of eight."""
    attributes = {
        "offset_dims": (1,),
        "collapsed_slice_dims": (0,),
        "start_index_map": (0,),
        "operand_batching_dims": (),
        "start_indices_batching_dims": (),
        "slice_sizes": (1, 8),
        "mode": mode,
        "fill_value": storage(np.asarray(-1, FLOAT32)),
    }
    return {**attributes, **changes}


def scattering(kind: str, mode: str = "drop", window: tuple[int, ...] = (), **changes: Any) -> dict[str, Any]:
    """Attributes of a scatter along axis 0."""
    attributes = {
        "kind": kind,
        "update_window_dims": window,
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "operand_batching_dims": (),
        "scatter_indices_batching_dims": (),
        "mode": mode,
        "unique_indices": False,
        "indices_are_sorted": False,
    }
    return {**attributes, **changes}


def scatter(kind: str, mode: str = "drop", window: tuple[int, ...] = ()) -> Any:
    return lambda b, x, indices, updates: b.scatter(x, indices, updates, **scattering(kind, mode, window))


def scatter_computed(b: Any, x: Any, indices: Any, updates: Any) -> Any:
    return b.scatter(b.add(x, x), b.add(indices, indices), b.neg(updates), **scattering("add"))


def updated_and_old(b: Any, x: Any, update: Any, start: Any) -> Any:
    view = b.reshape(b.broadcast_in_dim(x, shape=(4, 4), dimensions=(0, 1)), shape=(16,))
    return b.dynamic_update_slice(view, update, start), x


def scattered_and_old(b: Any, x: Any, indices: Any, updates: Any) -> Any:
    return b.scatter(x, indices, updates, **scattering("add")), x


run = Compiled(
    {
        "rows": (lambda b, x, i: b.gather(x, i, **gathering()), (f32(10, 8), i64(5, 1))),
        "rows_or_fill": (lambda b, x, i: b.gather(x, i, **gathering("fill")), (f32(10, 8), i64(5, 1))),
        "set": (scatter("set"), (f32(100), i64(ROWS, 1), f32(ROWS))),
        "add": (scatter("add"), (f32(100), i64(ROWS, 1), f32(ROWS))),
        "add_rows": (scatter("add", window=(1,)), (f32(10, 8), i64(ROWS, 1), f32(ROWS, 8))),
        "add_dynamic": (scatter_computed, (f32(None), i64(None, 1), f32(None))),
        "clip": (scatter("set", "clip"), (f32(100), i64(ROWS, 1), f32(ROWS))),
        "slice_and_old": (updated_and_old, (f32(4, 4), f32(2), TensorType((), INT32))),
        "scatter_and_old": (scattered_and_old, (f32(16), i64(3, 1), f32(3))),
    }
)
FAR = np.array([[0], [10**12], [-(10**12)], [9], [2**62]])


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy of `array` at an address that a device may import as it is."""
    memory = np.zeros(array.nbytes + 64, np.uint8)
    offset = -memory.ctypes.data % 64
    copy = memory[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Many duplicate indices, some out of range, and updates whose sum depends on their order."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(-5, 105, (ROWS, 1))
    updates = (rng.standard_normal(ROWS) * 10.0 ** rng.integers(-6, 7, ROWS)).astype(np.float32)
    return indices, updates


def test_far_indices_are_clipped_or_filled() -> None:
    x = np.arange(80, dtype=np.float32).reshape(10, 8)
    assert run("rows", x, FAR)[0][:, 0].tolist() == [0, 72, 0, 72, 72]
    assert run("rows_or_fill", x, FAR)[0][:, 0].tolist() == [0, -1, -1, 72, -1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8"])
def test_places_of_any_width_in_arrays_of_named_sizes(dtype: str) -> None:
    def taken(x: Any, rows: Any, i: Any) -> Any:
        filled = xp.take(x, i, mode="fill", fill_value=-7)
        along = xp.take_along_axis(rows, xp.broadcast_to(i, (rows.shape[0], i.shape[0])), axis=1, mode="clip")
        return filled, xp.take(x, i, mode="clip") * 2, along

    limits = np.iinfo(dtype)
    places = np.array([0, 1, 4, 5, 6, -1, -5, -6, limits.min, limits.max, limits.max - 3] * 7)
    places = places[(places >= limits.min) & (places <= limits.max)].astype(dtype)
    specs = [adze.ShapeDtype(s, t) for s, t in ((("n",), "f4"), (("b", "n"), "f4"), (("k",), dtype))]
    traced = adze.trace(taken, *specs)
    compiled = traced.lower().compile()
    for size in (1, 5, 300):
        x = np.arange(size, dtype=np.float32)
        arrays = [x, np.stack([x, x + 0.5]), places]
        expected = evaluate(traced.program.module, traced.program.symbol, arrays)
        for found, wanted in zip(compiled(*arrays), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, f"{dtype} in {size}")


def test_of_duplicates_the_last_one_wins() -> None:
    indices, updates = drawn()
    x = np.zeros(100, np.float32)
    expected = x.copy()
    for (i,), u in zip(indices, updates, strict=True):
        if 0 <= i < 100:
            expected[i] = u
    assert run("set", x, indices, updates)[0].tolist() == expected.tolist()
    clipped = x.copy()
    clipped[np.clip(indices[:, 0], 0, 99)] = updates
    assert run("clip", x, indices, updates)[0].tolist() == clipped.tolist()


def test_duplicates_are_added_in_order_to_the_last_bit() -> None:
    indices, updates = drawn(1)
    x = np.ones(100, np.float32)
    expected = x.copy()
    for (i,), u in zip(indices, updates, strict=True):
        if 0 <= i < 100:
            expected[i] += u
    assert run("add", x, indices, updates)[0].tolist() == expected.tolist()


def test_rows_are_added_in_order_and_dropped_whole() -> None:
    indices, updates = drawn(2)
    rows = np.outer(updates, np.arange(1, 9)).astype(np.float32)
    expected = np.zeros((10, 8), np.float32)
    for (i,), row in zip(indices, rows, strict=True):
        if 0 <= i < 10:
            expected[i] += row
    assert run("add_rows", np.zeros((10, 8), np.float32), indices, rows)[0].tolist() == expected.tolist()


def test_scatter_operands_of_dynamic_size_may_be_computed() -> None:
    """IREE 3.13 refuses ("unbounded stack allocations") what computes them fused into the scatter."""
    x, updates = np.arange(6, dtype=np.float32), np.array([1, 2, 3], np.float32)
    indices = np.array([[1], [1], [7]])
    assert run("add_dynamic", x, indices, updates)[0].tolist() == [0, 2, 1, 6, 8, 10]


def test_the_callers_arrays_and_later_uses_keep_their_values() -> None:
    """IREE 3.13 writes into arguments (issue 16168 there); `ownership.owned` is the fence."""
    x = aligned(np.ones((4, 4), np.float32))
    new, old = run("slice_and_old", x, np.array([7, 8], np.float32), np.array(3, np.int32))
    assert new.tolist() == [1, 1, 1, 7, 8, *[1] * 11]
    assert (old == 1).all() and (x == 1).all()
    flat = aligned(np.ones(16, np.float32))
    new, old = run("scatter_and_old", flat, np.array([[0], [0], [5]]), np.array([1, 2, 3], np.float32))
    assert new.tolist() == [4, 1, 1, 1, 1, 4, *[1] * 10]
    assert (old == 1).all() and (flat == 1).all()


def test_whole_rows_are_gathered_as_rows_and_others_are_not() -> None:
    types, target = (f32(10, 8), i64(5, 1)), "cpu:x86-64-v3"  # for AArch64: see the test of every size
    rows = lowered_text(lambda b, x, i: b.gather(x, i, **gathering()), *types, target=target)
    assert "iree_linalg_ext.gather" in rows
    narrow = gathering(slice_sizes=(1, 4))
    parts = lowered_text(lambda b, x, i: b.gather(x, i, **narrow), *types, target=target)
    assert "iree_linalg_ext.gather" not in parts and "tensor.extract" in parts


def test_rows_are_gathered_by_elements_for_vulkan() -> None:
    """IREE 3.13 has no code for its own gather there: "failed to get lowering configuration"."""
    module, _ = build({"main": (lambda b, x, i: b.gather(x, i, **gathering()), (f32(10, 8), i64(5, 1)))})
    lower(module, parse_target("vulkan:lavapipe"))
    assert "iree_linalg_ext.gather" not in str(module) and "tensor.extract" in str(module)


@pytest.mark.parametrize(
    ("attributes", "indices", "text"),
    [
        (gathering(offset_dims=()), i64(5, 1), "offset axes"),
        (gathering(slice_sizes=(1, 9)), i64(5, 1), "do not fit into f32"),
        (gathering(slice_sizes=(2, 8)), i64(5, 1), "slice size 2 of collapsed or batching axis 0 must be 1"),
        (gathering(), i64(5, 2), "the index vector has 2 entries"),
        (gathering(), i64(), "their last axis is the index vector"),
        (gathering(start_index_map=(2,)), i64(5, 1), "start_index_map 2 is out of range"),
        (gathering(fill_value=np.zeros(3, np.float32)), i64(5, 1), "fill_value must be 0-d"),
    ],
)
def test_dimension_numbers_that_do_not_fit_are_refused(
    attributes: dict[str, Any], indices: TensorType, text: str
) -> None:
    with pytest.raises(TypeCheckError, match=text):
        BY_NAME["gather"].infer(f32(10, 8), indices, **attributes)


def test_updates_that_do_not_fit_are_refused() -> None:
    infer = BY_NAME["scatter"].infer
    with pytest.raises(TypeCheckError, match="have a window that does not fit"):
        infer(f32(10, 8), i64(5, 1), f32(5, 9), **scattering("set", window=(1,)))
    with pytest.raises(TypeCheckError, match=r"ask for updates of shape \(5, 8\)"):
        infer(f32(10, 8), i64(5, 1), f32(4, 8), **scattering("set", window=(1,)))
    with pytest.raises(TypeCheckError, match="kind 'add' is not defined for i1"):
        kind = TensorType((4,), np.dtype(np.bool_))
        infer(kind, i64(5, 1), kind.with_shape((5,)), **scattering("add"))


NUMBERS = [
    ((1, 2), (0,), (0,), (1, 6, 7), (4, 1), ((), ())),
    ((2,), (0, 1), (0, 1), (1, 1, 7), (4, 2, 2), ((), ())),
    ((0, 2), (0,), (2, 0), (1, 3, 2), (4, 2), ((), ())),
    ((0, 2), (1,), (1,), (5, 1, 7), (4, 1), ((), ())),
    ((0, 1, 2), (), (0, 1, 2), (2, 3, 4), (3,), ((), ())),
    ((2,), (1,), (1,), (1, 1, 7), (5, 4, 1), ((0,), (0,))),
    ((2,), (1,), (1,), (1, 1, 3), (4, 5, 1), ((0,), (1,))),
]


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("offset", "collapsed", "start_map", "sizes", "shape", "batching"),
    [*NUMBERS[::2], *(pytest.param(*row, marks=pytest.mark.thorough) for row in NUMBERS[1::2])],
)
def test_gather_and_scatter_agree_with_jax(
    offset: Any, collapsed: Any, start_map: Any, sizes: Any, shape: Any, batching: Any
) -> None:
    lax = pytest.importorskip("jax").lax
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (5, 6, 7)).astype(np.int32)
    indices = rng.integers(-2, 9, shape).astype(np.int32)
    numbers = lax.GatherDimensionNumbers(offset, collapsed, start_map, *batching)
    attributes = gathering(
        offset_dims=offset,
        collapsed_slice_dims=collapsed,
        start_index_map=start_map,
        operand_batching_dims=batching[0],
        start_indices_batching_dims=batching[1],
        slice_sizes=sizes,
        fill_value=np.asarray(7, np.int32),
    )
    for mode in ("clip", "fill"):
        ours = BY_NAME["gather"].evaluate(x, indices, **{**attributes, "mode": mode})
        theirs = lax.gather(x, indices, numbers, sizes, mode=mode, fill_value=7)
        assert np.array_equal(ours, np.asarray(theirs))
    updates = rng.integers(-5, 6, ours.shape).astype(np.int32)
    numbers = lax.ScatterDimensionNumbers(offset, collapsed, start_map, *batching)
    renamed = {
        "update_window_dims": offset,
        "inserted_window_dims": collapsed,
        "scatter_dims_to_operand_dims": start_map,
        "operand_batching_dims": batching[0],
        "scatter_indices_batching_dims": batching[1],
    }
    for kind in ("add", "mul", "min", "max"):
        for mode, theirs_mode in (("drop", "fill"), ("clip", "clip")):
            ours = BY_NAME["scatter"].evaluate(x, indices, updates, **scattering(kind, mode, **renamed))
            theirs = getattr(lax, f"scatter_{kind}")(x, indices, updates, numbers, mode=theirs_mode)
            assert np.array_equal(ours, np.asarray(theirs)), (kind, mode)


@pytest.mark.parametrize("size", [100, 999])
def test_rows_of_every_size_are_gathered_for_aarch64(size: int) -> None:
    """IREE refused the vectors that its gather of rows made of 100, 500 or 1000 elements."""
    table, rows = adze.ShapeDtype((1000, size), np.float32), adze.ShapeDtype((50,), np.int32)
    adze.trace(lambda table, rows: table[rows], table, rows).lower("cpu:aarch64").compile()
