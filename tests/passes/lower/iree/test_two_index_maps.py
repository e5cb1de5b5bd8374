"""Values that IREE would fuse wrongly: the results are right, and IREE is still wrong without the barrier."""

from __future__ import annotations

import numpy as np
import pytest

import adze
import adze.lax as lax
import adze.numpy as anp
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

from ....selection import quick_first

X = np.random.default_rng(0).normal(size=(4, 3))
KERNEL = np.array([2, -1, 0.5, 3], np.float32)

UNGUARDED = """
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x3xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %s : tensor<4xf32>, tensor<4xf32>) outs(%e2 : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""


def outer_sum(x):  # type: ignore[no-untyped-def]
    s = anp.sum(x, axis=1)
    return s[:, None] + s


def outer_product_of_exponentials(x):  # type: ignore[no-untyped-def]
    e = anp.exp(anp.max(x, axis=1))
    return e[:, None] * e[None, :]


def row_sums_and_largest_column_sum(x):  # type: ignore[no-untyped-def]
    s = anp.sum(x, axis=1)
    return anp.broadcast_to(s[:, None], (4, 4)), anp.max(anp.broadcast_to(s, (4, 4)))


def gram_of_sums(x):  # type: ignore[no-untyped-def]
    s = anp.sum(x, axis=1, keepdims=True)
    return s @ s.T


def gram_and_its_transpose(x):  # type: ignore[no-untyped-def]
    g = x @ x.T
    return g - 2 * g.T


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dtype", quick_first([np.float32, np.int32, np.float64], 2))
def test_reduction_read_in_two_ways_is_right(dtype: type) -> None:
    def everything(x):  # type: ignore[no-untyped-def]
        return (
            outer_sum(x),
            gram_and_its_transpose(x),
            *row_sums_and_largest_column_sum(x),
            gram_of_sums(x),
            *((outer_product_of_exponentials(x),) if dtype is not np.int32 else ()),
        )

    x = (X * 10).astype(dtype)
    compiled = adze.jit(everything)(x)
    eager = everything(x)
    for got, want in zip(compiled, eager, strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5)


def test_softmax_needs_no_barrier() -> None:
    from adze import nn

    text = adze.jit(nn.softmax).trace(X.astype(np.float32)).mlir("linalg")
    assert "compute_barrier" not in text


def test_iree_still_needs_the_barrier() -> None:
    """When this fails IREE has been mended, and `passes/lower/iree/two_index_maps.py` can go."""
    x = X.astype(np.float32)
    compiled = compile_bytecode(UNGUARDED.encode(), parse_target("cpu"))
    (result,) = Executable(compiled.vmfb).call("main", [x])
    s = x.sum(axis=1)
    assert not np.allclose(result.numpy(), s[:, None] + s)


@pytest.mark.parametrize("dtype", quick_first([np.float32, np.complex64, np.float64], 2))
def test_two_updates_of_one_constant_do_not_share_a_buffer(dtype: type) -> None:
    def updates(u, v):  # type: ignore[no-untyped-def]
        zeros = anp.zeros((4, 3), dtype)
        results = []
        for part in (u, v):
            results.append(lax.dynamic_update_slice(zeros, part, (1, 0)))
            results.append(lax.pad(part, dtype(0), ((1, 1, 1), (0, 0, 0))))
            results.append(lax.pad(part, dtype(0), ((1, 1, 0), (0, 0, 0))))
            results.append(zeros.at[1].set(part[0]))
        return results

    u = np.ones((2, 3), dtype)
    function = adze.jit(updates)
    for _ in range(2):  # a second call would see what the first wrote into a constant
        for got, want in zip(function(u, 2 * u), updates(u, 2 * u), strict=True):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_two_padded_arrays_do_not_share_a_buffer() -> None:
    """IREE filled one array for both, and wrote the second one's elements into memory that nobody had set."""

    def padded(x, y):  # type: ignore[no-untyped-def]
        of_x = anp.pad(x, 3), anp.pad(-x, 3), anp.convolve(x, KERNEL), anp.convolve(-x, 2 * KERNEL)
        dilated = [
            lax.conv_general_dilated(image[None, None], KERNEL[None, None], (1,), [(1, 1)], lhs_dilation=(3,))
            for image in (y, -y)
        ]
        return *of_x, *dilated

    x, y = adze.ShapeDtype(("n",), np.complex64), adze.ShapeDtype((9,), np.complex128)
    compiled = adze.trace(padded, x, y).lower().compile()
    for size in (1, 3, 4, 9) * 2:
        other = np.random.default_rng(size).normal(size=(2, 9))
        arguments = other[0, :size].astype(np.complex64), other[0] + 1j * other[1]
        for got, want in zip(compiled(*arguments), padded(*arguments), strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-5)


@pytest.mark.thorough
def test_updates_of_a_value_that_is_read_elsewhere_leave_it_alone() -> None:
    def updates(x):  # type: ignore[no-untyped-def]
        y = anp.cumsum(x, axis=1)
        scattered = y.at[:, anp.array([2, 0, 2])].min(y)
        moved = lax.dynamic_update_slice(y, y[1:3], (0, 0))
        values, positions = lax.top_k(y, 3)
        return y, scattered, moved, values, lax.dynamic_update_slice(positions, positions[:1], (3, 0))

    x = X.astype(np.float32)
    for got, want in zip(adze.jit(updates)(x), updates(x), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


def test_reverse_and_gather_of_a_strided_slice_compile() -> None:
    def function(x):  # type: ignore[no-untyped-def]
        part = x[:, ::2]
        return part[::-1], part[:, ::-1], part[:, anp.array([1, 0, 1])], x[anp.array([3, 1])][::-1]

    for got, want in zip(adze.jit(function)(X), function(X), strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dtype", quick_first([np.complex64, np.bool_, np.float32, np.complex128], 2))
def test_moving_and_gathering_wide_rows_compiles(dtype: type) -> None:
    def function(x):  # type: ignore[no-untyped-def]
        return anp.transpose(x, (1, 0, 2)), x[::-1], x[0][anp.array([2, 0])]

    x = np.random.default_rng(0).integers(0, 2, (3, 4, 32)).astype(dtype)
    for got, want in zip(adze.jit(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_short_programs_that_were_once_refused() -> None:
    def function(x):  # type: ignore[no-untyped-def]
        one = lax.slice(anp.cumsum(x)[:1], (0,), (1,), (2,))
        empty = anp.zeros((0, 3), np.complex128)
        return *lax.top_k(one, 1), anp.sum(empty), empty.T @ empty

    x = np.arange(4, dtype=np.float32)
    for got, want in zip(adze.jit(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_a_value_that_is_used_twice_at_each_step_is_followed_once() -> None:
    """Were each way through the steps kept, there would be 2**60 of them."""

    def steps(x):  # type: ignore[no-untyped-def]
        x = x @ x
        for _ in range(60):
            x = 0.5 * anp.concatenate([x[1:], x[:1]]) + anp.pad(x[2:], ((0, 2), (0, 0)))
        return x

    marked = adze.trace(steps, adze.ShapeDtype((4, 4), "float32")).mlir("mark-barriers")
    assert marked.count("adze.barrier") == 1
