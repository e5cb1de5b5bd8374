"""`adze.nn` beside `jax.nn` and SciPy: values eager and compiled, extremes, options, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from jax import lax

import adze
import adze.numpy as anp
from adze import nn

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(4, 6)).astype(np.float32)
Y = RANDOM.normal(size=(4, 6)).astype(np.float32)
WIDE = np.array([-300, -20, -1, -0.0, 0.0, 1e-3, 1, 20, 300], np.float32)
IMAGE = RANDOM.normal(size=(2, 8, 7, 3)).astype(np.float32)
KERNEL = RANDOM.normal(size=(3, 3, 3, 4)).astype(np.float32)
MASK = RANDOM.random((4, 6)) > 0.3
LABELS = np.array([0, 5, 2, 2])
PROBABILITIES = scipy.special.softmax(Y, axis=-1)
NHWC = ("NHWC", "HWIO", "NHWC")


def pooled(x: Any, kind: str, window: Any, strides: Any, padding: Any) -> Any:
    """Pooling by XLA's window reduction."""
    start, combine = {"max": (-np.inf, lax.max), "min": (np.inf, lax.min), "sum": (0.0, lax.add)}[kind]
    return lax.reduce_window(
        x, np.float32(start), combine, (1, *window, 1), (1, *strides, 1),
        padding if isinstance(padding, str) else ((0, 0), *padding, (0, 0)),
    )  # fmt: skip


ACTIVATIONS = (
    *("relu", "relu6", "leaky_relu", "elu", "selu", "sigmoid", "log_sigmoid", "softplus", "silu", "gelu"),
    *(
        "mish",
        "hard_sigmoid",
        "hard_tanh",
        "celu",
        "squareplus",
        "sparse_plus",
        "sparse_sigmoid",
        "soft_sign",
    ),
    *("soft_sign", "swish", "hard_silu"),
)


