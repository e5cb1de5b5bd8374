"""Kernels of linear algebra in the interpreter: right for vectors of all widths, and within bounds."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import TensorType
from adze.passes.lower.kernels.linalg import bidiagonal_qr, conquer, ql

from ....selection import quick_first
from .linear_algebra import TARGETS, run_routine

RNG = np.random.default_rng(11)
FLOATS = (np.float32, np.float64)
COMPLEX = (np.complex64, np.complex128)

each_target = pytest.mark.parametrize("target", TARGETS)
each_dtype = pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
each_inexact = pytest.mark.parametrize("dtype", (*FLOATS, *COMPLEX), ids=lambda d: d.__name__)
each_complex = pytest.mark.parametrize("dtype", COMPLEX, ids=lambda d: d.__name__)


def normal(shape: tuple[int, ...], dtype: Any) -> Any:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(*shape: int) -> Any:
    a = RNG.standard_normal((*shape, shape[-1]))
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2).conj()


def near(got: np.ndarray, want: np.ndarray, dtype: Any) -> bool:
    return bool(np.allclose(got, want, rtol=0, atol=100 * float(np.finfo(dtype).eps) * np.abs(want).max()))


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (7,), (16,), (17,), (2, 9, 5)])
def test_cholesky(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    a = positive(*shape).astype(dtype)
    (factor,) = run_routine("cholesky", [a], [TensorType(a.shape, a.dtype)], target)
    assert near(factor, np.linalg.cholesky(a), dtype)


@pytest.mark.thorough
def test_cholesky_in_blocks() -> None:
    a = positive(130).astype(np.float32)
    (factor,) = run_routine("cholesky", [a], [TensorType(a.shape, a.dtype)], TARGETS[1])
    assert near(factor, np.linalg.cholesky(a), np.float32)


@pytest.mark.each_value
@each_target
@each_complex
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 9), (18,)])
def test_complex_cholesky(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    x = normal((*shape, shape[-1]), dtype)
    a = (x @ np.swapaxes(x, -1, -2).conj() + shape[-1] * np.eye(shape[-1])).astype(dtype)
    below = np.tril(np.full_like(a, np.nan), -1)  # only the upper triangle is used
    (factor,) = run_routine("cholesky", [a + below], [TensorType(a.shape, a.dtype)], target)
    assert near(factor, np.linalg.cholesky(a), dtype)


@pytest.mark.each_value
@each_target
@each_complex
@pytest.mark.parametrize("columns", [1, 3, 17])
@pytest.mark.parametrize("size", [1, 4, 7])
@pytest.mark.parametrize("form", ["lower", "lower_unit_transposed", "upper_unit", "upper_transposed"])
def test_complex_triangular_solve(form: str, size: int, columns: int, dtype: Any, target: str) -> None:
    check_triangular_solve(form, size, columns, dtype, target)


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("columns", [1, 2, 5, 16, 33])
@pytest.mark.parametrize("size", [1, 3, 4, 10])
@pytest.mark.parametrize("form", ["lower", "lower_unit_transposed", "upper_unit", "upper_transposed"])
def test_triangular_solve(form: str, size: int, columns: int, dtype: Any, target: str) -> None:
    check_triangular_solve(form, size, columns, dtype, target)


def check_triangular_solve(form: str, size: int, columns: int, dtype: Any, target: str) -> None:
    t = (normal((2, size, size), dtype) / size + np.eye(size)).astype(dtype)
    b = normal((2, size, columns), dtype)
    (x,) = run_routine(f"solve_{form}", [t, b], [TensorType(b.shape, b.dtype)], target)
    part = np.tril(t) if form.startswith("lower") else np.triu(t)
    if "unit" in form:
        part = part * (1 - np.eye(size)) + np.eye(size)
    if form.endswith("transposed"):
        part = np.swapaxes(part, -1, -2)
    assert near(x, np.linalg.solve(part.astype(np.result_type(float, dtype)), b), dtype)


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (9, 9), (2, 1, 7, 4), (17, 17), (20, 5)])
@pytest.mark.parametrize("contents", ["normal", "ties", "singular", "nan"])
def test_lu(contents: str, shape: tuple[int, ...], dtype: Any, target: str) -> None:
    check_lu(contents, shape, dtype, target)


@pytest.mark.each_value
@each_target
@each_complex
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 9, 9), (17, 17), (20, 5)])
@pytest.mark.parametrize("contents", ["normal", "ties", "singular", "nan", "tiny", "huge"])
def test_complex_lu(contents: str, shape: tuple[int, ...], dtype: Any, target: str) -> None:
    check_lu(contents, shape, dtype, target)


def check_lu(contents: str, shape: tuple[int, ...], dtype: Any, target: str) -> None:
    a = normal(shape, dtype)
    limits = np.finfo(dtype)
    if contents in ("tiny", "huge"):  # the square of a pivot has no place among the floats
        a *= limits.tiny * 64 if contents == "tiny" else limits.max / 64
    elif contents != "normal":
        a = RNG.choice([-1.0, 1.0, 2.0, -2.0], shape).astype(dtype)
    if contents == "singular":
        a[..., : shape[-1] // 2] = 0
    if contents == "nan":
        a[..., shape[-2] // 2, 0] = np.nan
    (*batch, rows, columns) = shape
    results = [
        TensorType(shape, a.dtype),
        TensorType((*batch, columns), np.dtype(np.int32)),
        TensorType((*batch, rows), np.dtype(np.int32)),
    ]
    packed, pivots, order = run_routine("lu", [a], results, target)
    assert (pivots >= np.arange(columns)).all() and (pivots < rows).all()
    assert (np.sort(order, axis=-1) == np.arange(rows)).all()
    if contents == "nan":
        assert (pivots[..., 0] == rows // 2).all() and np.isnan(packed).any()
        return
    wide = np.result_type(dtype, np.float64)
    lower = (np.tril(packed, -1) + np.eye(rows, columns)).astype(wide)
    upper = np.triu(packed)[..., :columns, :].astype(wide)
    scale = np.abs(a).max()
    assert near(lower @ (upper / scale), np.take_along_axis(a, order[..., None], -2) / scale, dtype)
    most = 1 if np.dtype(dtype).kind == "f" else np.sqrt(2) * (1 + limits.eps)
    assert (np.abs(lower) <= most).all()


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("is_complete", [False, True])
@pytest.mark.parametrize("shape", quick_first([(1, 1), (2, 3, 2), (5, 5), (20, 9), (3, 2), (2, 18, 17)], 4))
def test_qr(shape: tuple[int, ...], is_complete: bool, dtype: Any, target: str) -> None:
    a = normal(shape, dtype)
    *batch, rows, columns = shape
    width = rows if is_complete and rows > columns else columns
    results = [TensorType((*batch, rows, width), a.dtype), TensorType((*batch, width, columns), a.dtype)]
    q, r = run_routine("qr_complete" if width > columns else "qr", [a], results, target)
    assert near(q @ r, a, dtype) and near(adjoint(q) @ q, np.eye(width), dtype)
    assert (r == np.triu(r)).all()
    assert near(r, np.linalg.qr(a, "complete" if is_complete else "reduced").R, dtype)


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("named", [0, 1])
@pytest.mark.parametrize("is_complete", [False, True])
@pytest.mark.parametrize("shape", quick_first([(20, 9), (1, 1), (2, 3, 2), (5, 5), (3, 2), (2, 18, 17)], 2))
def test_qr_of_which_the_triangle_alone_is_used(
    shape: tuple[int, ...], is_complete: bool, named: int, dtype: Any, target: str
) -> None:
    a = normal(shape, dtype)
    *batch, rows, columns = shape
    width = rows if is_complete and rows > columns else columns
    results = [TensorType((*batch, rows, width), a.dtype), TensorType((*batch, width, columns), a.dtype)]
    kernel = "qr_complete" if width > columns else "qr"
    (r,) = run_routine(kernel, [a], results, target, named=named if batch else 0, alone=1)
    assert (r == np.triu(r)).all()
    assert near(r, np.linalg.qr(a, "complete" if is_complete else "reduced").R, dtype)


@each_target
@each_inexact
@pytest.mark.parametrize("kernel", ["eigh", "svd", "thin_svd"])
def test_values_alone(kernel: str, dtype: Any, target: str) -> None:
    a = normal((2, 9, 5) if kernel == "thin_svd" else (2, 5, 5), dtype)
    values = TensorType((2, 5), np.zeros((), a.dtype).real.dtype)
    if kernel == "eigh":
        a = (a + adjoint(a)) / 2
        (got,) = run_routine("eigh", [a], [values, TensorType(a.shape, a.dtype)], target, alone=0)
        assert near(got, np.linalg.eigvalsh(a), dtype)
        return
    types = [TensorType(a.shape, a.dtype), values, TensorType((2, 5, 5), a.dtype)]
    (got,) = run_routine(kernel, [a], types, target, alone=1)
    assert near(got, np.linalg.svd(a, compute_uv=False), dtype)


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("with_vectors", [False, True])
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (2, 5)])
def test_eigh(shape: tuple[int, ...], with_vectors: bool, dtype: Any, target: str) -> None:
    check_eigh(shape, with_vectors, dtype, target)


@pytest.mark.thorough
@each_target
@each_inexact
@pytest.mark.parametrize("size", [17, 33])
def test_eigh_of_several_panels(size: int, dtype: Any, target: str) -> None:
    check_eigh((size,), True, dtype, target)


@pytest.mark.parametrize("target", quick_first(TARGETS, 1))
@pytest.mark.parametrize("name", quick_first(["few values", "normal", "complex"], 1))
@pytest.mark.parametrize("size", quick_first([9, 19], 1))
def test_eigh_by_halves(name: str, size: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves of a few rows, all levels of which the interpreter can run."""
    module = sys.modules["adze.passes.lower.kernels.linalg.eigen"]
    monkeypatch.setattr(module, "DIVIDED", 1)
    monkeypatch.setattr(conquer, "LEAF", 4)
    a = normal((size, size), np.complex128 if name == "complex" else np.float64)
    if name == "few values":
        q = np.linalg.qr(a)[0]
        a = (q * (np.arange(len(a)) % 3)) @ q.T
    check_eigh_of((a + adjoint(a)) / 16, True, target)


