"""Keywords of NumPy and JAX: those with a meaning have it, hints are accepted, what cannot be is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax
from adze.dialects.errors import AdzeError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4))
X[1, 2] = np.nan
MASK = RANDOM.random((3, 4)) > 0.3
MASK[:, 0] = True
FULL = np.nan_to_num(X)
I8 = np.array([100, 100, 100], np.int8)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.nanmax(X, 1, initial=-9.0, where=MASK),
        lambda m: m.nanmin(X, 1, initial=9.0, where=MASK),
        lambda m: m.nanmax(X, 1, initial=0.7),
        lambda m: m.nanmean(X, 1, where=MASK),
        lambda m: m.nanvar(X, 1, where=MASK),
        lambda m: m.nanstd(X, 1, where=MASK, ddof=1),
        lambda m: m.var(FULL, 1, mean=FULL.mean(1, keepdims=True)),
        lambda m: m.std(FULL, 1, mean=FULL.mean(1, keepdims=True) + 1),
        lambda m: m.setdiff1d([3, 1, 2], [2], assume_unique=False),
        lambda m: m.setxor1d([3, 1, 2], [2, 5], True),
        lambda m: m.take(FULL, [0, 2], 1, None, "clip"),
        lambda m: m.median(FULL, 1, None, False, True),
        lambda m: m.nanmedian(X, 1, None, False, True),
        lambda m: m.choose([0, 1], [I8[:2], I8[:2] * 0], None, "clip"),
    ],
)
def test_a_keyword_means_what_it_means_in_numpy(call: Callable[[Any], Any]) -> None:
    result, wanted = call(anp), call(np)
    assert result.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-12)


def test_dtypes_that_are_asked_for() -> None:
    assert anp.dstack([I8, I8], dtype=np.int32).dtype == np.int32
    assert anp.sum(I8, promote_integers=False).dtype == np.int8
    assert int(anp.sum(I8, promote_integers=False)) == 44  # 300 modulo 256
    assert anp.prod(I8, promote_integers=False).dtype == np.int8
    assert int(anp.sum(I8)) == 300
    wide = anp.convolve(I8, I8, precision="highest", preferred_element_type=np.int32)
    assert wide.dtype == np.int32
    assert wide.tolist() == [10000, 20000, 30000, 20000, 10000]
    assert anp.correlate(I8, I8, preferred_element_type=np.int32).tolist() == [30000]
    assert anp.vecdot(I8, I8, preferred_element_type=np.int32).tolist() == 30000


def test_hints_are_accepted() -> None:
    ordered = np.array([0.0, 1, 2])
    assert anp.searchsorted(ordered, 1.5, method="sort").item() == 2
    assert anp.digitize(np.array([0.5]), ordered, method="scan").tolist() == [1]
    assert anp.isin(I8, [100], method="compare_all").tolist() == [True] * 3
    assert anp.take(I8, np.array([0]), unique_indices=True, indices_are_sorted=True).tolist() == [100]
    assert anp.linalg.multi_dot([np.eye(2), np.eye(2)], precision="highest").tolist() == np.eye(2).tolist()
    assert anp.linalg.slogdet(np.eye(2), method="qr")[1].item() == 0
    assert lax.linalg.eigh(np.eye(2), implementation=lax.linalg.EighImplementation.QR)[1].tolist() == [1, 1]
    assert anp.add(1.0, 2.0, out=None, where=None).item() == 3
    assert {"out", "where"} <= set(inspect.signature(anp.multiply).parameters)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: anp.add(X, X, out=X), "add: out= writes into an array in place"),
        (lambda: anp.add(X, X, where=MASK), "add: where= writes into an array in place"),
        (lambda: anp.stack([X, X], 0, X), "stack: out= writes"),
        (lambda: lax.psum(X, "i", axis_index_groups=[[0], [1]]), "axis_index_groups is not supported"),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(AdzeError, match=words):
        call()


def test_repeat_to_a_stated_length_takes_traced_counts() -> None:
    """Longer counts are cut off, shorter ones go on with the last element, as in JAX."""
    matrix = np.arange(6.0).reshape(2, 3)

    def repeated(x: Any, counts: Any) -> Any:
        return anp.repeat(x, counts, axis=1, total_repeat_length=5)

    short, long = np.array([1, 0, 2]), np.array([2, 4, 1])
    batched = adze.jit(adze.vmap(repeated, in_axes=(None, 0)))(matrix, np.stack([short, long]))
    np.testing.assert_array_equal(batched[0], matrix[:, [0, 2, 2, 2, 2]])
    np.testing.assert_array_equal(batched[1], matrix[:, [0, 0, 1, 1, 1]])
    np.testing.assert_array_equal(anp.repeat(np.arange(3), 2, total_repeat_length=4), [0, 0, 1, 1])
    gradient = adze.grad(lambda x: (repeated(x, short)[0] * np.arange(5.0)).sum())(matrix)
    np.testing.assert_array_equal(gradient, [[0, 0, 10], [0, 0, 0]])


def test_repeat_to_a_stated_length_needs_elements() -> None:
    with pytest.raises(AdzeError, match=r"axis 0 of f64\[0\] has no element to repeat to a length of 5"):
        anp.repeat(np.zeros(0), np.zeros(0, int), total_repeat_length=5)
    with pytest.raises(AdzeError, match="total_repeat_length is -1, expected no negative length"):
        anp.repeat(np.zeros(3), np.zeros(3, int), total_repeat_length=-1)
