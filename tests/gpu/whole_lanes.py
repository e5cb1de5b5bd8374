"""Programs whose rows are whole numbers of lanes: for them IREE takes other ways than for odd rows.

Input: the size of their matrices. Output: functions with arguments, and what compares a device with the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import adze
import adze.numpy as xp
from adze import lax, nn

Program: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
WITHOUT_GRADIENTS = ("places", "truth")


def programs(n: int) -> dict[str, Program]:
    """By name; their matrices are of `n` rows and columns."""
    drawn = np.random.default_rng(0)
    a, b = (drawn.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    points = drawn.standard_normal((n, 3)).astype(np.float32)
    places = drawn.integers(0, n, n // 2).astype(np.int32)
    return {
        "softmax of columns": (lambda x: nn.softmax(x, axis=0), (a,)),
        "log softmax": (lambda x: nn.log_softmax(x), (a,)),
        "norms": (lambda x: xp.linalg.norm(x, axis=1), (a,)),
        "moments": (lambda x: (x.mean(0), x.var(0), x.std(), x.max(0), x.min(1)), (a,)),
        "an array and its sums": (lambda x: (x * 2, (x * 2).sum(0), (x * 2).sum(1)), (a,)),
        "two layers": (lambda x, w: (nn.relu(x @ w) @ w[:, :8]).sum(1), (a, b)),
        "attention": (lambda x, y: nn.softmax(xp.where(xp.tri(n, dtype=bool), x @ y.T, -1e9)) @ y, (a, b)),
        "cumulative": (lambda x: (xp.cumsum(x, 1), lax.cummax(x, axis=1), xp.cumprod(x / 9 + 1, 0)), (a,)),
        "sorted": (lambda x: (xp.sort(x, axis=0), xp.median(x, axis=1), lax.top_k(x, 5)[0]), (a,)),
        "places": (lambda x: (xp.argmax(x, axis=1), xp.argmin(x, axis=0), xp.argsort(x, axis=1)), (a,)),
        "numbers of elements": (lambda x: xp.max(xp.where(xp.arange(n) % 3 == 0, x, -9.0), axis=1), (a,)),
        "triangles": (lambda x: xp.tril(x).sum(0) + xp.diagonal(x) + xp.trace(x), (a,)),
        "distances": (lambda p: xp.exp(-((p[:, None] - p[None]) ** 2).sum(-1)).sum(0), (points,)),
        "outer product": (lambda x: (x[0][:, None] * x[1][None]).max(0), (a,)),
        "convolutions": (lambda x: (xp.convolve(x[0], x[1, :8]), xp.pad(x, 2, mode="reflect").sum(0)), (a,)),
        "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID"), (a,)),
        "rows by place": (lambda x, i: (x[i], xp.zeros_like(x).at[i].add(x[: n // 2])), (a, places)),
        "interpolation": (lambda x: xp.interp(x[0], xp.sort(x[1]), x[2]), (a,)),
        "scan": (lambda x: lax.scan(lambda c, row: (c * 0.9 + row, c.sum()), x[0], x), (a,)),
        "recurrence": (
            lambda x, w: lax.scan(lambda h, r: (xp.tanh(h @ w / 9 + r), None), x[0], x)[0],
            (a, b),
        ),
        "spectrum": (lambda x: xp.abs(xp.fft.rfft(x)), (a,)),
        "narrow": (
            lambda x: ((x * 30).astype("int8").astype("int32").sum(1), x.astype("float16").max(0)),
            (a,),
        ),
        "wide": (lambda x: x.astype("float64").sum(1) + (x * 9).astype("int64").sum(0), (a,)),
        "complex": (lambda x: (x * (1 + 2j)).sum(1).real, (a,)),
        "truth": (
            lambda x: (xp.any(x > 2, axis=1), xp.all(x > -3, axis=0), xp.count_nonzero(x > 0, axis=1)),
            (a,),
        ),
        "divergence": (lambda x, y: (nn.softmax(x) * (nn.log_softmax(x) - nn.log_softmax(y))).sum(), (a, b)),
        "factor": (lambda x: xp.linalg.cholesky(x @ x.T + n * xp.eye(n, dtype=x.dtype)), (a,)),
        "solution": (lambda x, y: xp.linalg.solve(x + n * xp.eye(n, dtype=x.dtype), y), (a, b)),
        "orthogonal": (lambda x: xp.linalg.qr(x)[1], (a,)),
        "stencil": (
            lambda x: x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:],
            (a,),
        ),
        "parts of rows": (lambda x: x[:, 1:17] * x[:, 17:33] + x[:, 3:19].sum(1, keepdims=True), (a,)),
        "turned": (lambda x: xp.roll(x, 3, axis=1) - xp.flip(x, 0) + x.T, (a,)),
        "joined": (lambda x, y: xp.concatenate([x, y[:, :32]], 1).sum(0), (a, b)),
        "mapped": (adze.vmap(lambda row: (row * row).sum() * row), (a,)),
    }


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of all squares of its real results."""

    def loss(*xs: Any) -> Any:
        results = [each for each in adze.tree.leaves(function(*xs)) if each.dtype.kind == "f"]
        return sum((each.astype("float32") ** 2).sum() for each in results)

    return adze.grad(loss)


def compare(function: Callable[..., Any], arguments: tuple[Any, ...], device: str) -> None:
    """Results on `device` are those of the CPU, to some digits of the greatest."""
    results = (adze.tree.leaves(adze.jit(function, device=each)(*arguments)) for each in (device, "cpu"))
    for got, want in zip(*map(tuple, results), strict=True):
        wanted = np.asarray(want)
        scale = float(np.max(np.abs(wanted), initial=0)) if wanted.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-3, atol=max(2e-4 * scale, 1e-4))
