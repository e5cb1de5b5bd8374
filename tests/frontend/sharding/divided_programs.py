"""Programs of whole arrays and how these lie on four ranks, written once for adze and for JAX.

`test_traffic_of_xla.py` compares what their ranks send.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .four_devices import Library

Shape = tuple[int, ...]
Entry = Any
Program = tuple[Callable[..., Any], list[Shape | str], list[tuple[Entry, ...]]]
"""A function of the library and arrays, their shapes ("rows": 16 numbers of rows), and how they lie."""


def mlp(m: Library, x: Any, w: Any, v: Any) -> Any:
    return m.np.tanh(x @ w) @ v


def mean_square(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda m, *args: m.np.mean(f(m, *args) ** 2)


def gradient(f: Callable[..., Any], *argnums: int) -> Callable[..., Any]:
    return lambda m, *args: m.value_and_grad(lambda *a: f(m, *a), argnums=argnums)(*args)


def normalized(m: Library, x: Any) -> Any:
    centred = x - m.np.mean(x, axis=-1, keepdims=True)
    return centred * m.lax.rsqrt(m.np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def heads(m: Library, x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    """Attention; weights are of features, heads, and features of a head."""
    q, k, v = (m.np.einsum("bsd,dhe->bshe", x, w) for w in (wq, wk, wv))
    scores = m.nn.softmax(m.np.einsum("bqhe,bkhe->bhqk", q, k), axis=-1)
    return m.np.einsum("bqhe,hed->bqd", m.np.einsum("bhqk,bkhe->bqhe", scores, v), wo)


def block(m: Library, x: Any, wq: Any, wk: Any, wv: Any, wo: Any, w: Any, v: Any) -> Any:
    """A layer of a transformer."""
    x = x + heads(m, normalized(m, x), wq, wk, wv, wo)
    return x + m.np.tanh(normalized(m, x) @ w) @ v


def two_blocks(m: Library, x: Any, *weights: Any) -> Any:
    return block(m, block(m, x, *weights), *weights)


def batch_normalized(m: Library, x: Any, gain: Any) -> Any:
    centred = x - m.np.mean(x, axis=0)
    return centred * m.lax.rsqrt(m.np.mean(centred**2, axis=0) + 1e-5) * gain


def embedded(m: Library, table: Any, rows: Any) -> Any:
    return m.np.take(table, rows, axis=0)


def cross_entropy(m: Library, x: Any, w: Any, rows: Any) -> Any:
    scores = x @ w
    chosen = m.np.take_along_axis(scores, rows[:, None], axis=1)[:, 0]
    return m.np.mean(m.nn.logsumexp(scores, axis=1) - chosen)


def descent(m: Library, w: Any, v: Any, x: Any) -> Any:
    dw, dv = m.grad(lambda w, v: mean_square(mlp)(m, x, w, v), argnums=(0, 1))(w, v)
    return w - 0.1 * dw, v - 0.1 * dv


DATA: Final = ("data",)
ALL: Final = (("data", "model"),)
COLUMNS: Final = (None, "model")
ROWS: Final = ("model",)
MLP: Final[list[Shape | str]] = [(64, 32), (32, 128), (128, 32)]
ATTENTION: Final[list[Shape | str]] = [(8, 16, 32), (32, 4, 8), (32, 4, 8), (32, 4, 8), (4, 8, 32)]
HEADS: Final[list[tuple[Entry, ...]]] = [DATA, COLUMNS, COLUMNS, COLUMNS, ROWS]
BLOCK: Final = [*ATTENTION, (32, 128), (128, 32)]

PROGRAMS: Final[dict[str, Program]] = {
    "data parallel": (mlp, MLP, [ALL, (), ()]),
    "data parallel, gradient": (gradient(mean_square(mlp), 1, 2), MLP, [ALL, (), ()]),
    "megatron": (mlp, MLP, [DATA, COLUMNS, ROWS]),
    "megatron, gradient": (gradient(mean_square(mlp), 0, 1, 2), MLP, [DATA, COLUMNS, ROWS]),
    "fully sharded": (mlp, MLP, [ALL, ALL, ALL]),
    "fully sharded, gradient": (gradient(mean_square(mlp), 1, 2), MLP, [ALL, ALL, ALL]),
    "fully sharded, a step": (descent, [*MLP[1:], MLP[0]], [ALL, ALL, ALL]),
    "heads": (heads, ATTENTION, HEADS),
    "heads, gradient": (gradient(mean_square(heads), 0, 1, 2, 3, 4), ATTENTION, HEADS),
    "a block": (block, BLOCK, [*HEADS, COLUMNS, ROWS]),
    "a block, gradient": (
        gradient(mean_square(block), 1, 2, 3, 4, 5, 6),
        BLOCK,
        [*HEADS, COLUMNS, ROWS],
    ),
    "two blocks, gradient": (
        gradient(mean_square(two_blocks), 0, 1, 2, 3, 4, 5, 6),
        BLOCK,
        [*HEADS, COLUMNS, ROWS],
    ),
    "batch norm": (batch_normalized, [(64, 32), (32,)], [ALL, ()]),
    "batch norm, gradient": (gradient(mean_square(batch_normalized), 0, 1), [(64, 32), (32,)], [ALL, ()]),
    "layer norm of divided features": (normalized, [(64, 32)], [(None, "model")]),
    "embedding, divided rows": (embedded, [(64, 32), "rows"], [("model",), ()]),
    "embedding, divided features": (embedded, [(64, 32), "rows"], [COLUMNS, DATA]),
    "embedding, gradient": (gradient(mean_square(embedded), 0), [(64, 32), "rows"], [COLUMNS, DATA]),
    "cross entropy": (cross_entropy, [(16, 32), (32, 64), "rows"], [DATA, (), DATA]),
    "cross entropy, gradient": (
        gradient(cross_entropy, 0, 1),
        [(16, 32), (32, 64), "rows"],
        [DATA, (), DATA],
    ),
    "cross entropy, divided words": (cross_entropy, [(16, 32), (32, 64), "rows"], [DATA, COLUMNS, DATA]),
    "a divided contraction": (lambda m, x, y: x @ y, [(32, 64), (64, 48)], [COLUMNS, ROWS]),
    "a chain of products": (
        lambda m, x, y, z: (x @ y) @ z,
        [(32, 64), (64, 48), (48, 16)],
        [(None, ("data", "model")), (("data", "model"),), ()],
    ),
    "one divided operand": (lambda m, x, y: x @ y, [(32, 64), (64, 48)], [COLUMNS, ()]),
    "a grid of products": (lambda m, x, y: x @ y, [(32, 64), (64, 48)], [("data", None), (None, "model")]),
    "sums of products": (
        lambda m, x, y, z, u: x @ y + z @ u,
        [(32, 64), (64, 48), (32, 64), (64, 48)],
        [COLUMNS, ROWS, COLUMNS, ROWS],
    ),
    "two axes in one": (lambda m, x: x.reshape(64 * 32), [(64, 32)], [DATA]),
    "one axis in two": (lambda m, x: x.reshape(8, 8, 32) * 2, [(64, 32)], [DATA]),
    "transposed": (lambda m, x: m.np.transpose(x) * 2, [(64, 32)], [("data", "model")]),
    "a transposed sum": (lambda m, x: x + m.np.transpose(x), [(64, 64)], [("data", "model")]),
    "sums of rows": (lambda m, x: m.np.sum(x, axis=0), [(64, 32)], [("data", "model")]),
    "extrema": (lambda m, x: (m.np.max(x), m.np.min(x, axis=1)), [(64, 32)], [("data", "model")]),
    "variance": (lambda m, x: m.np.var(x), [(64, 32)], [("data", "model")]),
    "a softmax of divided columns": (lambda m, x: m.nn.softmax(x, axis=-1), [(64, 32)], [COLUMNS]),
}
