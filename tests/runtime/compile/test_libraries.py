"""Kernels are linked without libraries unless they call one, and then with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adze.dialects.types import FLOAT32
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile import compiler
from adze.runtime.compile.compiler import CompileOptions, compile_bytecode
from adze.runtime.compile.libraries import without_libraries
from adze.runtime.execute.devices import get_device
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

TARGET = parse_target("cpu:x86-64-v3")
REMAINDER = b"""
#id = affine_map<(i) -> (i)>
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.remf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
SUM = REMAINDER.replace(b"remf", b"addf")


def flags_of(target: str) -> tuple[str, ...]:
    return (*parse_target(target).flags, *CompileOptions().flags())


def kept_libraries(
    module: bytes, monkeypatch: pytest.MonkeyPatch, *, looks: bool = True
) -> tuple[bytes, int]:
    """The program of a module, and how often IREE was asked to link it with libraries."""
    asked: list[bytes] = []
    with_libraries = compiler.with_libraries

    def note(program: bytes) -> bytes:
        asked.append(program)
        return with_libraries(program)

    with monkeypatch.context() as patched:
        patched.setattr(compiler, "with_libraries", note)
        if not looks:
            patched.setattr(compiler, "calls_a_library", lambda program: False)
        return compile_bytecode(module, TARGET).vmfb, len(asked)


def test_only_kernels_that_call_a_library_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_libraries(SUM, monkeypatch)[1] == 0
    program, count = kept_libraries(REMAINDER, monkeypatch)
    assert count == 1
    array = ArraySpec("x", FLOAT32, (4,))
    signature = FunctionSignature("f", (array, array), (array,))
    a, b = np.float32([5.5, -7.25, 1e30, 3.0]), np.float32([2.0, 3.0, 0.7, np.inf])
    (result,) = Executable(program, get_device("local-sync"), (signature,)).function("f").call([a, b])
    expected = [math.fmod(float(x), float(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(np.asarray(result), np.float32(expected))


def test_a_function_that_does_not_link_is_linked_with_libraries(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program, count = kept_libraries(REMAINDER, monkeypatch, looks=False)
    assert count == 1
    assert program == kept_libraries(REMAINDER, monkeypatch)[0]
    assert "fmodf" not in capfd.readouterr().out


def test_targets_without_the_instructions_or_of_another_kind_keep_the_libraries() -> None:
    assert without_libraries(flags_of("cpu:x86-64-v3")) is not None
    for target in ("cpu:x86-64", "cpu:aarch64", "vulkan:ampere"):
        assert without_libraries(flags_of(target)) is None
