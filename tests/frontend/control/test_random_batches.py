"""Random loops over small states, batched, scanned and differentiated: compiled as jax computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adze
import adze.numpy as xp

from ...random_programs import seeds

STEPS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sine": lambda lib, np_, x, m: np_.sin(x + 0.5),
    "squashed": lambda lib, np_, x, m: np_.tanh(x * 1.5),
    "scaled": lambda lib, np_, x, m: x * (0.5 + 0.1 * x[0]),
    "less": lambda lib, np_, x, m: x - x[-1] * 0.3,
    "rolled": lambda lib, np_, x, m: np_.roll(x, 1) * 0.9,
    "reversed": lambda lib, np_, x, m: x[::-1] + 0.1,
    "chosen": lambda lib, np_, x, m: np_.where(x > 0.2, x * 0.5, x + 0.1),
    "sum": lambda lib, np_, x, m: x * 0.7 + 0.1 * np_.sum(x),
    "extrema": lambda lib, np_, x, m: np_.maximum(x, np_.max(x) * 0.2) - np_.min(x) * 0.1,
    "outer": lambda lib, np_, x, m: np_.outer(x, x).sum(0) * 0.1,
    "matrix": lambda lib, np_, x, m: np_.tanh(m @ x),
    "running": lambda lib, np_, x, m: np_.cumsum(x) * 0.2,
    "set": lambda lib, np_, x, m: x.at[0].set(0.25),
    "stacked": lambda lib, np_, x, m: np_.stack([x, x * 0.5]).mean(0),
    "shares": lambda lib, np_, x, m: x + lib.nn.softmax(x),
    "square": lambda lib, np_, x, m: x * 0.9 + 0.05 * np_.dot(x, x),
    "padded": lambda lib, np_, x, m: np_.pad(x[:-1], (1, 0)) * 0.5 + x * 0.4,
    "sorted": lambda lib, np_, x, m: np_.sort(x),
}


def program(lib: Any, np_: Any, kind: str, names: list[str], count: int) -> Callable[..., Any]:
    """A function of a matrix, a batch of states and what is scanned over."""

    def batch(matrix: Any, states: Any, rows: Any) -> Any:
        def step(x: Any) -> Any:
            for name in names:
                x = STEPS[name](lib, np_, x, matrix)
            return x

        def repeated(x: Any) -> Any:
            return lib.lax.fori_loop(0, count, lambda i, x: step(x), x)

        def scanned(x: Any) -> Any:
            return lib.lax.scan(lambda c, row: (step(c + row * 0.1), c.sum()), x, rows)

        def until_small(x: Any) -> Any:
            def goes_on(s: Any) -> Any:
                return (s[1] < count) & (np_.abs(s[0]).sum() > 0.3)

            return lib.lax.while_loop(goes_on, lambda s: (step(s[0]) * 0.8, s[1] + 1), (x, 0))

        slope = lib.grad(lambda x: (repeated(x) ** 2).sum())
        one = {"repeated": repeated, "scanned": scanned, "until small": until_small, "slope": slope}[kind]
        return lib.vmap(one)(states)

    return batch


@pytest.mark.parametrize("seed", seeds(4, 150))
def test_batches_are_those_of_jax(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(1, 6)), int(rng.integers(0, 6))
    names = [str(name) for name in rng.choice(list(STEPS), rng.integers(1, 7))]
    kind = ("repeated", "scanned", "until small", "slope")[seed % 4]
    arguments = (
        rng.standard_normal((size, size)).astype(np.float32),
        rng.standard_normal((int(rng.choice([5, 17, 40, 130])), size)).astype(np.float32),
        rng.standard_normal((max(count, 1), size)).astype(np.float32),
    )
    got = adze.jit(program(adze, xp, kind, names, count))(*arguments)
    want = jax.jit(program(jax, jnp, kind, names, count))(*arguments)
    what = f"{kind} of {names}, {count} times, {[x.shape for x in arguments]}"
    for one, other in zip(adze.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), 2e-3, 2e-3, err_msg=what)
