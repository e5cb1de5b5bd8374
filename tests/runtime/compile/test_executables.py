"""Kernels of a program in few executables, and those of a long one in several libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.staging.lowered import Lowered
from adze.runtime.compile import executables
from adze.runtime.compile.diagnostics import Diagnostic
from adze.runtime.compile.invocation import Invocation
from adze.runtime.errors import CompileError

CHECKOUT = Path(__file__).resolve().parents[3]
ELF = b"\x7fELF"


def loss(weights: Any, x: Any) -> Any:
    for w in weights:
        x = anp.tanh(x @ w)
    return anp.sort(x, axis=0)[-1].sum()


def filled(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


ARGUMENTS = ([filled(200, 130), filled(130, 70)], filled(64, 200))


def lowered(target: str = "cpu") -> Lowered:
    return adze.trace(adze.value_and_grad(loss), *ARGUMENTS).lower(target)


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executables, "_LEAST_OF_A_PART", 20_000)


@pytest.mark.parametrize(
    ("lengths", "parts", "expected"),
    [
        ([1, 1, 1, 1], 2, [0, 0, 1, 1]),
        ([10, 1, 1, 1], 2, [0, 1, 1, 1]),
        ([1, 1, 1, 10], 2, [0, 0, 0, 1]),
        ([5], 3, [1]),
        ([3, 0, 3], 2, [0, 1, 1]),
    ],
)
def test_parts_are_about_equally_long(lengths: list[int], parts: int, expected: list[int]) -> None:
    assert executables._of_equal_length(lengths, parts) == expected


def test_a_long_program_has_several_libraries_and_the_same_results(
    short_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = lowered().compile(cache=False)
    assert divided.vmfb.count(ELF) > 2
    monkeypatch.undo()
    whole = lowered().compile(cache=False)
    assert whole.vmfb.count(ELF) == 1
    (value, gradient), (expected, expected_gradient) = divided(*ARGUMENTS), whole(*ARGUMENTS)
    np.testing.assert_array_equal(value, expected)
    for mine, other in zip(gradient, expected_gradient, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_its_bytes_do_not_depend_on_how_many_threads_compile(
    short_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = []
    for threads in ("1", "3"):
        monkeypatch.setenv("ADZE_THREADS", threads)
        programs.append(lowered().compile(cache=False).vmfb)
    assert programs[0] == programs[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_child_compiles_parts_too() -> None:
    script = """
import hashlib, os, sys
import numpy as np
from adze.runtime.compile import executables
from tests.runtime.compile.test_executables import lowered

def digest():
    return hashlib.sha256(lowered().compile(cache=False).vmfb).hexdigest()

executables._LEAST_OF_A_PART = 20_000
print(digest(), flush=True)
child = os.fork()
if child == 0:
    print(digest(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(digest(), flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False, cwd=CHECKOUT
    )
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) == 1, done.stdout
    assert len(done.stdout.split()) == 3


def test_kernels_with_functions_of_a_library_are_compiled_in_parts_too(short_parts: None) -> None:
    x, y = np.rint(filled(40, 40) * 4), np.rint(filled(40, 40) * 4) + 2  # sums of integers are exact anywhere
    compiled = adze.trace(lambda a, b: anp.fmod(anp.sort(a @ b), 0.3), x, y).lower("cpu").compile(cache=False)
    np.testing.assert_array_equal(compiled(x, y), np.fmod(np.sort(x @ y), np.float32(0.3)))


def test_a_program_of_which_iree_refuses_one_part_is_tried_in_the_next_form(
    short_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    library_of, compiled = Invocation._library_of, Invocation._compiled
    refused: list[bytes] = []
    results: list[bool] = []

    def refuse_first(self: Invocation, kernels: bytes, phase: str) -> bytes | None:
        if refused in ([], [kernels]):
            refused[:] = [kernels]
            self._refuse("not today")
            return None
        return library_of(self, kernels, phase)

    def noted(self: Invocation, kernels: list[bytes]) -> list[bytes] | None:
        libraries = compiled(self, kernels)
        results.append(libraries is not None)
        return libraries

    monkeypatch.setattr(Invocation, "_library_of", refuse_first)
    monkeypatch.setattr(Invocation, "_compiled", noted)
    divided = lowered().compile(cache=False)
    assert results[0] is False
    assert results[-1] is True
    monkeypatch.undo()
    value, expected = divided(*ARGUMENTS)[0], lowered().compile(cache=False)(*ARGUMENTS)[0]
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_a_program_that_iree_refuses_is_refused(short_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Invocation, kernels: bytes, phase: str) -> None:
        self._refuse("not today")

    monkeypatch.setattr(Invocation, "_library_of", refuse)
    with pytest.raises(CompileError, match="not today"):
        lowered().compile(cache=False)


def test_what_iree_says_of_the_parts_stands_in_their_order(
    short_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    library_of = Invocation._library_of

    def remarked(self: Invocation, kernels: bytes, phase: str) -> bytes | None:
        self._diagnostics.append(Diagnostic("remark", f"{len(kernels)} bytes", None))
        return library_of(self, kernels, phase)

    monkeypatch.setattr(Invocation, "_library_of", remarked)
    said: list[list[Diagnostic]] = []
    compiled = Invocation._compiled

    def noted(self: Invocation, kernels: list[bytes]) -> list[bytes] | None:
        before = len(self._diagnostics)
        libraries = compiled(self, kernels)
        if len(kernels) > 1:
            said.append(self._diagnostics[before:])
        return libraries

    monkeypatch.setattr(Invocation, "_compiled", noted)
    for _ in range(2):
        lowered().compile(cache=False)
    assert len(said[0]) > 2
    assert said[0] == said[1]
