"""Programs of many ops on small arrays: what a call, a copy and the start of a kernel cost."""

from itertools import pairwise
from typing import Any

import numpy as np
from _case import Case, Draw, gradient_of
from _peers import Peer


def linear_scan(peer: Peer, a: Any, b: Any) -> Any:
    """Every x of x = a x + b along the first axis, in parallel (Blelloch 1990)."""

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    return peer.lax.associative_scan(combine, (a, b))[1]


def linear_scan_loss(peer: Peer, a: Any, b: Any) -> Any:
    return (linear_scan(peer, a, b) ** 2).sum()


def scatter_mix(peer: Peer, x: Any, places: Any) -> Any:
    """Rows added, set and maximized at places that are computed."""
    xp = peer.xp
    y = xp.zeros_like(x).at[places].add(x)
    y = y.at[places[::2]].set(xp.tanh(x[::2]))
    y = y.at[places[1::2]].max(x[1::2])
    return (y * y[places]).sum()


def log_cumulative(peer: Peer, x: Any) -> Any:
    return (peer.lax.cumlogsumexp(x, axis=0) * peer.xp.sin(x)).sum()


def biquads(peer: Peer, x: Any, taps: Any) -> Any:
    """Five short filters over a signal, each of shifted copies, padded and mixed."""
    xp = peer.xp
    for row in range(5):
        padded = xp.pad(x, (2, 2))
        x = taps[row, 0] * padded[:-4] + taps[row, 1] * padded[1:-3] + taps[row, 2] * padded[2:-2]
        x = xp.concatenate([x[1:], x[:1]]) + 0.1 * xp.roll(x, 3)
    return x


def biquads_loss(peer: Peer, x: Any, taps: Any) -> Any:
    return (biquads(peer, x, taps) ** 2).mean()


def rosenbrock_hessian(peer: Peer, x: Any) -> Any:
    def value(x: Any) -> Any:
        return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()

    return peer.library.hessian(value)(x)


def perceptron_loss(peer: Peer, x: Any, y: Any, *weights: Any) -> Any:
    for w in weights[:-1]:
        x = peer.xp.tanh(x @ w)
    return ((x @ weights[-1] - y) ** 2).mean()


def adam(peer: Peer, *arrays: Any) -> Any:
    """A step of Adam (Kingma and Ba 2015) on twelve small parameters."""
    xp, count = peer.xp, len(arrays) // 4
    parts = (arrays[k * count : (k + 1) * count] for k in range(4))
    result = []
    for parameter, gradient, first, second in zip(*parts, strict=True):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        result.append((parameter - 0.01 * first / (xp.sqrt(second) + 1e-8), first, second))
    return result


def rotations(peer: Peer, q: Any, v: Any) -> Any:
    """Vectors turned by quaternions, component by component."""
    xp = peer.xp
    q = q / xp.sqrt((q * q).sum(axis=-1, keepdims=True))
    w, u = q[:, :1], q[:, 1:]
    t = 2.0 * xp.stack(
        [
            u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1],
            u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2],
            u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0],
        ],
        axis=-1,
    )
    crossed = xp.stack(
        [
            u[:, 1] * t[:, 2] - u[:, 2] * t[:, 1],
            u[:, 2] * t[:, 0] - u[:, 0] * t[:, 2],
            u[:, 0] * t[:, 1] - u[:, 1] * t[:, 0],
        ],
        axis=-1,
    )
    return v + w * t + crossed


def kalman_step(peer: Peer, x: Any, p: Any, z: Any, f: Any, h: Any) -> Any:
    """One step of a filter whose innovation is one number."""
    xp = peer.xp
    x, p = f @ x, f @ p @ f.T + 0.01 * xp.eye(f.shape[0], dtype=f.dtype)
    gain = p @ h / (h @ p @ h + 0.1)
    return x + gain * (z - h @ x), p - xp.outer(gain, h @ p)


def normed(peer: Peer, x: Any, scale: Any, shift: Any) -> Any:
    """A group norm of images, eight channels a group."""
    xp = peer.xp
    groups = x.reshape(x.shape[0], -1, min(8, x.shape[1]), x.shape[2])
    mean = groups.mean(axis=(2, 3), keepdims=True)
    centred = groups - mean
    variance = (centred**2).mean(axis=(2, 3), keepdims=True)
    y = (centred / xp.sqrt(variance + 1e-5)).reshape(x.shape)
    return ((y * scale[:, None] + shift[:, None]) ** 3).sum()


def layers(draw: Draw, *sizes: int) -> tuple[Any, ...]:
    """The weights of a net of these widths."""
    widths = [draw.size(n) for n in sizes]
    return tuple(draw.weights(a, b) for a, b in pairwise(widths))


CASES = (
    Case(
        "associative scan 64 x 16",
        linear_scan,
        lambda draw: (draw.positive(64, 16) / 2, draw.normal(64, 16)),
        numpy=None,
    ),
    Case(
        "associative scan 64 x 16, gradient",
        gradient_of(linear_scan_loss, 0, 1),
        lambda draw: (draw.positive(64, 16) / 2, draw.normal(64, 16)),
        numpy=None,
        quick=True,
    ),
    Case(
        "associative scan 2000 x 64",
        linear_scan,
        lambda draw: (draw.positive(2000, 64) / 2, draw.normal(2000, 64)),
        numpy=None,
    ),
    Case(
        "associative scan 2000 x 64, gradient",
        gradient_of(linear_scan_loss, 0, 1),
        lambda draw: (draw.positive(2000, 64) / 2, draw.normal(2000, 64)),
        numpy=None,
    ),
    Case(
        "scatters 32 x 8, gradient",
        gradient_of(scatter_mix, 0),
        lambda draw: (draw.normal(32, 8), draw.rng.permutation(draw.size(32)).astype(np.int32)),
        numpy=None,
        quick=True,
    ),
    Case(
        "cumlogsumexp 64 x 8, gradient",
        gradient_of(log_cumulative, 0),
        lambda draw: (draw.normal(64, 8),),
        numpy=None,
    ),
    Case("filters 512", biquads, lambda draw: (draw.normal(512), draw.normal(5, 3) / 3), numpy=None),
    Case(
        "filters 512, gradient",
        gradient_of(biquads_loss, 0, 1),
        lambda draw: (draw.normal(512), draw.normal(5, 3) / 3),
        numpy=None,
    ),
    Case("Hessian of Rosenbrock 20", rosenbrock_hessian, lambda draw: (draw.normal(20),), numpy=None),
    Case(
        "perceptron of 3 layers, 8 x 16, gradient",
        gradient_of(perceptron_loss, 2, 3, 4),
        lambda draw: (draw.normal(8, 16), draw.normal(8, 4), *layers(draw, 16, 16, 16, 4)),
        numpy=None,
        quick=True,
    ),
    Case(
        "Adam, 12 parameters",
        adam,
        lambda draw: tuple(
            draw.positive(*shape) for _ in range(4) for _ in range(6) for shape in ((16, 16), (16,))
        ),
        numpy=None,
    ),
    Case("rotations of 64", rotations, lambda draw: (draw.normal(64, 4), draw.normal(64, 3))),
    Case(
        "Kalman step of 6",
        kalman_step,
        lambda draw: (
            draw.normal(6),
            draw.symmetric_definite(6),
            np.float32(0.3),
            draw.weights(6, 6),
            draw.normal(6),
        ),
    ),
    Case(
        "group norm 4 x 64 x 32, gradient",
        gradient_of(normed, 0, 1, 2),
        lambda draw: (draw.normal(4, 64, 32), draw.positive(64), draw.normal(64)),
        numpy=None,
    ),
)
