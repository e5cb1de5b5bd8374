"""Rules of adze's own functions, and transposes of routines, are traced when a program is differentiated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze import scipy
from adze.frontend.staging import known_programs
from adze.passes.autodiff.deferred import DEFERRED, complete, without_labels
from adze.passes.ir.functions import functions
from adze.runtime.settings import read_settings
from adze.runtime.targets import parse_target

RNG = np.random.default_rng(3)
A = RNG.normal(size=(7, 7)) + 7 * np.eye(7)
B = RNG.normal(size=7)


def solved(a: Any, b: Any) -> Any:
    return (xp.linalg.solve(a, b) ** 2).sum()


def triangular(a: Any, b: Any) -> Any:
    return (scipy.linalg.solve_triangular(a, b, lower=True) ** 3).sum()


def factored(a: Any, b: Any) -> Any:
    return (xp.linalg.cholesky(a @ a.T) @ b).sum()


def transformed(a: Any, b: Any) -> Any:
    return xp.abs(xp.fft.fft(a @ b)).sum()


FUNCTIONS = (solved, triangular, factored, transformed)


@pytest.mark.parametrize("function", FUNCTIONS[:3])  # the transpose of a Fourier transform is one
def test_a_program_that_is_not_differentiated_traces_no_rules(function: Any) -> None:
    program = adze.trace(function, A, B).program
    waiting = str(program.module).count(DEFERRED)
    count = len(functions(program.module))
    assert waiting
    complete(program.module)
    assert len(functions(program.module)) > count


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_trace_them(function: Any) -> None:
    step = 1e-6 * RNG.normal(size=(7, 7)), 1e-6 * RNG.normal(size=7)
    forward, back = ((A + sign * step[0], B + sign * step[1]) for sign in (1, -1))
    wanted = (function(*forward) - function(*back)) / 2
    gradient = adze.grad(function, argnums=(0, 1))
    for each in (gradient, adze.jit(gradient)):
        slopes = each(A, B)
        got = sum((np.asarray(g) * s).sum() for g, s in zip(slopes, step, strict=True))
        np.testing.assert_allclose(got, wanted, rtol=1e-5)
    _, tangent = adze.jit(lambda a, b: adze.jvp(function, (a, b), step))(A, B)
    np.testing.assert_allclose(tangent, wanted, rtol=1e-5)
    batched = adze.jit(adze.vmap(gradient))(np.stack([A, A + 1]), np.stack([B, B]))
    np.testing.assert_allclose(np.asarray(batched[0])[0], np.asarray(gradient(A, B)[0]), rtol=1e-7)
    of_batch = adze.jit(adze.grad(lambda a, b: adze.vmap(function, (None, 0))(a, np.stack([b, b])).sum()))
    np.testing.assert_allclose(of_batch(A, B), 2 * np.asarray(gradient(A, B)[0]), rtol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_trace_is_differentiated_inside_another(function: Any) -> None:
    pullback = adze.vjp(function, A, B)[1]
    got = adze.jit(lambda cotangent: pullback(cotangent))(1.0)
    for one, other in zip(got, adze.grad(function, argnums=(0, 1))(A, B), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_second_derivatives() -> None:
    hessian = adze.jit(adze.hessian(lambda b: solved(A, b)))(B)
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(hessian, 2 * inverse.T @ inverse, rtol=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_artifact_keeps_them(function: Any, tmp_path: Path) -> None:
    path = tmp_path / "f.vmfb"
    adze.trace(function, A, B).lower("cpu").compile().save(path, keep_ir=True)
    loaded = adze.load(path).differentiable()
    got, wanted = (adze.grad(each)(A, B) for each in (loaded, function))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)


def test_labels_do_not_decide_what_a_program_becomes() -> None:
    one, other = (adze.trace(solved, A, B) for _ in range(2))
    assert str(one.program.module) != str(other.program.module)
    assert without_labels(str(one.program.module)) == without_labels(str(other.program.module))
    target, settings = parse_target("cpu"), read_settings()
    digests = {known_programs._digest(each, target, settings) for each in (one, other)}
    assert len(digests) == 1
    assert one.lower("cpu").canonical() == other.lower("cpu").canonical()
    assert one.mlir() == other.mlir() or DEFERRED in one.mlir()  # rules within rules still wait
