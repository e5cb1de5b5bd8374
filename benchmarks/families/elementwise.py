"""Large arrays, element by element and in reductions: 16 MB, sizes no tile divides, float64, long bodies."""

from typing import Any

import numpy as np
from _case import Case, Draw
from _peers import Peer

PRIME = 1_000_003


def saxpy(peer: Peer, x: Any, y: Any) -> Any:
    return 2.5 * x + y


def gelu(peer: Peer, x: Any) -> Any:
    return 0.5 * x * (1.0 + peer.xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def branches(peer: Peer, x: Any, y: Any) -> Any:
    """Comparisons, selects and a clip."""
    xp = peer.xp
    return xp.where(x > y, xp.clip(x, -1.0, 1.0), xp.where(y > 0, xp.minimum(y, 0.5), -y))


def waves(peer: Peer, x: Any) -> Any:
    xp = peer.xp
    return xp.exp(-x * x) * xp.sin(3.0 * x) + xp.log1p(xp.abs(x))


def black_scholes(peer: Peer, spot: Any, strike: Any, years: Any) -> Any:
    rate, volatility = 0.02, 0.3

    def normal_cdf(x: Any) -> Any:
        return 0.5 * (1.0 + peer.erf(x * 0.7071067811865476))

    deviation = volatility * peer.xp.sqrt(years)
    d1 = (peer.xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    return spot * normal_cdf(d1) - strike * peer.xp.exp(-rate * years) * normal_cdf(d1 - deviation)


def rotation(peer: Peer, z: Any, w: Any) -> Any:
    """Complex arithmetic."""
    return z * w / (1.0 + peer.xp.conj(z) * z)


def softmax(peer: Peer, x: Any) -> Any:
    exponential = peer.xp.exp(x - peer.xp.max(x, axis=-1, keepdims=True))
    return exponential / peer.xp.sum(exponential, axis=-1, keepdims=True)


def logsumexp(peer: Peer, x: Any) -> Any:
    largest = peer.xp.max(x, axis=-1, keepdims=True)
    return largest[..., 0] + peer.xp.log(peer.xp.sum(peer.xp.exp(x - largest), axis=-1))


def layer_norm(peer: Peer, x: Any, gain: Any, offset: Any) -> Any:
    mean = peer.xp.mean(x, axis=-1, keepdims=True)
    variance = peer.xp.mean(peer.xp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) / peer.xp.sqrt(variance + 1e-5) * gain + offset


def distances(peer: Peer, x: Any, y: Any) -> Any:
    """All distances between two sets of points, by broadcasting."""
    return peer.xp.sqrt(peer.xp.sum(peer.xp.square(x[:, None, :] - y[None, :, :]), axis=-1))


def standard_deviation(peer: Peer, x: Any) -> Any:
    return peer.xp.std(x, axis=0)


def sum_all(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x)


def sum_axis0(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x, axis=0)


def sum_axis1(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x, axis=1)


def squares_of_rows(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x * x, axis=1)


def products_of_rows(peer: Peer, x: Any, y: Any) -> Any:
    return peer.xp.sum(x * y, axis=1)


def products_of_blocks(peer: Peer, x: Any, y: Any) -> Any:
    """Sums along a middle axis."""
    blocks = min(20, x.shape[0] // 2)
    return peer.xp.sum(peer.xp.reshape(x * y, (blocks, -1, x.shape[1])), axis=1)


def products_of_columns(peer: Peer, x: Any, y: Any) -> Any:
    return peer.xp.sum(x * y, axis=0)


def softmax_of_columns(peer: Peer, x: Any) -> Any:
    exponential = peer.xp.exp(x - peer.xp.max(x, axis=0))
    return exponential / peer.xp.sum(exponential, axis=0)


def standardized(peer: Peer, x: Any) -> Any:
    """Columns of mean 0 and variance 1."""
    return (x - peer.xp.mean(x, axis=0)) / peer.xp.std(x, axis=0)


def batch_norm(peer: Peer, x: Any) -> Any:
    """Channels that lie last, normalized over the images of a batch."""
    mean = peer.xp.mean(x, axis=(0, 1, 2))
    variance = peer.xp.mean(peer.xp.square(x - mean), axis=(0, 1, 2))
    return (x - mean) / peer.xp.sqrt(variance + 1e-5)


def normalized_rows(peer: Peer, x: Any) -> Any:
    return x / peer.xp.linalg.norm(x, axis=1, keepdims=True)


def scaled_columns(peer: Peer, x: Any, scales: Any) -> Any:
    """Features by positive scales, as of a Gaussian policy or a normalizing flow."""
    return x * peer.xp.log1p(peer.xp.exp(scales))


def outer_waves(peer: Peer, x: Any, y: Any) -> Any:
    """An outer product of sines."""
    return peer.xp.sin(x)[:, None] * peer.xp.cos(y)


def rms_norm(peer: Peer, x: Any, gain: Any) -> Any:
    return x / peer.xp.sqrt(peer.xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gain


def has_nan(peer: Peer, x: Any) -> Any:
    return peer.xp.any(peer.xp.isnan(x))


def rows_above(peer: Peer, x: Any) -> Any:
    return peer.xp.any(x > 3.0, axis=1)


def center(peer: Peer, x: Any) -> Any:
    """Points around their mean."""
    return x - peer.xp.mean(x, axis=0)


def mean_of_channels(peer: Peer, x: Any) -> Any:
    return peer.xp.mean(x, axis=(0, 1, 2))


def transpose(peer: Peer, x: Any) -> Any:
    return peer.xp.swapaxes(x, 0, 1)


def cumsum(peer: Peer, x: Any) -> Any:
    return peer.xp.cumsum(x, axis=1)


def pair(count: int, dtype: Any = np.float32) -> Any:
    return lambda draw: (draw.normal(count, dtype=dtype), draw.normal(count, dtype=dtype))


def single(*sizes: int, dtype: Any = np.float32) -> Any:
    return lambda draw: (draw.normal(*sizes, dtype=dtype),)


def options(count: int, dtype: Any = np.float32) -> Any:
    return lambda draw: tuple(draw.positive(count, dtype=dtype) for _ in range(3))


def complex_pair(draw: Draw) -> tuple[Any, ...]:
    return tuple((draw.normal(500_000) + 1j * draw.normal(500_000)).astype(np.complex64) for _ in range(2))


CASES = (
    Case("saxpy 4,000,000", saxpy, pair(4_000_000), quick=True),
    Case("saxpy 1,000,003", saxpy, pair(PRIME)),
    Case("saxpy 40,000", saxpy, pair(40_000)),
    Case("saxpy 2,000,000 f64", saxpy, pair(2_000_000, np.float64)),
    Case("gelu 4,000,000", gelu, single(4_000_000)),
    Case("gelu 1,000,003", gelu, single(PRIME)),
    Case("branches 1,000,003", branches, pair(PRIME)),
    Case("waves 500,009 f64", waves, single(500_009, dtype=np.float64)),
    Case("Black-Scholes 262,144", black_scholes, options(262_144), quick=True),
    Case("Black-Scholes 1,000,003", black_scholes, options(PRIME)),
    Case("Black-Scholes 262,144 f64", black_scholes, options(262_144, np.float64)),
    Case("complex 500,000", rotation, complex_pair),
    Case("softmax 1024 x 1024", softmax, single(1024, 1024)),
    Case("logsumexp 1000 x 1000", logsumexp, single(1000, 1000), quick=True),
    Case(
        "layer norm 1024 x 1024",
        layer_norm,
        lambda draw: (draw.normal(1024, 1024), draw.normal(1024), draw.normal(1024)),
    ),
    Case("distances 700 x 500 x 3", distances, lambda draw: (draw.normal(700, 3), draw.normal(500, 3))),
    Case("standard deviation 1000 x 1000", standard_deviation, single(1000, 1000)),
    Case("sum all 2048 x 2048", sum_all, single(2048, 2048)),
    Case("sum axis 0 2048 x 2048", sum_axis0, single(2048, 2048)),
    Case("sum axis 1 2047 x 2049", sum_axis1, single(2047, 2049)),
    Case("squares of rows 500 x 2000", squares_of_rows, single(500, 2000)),
    Case("squares of rows 500 x 2000 f64", squares_of_rows, single(500, 2000, dtype=np.float64)),
    Case(
        "products of rows 500 x 2000 f64",
        products_of_rows,
        lambda draw: tuple(draw.normal(500, 2000, dtype=np.float64) for _ in range(2)),
    ),
    Case(
        "products of blocks 2000 x 301",
        products_of_blocks,
        lambda draw: (draw.normal(2000, 301), draw.normal(2000, 301)),
    ),
    Case(
        "products of blocks 2000 x 301 f64",
        products_of_blocks,
        lambda draw: tuple(draw.normal(2000, 301, dtype=np.float64) for _ in range(2)),
    ),
    Case(
        "products of columns 1500 x 1700",
        products_of_columns,
        lambda draw: (draw.normal(1500, 1700), draw.normal(1500, 1700)),
    ),
    Case("softmax of columns 1000 x 1000", softmax_of_columns, single(1000, 1000)),
    Case("standardized 30,000 x 33", standardized, single(30_000, 33)),
    Case("batch norm 8 x 56 x 56 x 64", batch_norm, single(8, 56, 56, 64)),
    Case("normalized rows 3000 x 301", normalized_rows, single(3000, 301)),
    Case(
        "RMS norm 1024 x 768", rms_norm, lambda draw: (draw.normal(1024, 768), draw.normal(768)), quick=True
    ),
    Case(
        "scales of columns, softplus 2000 x 1000",
        scaled_columns,
        lambda draw: (draw.normal(2000, 1000), draw.normal(1000)),
    ),
    Case(
        "waves of rows and columns 1000 x 1000",
        outer_waves,
        lambda draw: (draw.normal(1000), draw.normal(1000)),
    ),
    Case("any NaN 1000 x 1000", has_nan, single(1000, 1000)),
    Case("any of rows 1000 x 1000", rows_above, single(1000, 1000)),
    Case("center 300,000 x 3", center, single(300_000, 3)),
    Case("mean of channels 16 x 128 x 128 x 3", mean_of_channels, single(16, 128, 128, 3)),
    Case("transpose 2048 x 2048", transpose, single(2048, 2048)),
    Case("cumsum 512 x 512", cumsum, single(512, 512)),
)
