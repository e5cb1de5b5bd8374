"""The kernel of Schur forms in the interpreter: forms, blocks and `z` of usual and of awkward matrices."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from adze.dialects.types import TensorType

from ....selection import quick_first
from .linear_algebra import TARGETS, run_routine

RNG = np.random.default_rng(5)
MATRICES = {
    **{f"random {n}": RNG.standard_normal((n, n)) for n in (1, 2, 3, 6)},
    "zeros": np.zeros((4, 4)),
    "cycle": np.roll(np.eye(7), 1, 0),
    "nilpotent": np.eye(5, k=-1),
    "defective": np.array([[1.0, -2, 3, 0], [2, 1, 0, 3], [0, 0, 1, -2], [0, 0, 2, 1]]),
    "companion": scipy.linalg.companion(np.poly(np.arange(1.0, 6))),
}
each_dtype = pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=lambda d: d.__name__)


def forms(a: np.ndarray, target: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The form, `z`, and the form whose blocks alone are right."""
    type_ = TensorType(a.shape, a.dtype)
    form, z = run_routine("real_schur", [a], [type_, type_], target)
    (blocks,) = run_routine("real_schur_blocks", [a], [type_], target)
    return form, z, blocks


@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", MATRICES)
def test_forms(name: str, target: str, dtype: Any) -> None:
    a = MATRICES[name]
    a = (a / max(np.abs(a).max(), 1)).astype(dtype)
    form, z, blocks = forms(a, target)
    bound = 100 * float(np.finfo(dtype).eps)
    assert np.abs(z @ form @ z.T - a).max() <= bound
    assert np.abs(z.T @ z - np.eye(len(a))).max() <= bound
    assert not np.tril(form, -2).any()
    below = np.diagonal(form, -1)
    assert not (below[1:] * below[:-1]).any()
    for offset in (-1, 0):
        np.testing.assert_array_equal(np.diagonal(blocks, offset), np.diagonal(form, offset))
    above = np.diagonal(form, 1)[below != 0]
    np.testing.assert_array_equal(np.diagonal(blocks, 1)[below != 0], above)


@pytest.mark.parametrize("target", quick_first(TARGETS, 1))
def test_a_batch_of_which_one_has_no_answer_in_time(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A triangle needs no step, so it has its form without any."""
    monkeypatch.setattr(sys.modules["adze.passes.lower.kernels.linalg.schur"], "MOST", 0)
    a = np.stack([MATRICES["random 3"], np.triu(MATRICES["random 3"])])
    for result in forms(a, target):
        assert np.isnan(result[0]).all() and np.isfinite(result[1]).all()
