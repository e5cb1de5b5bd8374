"""Thirty programs whose GPU code is watched: what people run on GPUs, at sizes that fill one.

Output: `PROGRAMS`, a name to a function and the specs of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BF16, I8, I32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.int8), np.dtype(np.int32)
N = 1024


@dataclass(frozen=True)
class Program:
    """A function, what it is traced for, and whether it is one of the few of the quick test."""

    function: Callable[..., Any]
    specs: tuple[Any, ...]


def product(a: Any, b: Any) -> Any:
    return a @ b


def wide_product(a: Any, b: Any) -> Any:
    """The sums in 32 bits, of integers in 32 bits too."""
    wider = I32 if np.dtype(a.dtype) == I8 else F32
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=wider)


def gradients_of_product(a: Any, b: Any, cotangent: Any) -> Any:
    return adze.vjp(product, a, b)[1](cotangent)


def split_product(a: Any, b: Any) -> Any:
    """float32 as three products of bfloat16."""
    return xp.matmul(a, b, precision="BF16_BF16_F32_X3")


def softmax(x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Any) -> Any:
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + np.asarray(1e-5, x.dtype))


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = xp.einsum("hqd,hkd->hqk", q, k) * np.asarray(0.125, q.dtype)
    return xp.einsum("hqk,hkd->hqd", softmax(scores), v)


def convolution(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def strided_convolution(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def grouped_convolution(x: Any, w: Any) -> Any:
    """Of four groups."""
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout, feature_group_count=4)


def gradients_of_a_convolution(x: Any, w: Any) -> Any:
    return adze.grad(lambda x, w: xp.sum(convolution(x, w) ** 2), argnums=(0, 1))(x, w)


def gradients_of_a_strided_convolution(x: Any, w: Any) -> Any:
    return adze.grad(lambda x, w: xp.sum(strided_convolution(x, w) ** 2), argnums=(0, 1))(x, w)


def gradients_of_features_first(x: Any, w: Any) -> Any:
    def loss(x: Any, w: Any) -> Any:
        return xp.sum(lax.conv(x, w, (1, 1), "SAME") ** 2)

    return adze.grad(loss, argnums=(0, 1))(x, w)


def gradient_of_attention(q: Any, k: Any, v: Any) -> Any:
    return adze.grad(lambda *a: xp.sum(attention(*a)), argnums=(0, 1, 2))(q, k, v)


def gradients_of_layer_norm(x: Any) -> Any:
    return adze.grad(lambda x: xp.sum(layer_norm(x) ** 3))(x)


def batch_norm(x: Any, scale: Any, offset: Any) -> Any:
    centred = x - xp.mean(x, axis=(0, 1, 2), keepdims=True)
    return (
        centred / xp.sqrt(xp.mean(centred * centred, axis=(0, 1, 2)) + np.asarray(1e-5, x.dtype)) * scale
        + offset
    )


def gradients_of_batch_norm(x: Any, scale: Any, offset: Any) -> Any:
    return adze.grad(lambda *a: xp.sum(batch_norm(*a) ** 3), argnums=(0, 1, 2))(x, scale, offset)


def mlp_loss(parameters: Any, x: Any, y: Any) -> Any:
    w1, b1, w2, b2 = parameters
    hidden = xp.maximum(x @ w1 + b1, np.asarray(0, x.dtype))
    return xp.mean((hidden @ w2 + b2 - y) ** 2)


def mlp_gradient(parameters: Any, x: Any, y: Any) -> Any:
    return adze.grad(mlp_loss)(parameters, x, y)


def transformer_loss(parameters: Any, x: Any) -> Any:
    """One block: attention of four heads, a network of two layers, residuals and norms."""
    wq, wk, wv, wo, w1, w2 = parameters
    tokens, width = x.shape
    normed = layer_norm(x)
    q, k, v = (xp.transpose(xp.reshape(normed @ w, (tokens, 4, -1)), (1, 0, 2)) for w in (wq, wk, wv))
    mixed = xp.reshape(xp.transpose(attention(q, k, v), (1, 0, 2)), (tokens, width))
    x = x + mixed @ wo
    return xp.mean((x + xp.maximum(layer_norm(x) @ w1, np.asarray(0, x.dtype)) @ w2) ** 2)


def transformer_gradient(parameters: Any, x: Any) -> Any:
    return adze.grad(transformer_loss)(parameters, x)


def recurrence(w: Any, xs: Any) -> Any:
    """A scan whose body is a product."""
    return adze.scan(lambda h, x: (xp.tanh(h @ w + x), h), xs[0], xs)


def scatter_add(table: Any, indices: Any, rows: Any) -> Any:
    return table.at[indices].add(rows)


def _mlp(dtype: np.dtype) -> tuple[Any, ...]:
    parameters = tuple(ShapeDtype(shape, dtype) for shape in ((256, 512), (512,), (512, 128), (128,)))
    return parameters, ShapeDtype((128, 256), dtype), ShapeDtype((128, 128), dtype)


def _transformer(dtype: np.dtype, tokens: int = 128, width: int = 256) -> tuple[Any, ...]:
    shapes = (*[(width, width)] * 4, (width, 4 * width), (4 * width, width))
    return tuple(ShapeDtype(shape, dtype) for shape in shapes), ShapeDtype((tokens, width), dtype)


def _any_rows(dtype: np.dtype) -> tuple[Any, ...]:
    return ShapeDtype(("n", N), dtype), ShapeDtype((N, N), dtype), ShapeDtype(("n", N), dtype)


def _of(function: Callable[..., Any], dtype: Any, *shapes: tuple[int, ...]) -> Program:
    return Program(function, tuple(ShapeDtype(shape, dtype) for shape in shapes))


HEADS = ((8, 256, 64),) * 3
IMAGES = (8, 32, 32, 64), (3, 3, 64, 64)
FEATURES_FIRST = (8, 64, 32, 32), (64, 64, 3, 3)
GROUPED = (8, 32, 32, 256), (3, 3, 64, 256)
PROGRAMS: dict[str, Program] = {
    "product_f32": _of(product, F32, (N, N), (N, N)),
    "product_f64": _of(product, F64, (N, N), (N, N)),
    "product_f16": _of(product, F16, (N, N), (N, N)),
    "product_bf16": _of(product, BF16, (N, N), (N, N)),
    "product_f16_sums_f32": _of(wide_product, F16, (N, N), (N, N)),
    "product_bf16_sums_f32": _of(wide_product, BF16, (N, N), (N, N)),
    "product_i8_sums_i32": _of(wide_product, I8, (N, N), (N, N)),
    "product_f32_ragged": _of(product, F32, (1000, 1000), (1000, 1000)),
    "product_f32_split": _of(split_product, F32, (N, N), (N, N)),
    "product_f16_ragged": _of(product, F16, (1000, 1000), (1000, 1000)),
    "product_f16_odd": _of(product, F16, (999, 513), (513, 777)),
    "product_f32_by_vector": _of(product, F32, (4096, 4096), (4096,)),
    "product_f32_by_vector_ragged": _of(product, F32, (1000, 1000), (1000,)),
    "product_f32_of_a_row": _of(product, F32, (1, 4096), (4096, 4096)),
    "product_f16_of_a_row": _of(product, F16, (1, 4096), (4096, 4096)),
    "product_f32_of_few_rows": _of(product, F32, (4, 4096), (4096, 4096)),
    "sums_of_columns_f32": _of(lambda x: xp.sum(x, axis=0), F32, (4096, 4096)),
    "product_f32_any_rows": Program(product, _any_rows(F32)[:2]),
    "product_f16_any_rows": Program(product, _any_rows(F16)[:2]),
    "gradients_f16_any_rows": Program(gradients_of_product, _any_rows(F16)),
    "softmax_f32": _of(softmax, F32, (N, N)),
    "layer_norm_f32": _of(layer_norm, F32, (N, N)),
    "layer_norm_gradient_f32": _of(gradients_of_layer_norm, F32, (N, N)),
    "batch_norm_gradients_f32": _of(gradients_of_batch_norm, F32, (8, 32, 32, 64), (64,), (64,)),
    "attention_f32": _of(attention, F32, *HEADS),
    "attention_f16": _of(attention, F16, *HEADS),
    "attention_gradient_f16": _of(gradient_of_attention, F16, *HEADS),
    "convolution_f32": _of(convolution, F32, *IMAGES),
    "convolution_f16": _of(convolution, F16, *IMAGES),
    "convolution_strided_f32": _of(strided_convolution, F32, *IMAGES),
    "convolution_grouped_f32": _of(grouped_convolution, F32, *GROUPED),
    "convolution_grouped_f16": _of(grouped_convolution, F16, *GROUPED),
    "convolution_gradients_f32": _of(gradients_of_a_convolution, F32, *IMAGES),
    "convolution_strided_gradients_f16": _of(gradients_of_a_strided_convolution, F16, *IMAGES),
    "convolution_gradients_nchw_f32": _of(gradients_of_features_first, F32, *FEATURES_FIRST),
    "convolution_gradients_nchw_f16": _of(gradients_of_features_first, F16, *FEATURES_FIRST),
    "mlp_gradient_f32": Program(mlp_gradient, _mlp(F32)),
    "mlp_gradient_f16": Program(mlp_gradient, _mlp(F16)),
    "transformer_gradient_f32": Program(transformer_gradient, _transformer(F32)),
    "recurrence_f32": _of(recurrence, F32, (128, 128), (32, 64, 128)),
    "sum_f32": _of(xp.sum, F32, (1 << 22,)),
    "cumsum_f32": _of(lambda x: xp.cumsum(x, axis=1), F32, (256, N)),
    "sort_f32": _of(lambda x: xp.sort(x, axis=1), F32, (64, 256)),
    "gather_f32": Program(
        lambda table, i: xp.take(table, i, axis=0), (ShapeDtype((4096, 128), F32), ShapeDtype((512,), I32))
    ),
    "scatter_add_f32": Program(
        scatter_add, (ShapeDtype((4096, 128), F32), ShapeDtype((512,), I32), ShapeDtype((512, 128), F32))
    ),
    "fft_f32": Program(lambda x: xp.fft.fft(x), (ShapeDtype((64, 256), np.complex64),)),
    "cholesky_f32": _of(lambda a: xp.linalg.cholesky(a), F32, (64, 64)),
}
TEN: dict[str, Program] = {
    "product_f32": _of(product, F32, (64, 64), (64, 64)),
    "product_f16": _of(product, F16, (64, 64), (64, 64)),
    "product_f32_by_vector": _of(product, F32, (64, 64), (64,)),
    "softmax_f32": _of(softmax, F32, (64, 64)),
    "layer_norm_f32": _of(layer_norm, F32, (64, 64)),
    "attention_f16": _of(attention, F16, *((2, 64, 64),) * 3),
    "convolution_f32": _of(convolution, F32, (2, 8, 8, 16), (3, 3, 16, 16)),
    "transformer_gradient_f32": Program(transformer_gradient, _transformer(F32, 32, 64)),
    "sum_f32": _of(xp.sum, F32, (1 << 14,)),
    "cumsum_f32": _of(lambda x: xp.cumsum(x, axis=1), F32, (8, 64)),
}
"""The programs of the report, at sizes for a GPU that a processor imitates."""
QUICK = ("product_f16", "softmax_f32")
"""The programs whose PTX the quick test counts, without an assembler."""
