"""Programs that adze compiles once for sizes that show at the call; JAX compiles them for each shape."""

from typing import Any

import numpy as np
from _case import Case, gradient_of
from _peers import Peer

from .nets import residual_block


def softmax(peer: Peer, x: Any) -> Any:
    shifted = peer.xp.exp(x - peer.xp.max(x, axis=-1, keepdims=True))
    return shifted / peer.xp.sum(shifted, axis=-1, keepdims=True)


def normalized(peer: Peer, x: Any) -> Any:
    """A layer norm without parameters."""
    centred = x - peer.xp.mean(x, axis=-1, keepdims=True)
    return centred / peer.xp.sqrt(peer.xp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)


def standardized(peer: Peer, x: Any) -> Any:
    return (x - peer.xp.mean(x, axis=0)) / peer.xp.std(x, axis=0)


def total(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x)


def layers(peer: Peer, x: Any, first: Any, second: Any, third: Any) -> Any:
    xp = peer.xp
    return xp.tanh(xp.tanh(xp.tanh(x @ first) @ second) @ third)


def layers_loss(peer: Peer, first: Any, second: Any, third: Any, x: Any) -> Any:
    return peer.xp.mean(layers(peer, x, first, second, third) ** 2)


def attention(peer: Peer, x: Any) -> Any:
    return softmax(peer, x @ peer.xp.swapaxes(x, -1, -2) / 8) @ x


def block(peer: Peer, x: Any, attend: Any, widen: Any, narrow: Any) -> Any:
    """A transformer block of one head."""
    y = normalized(peer, x + attention(peer, x @ attend))
    return normalized(peer, y + peer.xp.tanh(y @ widen) @ narrow)


def square(peer: Peer, x: Any) -> Any:
    return x @ x


def recurrence(peer: Peer, x: Any, weights: Any) -> Any:
    def step(h: Any, u: Any) -> Any:
        h = peer.xp.tanh(h @ weights + u)
        return h, h

    return peer.lax.scan(step, peer.xp.zeros_like(x[0]), x)[1]


def running(peer: Peer, x: Any) -> Any:
    """A filter, one number after the other."""

    def step(level: Any, u: Any) -> Any:
        level = level * 0.9 + u
        return level, level

    return peer.lax.scan(step, np.float32(0), x)[1]


def factors(peer: Peer, x: Any) -> Any:
    return peer.xp.linalg.cholesky(x)


def spectra(peer: Peer, x: Any) -> Any:
    return peer.xp.abs(peer.xp.fft.rfft(x))


def beside_its_square(peer: Peer, x: Any) -> Any:
    return peer.xp.concatenate([x, x * x], axis=1)


def reversed_rows(peer: Peer, x: Any) -> Any:
    return x[:, ::-1] + x


def masked_means(peer: Peer, x: Any, counts: Any) -> Any:
    """The means of sequences that are padded to one length."""
    mask = peer.xp.arange(x.shape[1])[None, :] < counts[:, None]
    total = peer.xp.sum(peer.xp.where(mask[..., None], x, 0), axis=1)
    return total / peer.xp.maximum(counts, 1)[:, None].astype(x.dtype)


def embedded(peer: Peer, table: Any, words: Any) -> Any:
    return peer.xp.mean(table[words], axis=1)


def embedding_loss(peer: Peer, table: Any, words: Any) -> Any:
    return peer.xp.sum(table[words] ** 2)


def product_of_columns(peer: Peer, x: Any) -> Any:
    return x[:, 0] * x[:, 1] + 1


def places(peer: Peer, table: Any, x: Any) -> Any:
    return peer.xp.searchsorted(table, x)


def taken_along(peer: Peer, x: Any, places: Any) -> Any:
    return peer.xp.take_along_axis(x, places, axis=1)


def image_filter(peer: Peer, image: Any, kernel: Any) -> Any:
    return peer.xp.maximum(peer.convolve(image, kernel), 0)


def segment_softmax(peer: Peer, x: Any, segments: Any) -> Any:
    xp = peer.xp
    greatest = xp.full(20, -xp.inf, x.dtype).at[segments].max(x)
    shifted = xp.exp(x - greatest[segments])
    return shifted / xp.zeros(20, x.dtype).at[segments].add(shifted)[segments]


