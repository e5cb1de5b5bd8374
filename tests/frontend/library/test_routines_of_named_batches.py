"""Linear algebra and Fourier transforms of as many matrices or rows as show at the call: kernels, and values.

They are compared with the ops that define them, which NumPy evaluates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects.routine_arrays import OWN_AXES
from adze.scipy import linalg as sl

from ...selection import quick_first

linalg, fft = xp.linalg, xp.fft
COUNTS = (0, 1, 5, 300)
MIXED = np.random.default_rng(2).standard_normal((4, 4)).astype(np.float32)

Function = Callable[..., Any]


def matrices(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Positive definite ones, where they are square, so that all functions have a result."""
    random = np.random.default_rng(shape)
    x = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.standard_normal(shape)
    if shape[-1] == shape[-2]:
        x = x @ np.swapaxes(x, -1, -2).conj() + shape[-1] * np.eye(shape[-1])
    return x.astype(dtype)


def rows(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return matrices(*shape, 1, dtype=dtype)[..., 0]


def named(function: Function, x: np.ndarray, names: Sequence[str]) -> Any:
    shape = (*names, *x.shape[len(names) :])
    return adze.trace(function, adze.ShapeDtype(shape, x.dtype))


def kernel_count(traced: Any) -> int:
    text = str(traced.lower("cpu").mlir())
    names = re.findall(r"flow.dispatch @kernel_(\w+?)(?:_\d+)?::", text)
    return sum(name in OWN_AXES for name in names)


def assert_near(got: Any, want: Any, units: float = 400) -> None:
    for one, other in zip(adze.tree.leaves(got), adze.tree.leaves(want), strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape and one.dtype == other.dtype
        scale = np.abs(other).max(initial=1, where=np.isfinite(other))
        epsilon = float(np.finfo(one.dtype).eps) if one.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(one, other, rtol=0, atol=units * epsilon * scale)


def slogdet(a: Any) -> Any:
    sign, log = linalg.slogdet(a)
    return sign, log


def eigh(a: Any) -> Any:
    w, v = linalg.eigh(a)
    return w, v @ (w[..., :, None] * xp.conj(v).mT)


def svd(a: Any) -> Any:
    u, s, vh = linalg.svd(a, full_matrices=False)
    return s, (u * s[..., None, :]) @ vh


def qr(a: Any) -> Any:
    q, r = linalg.qr(a)
    return xp.abs(r), q @ r


SQUARE: dict[str, Function] = {
    "cholesky": linalg.cholesky,
    "solve": lambda a: linalg.solve(a, a[..., :2]),
    "one system of many": lambda a: linalg.solve(xp.eye(a.shape[-1]) + MIXED @ MIXED.T, a),
    "inv": linalg.inv,
    "slogdet": slogdet,
    "eigh": eigh,
    "eigvalsh": linalg.eigvalsh,
    "svd": svd,
    "singular values": lambda a: linalg.svd(a, compute_uv=False),
    "solve_triangular": lambda a: sl.solve_triangular(a, a, lower=True, trans=1),
    "cho_solve": lambda a: sl.cho_solve(sl.cho_factor(a), a),
    "lu": lambda a: sl.lu_factor(a),
    "pinv": linalg.pinv,
    "expm": lambda a: sl.expm(a / 32),
}
RECTANGULAR: dict[str, Function] = {
    "qr": qr,
    "complete qr": lambda a: xp.abs(linalg.qr(a, mode="complete")[1]),
    "svd": svd,
    "wide svd": lambda a: svd(a.mT),
    "lstsq": lambda a: linalg.pinv(a) @ a[..., :1],
}
FOURIER: dict[str, tuple[Function, int]] = {
    "rfft": (fft.rfft, 48),
    "long rfft": (fft.rfft, 512),
    "rfft of an odd length": (fft.rfft, 27),
    "padded": (lambda x: fft.rfft(x, n=64), 48),
    "fft": (fft.fft, 30),
    "prime": (fft.fft, 67),
    "long": (fft.fft, 1000),
    "round": (lambda x: fft.irfft(fft.rfft(x) * 2), 100),
    "ifft": (lambda x: fft.ifft(x + 1j * x[..., ::-1]), 36),
    "along two axes": (lambda x: fft.fft2(x.reshape(*x.shape[:-1], 10, 12)), 120),
    "columns": (lambda x: fft.fft(x.reshape(*x.shape[:-1], 10, 12), axis=-2), 120),
    "shifted": (lambda x: fft.fftshift(fft.fft(x, norm="ortho"), axes=-1), 16),
}


def check(function: Function, make: Callable[..., np.ndarray], counts: Sequence[int] = COUNTS) -> None:
    traced = named(function, make(1), "n")
    assert kernel_count(traced) == kernel_count(named(function, make(2), ""))
    compiled = traced.lower().compile()
    for count in counts:
        x = make(count)
        assert_near(compiled(x), function(x))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SQUARE)
@pytest.mark.parametrize("dtype", quick_first((np.float32, np.float64), 1))
def test_square(name: str, dtype: Any) -> None:
    check(SQUARE[name], lambda n: matrices(n, 4, 4, dtype=dtype))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["cholesky", "solve", "inv", "slogdet", "lu", "eigh"])
