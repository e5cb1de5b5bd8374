"""Code that asks arrays what they are: einops, array-api-compat, SciPy under its switch for other arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import array_api_compat
import einops
import einops.array_api
import numpy as np
import pytest

import adze
import adze.numpy as xp

X = np.arange(24.0).reshape(2, 3, 4)

PATTERNS = {
    "rearrange": lambda x: einops.rearrange(x, "a b c -> c (a b)"),
    "reduce": lambda x: einops.reduce(x, "a b c -> b", "max"),
    "mean": lambda x: einops.reduce(x, "a (b d) c -> a b", "mean", d=3),
    "repeat": lambda x: einops.repeat(x, "a b c -> a (b k) c", k=2),
    "einsum": lambda x: einops.einsum(x, x, "a b c, a d c -> b d"),
    "pack": lambda x: einops.pack([x, x], "a * c")[0],
    "stack": lambda x: einops.rearrange([x, x], "n a b c -> a n b c"),
}


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    adze.imports.register_einops()
    adze.imports.register_einops()


@pytest.mark.parametrize("name", PATTERNS)
def test_einops_is_that_of_numpy(name: str) -> None:
    function: Any = PATTERNS[name]
    np.testing.assert_allclose(function(xp.asarray(X)), function(X))
    gradient = adze.grad(lambda x: xp.sum(function(x) ** 2))(X)
    assert gradient.shape == X.shape


def test_einops_array_api_needs_no_registration() -> None:
    result = adze.jit(lambda x: einops.array_api.reduce(x, "a b c -> a", "sum"))(X)
    np.testing.assert_allclose(result, X.sum((1, 2)))


def test_array_api_compat_traces() -> None:
    def norm(x: Any) -> Any:
        namespace = array_api_compat.array_namespace(x)
        ones = namespace.ones(x.shape, dtype=x.dtype, device=array_api_compat.device(x))
        return namespace.sqrt(namespace.sum(x * x * ones))

    assert array_api_compat.is_array_api_obj(xp.asarray(X))
    np.testing.assert_allclose(norm(xp.asarray(X)), np.linalg.norm(X))
    np.testing.assert_allclose(adze.grad(norm)(X), X / np.linalg.norm(X))


def test_functions_of_scipy_trace(checkout: Path, thorough: bool) -> None:
    """Those of docs/imports.md, each as SciPy computes it of NumPy's arrays."""
    pytest.importorskip("scipy", reason="SciPy (extra `scipy`) is not installed")
    step = 1 if thorough else 8
    command = [sys.executable, "-m", "tests.frontend.imports.scipy_functions", str(step)]
    done = subprocess.run(command, cwd=checkout, env=os.environ, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert int(done.stdout) * step > 70
