"""Custom calls of LAPACK as JAX exports them for CPUs, against LAPACK itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adze
from adze.imports import StableHLOError


def call(target: str, n: int, dtype: str, results: list[str], config: str) -> Any:
    """A function of one square matrix that is one call."""
    types = ", ".join(f"tensor<{r}>" for r in results)
    names = ", ".join(f"%0#{i}" for i in range(len(results)))
    matrix = f"tensor<{n}x{n}x{dtype}>"
    return adze.from_stablehlo(
        f"func.func @main(%x: {matrix}) -> ({types}) {{\n"
        f"%0:{len(results)} = stablehlo.custom_call @{target}(%x) "
        f"{{mhlo.backend_config = {{{config}}}}} : ({matrix}) -> ({types})\n"
        f"return {names} : {types}\n}}"
    )


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_sytrd(uplo: str, n: int) -> None:
    """The tridiagonal matrix, and the reflections in LAPACK's packed form."""
    a = np.random.default_rng(n).normal(size=(n, n))
    a = a + a.T
    results = [f"{n}x{n}xf64", f"{n}xf64", f"{n - 1}xf64", f"{n - 1}xf64", "i32"]
    function = call("lapack_dsytrd_ffi", n, "f64", results, f"uplo = {ord(uplo)} : ui8")
    half = np.tril(a) if uplo == "L" else np.triu(a)  # the other triangle counts for nothing
    packed, d, e, tau, info = map(np.asarray, function(half))
    c, expected_d, expected_e, expected_tau, _ = scipy.linalg.lapack.dsytrd(a, lower=uplo == "L")
    keep = np.tril if uplo == "L" else np.triu
    np.testing.assert_allclose(keep(packed), keep(c), atol=1e-12)
    for ours, lapack in ((d, expected_d), (e, expected_e[: n - 1]), (tau, expected_tau[: n - 1])):
        np.testing.assert_allclose(ours, lapack, atol=1e-12)
    assert info == 0


def test_gees_of_real_matrices() -> None:
    n = 5
    results = [f"{n}x{n}xf32", f"{n}x{n}xf32", f"{n}xf32", f"{n}xf32", "i32", "i32"]
    config = "mode = {} : ui8, sort = {} : ui8"
    function = call("lapack_sgees_ffi", n, "f32", results, config.format(ord("V"), ord("N")))
    a = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    t, z, real, imaginary, selected, info = map(np.asarray, function(a))
    np.testing.assert_allclose(z @ t @ z.T, a, atol=1e-5)
    values = np.linalg.eigvals(a)
    np.testing.assert_allclose(np.sort_complex(real + 1j * imaginary), np.sort_complex(values), atol=1e-4)
    assert (selected, info) == (0, 0)
    with pytest.raises(StableHLOError, match="sorted eigenvalues are not supported"):
        call("lapack_sgees_ffi", n, "f32", results, config.format(ord("V"), ord("S")))(a)