@pytest.mark.parametrize("dtype", quick_first((np.complex64, np.complex128), 1))
def test_complex(name: str, dtype: Any) -> None:
    check(SQUARE[name], lambda n: matrices(n, 4, 4, dtype=dtype), (0, 1, 5))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", RECTANGULAR)
def test_rectangular(name: str) -> None:
    check(RECTANGULAR[name], lambda n: matrices(n, 6, 3, dtype=np.float64), (0, 1, 5))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FOURIER)
def test_fourier(name: str) -> None:
    function, length = FOURIER[name]
    check(function, lambda n: rows(n, length))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["cholesky", "solve", "slogdet", "eigh", "svd"])
def test_gradients_of_matrices(name: str) -> None:
    def slope(a: Any) -> Any:
        return adze.grad(lambda a: sum((x**2).sum() for x in adze.tree.leaves(SQUARE[name](a))))(a)

    check(slope, lambda n: matrices(n, 4, 4, dtype=np.float64), (0, 1, 5))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["rfft", "fft", "round", "columns"])
def test_gradients_of_transforms(name: str) -> None:
    function, length = FOURIER[name]

    def slope(x: Any) -> Any:
        return adze.grad(lambda x: (xp.abs(function(x)) ** 3).sum())(x)

    check(slope, lambda n: rows(n, length, dtype=np.float64), (0, 1, 5))


@pytest.mark.parametrize("function", [adze.vmap(linalg.cholesky), adze.vmap(adze.vmap(linalg.inv))])
def test_mapped_functions_of_several_named_axes(function: Function) -> None:
    traced = named(function, matrices(1, 1, 4, 4), "bc")
    assert kernel_count(traced) == kernel_count(named(function, matrices(2, 3, 4, 4), ""))
    compiled = traced.lower().compile()
    for shape in ((2, 3), (1, 1), (0, 3), (7, 5)):
        x = matrices(*shape, 4, 4)
        assert_near(compiled(x), function(x))


@pytest.mark.parametrize("names", [("b", 3), (3, "b")])
def test_named_axes_beside_known_ones(names: tuple[Any, Any]) -> None:
    """Of two operands, one of which repeats what it has."""
    traced = adze.trace(
        lambda a, b: (linalg.solve(a, b), fft.fft(b, axis=1)),
        adze.ShapeDtype((*names, 4, 4)),
        adze.ShapeDtype((names[1], 4, 2)),
    )
    assert kernel_count(traced) >= 3
    compiled = traced.lower().compile()
    for count in (1, 4):
        sizes = [count if n == "b" else n for n in names]
        a, b = matrices(*sizes, 4, 4), matrices(sizes[1], 4, 2)
        assert_near(compiled(a, b)[0], np.linalg.solve(a, b))
        assert_near(compiled(a, b)[1], np.fft.fft(b, axis=1).astype(np.complex64))