def autocorrelation(peer: Peer, x: Any) -> Any:
    xp = peer.xp
    centred = x - xp.mean(x)
    return xp.stack([xp.mean(centred * xp.roll(centred, lag)) for lag in range(8)])


def heat(peer: Peer, x: Any) -> Any:
    def step(_: Any, x: Any) -> Any:
        beside = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]
        return x.at[1:-1, 1:-1].add(0.1 * (beside - 4 * x[1:-1, 1:-1]))

    return peer.lax.fori_loop(0, 20, step, x)


def triangular_factor(peer: Peer, x: Any) -> Any:
    return peer.xp.abs(peer.xp.linalg.qr(x)[1])


def eigenvalues(peer: Peer, x: Any) -> Any:
    return peer.xp.linalg.eigvalsh(x)


def weights_of_layers(draw: Any) -> tuple[Any, ...]:
    return draw.weights(784, 256), draw.weights(256, 128), draw.weights(128, 10)


def dense(name: str, rows: int, quick: bool = False) -> Case:
    return Case(
        name,
        layers,
        lambda draw: (draw.normal(rows, 784), *weights_of_layers(draw)),
        named=("n,784", "784,256", "256,128", "128,10"),
        quick=quick,
    )


def squared_distances(peer: Peer, x: Any, y: Any) -> Any:
    return peer.xp.sum((x[:, None] - y[None]) ** 2, axis=-1)


def repulsion(peer: Peer, x: Any) -> Any:
    """The forces of points on each other."""
    apart = x[:, None] - x[None]
    return peer.xp.sum(apart / (peer.xp.sum(apart * apart, axis=-1, keepdims=True) + 0.1), axis=1)


def filtered(peer: Peer, x: Any, taps: Any) -> Any:
    return peer.xp.convolve(x, taps, mode="same")


