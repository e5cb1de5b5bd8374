"""Names of `jax.lax` that are compositions or hints, and primitives with attributes, beside JAX's own.

Each row is a function of the module `lax` (`p` in rows of primitives) and of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.lax
import numpy as np
import pytest

import adze
import adze.lax
from adze.frontend.errors import ArgumentError, DtypeError, ShapeError

RANDOM = np.random.default_rng(3)
M = RANDOM.normal(size=(4, 5)).astype(np.float32)
T = RANDOM.normal(size=(3, 4, 5)).astype(np.float32)
V = RANDOM.normal(size=(4, 4, 8)).astype(np.float32)
IMAGE = RANDOM.normal(size=(2, 9, 8, 3)).astype(np.float32)
LOCAL = RANDOM.normal(size=(4, 7, 18, 7)).astype(np.float32)
NHWC = ("NHWC", "HWIO", "NHWC")
ROWS_OF_GROUPS = RANDOM.normal(size=(6, 4)).astype(np.float32)
OF_GROUPS = RANDOM.normal(size=(3, 4, 5)).astype(np.float32)
SIZES = np.array([2, 0, 3], np.int32)
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
WINDOW: dict[str, Any] = {
    "window_dimensions": (2, 2),
    "window_strides": (1, 2),
    "padding": ((0, 1), (1, 0)),
    "base_dilation": (1, 1),
    "window_dilation": (1, 1),
}
Row = Callable[[Any, Any], Any]

PRIMITIVES: dict[str, Row] = {
    "reductions": lambda p, _: (
        p.reduce_sum_p.bind(T, axes=(0, 2), out_sharding=None),
        p.reduce_max_p.bind(T, axes=(1,), out_sharding=None),
        p.argmax_p.bind(T, axes=(1,), index_dtype=I32),
        p.cumsum_p.bind(M, axis=0, reverse=True),
    ),
    "shapes": lambda p, _: (
        p.broadcast_in_dim_p.bind(M, shape=(2, 4, 5), broadcast_dimensions=(1, 2), sharding=None),
        p.concatenate_p.bind(M, M, dimension=0),
        p.transpose_p.bind(M, permutation=(1, 0)),
        p.reshape_p.bind(M, new_sizes=(20,), dimensions=None, sharding=None),
        p.squeeze_p.bind(M[None], dimensions=(0,)),
        p.rev_p.bind(M, dimensions=(0,)),
        p.pad_p.bind(M, np.float32(0), padding_config=((1, 0, 0), (0, 1, 1))),
        p.split_p.bind(M, sizes=(1, 3), axis=0),
        p.iota_p.bind(dtype=I32, shape=(3, 2), dimension=0, sharding=None),
    ),
    "slices": lambda p, _: (
        p.slice_p.bind(M, start_indices=(0, 1), limit_indices=(2, 4), strides=None),
        p.dynamic_slice_p.bind(M, 1, 2, slice_sizes=(2, 2)),
        p.dynamic_update_slice_p.bind(M, np.zeros((2, 2), np.float32), 1, 2),
        p.select_n_p.bind(M > 0, M, -M),
    ),
    "products": lambda p, j: p.dot_general_p.bind(
        *(jax.numpy.asarray(M) if j is jax else M for _ in range(2)),
        dimension_numbers=(((0,), (0,)), ((), ())),
        precision=None,
        preferred_element_type=F32,
        out_sharding=None,
    ),
    "order": lambda p, _: (
        p.sort_p.bind(M, M, dimension=1, is_stable=True, num_keys=1),
        p.top_k_p.bind(M, k=2, axis=1),
    ),
    "windows": lambda p, _: (
        p.reduce_window_sum_p.bind(M, **WINDOW),
        p.reduce_window_max_p.bind(M, **WINDOW),
        p.reduce_window_min_p.bind(M, **WINDOW),
    ),
    "elementwise": lambda p, _: (
        p.integer_pow_p.bind(M, y=3),
        p.reduce_precision_p.bind(M, exponent_bits=5, mantissa_bits=7),
    ),
}
OTHER: dict[str, Row] = {
    "patches": lambda lax, _: (
        lax.conv_general_dilated_patches(
            IMAGE, (3, 2), (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=NHWC
        ),
        lax.conv_general_dilated_patches(np.moveaxis(IMAGE, 3, 1), (3, 2), (2, 1), "VALID"),
    ),
    "local": lambda lax, _: lax.conv_general_dilated_local(
        IMAGE, LOCAL, (2, 1), "VALID", (3, 2), dimension_numbers=NHWC
    ),
    "shape tuples": lambda lax, _: [
        np.array(shape, np.int32)
        for shape in (
            lax.conv_general_shape_tuple((2, 9, 8, 3), (3, 2, 3, 7), (2, 3), "SAME", NHWC),
            lax.conv_transpose_shape_tuple((2, 9, 8, 3), (3, 2, 3, 7), (2, 3), "SAME", NHWC),
            lax.conv_transpose_shape_tuple((2, 9, 8, 3), (3, 2, 3, 7), (2, 3), "VALID", NHWC),
            lax.conv_shape_tuple((4, 3, 9, 8), (6, 3, 3, 2), (2, 1), ((0, 1), (1, 1)), 2),
            lax.reduce_window_shape_tuple((9, 8), (3, 2), (2, 1), ((0, 1), (1, 1)), (2, 1), (1, 2)),
            *lax.conv_general_permutations(NHWC),
            lax.shape_as_value((3, 4)),
        )
    ],
    "ragged": lambda lax, j: (
        lax.ragged_dot(ROWS_OF_GROUPS, OF_GROUPS, SIZES),
        j.grad(lambda x, y: (lax.ragged_dot(x, y, SIZES) ** 2).sum(), (0, 1))(ROWS_OF_GROUPS, OF_GROUPS),
    ),
    "approximate": lambda lax, _: (lax.approx_max_k(M, 2), lax.approx_min_k(M, 2, 0)),
    "all_to_all": lambda lax, j: [
        j.vmap(lambda x, s=s, c=c, t=t: lax.all_to_all(x, "i", s, c, tiled=t), axis_name="i")(V)
        for s, c, t in ((0, 0, False), (0, 1, False), (0, 1, True), (1, 0, True), (1, 1, True))
    ],
    "psum_scatter": lambda lax, j: [
        j.vmap(lambda x, s=s, t=t: lax.psum_scatter(x, "i", scatter_dimension=s, tiled=t), axis_name="i")(V)
        for s, t in ((0, False), (0, True), (1, True))
    ],
    "exchanges": lambda lax, j: j.vmap(
        lambda x: (
            lax.pswapaxes(x, "i", 0),
            lax.pshuffle(x, "i", [2, 0, 1, 3]),
            lax.pbroadcast(x, "i", 2),
        ),
        axis_name="i",
    )(V),
    "others": lambda lax, _: (lax.broadcast_like(M, T), lax.empty((2,), np.float32) * 0, lax.dtype(M).num),
}
ROWS = PRIMITIVES | OTHER


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", ROWS)
def test_a_name_does_what_it_does_in_jax(name: str) -> None:
    ours, theirs = ROWS[name](adze.lax, adze), ROWS[name](jax.lax, jax)
    for mine, wanted in zip(adze.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(wanted), rtol=1e-4, atol=1e-5)
        assert np.asarray(mine).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("name", [*PRIMITIVES, "patches", "local", "ragged", "approximate"])
def test_it_can_be_traced(name: str) -> None:
    eager = adze.tree.leaves(ROWS[name](adze.lax, adze))
    traced = adze.trace(lambda: ROWS[name](adze.lax, adze))
    assert [(t.shape, t.dtype) for t in traced.program.result_types] == [(e.shape, e.dtype) for e in eager]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_mulhi_is_the_upper_half(dtype: str) -> None:
    limits = np.iinfo(dtype)
    edges = np.array([limits.min, limits.max, 0, 1], dtype)
    draw = RANDOM.integers(limits.min, limits.max, size=(2, 20), dtype=dtype, endpoint=True)
    x, y = np.concatenate([draw[0], edges, edges]), np.concatenate([draw[1], edges, edges[::-1]])
    bits = 8 * np.dtype(dtype).itemsize
    expected = [(int(p) * int(q)) >> bits for p, q in zip(x, y, strict=True)]
    assert adze.lax.mulhi(x, y).tolist() == expected
    with pytest.raises(DtypeError, match="mulhi takes integers"):
        adze.lax.mulhi(M, M)


def test_hints_are_accepted_and_checked() -> None:
    lax = adze.lax
    accuracy = lax.Tolerance(atol=1e-3, ulps=1)
    np.testing.assert_array_equal(lax.exp(M, accuracy=accuracy), lax.exp(M))
    np.testing.assert_array_equal(lax.tanh(M, accuracy=lax.AccuracyMode.HIGHEST), lax.tanh(M))
    algorithm = lax.DotAlgorithm(F32, F32, F32)
    for precision in (lax.DotAlgorithmPreset.F32_F32_F32, algorithm):
        np.testing.assert_array_equal(lax.dot(M, M.T, precision=precision), lax.dot(M, M.T))
    assert lax.with_sharding_constraint(M, None) is M
    assert lax.dce_sink(M) is None
    for varied in (lambda x: lax.pcast(x, "i", to="varying"), lambda x: lax.pvary(x, "i")):
        np.testing.assert_array_equal(adze.vmap(varied, axis_name="i")(M), M)
    assert lax.after_all(lax.create_token()).shape == (0,)
    np.testing.assert_array_equal(lax.composite(lambda x: x + 1, "mine")(M), M + 1)
    np.testing.assert_array_equal(lax.platform_dependent(M, default=lambda x: -x, tpu=lambda x: x), -M)
    numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    np.testing.assert_allclose(
        lax.ragged_dot_general(ROWS_OF_GROUPS, OF_GROUPS, SIZES, numbers)[:2],
        ROWS_OF_GROUPS[:2] @ OF_GROUPS[0],
        rtol=1e-5,
    )
    for mistake, error, words in (
        (lambda: lax.Tolerance(atol=-1.0), ArgumentError, "must not be negative"),
        (lambda: lax.approx_max_k(M, 2, recall_target=0.0), ArgumentError, "recall_target is 0.0"),
        (lambda: lax.approx_max_k(M, 2, aggregate_to_topk=False), ArgumentError, "for several devices"),
        (lambda: lax.platform_dependent(M, tpu=lambda x: x), ArgumentError, "only tpu are defined"),
        (lambda: lax.platform_dependent(M), ArgumentError, "got no function"),
        (lambda: lax.after_all(M), ShapeError, "takes tokens"),
        (lambda: lax.ragged_dot(M, M, SIZES, group_offset=1), ArgumentError, "group_offset"),
        (lambda: lax.pcast(M, "i", to="x"), ArgumentError, "expected 'varying'"),
    ):
        with pytest.raises(error, match=words):
            mistake()


def test_groups_along_contracted_and_batched_axes() -> None:
    """The modes of `ragged_dot_general`: one product a group; groups of a batch; sizes for each batch."""
    lax = adze.lax
    x, y = np.arange(24, dtype=F32).reshape(2, 4, 3), np.arange(16, dtype=F32).reshape(2, 4, 2)
    sizes = np.array([[1, 2], [3, 1]], np.int32)
    contracted = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((0,), (0,))), (1,), ())
    result = np.asarray(lax.ragged_dot_general(x, y, sizes, contracted))
    for batch, row in enumerate(sizes):
        ends = np.cumsum(row)
        for group, (first, last) in enumerate(zip(ends - row, ends, strict=True)):
            expected = x[batch, first:last].T @ y[batch, first:last]
            np.testing.assert_array_equal(result[group, batch], expected)
    one = np.asarray(lax.ragged_dot_general(x, y, sizes[0], contracted))
    np.testing.assert_array_equal(one[1, 1], x[1, 1:3].T @ y[1, 1:3])
    batched = lax.RaggedDotDimensionNumbers((((2,), (1,)), ((0,), (0,))), (0,), ())
    other = np.swapaxes(x, 1, 2)
    np.testing.assert_array_equal(lax.ragged_dot_general(x, other, sizes[0], batched), x @ other)
    rows = lax.RaggedDotDimensionNumbers((((2,), (2,)), ((0,), (1,))), (1,), (0,))
    matrices = np.arange(24, dtype=F32).reshape(2, 2, 3, 2)
    result = np.asarray(lax.ragged_dot_general(x, matrices, sizes, rows))
    np.testing.assert_array_equal(result[1, 3], x[1, 3] @ matrices[1, 1])
    np.testing.assert_array_equal(result[0, 3], [0, 0])
    with pytest.raises(ArgumentError, match="the ragged axis 1 wants 0 axes of groups"):
        numbers = lax.RaggedDotDimensionNumbers(contracted.dot_dimension_numbers, (1,), (0,))
        lax.ragged_dot_general(x, y, sizes, numbers)
    with pytest.raises(ShapeError, match="group sizes"):
        lax.ragged_dot_general(x, y, sizes[:, None], contracted)


def test_names_beside_the_primitives() -> None:
    x = np.array([0.5, 1.5, 7.0])
    lax = adze.lax
    np.testing.assert_array_equal(adze.jit(lambda x: lax.stage(x) * 2)(x), x * 2)
    np.testing.assert_allclose(lax.polygamma(np.ones(3), x), jax.lax.polygamma(np.ones(3), x), rtol=1e-5)
