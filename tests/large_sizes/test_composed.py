"""Random compositions of a dozen functions, batched, differentiated, in loops: compiled = what jax computes.

Where a float differs from that of jax, jax computes it again in 64 bits, and adze may be as wrong as jax was.
"""

from __future__ import annotations

import platform
from typing import Any, Final

import jax
import numpy as np
import pytest

import adze

from ..random_programs import random_program, seeds
from ..random_programs.array_values import kind_of

AVX2: Final = "cpu:x86-64-v3" if platform.machine() == "x86_64" else "cpu"
WAYS: Final = (("cpu", "local-sync"), (AVX2, "local-sync"), ("cpu", "local-task"))
"""The code and the device: those of this machine, code for less, several threads."""
AS_WRONG: Final = 4
"""So many times the error of jax is no error of adze: its sums have another order."""


@pytest.mark.parametrize("seed", seeds(3, 36))
def test_compositions_are_those_of_jax(seed: int) -> None:
    program = random_program(seed, "composed")
    arguments = program.arguments()
    target, device = WAYS[seed % len(WAYS)]
    traced = adze.trace(lambda *xs: program(adze, *xs), *arguments)
    results = _leaves(traced.lower(target).compile(device=device)(*arguments))
    with jax.enable_x64(True):
        of_jax = _leaves(jax.jit(lambda *xs: program(jax, *xs))(*arguments))
    for number, (got, want) in enumerate(zip(results, of_jax, strict=True)):
        if want.dtype == jax.dtypes.float0:  # tangents of integers and bools, which are zeros in adze
            assert got.shape == want.shape and not np.any(got), program
            continue
        assert (got.shape, got.dtype) == (want.shape, want.dtype), program
        if kind_of(got) in "biu":
            np.testing.assert_array_equal(got, want, str(program))
            continue
        if _error(got, want) > program.tolerance:
            with jax.enable_x64(True):
                exact = _leaves(jax.jit(lambda *xs: program.exact(jax, *xs))(*arguments))[number]
            bound = max(program.tolerance, AS_WRONG * _error(want, exact))
            assert _error(got, exact) <= bound, f"result {number} of {program}"


def _error(got: np.ndarray, want: np.ndarray) -> float:
    """The greatest difference relative to the greatest finite value; infinite where only one is NaN."""
    wide = np.complex128 if kind_of(got) == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    with np.errstate(all="ignore"):
        differences = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got - want))
    greatest = np.abs(want[np.isfinite(want)]).max(initial=1e-12)
    return float(np.nan_to_num(differences, nan=np.inf).max(initial=0) / greatest)


def _leaves(value: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in adze.tree.leaves(value)]
