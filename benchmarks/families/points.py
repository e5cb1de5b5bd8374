"""Points, boxes, images, graphs, waves: arrays with a short last axis, rows from elsewhere, steps of time."""

from typing import Any

import numpy as np
from _case import Case, Draw
from _peers import Peer

GRAVITY = 1e-2  # a square of a distance, so that bodies that meet stay finite


def distances(peer: Peer, x: Any, y: Any) -> Any:
    d = x - y
    return peer.xp.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2 + d[:, 2] ** 2)


def overlaps(peer: Peer, a: Any, b: Any) -> Any:
    """Intersection over union of each box with each other one."""
    xp = peer.xp
    low, high = xp.maximum(a[:, None, :2], b[None, :, :2]), xp.minimum(a[:, None, 2:], b[None, :, 2:])
    sides = xp.maximum(high - low, 0)
    both = sides[..., 0] * sides[..., 1]
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])  # noqa: E731
    return both / (area(a)[:, None] + area(b) - both + 1e-6)


def cross(peer: Peer, x: Any, y: Any) -> Any:
    return peer.xp.cross(x * 2 + 1, y * 3 - 1)


def attractor(peer: Peer, s: Any) -> Any:
    """Derivatives of Lorenz' system (1963)."""
    q = s * 1.01 + 0.1
    x, y, z = q[:, 0], q[:, 1], q[:, 2]
    return peer.xp.stack([10 * (y - x), x * (28 - z) - y, x * y - z * 8 / 3], 1)


def luminance(peer: Peer, image: Any) -> Any:
    """Of sRGB (IEC 61966-2-1)."""
    linear = peer.xp.where(image > 0.04045, ((image + 0.055) / 1.055) ** 2.4, image / 12.92)
    return 0.2126 * linear[..., 0] + 0.7152 * linear[..., 1] + 0.0722 * linear[..., 2]


def edges(peer: Peer, nodes: Any, sources: Any, targets: Any) -> Any:
    """What a graph network computes of the nodes at both ends of each edge."""
    return peer.xp.tanh(nodes[sources] - nodes[targets])


def edge_products(peer: Peer, nodes: Any, sources: Any, targets: Any) -> Any:
    return (nodes[sources] * nodes[targets]).sum(1)


def messages(peer: Peer, nodes: Any, sources: Any, targets: Any, weights: Any) -> Any:
    return peer.xp.zeros_like(nodes).at[targets].add(nodes[sources] * weights[:, None])


def aligned(peer: Peer, features: Any, boxes: Any) -> Any:
    """Regions of an image, interpolated at 7 x 7 places (He et al. 2017)."""
    xp = peer.xp

    def one(box: Any) -> Any:
        part = (xp.arange(7) + 0.5) / 7
        rows, columns = box[0] + (box[2] - box[0]) * part, box[1] + (box[3] - box[1]) * part
        top, left = xp.floor(rows).astype("int32"), xp.floor(columns).astype("int32")
        down, right = (rows - top)[:, None, None], (columns - left)[None, :, None]
        last = features.shape[0] - 1
        pick = lambda i, j: features[xp.clip(i, 0, last)[:, None], xp.clip(j, 0, last)]  # noqa: E731
        upper = (1 - right) * pick(top, left) + right * pick(top, left + 1)
        lower = (1 - right) * pick(top + 1, left) + right * pick(top + 1, left + 1)
        return (1 - down) * upper + down * lower

    return peer.library.vmap(one)(boxes)


def bodies(peer: Peer, places: Any, speeds: Any) -> Any:
    """Leapfrog steps of bodies that attract each other (Verlet 1967)."""

    def pulls(q: Any) -> Any:
        d = q[None] - q[:, None]
        return (d / ((d * d).sum(-1) + GRAVITY)[..., None] ** 1.5).sum(1)

    def step(state: Any, _: Any) -> Any:
        q, v = state
        v = v + 0.005 * pulls(q)
        q = q + 0.01 * v
        return (q, v + 0.005 * pulls(q)), q

    return peer.lax.scan(step, (places, speeds), None, length=200)[1]


def waves(peer: Peer, wave: Any, potential: Any, energies: Any) -> Any:
    """Split steps of a Schroedinger equation (Feit, Fleck and Steiger 1982), phases in each step."""
    xp = peer.xp

    def step(psi: Any, _: Any) -> Any:
        psi = psi * xp.exp(-0.005j * potential).astype("complex64")
        psi = xp.fft.ifft(xp.fft.fft(psi) * xp.exp(-0.01j * energies).astype("complex64"))
        return psi * xp.exp(-0.005j * potential).astype("complex64"), None

    return xp.abs(peer.lax.scan(step, wave.astype("complex64"), None, length=50)[0])


def bound(peer: Peer, x: Any, y: Any, mean: Any, scale: Any, noise: Any) -> Any:
    """A variational bound of logistic regression, and its gradient."""
    xp = peer.xp

    def loss(mean: Any, scale: Any) -> Any:
        scores = x @ (mean + xp.exp(scale) * noise).T
        fit = xp.mean(xp.sum(y[:, None] * scores - xp.logaddexp(0 * scores, scores), 0))
        return xp.sum(0.5 * (mean * mean + xp.exp(2 * scale)) - scale) - fit

    return peer.library.value_and_grad(loss, argnums=(0, 1))(mean, scale)


def boxes(draw: Draw, count: int, size: float) -> np.ndarray:
    """Boxes as two corners."""
    low = draw.positive(count, 2) * np.float32(size)
    return np.concatenate([low, low + draw.positive(draw.size(count), 2) * np.float32(size / 2)], 1)


def graph(draw: Draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of 1,000 nodes, and both ends of 2,500 edges."""
    return draw.normal(1000, 64), draw.integers(1000, 2500), draw.integers(1000, 2500)


CASES = (
    Case("distances 100,000", distances, lambda d: (d.normal(100_000, 3), d.normal(100_000, 3)), quick=True),
    Case("overlaps 500 x 500", overlaps, lambda d: (boxes(d, 500, 1.0), boxes(d, 500, 1.0))),
    Case("cross products 100,000", cross, lambda d: (d.normal(100_000, 3), d.normal(100_000, 3))),
    Case("attractor 100,000", attractor, lambda d: (d.normal(100_000, 3),)),
    Case("luminance 256 x 256", luminance, lambda d: (d.positive(256, 256, 3) / 2,)),
    Case("edges 2,500 x 64", edges, graph),
    Case("edge products 2,500 x 64", edge_products, graph),
    Case("messages 2,500 x 64", messages, lambda d: (*graph(d), d.normal(2500)), numpy=None),
    Case(
        "aligned regions 50",
        aligned,
        lambda d: (d.normal(50, 50, 64), boxes(d, 50, 15.0)),
        numpy=None,
        tolerance=50.0,
    ),
    Case(
        "three bodies, 200 steps",
        bodies,
        lambda d: (d.normal(3, 2), d.normal(3, 2) / 10),
        numpy=None,
        tolerance=1e4,
    ),
    Case(
        "waves 1,024, 50 steps",
        waves,
        lambda d: (d.normal(1024), d.normal(1024), d.positive(1024)),
        numpy=None,
        tolerance=50.0,
    ),
    Case(
        "variational bound 1,000 x 20",
        bound,
        lambda d: (
            d.normal(1000, 20),
            (d.positive(1000) > 1).astype(np.float32),
            d.normal(20),
            d.normal(20) / 10,
            d.normal(8, 20),
        ),
        numpy=None,
        tolerance=50.0,
    ),
)
