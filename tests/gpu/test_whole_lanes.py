"""Programs whose rows are whole numbers of lanes: for them IREE takes other ways than for odd rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax, nn

from .drivers import needs_vulkan

pytestmark = [pytest.mark.gpu, pytest.mark.vulkan, needs_vulkan]

N: Final = 64
DRAWN: Final = np.random.default_rng(0)
X: Final = DRAWN.standard_normal((N, N)).astype(np.float32)
Y: Final = DRAWN.standard_normal((N, N)).astype(np.float32)
POINTS: Final = DRAWN.standard_normal((N, 3)).astype(np.float32)
PLACES: Final = DRAWN.integers(0, N, N // 2).astype(np.int32)

PROGRAMS: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "softmax of columns": (lambda x: nn.softmax(x, axis=0), (X,)),
    "log softmax": (lambda x: nn.log_softmax(x), (X,)),
    "norms": (lambda x: xp.linalg.norm(x, axis=1), (X,)),
    "moments": (lambda x: (x.mean(0), x.var(0), x.std(), x.max(0), x.min(1)), (X,)),
    "an array and its sums": (lambda x: (x * 2, (x * 2).sum(0), (x * 2).sum(1)), (X,)),
    "two layers": (lambda x, w: (nn.relu(x @ w) @ w[:, :8]).sum(1), (X, Y)),
    "attention": (lambda x, y: nn.softmax(xp.where(xp.tri(N, dtype=bool), x @ y.T, -1e9)) @ y, (X, Y)),
    "cumulative": (lambda x: (xp.cumsum(x, 1), lax.cummax(x, axis=1), xp.cumprod(x / 9 + 1, 0)), (X,)),
    "sorted": (lambda x: (xp.sort(x, axis=0), xp.median(x, axis=1), lax.top_k(x, 5)[0]), (X,)),
    "places": (lambda x: (xp.argmax(x, axis=1), xp.argmin(x, axis=0), xp.argsort(x, axis=1)), (X,)),
    "numbers of elements": (lambda x: xp.max(xp.where(xp.arange(N) % 3 == 0, x, -9.0), axis=1), (X,)),
    "triangles": (lambda x: xp.tril(x).sum(0) + xp.diagonal(x) + xp.trace(x), (X,)),
    "distances": (lambda p: xp.exp(-((p[:, None] - p[None]) ** 2).sum(-1)).sum(0), (POINTS,)),
    "outer product": (lambda x: (x[0][:, None] * x[1][None]).max(0), (X,)),
    "convolutions": (lambda x: (xp.convolve(x[0], x[1, :8]), xp.pad(x, 2, mode="reflect").sum(0)), (X,)),
    "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID"), (X,)),
    "rows by place": (lambda x, i: (x[i], xp.zeros_like(x).at[i].add(x[: N // 2])), (X, PLACES)),
    "interpolation": (lambda x: xp.interp(x[0], xp.sort(x[1]), x[2]), (X,)),
    "scan": (lambda x: lax.scan(lambda c, row: (c * 0.9 + row, c.sum()), x[0], x), (X,)),
    "recurrence": (lambda x, w: lax.scan(lambda h, r: (xp.tanh(h @ w / 9 + r), None), x[0], x)[0], (X, Y)),
    "spectrum": (lambda x: xp.abs(xp.fft.rfft(x)), (X,)),
    "narrow": (lambda x: ((x * 30).astype("int8").astype("int32").sum(1), x.astype("float16").max(0)), (X,)),
    "wide": (lambda x: x.astype("float64").sum(1) + (x * 9).astype("int64").sum(0), (X,)),
    "complex": (lambda x: (x * (1 + 2j)).sum(1).real, (X,)),
    "truth": (
        lambda x: (xp.any(x > 2, axis=1), xp.all(x > -3, axis=0), xp.count_nonzero(x > 0, axis=1)),
        (X,),
    ),
    "divergence": (lambda x, y: (nn.softmax(x) * (nn.log_softmax(x) - nn.log_softmax(y))).sum(), (X, Y)),
    "factor": (lambda x: xp.linalg.cholesky(x @ x.T + N * xp.eye(N, dtype=x.dtype)), (X,)),
    "solution": (lambda x, y: xp.linalg.solve(x + N * xp.eye(N, dtype=x.dtype), y), (X, Y)),
    "orthogonal": (lambda x: xp.linalg.qr(x)[1], (X,)),
    "stencil": (lambda x: x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:], (X,)),
    "parts of rows": (lambda x: x[:, 1:17] * x[:, 17:33] + x[:, 3:19].sum(1, keepdims=True), (X,)),
    "turned": (lambda x: xp.roll(x, 3, axis=1) - xp.flip(x, 0) + x.T, (X,)),
    "joined": (lambda x, y: xp.concatenate([x, y[:, :32]], 1).sum(0), (X, Y)),
    "mapped": (adze.vmap(lambda row: (row * row).sum() * row), (X,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    function, arguments = PROGRAMS[name]
    compare(function, arguments)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("places", "truth")])
def test_gradients(name: str) -> None:
    function, arguments = PROGRAMS[name]

    def loss(*xs: Any) -> Any:
        results = [each for each in adze.tree.leaves(function(*xs)) if each.dtype.kind == "f"]
        return sum((each.astype("float32") ** 2).sum() for each in results)

    compare(adze.grad(loss), arguments)


def compare(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Results on Vulkan are those of the CPU, to some digits of the greatest."""
    results = (
        adze.tree.leaves(adze.jit(function, device=device)(*arguments)) for device in ("vulkan", "cpu")
    )
    for got, want in zip(*map(tuple, results), strict=True):
        wanted = np.asarray(want)
        scale = float(np.max(np.abs(wanted), initial=0)) if wanted.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-3, atol=max(2e-4 * scale, 1e-4))