def on_wide(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """An activation of ours and of JAX on numbers of all sizes."""
    return lambda: getattr(nn, name)(WIDE), lambda: getattr(jax.nn, name)(WIDE)


# Ours and the reference, both functions of nothing.
ROWS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    **{name: on_wide(name) for name in ACTIVATIONS},
    "hard_swish": (lambda: nn.hard_swish(WIDE), lambda: jax.nn.hard_swish(WIDE)),
    "leaky_relu slope": (lambda: nn.leaky_relu(WIDE, 0.3), lambda: jax.nn.leaky_relu(WIDE, 0.3)),
    "elu alpha": (lambda: nn.elu(WIDE, 2.0), lambda: jax.nn.elu(WIDE, 2.0)),
    "celu alpha": (lambda: nn.celu(WIDE, 2.0), lambda: jax.nn.celu(WIDE, 2.0)),
    "log1mexp": (lambda: nn.log1mexp(WIDE[5:]), lambda: np.log(-np.expm1(-WIDE[5:].astype(np.float64)))),
    "gelu exact": (lambda: nn.gelu(WIDE, approximate=False), lambda: jax.nn.gelu(WIDE, approximate=False)),
    "glu": (lambda: nn.glu(X), lambda: jax.nn.glu(X)),
    "softmax": (lambda: nn.softmax(X * 100), lambda: jax.nn.softmax(X * 100)),
    "softmax axis": (lambda: nn.softmax(X, axis=0), lambda: jax.nn.softmax(X, axis=0)),
    "softmax axes": (lambda: nn.softmax(X, axis=(0, 1)), lambda: jax.nn.softmax(X, axis=(0, 1))),
    "softmax where": (lambda: nn.softmax(X, where=MASK), lambda: jax.nn.softmax(X, where=MASK)),
    "log_softmax": (lambda: nn.log_softmax(X * 100), lambda: jax.nn.log_softmax(X * 100)),
    "logsumexp": (lambda: nn.logsumexp(X * 100), lambda: scipy.special.logsumexp(X * 100)),
    "logsumexp axis": (
        lambda: nn.logsumexp(X, axis=1, keepdims=True),
        lambda: scipy.special.logsumexp(X, axis=1, keepdims=True),
    ),
    "logsumexp b": (
        lambda: nn.logsumexp(X, axis=0, b=np.abs(Y)),
        lambda: scipy.special.logsumexp(X, axis=0, b=np.abs(Y)),
    ),
    "standardize": (lambda: nn.standardize(X), lambda: jax.nn.standardize(X, epsilon=1e-5)),
    "layer_norm": (
        lambda: nn.layer_norm(X, Y[0], Y[1]),
        lambda: (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + 1e-5) * Y[0] + Y[1],
    ),
    "rms_norm": (
        lambda: nn.rms_norm(X, Y[0]),
        lambda: X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6) * Y[0],
    ),
    "batch_norm": (
        lambda: nn.batch_norm(X, Y[0], np.abs(Y[1]), Y[2], Y[3]),
        lambda: (X - Y[0]) / np.sqrt(np.abs(Y[1]) + 1e-5) * Y[2] + Y[3],
    ),
    "one_hot": (lambda: nn.one_hot(LABELS, 6), lambda: jax.nn.one_hot(LABELS, 6)),
    "one_hot outside": (lambda: nn.one_hot([-1, 9], 3), lambda: np.zeros((2, 3), np.float32)),
    "one_hot axis": (lambda: nn.one_hot(LABELS, 6, axis=0), lambda: jax.nn.one_hot(LABELS, 6, axis=0)),
    "conv": (
        lambda: nn.conv(IMAGE, KERNEL, 2, "SAME"),
        lambda: lax.conv_general_dilated(IMAGE, KERNEL, (2, 2), "SAME", dimension_numbers=NHWC),
    ),
    "conv options": (
        lambda: nn.conv(IMAGE, KERNEL[:, :, :1, :3], (1, 2), [(1, 0), (0, 2)], dilation=(2, 1), groups=3),
        lambda: lax.conv_general_dilated(
            IMAGE, KERNEL[:, :, :1, :3], (1, 2), [(1, 0), (0, 2)], rhs_dilation=(2, 1),
            dimension_numbers=NHWC, feature_group_count=3,
        ),
    ),
    "conv 1d": (
        lambda: nn.conv(IMAGE[:, 0], KERNEL[0], 1, "VALID"),
        lambda: lax.conv_general_dilated(
            IMAGE[:, 0], KERNEL[0], (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")
        ),
    ),
    "max_pool": (lambda: nn.max_pool(IMAGE, 2), lambda: pooled(IMAGE, "max", (2, 2), (2, 2), "VALID")),
    "max_pool same": (
        lambda: nn.max_pool(IMAGE, (3, 2), (2, 1), "SAME"),
        lambda: pooled(IMAGE, "max", (3, 2), (2, 1), "SAME"),
    ),
    "min_pool": (
        lambda: nn.min_pool(IMAGE, 2, 1, [(1, 0), (0, 1)]),
        lambda: pooled(IMAGE, "min", (2, 2), (1, 1), [(1, 0), (0, 1)]),
    ),
    "avg_pool": (
        lambda: nn.avg_pool(IMAGE, 3, 2, "SAME"),
        lambda: pooled(IMAGE, "sum", (3, 3), (2, 2), "SAME") / 9,
    ),
    "avg_pool without padding": (
        lambda: nn.avg_pool(IMAGE, 3, 2, "SAME", count_include_pad=False),
        lambda: pooled(IMAGE, "sum", (3, 3), (2, 2), "SAME")
        / pooled(jnp.ones_like(IMAGE), "sum", (3, 3), (2, 2), "SAME"),
    ),
    "cross_entropy classes": (
        lambda: nn.cross_entropy(X * 50, LABELS),
        lambda: -np.take_along_axis(np.asarray(jax.nn.log_softmax(X * 50)), LABELS[:, None], 1)[:, 0],
    ),
    "cross_entropy probabilities": (
        lambda: nn.cross_entropy(X, PROBABILITIES),
        lambda: -(PROBABILITIES * jax.nn.log_softmax(X)).sum(-1),
    ),
    "sigmoid_cross_entropy": (
        lambda: nn.sigmoid_cross_entropy(WIDE, np.float32(0.25)),
        lambda: -(0.25 * jax.nn.log_sigmoid(WIDE) + 0.75 * jax.nn.log_sigmoid(-WIDE)),
    ),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", ROWS)
def test_evaluated_layers_give_what_the_reference_gives(name: str) -> None:
    ours, reference = ROWS[name]
    result, wanted = ours(), np.asarray(reference())
    assert result.dtype == np.float32 and result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=3e-5, atol=3e-6)


def test_exponentials_of_complex_numbers_are_shifted_by_their_real_parts() -> None:
    z = (90 * X + 1j * Y).astype(np.complex64)
    wide = z.astype(np.complex128)
    top = wide.real.max()
    total = np.log(np.exp(wide - top).sum()) + top
    np.testing.assert_allclose(nn.logsumexp(z), total, rtol=1e-5)
    np.testing.assert_allclose(nn.softmax(z, axis=(1, 0)), np.exp(wide - total), rtol=2e-4, atol=1e-6)
    slope = adze.grad(lambda z: anp.real(nn.logsumexp(z)))(z)
    np.testing.assert_allclose(slope, np.exp(wide - total), rtol=2e-4, atol=1e-6)