def check_eigh(shape: tuple[int, ...], with_vectors: bool, dtype: Any, target: str) -> None:
    """The values, and vectors, of random matrices are those of LAPACK."""
    a = normal((*shape, shape[-1]), dtype)
    check_eigh_of(((a + adjoint(a)) / 16).astype(dtype), with_vectors, target)


def check_eigh_of(a: np.ndarray, with_vectors: bool, target: str) -> None:
    shape, dtype = a.shape[:-1], a.dtype
    results = [TensorType(shape, a.real.dtype), TensorType(a.shape, a.dtype)]
    if not with_vectors:
        (w,) = run_routine("eigvalsh", [a], results[:1], target)
    else:
        w, v = run_routine("eigh", [a], results, target)
        assert near(a @ v, v * w[..., None, :], dtype)
        assert near(adjoint(v) @ v, np.eye(shape[-1]), dtype)
    assert near(w, np.linalg.eigvalsh(a), dtype)


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("with_vectors", [False, True])
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (2, 5)])
def test_svd(shape: tuple[int, ...], with_vectors: bool, dtype: Any, target: str) -> None:
    check_svd(normal((*shape, shape[-1]), dtype) / 4, with_vectors, dtype, target)


@pytest.mark.thorough
@each_inexact
@pytest.mark.parametrize("contents", ["panels", "tiles", "ones", "zero", "bidiagonal"])
def test_svd_of_several_panels_and_of_zeros(contents: str, dtype: Any) -> None:
    size = 65 if contents == "tiles" else 20
    a = {
        "panels": normal((size, size), dtype) / 4,
        "tiles": normal((size, size), dtype) / 4,
        "ones": np.ones((size, size)),
        "zero": np.zeros((size, size)),
        "bidiagonal": np.diag(np.arange(size) % 3 / 2) + np.eye(size, k=1),
    }[contents]
    check_svd(a, True, dtype, TARGETS[0 if contents == "panels" else 2])


