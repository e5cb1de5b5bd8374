"""Products: square, skinny, odd, batched, float64, chains of einsum and of matrix-vector products."""

from typing import Any

import numpy as np
from _case import SAME, Case
from _peers import Peer


def matmul(peer: Peer, a: Any, b: Any) -> Any:
    return a @ b


def layers(peer: Peer, x: Any, *weights: Any) -> Any:
    """A vector through four dense layers."""
    for weight in weights:
        x = peer.xp.tanh(x @ weight)
    return x


def matrix_twice(peer: Peer, a: Any, x: Any, y: Any) -> Any:
    """A matrix and its transpose by vectors."""
    return a @ x, y @ a


def gram(peer: Peer, a: Any) -> Any:
    return a.T @ a


def chain(peer: Peer, a: Any, b: Any, c: Any) -> Any:
    """A chain that is cheap in one order only."""
    return peer.xp.einsum("ij,jk,kl->il", a, b, c, optimize=True)


def batch_chain(peer: Peer, a: Any, b: Any, c: Any) -> Any:
    return peer.xp.einsum("bij,bjk,kl->bil", a, b, c, optimize=True)


def bilinear(peer: Peer, a: Any, b: Any, c: Any) -> Any:
    """Three operands that share an index with the result."""
    return peer.xp.einsum("bi,oij,bj->bo", a, b, c, optimize=True)


def outer(peer: Peer, a: Any, b: Any) -> Any:
    return peer.xp.outer(a, b)


def shared(peer: Peer, a: Any, b: Any) -> Any:
    """A batch of matrices by one matrix, as a batched function."""
    return peer.library.vmap(lambda x, y: x @ y, in_axes=(0, None))(a, b)


def product(name: str, m: int, k: int, n: int, dtype: Any = np.float32, quick: bool = False) -> Case:
    return Case(
        name,
        matmul,
        lambda draw: (draw.normal(m, k, dtype=dtype), draw.normal(k, n, dtype=dtype)),
        quick=quick,
    )


def batch(name: str, count: int, m: int, k: int, n: int, quick: bool = False) -> Case:
    return Case(name, matmul, lambda draw: (draw.normal(count, m, k), draw.normal(count, k, n)), quick=quick)


CASES = (
    product("128^3", 128, 128, 128),
    product("512^3", 512, 512, 512, quick=True),
    product("1024^3", 1024, 1024, 1024),
    product("384^3 f64", 384, 384, 384, np.float64),
    product("300 x 700 x 450", 300, 700, 450, quick=True),
    product("333 x 251 x 127", 333, 251, 127),
    product("8 x 1024 x 4096", 8, 1024, 4096),
    product("4096 x 64 x 16", 4096, 64, 16),
    product("16 x 20000 x 16", 16, 20_000, 16),
    Case("vector 2048 x 2048", matmul, lambda draw: (draw.normal(2048), draw.normal(2048, 2048))),
    Case("matrix 2048 x 2048 by vector", matmul, lambda draw: (draw.normal(2048, 2048), draw.normal(2048))),
    Case(
        "matrix twice 1500 x 1700 f64",
        matrix_twice,
        lambda draw: tuple(draw.normal(*s, dtype=np.float64) for s in ((1500, 1700), (1700,), (1500,))),
    ),
    Case(
        "vector, 4 layers of 512",
        layers,
        lambda draw: (draw.normal(512), *(draw.weights(512, 512) for _ in range(4))),
        quick=True,
    ),
    Case("gram 2000 x 200", gram, lambda draw: (draw.normal(2000, 200),)),
    Case("outer 2000 x 1500", outer, lambda draw: (draw.normal(2000), draw.normal(1500))),
    batch("128 of 64^3", 128, 64, 64, 64),
    batch("512 of 16^3", 512, 16, 16, 16, quick=True),
    batch("2000 of 3^3", 2000, 3, 3, 3),
    Case(
        "256 of 16 x 64, shared 64 x 64",
        shared,
        lambda draw: (draw.normal(256, 16, 64), draw.normal(64, 64)),
        numpy=lambda a, b: a @ b,
    ),
    Case(
        "einsum chain 300 x 40 x 300 x 20",
        chain,
        lambda draw: (draw.normal(300, 40), draw.normal(40, 300), draw.normal(300, 20)),
    ),
    Case(
        "einsum batch chain 32 x 100 x 50 x 60 x 70",
        batch_chain,
        lambda draw: (draw.normal(32, 100, 50), draw.normal(32, 50, 60), draw.normal(60, 70)),
    ),
    Case(
        "einsum bilinear 64 x 50 x 48 x 40",
        bilinear,
        lambda draw: (draw.normal(64, 48), draw.normal(50, 48, 40), draw.normal(64, 40)),
        numpy=SAME,
    ),
)
