"""NumPy's names that are seldom used: brackets that join, files, bits, flat positions; values of NumPy."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import adze
import adze.nn
import adze.numpy as anp
from adze.frontend.errors import ArgumentError, TraceError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4))
V = np.arange(3.0)


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-6)


@pytest.mark.parametrize(
    "expression",
    [
        "r_[1:4, 0, V]",
        "r_['0,2', V, V]",
        "r_['r', V, V]",
        "r_['c', V]",
        "r_['0,2,0', V, V]",
        "r_['1,2,0', V, V]",
        "r_[-1:1:5j, 3]",
        "r_[X, X]",
        "r_['-1', X, X]",
        "r_['0,3,-1', X, X]",
        "r_['0,3,1', X, X]",
        "c_[V, V]",
        "c_[X, X]",
        "c_[1:3, 4:6]",
        "c_[np.array([[1, 2]]), 0, 0]",
    ],
)
def test_brackets_join_as_those_of_numpy(expression: str) -> None:
    names = {"X": X, "V": V, "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # NumPy's are matrices there
        wanted = np.asarray(eval(f"np.{expression}", names))
    result = eval(f"anp.{expression}", {**names, "anp": anp})
    assert result.shape == wanted.shape
    close(result, wanted)


def test_brackets_trace_and_say_what_they_do_not_know() -> None:
    close(adze.jit(lambda v: anp.r_[v, 0:2, 7.0])(V), np.r_[V, 0:2, 7.0])
    with pytest.raises(ArgumentError, match="'x' is not a directive"):
        anp.r_["x", V]


def test_bits_are_packed_as_by_numpy() -> None:
    bits = RANDOM.random((3, 9)) > 0.5
    for axis, order in itertools.product((None, 0, 1), ("big", "little")):
        packed = np.packbits(bits, axis, order)  # type: ignore[arg-type]
        close(anp.packbits(bits, axis, order), packed)
        for count in (None, 5, -2, 30):
            wanted = np.unpackbits(packed, axis, count, order)  # type: ignore[arg-type]
            close(anp.unpackbits(packed, axis, count, order), wanted)


def test_flat_positions_are_those_of_numpy() -> None:
    for positions, mode in (([1, 5, 11], None), ([1, -5, 14], "wrap"), ([0, 3, 99], "clip")):
        wanted = X.copy()
        np.put(wanted, positions, [7, 8], mode or "raise")  # type: ignore[arg-type]
        close(anp.put(X, positions, [7, 8], mode, inplace=False), wanted)
    wanted = X.copy()
    np.place(wanted, X > 0, [1, 2, 3])
    close(anp.place(X, X > 0, [1, 2, 3], inplace=False), wanted)
    close(adze.jit(lambda x: anp.place(x, x > 0, [1, 2, 3], inplace=False))(X), wanted)
    for mistake in (lambda: anp.put(X, [1], [2]), lambda: anp.place(X, X > 0, [1])):
        with pytest.raises(TraceError, match="arrays of adze are immutable"):
            mistake()
    close(anp.apply_over_axes(anp.sum, X, [0, 1]), np.apply_over_axes(np.sum, X, [0, 1]))
    close(anp.diag_indices_from(np.ones((3, 3))), np.diag_indices_from(np.ones((3, 3))))
    close(anp.mask_indices(3, anp.triu, 1), np.mask_indices(3, np.triu, 1))
    assert anp.mask_indices(3, anp.triu, 1, size=5)[1].tolist() == [1, 2, 2, 0, 0]
    close(anp.sort_complex(X), np.sort_complex(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spacing_is_that_of_numpy(dtype: Any) -> None:
    x = np.array([1, -1, 0, 1e30, np.inf, -np.inf, np.nan, 1e-30], dtype)
    np.testing.assert_array_equal(np.asarray(anp.spacing(x)), np.spacing(x))


def test_files_and_texts_are_those_of_numpy() -> None:
    file = io.BytesIO()
    anp.save(file, anp.asarray(X))
    file.seek(0)
    close(anp.load(file), X)
    file = io.BytesIO()
    anp.savez(file, X, name=V)
    file.seek(0)
    assert sorted(anp.load(file)) == ["arr_0", "name"]
    assert anp.array_repr(anp.asarray(V)) == "array([0., 1., 2.])"
    assert anp.array_str(V) == "[0. 1. 2.]"
    assert anp.fromstring("1 2 3", sep=" ").tolist() == [1, 2, 3]
    assert anp.frombuffer(np.float64([1, 2]).tobytes()).tolist() == [1, 2]
    assert anp.fromiter(range(3), int).tolist() == [0, 1, 2]
    with anp.printoptions(precision=1):
        assert anp.get_printoptions()["precision"] == 1


def test_functions_of_scalars_become_ufuncs() -> None:
    add = anp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
    close(add(V, V[:, None]), V + V[:, None])
    close(add.reduce(X, axis=1), X.sum(1))

    def doubled(x: Any, y: Any, numbers: Any, **options: Any) -> Any:
        return 2 * adze.lax.dot_general(x, y, numbers)

    product = anp.einsum("ij,jk->ki", X, X.T, _dot_general=doubled)
    close(product, 2 * (X @ X.T).T)
    path, text = anp.einsum_path("ij,jk,kl->il", np.ones((2, 9)), np.ones((9, 2)), np.ones((2, 3)))
    assert path == ["einsum_path", (0, 1), (0, 1)]
    assert "FLOP" in str(text)


def test_masks_count_as_absent_in_softmax_and_its_kin() -> None:
    mask = X > -0.5
    kept = [row[m] for row, m in zip(X, mask, strict=True)]
    close(adze.nn.logmeanexp(X, 1, where=mask), [np.log(np.exp(r).mean()) for r in kept])
    close(adze.nn.logsumexp(X, 1, where=mask), [np.log(np.exp(r).sum()) for r in kept])
    size, sign = adze.nn.logsumexp(V, b=np.array([1.0, -2, 0]), return_sign=True)
    close(sign * anp.exp(size), 1 - 2 * np.e)
    soft = np.asarray(adze.nn.log_softmax(X, 1, mask))
    assert (np.isneginf(soft) == ~mask).all()
    close(np.exp(soft).sum(1), np.ones(3))
    slope = adze.grad(lambda x: anp.where(mask, adze.nn.log_softmax(x, 1, mask), 0).sum())(X)
    assert np.isfinite(np.asarray(slope)).all()
    masked = np.asarray(adze.nn.standardize(X, 1, where=mask))
    np.testing.assert_allclose(masked[0][mask[0]], adze.nn.standardize(kept[0], 0), rtol=1e-6)
    close(adze.nn.standardize(X, 1, 1.0, 4.0, 0.0), (X - 1) / 2)
    assert adze.nn.identity(X).shape == X.shape
    close(adze.nn.tanh(X), np.tanh(X))