@pytest.mark.parametrize("target", quick_first(TARGETS, 1))
@pytest.mark.parametrize("name", quick_first(["glued", "normal", "diagonal", "complex"], 1))
@pytest.mark.parametrize("size", quick_first([9, 15, 16, 19], 1))
def test_svd_by_halves(name: str, size: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves of a few rows, all levels of which the interpreter can run."""
    module = sys.modules["adze.passes.lower.kernels.linalg.svd"]
    monkeypatch.setattr(module, "DIVIDED", 1)
    monkeypatch.setattr(conquer, "LEAF", 4)
    a = {
        "glued": np.diag(np.arange(size) % 5 + 1.0) + 1e-9 * np.eye(size, k=1),
        "diagonal": np.diag(np.arange(size) % 3 / 2),
        "complex": normal((size, size), np.complex128),
    }.get(name, normal((size, size), np.float64))
    check_svd(a / 4, True, a.dtype, target)


def test_what_has_no_answer_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bidiagonal_qr, "MOST", 0)
    monkeypatch.setattr(ql, "MOST", 0)
    a = positive(3).astype(np.float32) / 16
    matrices, values = TensorType(a.shape, a.dtype), TensorType(a.shape[:1], a.dtype)
    for kernel, results in (("svd", [matrices, values, matrices]), ("eigh", [values, matrices])):
        for result in run_routine(kernel, [a], results, TARGETS[0]):
            assert np.isnan(result).all()


def check_svd(a: np.ndarray, with_vectors: bool, dtype: Any, target: str) -> None:
    """The values, and vectors, of matrices are those of LAPACK."""
    a = a.astype(dtype)
    values = TensorType(a.shape[:-1], a.real.dtype)
    if not with_vectors:
        (s,) = run_routine("svdvals", [a], [values], target)
    else:
        matrices = TensorType(a.shape, a.dtype)
        u, s, vh = run_routine("svd", [a], [matrices, values, matrices], target)
        bound = 100 * float(np.finfo(dtype).eps)
        assert np.max(np.abs((u * s[..., None, :]) @ vh - a)) <= bound * s.max()
        for basis in (u, adjoint(vh)):
            assert near(adjoint(basis) @ basis, np.eye(a.shape[-1]), dtype)
    assert np.max(np.abs(s - np.linalg.svd(a, compute_uv=False))) <= 1e2 * np.finfo(dtype).eps * s.max()
    assert (np.diff(s) <= 0).all()


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("shape", [(3, 1), (2, 7, 3), (5, 9)])
@pytest.mark.parametrize("contents", ["normal", "tiny", "huge", "low rank", "zero"])
def test_thin_svd(contents: str, shape: tuple[int, ...], dtype: Any, target: str) -> None:
    a, limits = normal(shape, dtype), np.finfo(dtype)
    if contents == "low rank":
        a[..., 1:] = a[..., :1]
    scale = {"tiny": limits.tiny * 2**20, "huge": limits.max / 64, "zero": 0}.get(contents, 1)
    a = (a * limits.dtype.type(scale)).astype(dtype)
    least = min(shape[-2:])
    left, right = (*shape[:-1], least), (*shape[:-2], least, shape[-1])
    types = [
        TensorType(left, a.dtype),
        TensorType((*shape[:-2], least), a.real.dtype),
        TensorType(right, a.dtype),
    ]
    u, s, vh = run_routine("thin_svd", [a], types, target)
    (values,) = run_routine("thin_svdvals", [a], types[1:2], target)
    wide = a.astype(np.result_type(dtype, np.float64))
    wanted = np.linalg.svd(wide, compute_uv=False)
    bound = 100 * float(limits.eps)
    for each in (s, values):
        assert np.max(np.abs(each - wanted)) <= bound * wanted.max()
    product = (u * s[..., None, :].astype(np.float64)) @ vh.astype(wide.dtype)
    assert np.max(np.abs(product - wide)) <= bound * wanted.max()
    for basis in (u, adjoint(vh)):
        assert near(adjoint(basis) @ basis, np.eye(least), dtype)


@pytest.mark.each_value
@each_target
@each_inexact
@pytest.mark.parametrize("size", [1e-30, 1e-15, 1.0, 1e15, 1e30])
def test_qr_of_every_size(size: float, dtype: Any, target: str) -> None:
    """Of columns whose squares lose digits or overflow, and of those that do not."""
    a = normal((9, 3), dtype)
    a[1:, 1] = 0
    a[0, 0] *= 1e6
    a = (a * np.finfo(dtype).dtype.type(size)).astype(dtype)
    types = [TensorType((9, 3), a.dtype), TensorType((3, 3), a.dtype)]
    q, r = run_routine("qr", [a], types, target)
    wide = np.result_type(dtype, np.float64)
    wanted = np.linalg.qr(a.astype(wide)).R
    assert near(r, wanted, dtype) and near(adjoint(q) @ q, np.eye(3), dtype)


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize(("shape", "height"), [((2,), 2), ((2, 3), 5), ((9,), 9)])
def test_jacobi(shape: tuple[int, ...], height: int, dtype: Any, target: str) -> None:
    *batch, size = shape
    x = (RNG.standard_normal((*shape, size)) / 9).astype(dtype)
    y = np.broadcast_to(np.eye(height, size), (*batch, height, size)).astype(dtype)
    results = [TensorType(x.shape, x.dtype), TensorType(y.shape, y.dtype)]
    moved, turned = run_routine("jacobi", [x, y], results, target)
    assert near(x @ turned[..., :size, :], moved, dtype)
    products = np.swapaxes(moved, -1, -2) @ moved
    assert near(products, products * np.eye(size), dtype)