def test_counts_that_are_computed() -> None:
    """Also in a branch, in a loop, and mapped over an axis that is counted."""

    def function(a: Any, x: Any) -> Any:
        twice = linalg.cholesky(xp.concatenate([a, a[1:] * 2]))
        _, sums = lax.scan(lambda c, k: (linalg.inv(c + k * xp.eye(4)), c.sum()), a, xp.arange(3.0))
        chosen = lax.cond(x.sum() > 0, lambda x: fft.rfft(x), lambda x: fft.rfft(-2 * x), x)
        return twice, sums, chosen, adze.vmap(lambda x: fft.rfft(x.reshape(4, 12)))(x)

    a, x = matrices(1, 4, 4), rows(1, 48)
    specs = (adze.ShapeDtype(("n", 4, 4), a.dtype), adze.ShapeDtype(("m", 48), x.dtype))
    traced = adze.trace(function, *specs)
    assert kernel_count(traced) >= 4
    compiled = traced.lower().compile()
    for count in (1, 3, 40):
        arguments = matrices(count, 4, 4), rows(count + 1, 48)
        assert_near(compiled(*arguments), function(*arguments))


def test_matrices_without_an_answer_leave_the_others_alone() -> None:
    """Singular and not definite ones, and NaN."""

    def function(a: Any) -> Any:
        return linalg.cholesky(a), linalg.inv(a), linalg.eigvalsh(a), linalg.svd(a, compute_uv=False)

    compiled = named(function, matrices(1, 4, 4), "n").lower().compile()
    good = matrices(20, 4, 4)
    spoiled = good.copy()
    spoiled[3] = -spoiled[3]
    spoiled[4] = 1.0
    spoiled[17, 1, 1] = np.nan
    for got, want, known in zip(compiled(spoiled), compiled(good), adze.jit(function)(spoiled), strict=True):
        others = [n for n in range(20) if n not in (3, 4, 17)]
        np.testing.assert_array_equal(np.asarray(got)[others], np.asarray(want)[others])
        assert_near(got, known)
        assert np.isnan(np.asarray(got)[17]).any()


@pytest.mark.parametrize(
    "name", ["cholesky", "solve", "inv", "slogdet", "lu", "cho_solve", "solve_triangular"]
)
def test_matrices_of_named_sizes(name: str) -> None:
    function = SQUARE[name]
    traced = adze.trace(function, adze.ShapeDtype(("b", "n", "n")))
    assert kernel_count(traced) == kernel_count(named(function, matrices(2, 4, 4), ""))
    compiled = traced.lower().compile()
    for count, n in ((3, 2), (1, 5), (0, 4), (20, 33), (2, 140)):
        x = matrices(count, n, n)
        assert_near(compiled(x), function(x))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["cholesky", "inv", "slogdet"])
def test_gradients_of_named_sizes(name: str) -> None:
    def slope(a: Any) -> Any:
        return adze.grad(lambda a: sum((x**2).sum() for x in adze.tree.leaves(SQUARE[name](a))))(a)

    traced = adze.trace(slope, adze.ShapeDtype(("n", "n"), np.float64))
    assert kernel_count(traced) >= 2
    compiled = traced.lower().compile()
    for n in (1, 4, 37):
        x = matrices(n, n, dtype=np.float64)
        assert_near(compiled(x), slope(x))


def test_some_matrices_of_named_sizes_and_other_targets_have_none() -> None:
    assert kernel_count(adze.trace(sl.lu_factor, adze.ShapeDtype(("m", "n")))) == 0
    assert kernel_count(adze.trace(fft.fft, adze.ShapeDtype(("n", 20, 30)))) == 1
    text = str(adze.trace(linalg.cholesky, adze.ShapeDtype(("b", 4, 4))).lower("cuda").mlir())
    assert "kernel_cholesky" not in text
