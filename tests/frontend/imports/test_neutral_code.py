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


def test_scikit_learn_is_what_the_docs_say(checkout: Path, thorough: bool) -> None:
    """Both columns of the table in docs/imports.md: all names, of which each is tried under `--all`."""
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn (extra `examples`) is not installed")
    if not sklearn.__version__.startswith("1.9."):
        pytest.skip("the table is of scikit-learn 1.9")
    command = [sys.executable, "-m", "tests.frontend.imports.sklearn_functions", "1" if thorough else "5"]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    text = (checkout / "docs" / "imports.md").read_text(encoding="utf-8")
    header = "| of scikit-learn | these run | these assign to elements |"
    table = [line.split("|")[2:4] for line in text.partition(header)[2].partition("\n\n")[0].splitlines()[2:]]
    for column, tried in zip(zip(*table, strict=True), done.stdout.splitlines(), strict=True):
        listed = ", ".join(cell.strip() for cell in column).replace("`", "")
        assert sorted(listed.split(", ")) == sorted(tried.split(", "))
    run, assign = (line.count(", ") + 1 for line in done.stdout.splitlines())
    assert (
        f"Of {run + assign}\nestimators" in text
        and f"{run} run and agree with NumPy; the other {assign}" in text
    )