@pytest.mark.thorough
def test_compiled_layers_give_what_evaluated_ones_give() -> None:
    """All rows in one program, its inputs arguments, so that nothing folds."""
    layers = {
        "activations": lambda x: [
            getattr(nn, n)(x) for n in ("relu6", "elu", "selu", "softplus", "gelu", "mish")
        ],
        "norms": lambda x: (
            nn.softmax(x),
            nn.log_softmax(x),
            nn.logsumexp(x, 1),
            nn.layer_norm(x),
            nn.rms_norm(x),
        ),
        "losses": lambda x: (nn.cross_entropy(x, LABELS), nn.sigmoid_cross_entropy(x, 0.25)),
        "attention": lambda x: nn.dot_product_attention(x[:, None], Y[:, None], Y[:, None], is_causal=True),
    }

    def everything(x: Any, image: Any) -> Any:
        result = {name: layer(x) for name, layer in layers.items()}
        return result, nn.avg_pool(nn.max_pool(nn.conv(image, KERNEL), 2), 2, 1, "SAME")

    compiled, evaluated = adze.jit(everything)(X, IMAGE), everything(X, IMAGE)
    for ours, theirs in zip(adze.tree.leaves(compiled), adze.tree.leaves(evaluated), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=3e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_layers_keep_their_dtype(dtype: str) -> None:
    x = adze.numpy.asarray(X, dtype)
    for layer in (nn.relu, nn.gelu, nn.silu, nn.softmax, nn.log_softmax, nn.layer_norm, nn.rms_norm, nn.mish):
        assert layer(x).dtype == x.dtype, layer.__name__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.conv(X, KERNEL), "conv: expected an array"),
        (lambda: nn.max_pool(X, 2), "pooling: expected"),
        (lambda: nn.max_pool(IMAGE, (2, 2, 2)), "window"),
        (lambda: nn.cross_entropy(X, PROBABILITIES[0]), "labels f32"),
        (lambda: nn.softmax(X, axis=3), "axis 3"),
        (lambda: nn.glu(X[:, :5]), "glu"),
    ],
)
def test_what_does_not_fit_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(adze.AdzeError, match=message) as caught:
        call()
    assert f"\n  at {__file__}:" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_attention_of_half_precision_is_rounded_once(dtype: str, is_compiled: bool) -> None:
    """Scores and weights stay in float32: all but a few elements are the exact result, rounded."""
    generator = np.random.default_rng(0)
    given = [anp.asarray(generator.standard_normal((1, 16, 2, 32))).astype(dtype) for _ in range(3)]
    attention = adze.jit(nn.dot_product_attention) if is_compiled else nn.dot_product_attention
    result = attention(*given)
    exact = nn.dot_product_attention(*(x.astype(np.float64) for x in given))
    assert result.dtype == given[0].dtype
    same = np.asarray(result.astype(np.float32)) == np.asarray(exact.astype(dtype).astype(np.float32))
    assert same.mean() > 0.99


HALF_PRECISION = {
    "softmax": lambda x, weight: nn.softmax(x, where=anp.arange(x.shape[-1]) > 3),
    "log_softmax": lambda x, weight: nn.log_softmax(x),
    "logsumexp": lambda x, weight: nn.logsumexp(x, axis=-1, b=abs(weight)),
    "standardize": lambda x, weight: nn.standardize(x),
    "layer_norm": lambda x, weight: nn.layer_norm(x, weight, weight),
    "rms_norm": lambda x, weight: nn.rms_norm(x, weight),
}


@pytest.mark.each_value(lambda is_compiled, dtype, function: ((function, is_compiled), dtype))
@pytest.mark.parametrize("function", HALF_PRECISION.values(), ids=HALF_PRECISION.keys())
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_reductions_of_half_precision_are_rounded_once(
    function: Callable[[Any, Any], Any], dtype: str, is_compiled: bool
) -> None:
    """Nothing between the first and the last op is rounded: all but a few elements are exact, rounded."""
    generator = np.random.default_rng(0)
    x, weight = (anp.asarray(2 * generator.standard_normal(s)).astype(dtype) for s in ((16, 64), (64,)))
    rounded = (adze.jit(function) if is_compiled else function)(x, weight)
    exact = function(x.astype(np.float64), weight.astype(np.float64)).astype(dtype)
    assert rounded.dtype == x.dtype
    same = np.asarray(rounded.astype(np.float32)) == np.asarray(exact.astype(np.float32))
    assert same.mean() > 0.99


def test_float32_weights_of_a_half_precision_norm_give_float32() -> None:
    x = anp.ones((2, 4), anp.bfloat16)
    weight = np.ones(4, np.float32)
    assert nn.layer_norm(x, weight).dtype == nn.rms_norm(x, weight).dtype == np.float32
