"""Arguments that are no number, sequence or string where one is needed have errors of adze."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adze import numpy as anp
from adze.dialects.errors import AdzeError

X = anp.arange(3.0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: anp.hanning([X, X]), TypeError, "hanning: M, the number of points, must be an integer"),
        (lambda: anp.kaiser("9", 2.0), TypeError, "kaiser: M, the number of points,"),
        (
            lambda: anp.einsum_path("ij,jk", X, X),
            ValueError,
            r"einsum_path: 'ij,jk' of arrays of shapes \[3\]",
        ),
        (lambda: anp.einsum_path(X), TypeError, "einsum_path: the first argument must be a string"),
        (lambda: anp.eye(-1), ValueError, "eye: shape"),
        (lambda: anp.tri(2, -3), ValueError, "tri: shape"),
        (lambda: anp.diag(X, 1.5), TypeError, "diag: the diagonal k must be an integer, got 1.5"),
        (lambda: anp.triu_indices("3"), TypeError, "triu_indices: a size must be an integer, got '3'"),
        (lambda: anp.tril_indices(2, X), TypeError, "tril_indices: the diagonal k must be an integer"),
        (lambda: anp.mask_indices(X, anp.triu), TypeError, "mask_indices: n, the size of the matrix,"),
        (lambda: anp.select(X, 7), TypeError, "select: expected a list of conditions"),
        (lambda: anp.choose(anp.array([0, 1]), 7), TypeError, "choose: expected a sequence of arrays"),
        (lambda: anp.delete(X, 1.5), TypeError, "delete: positions must be integers or a mask, got 1.5"),
        (lambda: anp.repeat(X, X), TypeError, "repeat: repeats must be integers, got float32"),
        (lambda: anp.transpose(X, 1.5), TypeError, "transpose: expected all axes as a tuple, got 1.5"),
        (lambda: anp.round(X, "2"), TypeError, "round: decimals must be an integer, got '2'"),
        (lambda: anp.diff(X, None), TypeError, "diff: n, the number of times, must be an integer"),
        (lambda: anp.histogram(X, 1.5), TypeError, "histogram: bins must be an integer or a vector of edges"),
        (lambda: anp.trim_zeros(X, 7), ValueError, "trim_zeros: trim must be 'f', 'b' or 'fb', got 7"),
        (lambda: anp.from_dlpack([X]), TypeError, "from_dlpack: expected an array that exports DLPack"),
    ],
)
def test_the_error_is_one_of_adze(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, AdzeError)


def test_what_these_functions_take_is_taken() -> None:
    assert np.allclose(anp.hanning(5.0), np.hanning(5)) and anp.hanning(0).shape == (0,)
    assert anp.einsum_path("ij,jk", np.eye(2), np.eye(2))[0] == ["einsum_path", (0, 1)]
    assert [v.tolist() for v in anp.tril_indices(np.int64(2), anp.array(-1))] == [[1], [0]]
    assert anp.round(X + 0.26, np.int8(1)).tolist() == np.round(np.asarray(X) + np.float32(0.26), 1).tolist()
    assert anp.transpose(anp.ones((1, 2)), [1, 0]).shape == anp.eye(2, 1).shape == (2, 1)
    assert anp.delete(X, [True, False, False]).tolist() == anp.delete(X, -3).tolist() == [1, 2]