def pooled(peer: Peer, x: Any) -> Any:
    """The maximum of 2 x 2 pixels."""
    return peer.lax.reduce_window(x, -np.inf, peer.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def predators(peer: Peer, hares: Any, foxes: Any) -> Any:
    """A hundred steps of Lotka and Volterra for each pair."""

    def step(_: Any, state: Any) -> Any:
        x, y = state
        return x + 0.01 * (x - x * y), y + 0.01 * (x * y - y)

    return peer.lax.fori_loop(0, 100, step, (hares, foxes))[0]


def determinants(peer: Peer, x: Any) -> Any:
    return peer.xp.linalg.det(x)


CASES = (
    Case(
        "softmax n,m: 1000 x 1000",
        softmax,
        lambda draw: (draw.normal(1000, 1000),),
        named=("n,m",),
    ),
    Case(
        "layer norm b,s,256: 8 x 64", normalized, lambda draw: (draw.normal(8, 64, 256),), named=("b,s,256",)
    ),
    Case("columns n,30: 20000", standardized, lambda draw: (draw.normal(20_000, 30),), named=("n,30",)),
    Case("sum n: 1000000", total, lambda draw: (draw.positive(1_000_000),), named=("n",)),
    dense("three layers n,784: 1", 1),
    dense("three layers n,784: 32", 32, quick=True),
    dense("three layers n,784: 512", 512),
    Case(
        "three layers n,784: gradient of 64",
        gradient_of(layers_loss, 0, 1, 2),
        lambda draw: (*weights_of_layers(draw), draw.normal(64, 784)),
        numpy=None,
        named=("784,256", "256,128", "128,10", "n,784"),
    ),
    Case("attention b,s,64: 8 x 128", attention, lambda draw: (draw.normal(8, 128, 64),), named=("b,s,64",)),
    Case(
        "transformer block b,s,128: 4 x 64",
        block,
        lambda draw: (
            draw.normal(4, 64, 128),
            draw.weights(128, 128),
            draw.weights(128, 512),
            draw.weights(512, 128),
        ),
        named=("b,s,128", "128,128", "128,512", "512,128"),
    ),
    Case("x @ x n,n: 500", square, lambda draw: (draw.weights(500, 500),), named=("n,n",)),
    Case(
        "residual block n,28,28,32: 8",
        residual_block,
        lambda draw: (draw.normal(8, 28, 28, 32), draw.weights(3, 3, 32, 32), draw.weights(3, 3, 32, 32)),
        named=("n,28,28,32", "3,3,32,32", "3,3,32,32"),
    ),
    Case(
        "recurrence t,b,64: 50 x 16",
        recurrence,
        lambda draw: (draw.normal(50, 16, 64), draw.weights(64, 64)),
        numpy=None,
        named=("t,b,64", "64,64"),
    ),
    Case("filter t: 5000", running, lambda draw: (draw.normal(5000),), numpy=None, named=("t",)),
    Case(
        "cholesky b,20,20: 50",
        factors,
        lambda draw: (draw.symmetric_definite(50, 20),),
        named=("b,20,20",),
    ),
    Case("rfft n,256: 200", spectra, lambda draw: (draw.normal(200, 256),), named=("n,256",)),
    Case(
        "beside its square n,256: 1000",
        beside_its_square,
        lambda draw: (draw.normal(1000, 256),),
        named=("n,256",),
    ),
    Case(
        "reversed rows n,256: 1000", reversed_rows, lambda draw: (draw.normal(1000, 256),), named=("n,256",)
    ),
    Case(
        "masked means b,t,32: 16 x 1000",
        masked_means,
        lambda draw: (draw.normal(16, 1000, 32), draw.integers(1001, 16)),
        named=("b,t,32", "b"),
    ),
    Case(
        "embedding b,s: 8 x 1000",
        embedded,
        lambda draw: (draw.normal(1000, 32), draw.integers(1000, 8, 1000)),
        named=("1000,32", "b,s"),
    ),
    Case(
        "embedding b,s: gradient of 8 x 1000",
        gradient_of(embedding_loss, 0),
        lambda draw: (draw.normal(1000, 32), draw.integers(1000, 8, 1000)),
        numpy=None,
        named=("1000,32", "b,s"),
    ),
    Case(
        "product of columns n,5: 50,000",
        product_of_columns,
        lambda draw: (draw.normal(50_000, 5),),
        named=("n,5",),
    ),
    Case(
        "places n in m: 100,000 in 1000",
        places,
        lambda draw: (np.sort(draw.normal(1000)), draw.normal(100_000)),
        named=("m", "n"),
    ),
    Case(
        "take along n,m by n,k: 1000 x 30 by 1000",
        taken_along,
        lambda draw: (draw.normal(1000, 30), draw.integers(30, 1000, 1000)),
        named=("n,m", "n,k"),
    ),
    Case(
        "convolution b,h,w,16: 64 x 64",
        image_filter,
        lambda draw: (draw.normal(1, 64, 64, 16), draw.weights(3, 3, 16, 16)),
        named=("b,h,w,16", "3,3,16,16"),
    ),
    Case(
        "segment softmax n: 1000",
        segment_softmax,
        lambda draw: (draw.normal(1000), draw.integers(20, 1000)),
        numpy=None,
        named=("n", "n"),
    ),
    Case("autocorrelation n: 1000", autocorrelation, lambda draw: (draw.normal(1000),), named=("n",)),
    Case("heat h,w: 66 x 67", heat, lambda draw: (draw.normal(66, 67),), numpy=None, named=("h,w",)),
    Case("qr n,6: 1000", triangular_factor, lambda draw: (draw.normal(1000, 6),), named=("n,6",)),
    Case(
        "eigenvalues n,n: 64",
        eigenvalues,
        lambda draw: (draw.symmetric_definite(64),),
        named=("n,n",),
    ),
    Case(
        "distances n,3 to m,3: 500, 400",
        squared_distances,
        lambda draw: (draw.normal(500, 3), draw.normal(400, 3)),
        named=("n,3", "m,3"),
    ),
    Case("forces n,3: 300", repulsion, lambda draw: (draw.normal(300, 3),), named=("n,3",)),
    Case(
        "filter n: 100,000 by 9",
        filtered,
        lambda draw: (draw.normal(100_000), draw.normal(9)),
        named=("n", "9"),
    ),
    Case(
        "maxima b,h,w,16: 4 x 64 x 64",
        pooled,
        lambda draw: (draw.normal(4, 64, 64, 16),),
        numpy=None,
        named=("b,h,w,16",),
    ),
    Case(
        "predators n: 10,000",
        predators,
        lambda draw: (draw.positive(10_000), draw.positive(10_000)),
        numpy=None,
        named=("n", "n"),
    ),
    Case("determinants n,3,3: 5000", determinants, lambda draw: (draw.normal(5000, 3, 3),), named=("n,3,3",)),
)
