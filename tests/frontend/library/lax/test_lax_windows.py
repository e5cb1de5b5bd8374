"""`adze.lax`: reductions and windows by any function, transposed convolutions, shorter floats, beside jax."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects.errors import AdzeError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 5, 4)).astype(np.float32)
N = RANDOM.integers(1, 9, (4, 6)).astype(np.int32)


def same(ours: Any, theirs: Any, tolerance: float = 0.0) -> None:
    result, expected = np.asarray(ours), np.asarray(theirs)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def log_add(module: Any) -> Any:
    return lambda x, y: module.logaddexp(x, y)


@pytest.mark.parametrize("axes", [(0,), (1, 2), (2, 0), (0, 1, 2), ()])
def test_reduce(axes: tuple[int, ...]) -> None:
    for name, start in (("add", 0.0), ("max", -np.inf), ("mul", 1.0)):
        ours = lax.reduce(X, np.float32(start), getattr(lax, name), axes)
        same(ours, jax.lax.reduce(X, np.float32(start), getattr(jax.lax, name), axes), 1e-5)
    ours = lax.reduce(X, np.float32(-np.inf), log_add(adze.numpy), axes)
    same(ours, jax.lax.reduce(X, np.float32(-np.inf), log_add(jax.numpy), axes), 1e-5)


def test_reduce_keeps_the_order_and_starts_with_the_initial_value() -> None:
    """Keeping the first is associative and does not commute."""
    for n in (1, 2, 5, 8):
        x = np.arange(1, n + 1, dtype=np.int32)
        assert int(lax.reduce(x, 0, lambda a, b: adze.numpy.where(a == 0, b, a), (0,))) == 1
        assert int(lax.reduce(x, 0, lambda a, b: adze.numpy.where(b == 0, a, b), (0,))) == n
    assert int(lax.reduce(np.zeros(0, np.int32), 7, lax.add, (0,))) == 7
    same(lax.reduce(N, np.int32(0), lax.bitwise_xor, (1,)), np.bitwise_xor.reduce(N, 1))


WINDOWS: dict[str, tuple[Any, ...]] = {
    "pooling": ((1, 2, 2), (1, 2, 2), "VALID"),
    "same": ((1, 3, 3), (1, 2, 1), "SAME"),
    "padded": ((2, 5, 1), (1, 1, 1), ((1, 0), (2, 3), (0, 0))),
    "dilated": ((1, 2, 3), (1, 1, 1), "VALID", (1, 2, 3), (1, 2, 2)),
    "dilated same": ((1, 3, 2), (1, 2, 1), "SAME", (1, 2, 1), (1, 2, 2)),
    "of seven": ((1, 7, 1), (1, 1, 1), ((0, 0), (3, 3), (0, 0))),
    "none fits": ((4, 1, 1), (1, 1, 1), "VALID"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window(name: str) -> None:
    for function, start in (("add", 0.0), ("max", -np.inf), ("mul", 1.0)):
        ours = lax.reduce_window(X, start, getattr(lax, function), *WINDOWS[name])
        theirs = jax.lax.reduce_window(X, np.float32(start), getattr(jax.lax, function), *WINDOWS[name])
        same(ours, theirs, 1e-5)
    ours = lax.reduce_window(X, -np.inf, log_add(adze.numpy), *WINDOWS[name])
    theirs = jax.lax.reduce_window(X, np.float32(-np.inf), log_add(jax.numpy), *WINDOWS[name])
    same(ours, theirs, 1e-5)


TRANSPOSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "same": ((2, 5, 6, 3), (3, 3, 3, 4), {"strides": (2, 2), "padding": "SAME"}),
    "valid": ((2, 5, 6, 3), (3, 2, 3, 4), {"strides": (2, 3), "padding": "VALID"}),
    "wide strides": ((1, 4, 3), (2, 3, 5), {"strides": (4,), "padding": "SAME"}),
    "pairs": ((1, 4, 3), (3, 3, 5), {"strides": (2,), "padding": [(1, 2)]}),
    "dilated": ((1, 6, 3), (3, 3, 5), {"strides": (2,), "padding": "SAME", "rhs_dilation": (2,)}),
    "transposed kernel": (
        (1, 4, 4, 3),
        (3, 3, 5, 3),
        {"strides": (2, 2), "padding": "SAME", "transpose_kernel": True},
    ),
    "layouts": (
        (2, 3, 5, 6),
        (3, 4, 3, 3),
        {"strides": (2, 2), "padding": "SAME", "dimension_numbers": ("NCHW", "IOHW", "NCHW")},
    ),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name: str) -> None:
    image, kernel, options = TRANSPOSED[name]
    x, k = RANDOM.normal(size=image).astype(np.float32), RANDOM.normal(size=kernel).astype(np.float32)
    same(lax.conv_transpose(x, k, **options), jax.lax.conv_transpose(x, k, **options), 1e-4)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (5, 2), (11, 52), (8, 23)])
def test_reduce_precision(dtype: str, bits: tuple[int, int]) -> None:
    wide = np.concatenate(
        [RANDOM.normal(size=300) * 10.0 ** RANDOM.integers(-12, 12, 300), [0, np.inf, np.nan]]
    )
    with jax.enable_x64(True), np.errstate(over="ignore"):
        x = np.asarray(jax.numpy.asarray(np.concatenate([wide, -wide]), dtype))
        expected = np.asarray(jax.lax.reduce_precision(x, *bits))
    result = np.asarray(lax.reduce_precision(x, *bits))
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def test_the_slope_of_a_rounding_is_that_of_the_identity() -> None:
    assert float(adze.grad(lambda x: lax.reduce_precision(x, 5, 3) ** 2)(1.03)) == 2 * 1.0


def test_products_sorts_and_pieces() -> None:
    y = RANDOM.normal(size=(3, 4, 2)).astype(np.float32)
    same(lax.batch_matmul(X, y), jax.lax.batch_matmul(X, y), 1e-5)
    for ours, theirs in zip(
        lax.sort_key_val(N, 2 * N), jax.lax.sort_key_val(jax.numpy.asarray(N), 2 * N), strict=True
    ):
        same(ours, theirs)
    for ours, theirs in zip(lax.split(X, (2, 0, 3), 1), jax.lax.split(X, (2, 0, 3), 1), strict=True):
        same(ours, theirs)
    same(lax.index_in_dim(X, -1, 1), X[:, -1:])
    same(lax.index_in_dim(X, 2, 1, keepdims=False), X[:, 2])


@pytest.mark.thorough
def test_compiled_with_gradients() -> None:
    def loss(module: Any, numpy: Any, x: Any, image: Any, kernel: Any) -> Any:
        pooled = module.reduce_window(x, np.float32(0), lambda a, b: a + b, *WINDOWS["same"])
        total = module.reduce(x, np.float32(-np.inf), log_add(numpy), (0, 2))
        spread = module.conv_transpose(image, kernel, (2,), "SAME")
        return numpy.sum(pooled**2) + numpy.sum(total**2) + numpy.sum(spread**2)

    image = RANDOM.normal(size=(1, 4, 3)).astype(np.float32)
    kernel = RANDOM.normal(size=(3, 3, 2)).astype(np.float32)
    ours = adze.jit(adze.grad(lambda *a: loss(lax, adze.numpy, *a), (0, 1, 2)))(X, image, kernel)

    # Of jax's reduce only the reductions that it knows have derivatives, so its logsumexp stands in.
    def expected(x: Any, image: Any, kernel: Any) -> Any:
        pooled = jax.lax.reduce_window(x, 0.0, jax.lax.add, *WINDOWS["same"])
        total = jax.nn.logsumexp(x, axis=(0, 2))
        spread = jax.lax.conv_transpose(image, kernel, (2,), "SAME")
        return (pooled**2).sum() + (total**2).sum() + (spread**2).sum()

    for result, theirs in zip(ours, jax.grad(expected, (0, 1, 2))(X, image, kernel), strict=True):
        same(result, theirs, 1e-3)


def largest_and_place(numpy: Any) -> Any:
    """The larger of two pairs of a value and its position."""

    def combine(x: Any, y: Any) -> Any:
        return numpy.where(x[0] >= y[0], x[0], y[0]), numpy.where(x[0] >= y[0], x[1], y[1])

    return combine


@pytest.mark.oracle
@pytest.mark.parametrize("axes", [(0,), (2, 0), (0, 1, 2)])
def test_a_reduction_of_several_arrays(axes: tuple[int, ...]) -> None:
    places = np.arange(X.size, dtype=np.int32).reshape(X.shape)
    starts = np.float32(-np.inf), np.int32(-1)

    def both(module: Any, numpy: Any) -> list[Any]:
        combine = largest_and_place(numpy)
        windows = module.reduce_window((X, places), starts, combine, (2, 3, 1), (1, 2, 1), "SAME")
        return [*module.reduce((X, places), starts, combine, axes), *windows]

    for ours, theirs in zip(both(lax, adze.numpy), both(jax.lax, jax.numpy), strict=True):
        same(ours, theirs)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: lax.reduce((X, X), 0.0, lax.add, (0,)),
            "reduce takes arrays of one shape and an initial value for each, got f32[3,5,4], f32[3,5,4] and",
        ),
        (
            lambda: lax.reduce(X, 0.0, lambda a, b: (a + b)[None], (0,)),
            "the function that reduces must return a scalar of its dtype for each operand, it returns",
        ),
        (
            lambda: lax.reduce_window(X, 0.0, lax.add, (2, 2), (1, 1), "VALID"),
            "window_dimensions is (2, 2), expected 3 positive integers, one an axis of f32[3,5,4]",
        ),
        (
            lambda: lax.reduce_window(X, 0.0, lax.add, (1, 2, 2), (1, 1, 1), "FULL"),
            "reduce_window: padding is 'FULL', expected 'SAME', 'SAME_LOWER', 'VALID' or pairs of integers",
        ),
        (
            lambda: lax.conv_transpose(X, X, (2,), "LOW"),
            "conv_transpose: padding is 'LOW', expected 'SAME', 'VALID' or pairs of integers",
        ),
        (
            lambda: lax.conv_transpose(X, X, (2,), "SAME", dimension_numbers=3),
            "conv_transpose: dimension_numbers is 3 for f32[3,5,4], expected three layouts",
        ),
        (lambda: lax.reduce_precision(N, 5, 3), "reduce_precision takes floats, got i32[4,6]"),
        (lambda: lax.reduce_precision(X, 0, 3), "expected at least 1 exponent bit"),
        (lambda: lax.split(X, (2, 2), 1), "split: the sizes (2, 2) do not add up to axis 1 of f32[3,5,4]"),
        (lambda: lax.index_in_dim(X, 5, 1), "index 5 is out of range for axis 1 of f32[3,5,4]"),
        (lambda: lax.batch_matmul(X, N), "batch_matmul takes arrays of one rank, at least 2"),
        (
            lambda: adze.trace(
                lambda x: lax.reduce(x, 0.0, lambda a, b: a + b, (0,)), adze.ShapeDtype(("n",), np.float32)
            ),
            "reduce: the size n must be known while tracing",
        ),
        (
            lambda: adze.trace(
                lambda x: lax.conv(x, np.ones((2, 1, 3), np.float32), (2,), "SAME"),
                adze.ShapeDtype((4, 1, "n"), np.float32),
            ),
            "conv_general_dilated: how much padding 'SAME' is depends on the dynamic size n, since",
        ),
    ],
)
def test_misuse_says_what_was_expected(call: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.thorough
def test_padding_that_keeps_the_size_needs_not_know_it() -> None:
    """With stride 1: a convolution and its gradient, and a maximum of windows over the other axes."""
    image = np.linspace(-1, 1, 2 * 3 * 7, dtype=np.float32).reshape(2, 3, 7)
    kernel = np.linspace(1, -1, 4 * 3 * 3, dtype=np.float32).reshape(4, 3, 3)

    def loss(x: Any) -> Any:
        return (lax.conv(x, kernel, (1,), "SAME_LOWER") ** 3).sum()

    def highest(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 2, 1), (1, 2, 1), "SAME")

    for function, shape in ((adze.grad(loss), (2, 3, "n")), (highest, ("n", 3, "m"))):
        compiled = adze.trace(function, adze.ShapeDtype(shape, np.float32)).lower().compile()
        np.testing.assert_allclose(compiled(image), function(image), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [3, "n"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_gradients_of_a_convolution_without_positions_are_zeros(stride: int, count: int | str) -> None:
    """The window is larger than the image: IREE was given an image of another size, if it is strided."""
    kernel = np.ones((3, 3, 2, 4), np.float32)

    def loss(x: Any, k: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        return (
            lax.conv_general_dilated(x, k, (stride, stride), "VALID", dimension_numbers=numbers) ** 2
        ).sum()

    spec = adze.ShapeDtype((count, 2, 1, 2), np.float32), adze.ShapeDtype(kernel.shape, np.float32)
    compiled = adze.trace(adze.grad(loss, argnums=(0, 1)), *spec).lower().compile()
    x = np.ones((3, 2, 1, 2), np.float32)
    for got, like in zip(compiled(x, kernel), (x, kernel), strict=True):
        np.testing.assert_array_equal(got, np.zeros_like(like))


def test_a_compiled_convolution_without_positions_is_a_product() -> None:
    def function(module: Any, x: Any, kernel: Any) -> Any:
        return module.tanh(module.conv_general_dilated(x, kernel, (), ()) + 1)

    x = RANDOM.normal(size=(3, 64)).astype(np.float32)
    kernel = RANDOM.normal(size=(32, 64)).astype(np.float32)
    same(adze.jit(lambda *a: function(lax, *a))(x, kernel), function(jax.lax, x, kernel), 1e-4)
    ours = adze.jit(adze.grad(lambda *a: function(lax, *a).sum(), argnums=1))(x, kernel)
    same(ours, jax.grad(lambda *a: function(jax.lax, *a).sum(), argnums=1)(x, kernel), 1e-4)
