"""Sparse arrays agree with dense arithmetic: in every layout, with padding and with duplicates."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.experimental import sparse

RNG = np.random.default_rng(0)


def _mostly_zero(*shape: int) -> np.ndarray:
    values = RNG.normal(size=shape).astype(np.float32)
    return np.where(RNG.random(shape) < 0.5, values, np.float32(0))


CUBE = _mostly_zero(2, 3, 4)
MATRIX = _mostly_zero(3, 4)
LAYOUTS = [(b, d) for b in range(4) for d in range(4 - b)]
QUICK = ((0, 0), (1, 1))
EACH_LAYOUT = pytest.mark.parametrize(
    ("n_batch", "n_dense"),
    [pytest.param(*x, marks=() if x in QUICK else pytest.mark.thorough) for x in LAYOUTS],
)


def _with_duplicates() -> sparse.BCOO:
    """`MATRIX` plus its first two entries again, with padding whose data is not zero."""
    mat = sparse.BCOO.fromdense(MATRIX)
    data, indices = np.asarray(mat.data), np.asarray(mat.indices)
    data = np.concatenate([data[:2], data, np.float32([7, 8])])
    indices = np.concatenate([indices[:2], indices, np.int32([[3, 4], [0, 9]])])
    return sparse.BCOO((data, indices), shape=MATRIX.shape)


DUPLICATED = np.asarray(_with_duplicates().todense())


def _same(got: Any, want: Any) -> None:
    dense = np.asarray(sparse.todense(got))
    assert dense.shape == np.shape(want)
    np.testing.assert_allclose(dense, want, rtol=1e-5, atol=1e-5)


def test_duplicates_are_added_and_padding_is_zero() -> None:
    mat = sparse.BCOO.fromdense(MATRIX)
    want = MATRIX.copy()
    for row, column in np.asarray(mat.indices)[:2]:
        want[row, column] *= 2
    np.testing.assert_array_equal(DUPLICATED, want)


@EACH_LAYOUT
def test_movements_in_every_layout(n_batch: int, n_dense: int) -> None:
    mat = sparse.BCOO.fromdense(CUBE, n_batch=n_batch, n_dense=n_dense)
    assert (mat.n_batch, mat.n_dense, mat.n_sparse) == (n_batch, n_dense, 3 - n_batch - n_dense)
    _same(mat, CUBE)
    for count in (1, 2, 3):
        for axes in itertools.combinations(range(3), count):
            _same(mat.sum(axes), CUBE.sum(axes))
    for index in (0, (slice(None), -1), (..., slice(1, 4, 2)), (1, 2, 3), (None, 0), np.s_[::-1, 1:, None]):
        _same(mat[index], CUBE[index])
    _same(mat.sum(1, keepdims=True), CUBE.sum(1, keepdims=True))
    _same(sparse.bcoo_rev(mat, (0, 2)), CUBE[::-1, :, ::-1])
    _same(sparse.bcoo_dynamic_slice(mat, (0, 1, anp.asarray(9)), (1, 2, 2)), CUBE[:1, 1:3, 2:])
    _same(mat.sum_duplicates(), CUBE)
    _same(mat.sort_indices(), CUBE)
    for shape in ((2, 1, 3, 4), (2, 3, 4, 1)):
        _same(mat.reshape(shape), CUBE.reshape(shape))
    for batch, dense in LAYOUTS:
        _same(mat.update_layout(n_batch=batch, n_dense=dense, on_inefficient=None), CUBE)
    for axis in range(3 - n_dense):
        _same(sparse.bcoo_concatenate([mat, mat * 2], dimension=axis), np.concatenate([CUBE, CUBE * 2], axis))


@EACH_LAYOUT
def test_arithmetic_in_every_layout(n_batch: int, n_dense: int) -> None:
    mat = sparse.BCOO.fromdense(CUBE, n_batch=n_batch, n_dense=n_dense)
    other = sparse.BCOO.fromdense(np.where(CUBE > 0, CUBE + 1, 0), n_batch=n_batch, n_dense=n_dense)
    _same(mat + other, CUBE + np.asarray(other.todense()))
    _same(mat - 2 * other, CUBE - 2 * np.asarray(other.todense()))
    _same(mat * other, CUBE * np.asarray(other.todense()))
    for value in (np.float32(2), RNG.normal(size=4), RNG.normal(size=(3, 1)), RNG.normal(size=(2, 1, 4))):
        _same(mat * value, CUBE * value)
    _same(mat / 2, CUBE / 2)
    _same(np.ones_like(CUBE) + mat, CUBE + 1)
    letters = "abc"
    for text, shape in (("abc,cd->abd", (4, 5)), ("abc,bd->acd", (3, 5)), ("abc,abc->", (2, 3, 4))):
        right = RNG.normal(size=shape).astype(np.float32)
        contracted = [letters.index(x) for x in text[: text.index("->")].split(",")[1] if x in letters]
        places = [text.split("->")[0].split(",")[1].index(letters[i]) for i in contracted]
        _same(
            sparse.bcoo_dot_general(mat, right, dimension_numbers=((contracted, places), ((), ()))),
            np.einsum(text, CUBE, right),
        )
    if n_batch:
        right = RNG.normal(size=(2, 4, 5)).astype(np.float32)
        _same(mat @ right, CUBE @ right)
        _same(adze.vmap(lambda m: m * 2)(mat), CUBE * 2)
        _same(adze.vmap(lambda m: m.todense().sum(0))(mat), CUBE.sum(1))


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "T": (lambda m: m.T, lambda x: x.T),
    "sum": (lambda m: m.sum(), lambda x: x.sum()),
    "abs": (abs, abs),
    "power": (lambda m: m**2, lambda x: x**2),
    "mul": (lambda m: m * m, lambda x: x * x),
    "integers": (lambda m: m.astype(np.int32), lambda x: x.astype(np.int32)),
    "matvec": (lambda m: m @ np.arange(4, dtype=np.float32), lambda x: x @ np.arange(4)),
    "vecmat": (lambda m: np.arange(3, dtype=np.float32) @ m, lambda x: np.arange(3) @ x),
    "gram": (lambda m: m @ m.T, lambda x: x @ x.T),
    "reshape": (lambda m: m.reshape(2, 6), lambda x: x.reshape(2, 6)),
    "unique": (lambda m: m.sum_duplicates(nse=12), lambda x: x),
    "row": (lambda m: m[1], lambda x: x[1]),
    "cut": (lambda m: m[1:, ::2], lambda x: x[1:, ::2]),
    "rows": (lambda m: sparse.BCSR.from_bcoo(m), lambda x: x),
}


def test_traced_functions_of_a_sparse_array() -> None:
    _check_cases()


@pytest.mark.thorough
def test_compiled_functions_of_a_sparse_array() -> None:
    _check_cases()


def _check_cases() -> None:
    mat = _with_duplicates()
    got = adze.jit(lambda m: [function(m) for function, _ in CASES.values()])(mat)
    for result, (function, dense) in zip(got, CASES.values(), strict=True):
        _same(function(mat), dense(DUPLICATED))
        _same(result, dense(DUPLICATED))


def test_sums_of_integers_are_wide() -> None:
    mat = sparse.BCOO.fromdense(np.array([[100, 0], [100, 3]], np.int8))
    assert mat.sum(0).dtype == np.int64
    _same(mat.sum(0), [200, 3])


def test_padding_does_not_meet_infinities() -> None:
    vector = np.float32([np.inf, 1, 2, 3])
    mat = sparse.BCOO((np.float32([2, 5]), np.int32([[1, 1], [3, 4]])), shape=(3, 4))
    np.testing.assert_array_equal(np.asarray(mat @ vector), [0, 2, 0])


def test_derivatives_are_by_the_data() -> None:
    mat, vector = sparse.BCOO.fromdense(MATRIX), np.arange(4, dtype=np.float32)
    loss = lambda m, v: anp.sum(anp.sin(m @ v))  # noqa: E731
    by_matrix, by_vector = sparse.grad(loss, argnums=(0, 1))(mat, vector)
    full = np.asarray(adze.grad(loss)(MATRIX, vector))
    assert isinstance(by_matrix, sparse.BCOO)
    _same(by_matrix, np.where(MATRIX != 0, full, 0))
    _same(by_vector, adze.grad(loss, argnums=1)(MATRIX, vector))
    value, again = adze.jit(sparse.value_and_grad(loss))(mat, vector)
    _same(value, loss(MATRIX, vector))
    _same(again, np.where(MATRIX != 0, full, 0))
    jacobian = sparse.jacrev(lambda m, v: m @ v)(mat, vector)
    _same(jacobian, np.where(MATRIX != 0, np.asarray(adze.jacrev(lambda m, v: m @ v)(MATRIX, vector)), 0))
    _same(sparse.jacfwd(lambda m, v: m @ v)(mat, vector), jacobian.todense())
    _same(adze.grad(lambda x: (sparse.BCOO.fromdense(x, nse=9) * 3).sum())(MATRIX), 3 * (MATRIX != 0))


@pytest.mark.parametrize("cls", [sparse.BCSR, sparse.COO, sparse.CSR, sparse.CSC])
def test_other_formats(cls: Any) -> None:
    mat = cls.fromdense(MATRIX)
    right = RNG.normal(size=(4, 2)).astype(np.float32)
    _same(mat, MATRIX)
    _same(mat.T, MATRIX.T)
    _same(mat @ right, MATRIX @ right)
    _same(mat.T @ right[:3], MATRIX.T @ right[:3])
    _same(-mat * 2, -2 * MATRIX)
    leaves, structure = adze.tree.flatten(mat)
    _same(adze.tree.unflatten(structure, leaves), MATRIX)


def test_creation() -> None:
    for name in ("bcoo", "bcsr", "coo", "csr", "csc"):
        _same(sparse.empty((3, 5), sparse_format=name), np.zeros((3, 5)))
        for k in (-4, -2, 0, 1, 4, 9):
            _same(sparse.eye(4, 5, k, sparse_format=name), np.eye(4, 5, k))
    mat = sparse.random_bcoo(adze.random.PRNGKey(0), (2, 5, 6), nse=0.3, n_batch=1, sorted_indices=True)
    assert (mat.nse, mat.shape) == (9, (2, 5, 6))
    assert np.count_nonzero(np.asarray(mat.todense())) == 18


def test_functions_of_dense_arrays_are_sparsified() -> None:
    mat, vector = sparse.BCOO.fromdense(MATRIX), np.arange(4, dtype=np.float32)
    functions: list[Callable[[Any], Any]] = [
        lambda m: anp.sin(m) * vector,
        lambda m: anp.sum(anp.square(m), axis=0),
        lambda m: anp.concatenate([m, 2 * m])[1:].T,
        lambda m: anp.tanh(m @ vector) + anp.mean(m),
        lambda m: anp.einsum("ij,kj->ik", m, m) - m.reshape(4, 3).T @ anp.ones((4, 3)),
    ]
    for function in functions:
        _same(sparse.sparsify(function)(mat), function(anp.asarray(MATRIX)))
    loss = lambda m, v: anp.sum(anp.tanh(anp.dot(m, v)))  # noqa: E731
    got = adze.jit(adze.grad(sparse.sparsify(loss), argnums=1))(mat, vector)
    _same(got, adze.grad(loss, argnums=1)(MATRIX, vector))
    with pytest.raises(adze.AdzeError, match="the op 'cos' of a sparse array"):
        sparse.sparsify(anp.cos)(mat)


def test_mistakes() -> None:
    mat = sparse.BCOO.fromdense(CUBE)
    with pytest.raises(adze.AdzeError, match="is not made dense silently"):
        anp.sin(mat)
    with pytest.raises(sparse.SparseEfficiencyError, match="store very many zeros"):
        mat.update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning):
        mat.update_layout(n_batch=1, on_inefficient="warn")
    with pytest.raises(ValueError, match="an axis of a sparse array of 0 batch dimensions was mapped"):
        adze.vmap(lambda m: m.todense())(mat)
    with pytest.raises(adze.AdzeError, match="mixes batch, sparse and dense"):
        sparse.BCOO.fromdense(CUBE, n_batch=1).transpose()
    with pytest.raises(ValueError, match="do not fit"):
        sparse.BCOO((np.zeros(2), np.zeros((3, 2), int)), shape=(3, 4))
    with pytest.raises(adze.AdzeError, match="nse"):
        adze.jit(sparse.BCOO.fromdense)(MATRIX)
    with pytest.raises(IndexError):
        mat.__getitem__(5)
    with pytest.raises(NotImplementedError):
        mat.__add__(np.float32(1))


def test_the_mapped_axis_is_a_batch_dimension() -> None:
    """Also where sizes agree by chance: nse, batch and rows + 1 are all 3 here."""
    dense = np.where(RNG.random((3, 2, 4)) < 2, 0, np.float32(0))
    dense[:, 0, :3] = RNG.normal(size=(3, 3))
    for cls in (sparse.BCOO, sparse.BCSR):
        mat = cls.fromdense(dense, n_batch=1)
        assert mat.nse == 3
        _same(adze.vmap(lambda m: m.todense())(mat), dense)
        for axes in (1, -1, -2, -3, 2):
            with pytest.raises(ValueError, match="was mapped that is none of them"):
                adze.vmap(lambda m: m.todense(), in_axes=axes)(mat)
        row = cls.fromdense(dense[0])
        for axes in (1, -1):
            with pytest.raises(ValueError, match="was mapped that is none of them"):
                adze.vmap(lambda x, m=row: m * x, out_axes=axes)(np.ones(3, np.float32))
        _same(adze.vmap(lambda x, m=row: m * x)(np.ones(3, np.float32)), np.stack([dense[0]] * 3))
        with pytest.raises(ValueError, match="was mapped that is none of them"):
            adze.lax.scan(lambda c, m: (c, m.todense()), 0, row)
        total, rows = adze.lax.scan(lambda c, m: (c + m.todense(), m), anp.zeros((2, 4)), mat)
        _same(total, dense.sum(0))
        _same(rows, dense)
        _same(adze.lax.map(lambda m: m.todense(), mat, batch_size=2), dense)
        repeated = adze.jit(lambda m: adze.lax.scan(lambda c, x: (c, m * x), 0, anp.ones(2))[1])(mat)
        assert repeated.shape == (2, 3, 2, 4)
        _same(repeated, np.stack([dense] * 2))
    for other in (sparse.COO, sparse.CSR, sparse.CSC):
        with pytest.raises(adze.AdzeError, match="it has no batch dimensions"):
            adze.vmap(lambda m: m.todense())(other.fromdense(dense[0]))
        _same(
            adze.vmap(lambda m, x: m @ x, (None, 0))(other.fromdense(dense[0]), dense[0]),
            dense[0] @ dense[0].T,
        )


def test_two_batch_dimensions_are_mapped_one_by_one() -> None:
    dense = _mostly_zero(2, 5, 3, 4)
    mat = sparse.BCOO.fromdense(dense, n_batch=2)
    _same(adze.vmap(lambda m: m.todense(), in_axes=1)(mat), np.moveaxis(dense, 1, 0))
    _same(adze.vmap(lambda m: m * 2, in_axes=1, out_axes=1)(mat), 2 * dense)
    _same(adze.vmap(adze.vmap(lambda m: m * 2))(mat), 2 * dense)
    broadcast = sparse.BCOO((np.ones((2, 1, 1)), np.zeros((2, 1, 1, 1), int)), shape=(2, 5, 3))
    mapped = adze.vmap(lambda m: m.reshape(m.shape))(broadcast)
    assert mapped.shape == (2, 5, 3)
    _same(adze.vmap(lambda m: m.todense())(broadcast), np.asarray(broadcast.todense()))
    assert adze.lax.scan(lambda c, m: (c, m), 0, broadcast)[1].shape == (2, 5, 3)
    assert adze.vmap(lambda x: broadcast * x)(np.ones(4)).shape == (4, 2, 5, 3)


def test_a_tree_of_numbers_in_place_of_arrays() -> None:
    mat = sparse.BCOO.fromdense(MATRIX)
    norms = adze.tree.map(anp.sum, mat)
    np.testing.assert_allclose(float(norms.data), MATRIX.sum(), rtol=1e-5)
