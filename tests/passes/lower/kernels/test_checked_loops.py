"""Kernels of loops run with every access checked: what they compute, and that they touch what is theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze.dialects import mlir
from adze.passes.analysis.evaluate import evaluate
from adze.passes.lower.kernels.loops import build, workgroups
from adze.passes.lower.kernels.loops.replace import FAULT
from adze.passes.lower.kernels.loops.workgroups import share_among_workgroups

from ....random_programs import random_program, seeds
from .checked import run_checked
from .checked_code import Translation
from .checked_values import UNKNOWN, Buffer, View
from .interpreter import KernelFault
from .loops import GROUPS, Loop

TOLERANCES = {"float16": 3e-2, "bfloat16": 2e-1, "float32": 2e-3, "complex64": 2e-3}
"""Relative to 1: functions of NumPy and those of kernels differ, and loops go on from there."""


def check(function: Any, arguments: list[np.ndarray], what: str) -> int:
    """Compare checked kernels with the evaluator; how many kernels ran."""
    with np.errstate(all="ignore"):
        traced = adze.trace(function, *arguments)
        expected = evaluate(traced.program.module, traced.program.symbol, arguments)
        checked = run_checked(traced, arguments)
    assert not [remark for remark in checked.remarks if FAULT in remark], what
    bound = max(TOLERANCES.get(x.dtype.name, 1e-7) for x in arguments)
    for got, want in zip(checked.results, map(np.asarray, expected), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), what
        if got.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want, what)
            continue
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        tolerance = max(bound, TOLERANCES.get(got.dtype.name, 1e-7))
        np.testing.assert_allclose(
            got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
        )
    return checked.kernels


@pytest.mark.one_in(2)
@pytest.mark.parametrize("group", GROUPS)
def test_loops_of_every_kind(group: str) -> None:
    loops: list[Loop] = [loop for loop in GROUPS[group] if loop[0].__name__ != "many_steps"]
    for function, arguments in loops:
        assert check(function, [np.asarray(a) for a in arguments], function.__name__) == 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", seeds(6, 300, (10419,)))
def test_random_loops_over_arrays(seed: int) -> None:
    program = random_program(seed, "arrays")
    check(lambda *arrays: program(*arrays), program.arguments(), str(program))


def share_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let workgroups share the steps of all kernels where they may; how many share each."""
    counts: list[int] = []

    def share(module: mlir.ir.Module) -> int:
        counts.append(share_among_workgroups(module))
        return counts[-1]

    monkeypatch.setattr(workgroups, "LEAST", 1)
    monkeypatch.setattr(workgroups, "MULTIPLE", 1)
    monkeypatch.setattr(build, "share_among_workgroups", share)
    return counts


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", seeds(6, 300, (10419,)))
def test_random_loops_whose_steps_workgroups_share(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    share_steps(monkeypatch)
    program = random_program(seed, "arrays")
    check(lambda *arrays: program(*arrays), program.arguments(), str(program))


@pytest.mark.parametrize("group", GROUPS)
def test_loops_of_every_kind_whose_steps_workgroups_share(
    group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = share_steps(monkeypatch)
    for function, arguments in GROUPS[group]:
        if function.__name__ != "many_steps":
            check(function, [np.asarray(a) for a in arguments], function.__name__)
    assert counts


def test_small_ops_whose_steps_workgroups_share(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = share_steps(monkeypatch)

    def filtered(x: Any) -> Any:
        parts = [x[i : i + 40, j : j + 50] for i in range(4) for j in range(4)]
        return sum(np.exp(-((part - parts[5]) ** 2)) * part for part in parts)

    image = np.random.default_rng(0).standard_normal((43, 53)).astype(np.float32)
    assert check(filtered, [image], "filtered") == 1
    assert counts == [20]


@pytest.mark.thorough
def test_random_loops_are_kernels() -> None:
    """Else the test above would test nothing."""
    count = 0
    for seed in range(6):
        program = random_program(seed, "arrays")
        count += run_checked(adze.trace(program, *program.arguments()), program.arguments()).kernels
    assert count >= 6


# -- what the check sees -----------------------------------------------------------------------------


def run(body: str) -> None:
    """Run the code of a kernel on an operand `%x` and a result `%y` of four numbers."""
    code = f"""func.func @kernel(%x: memref<4xi32>, %y: memref<4xi32>) {{
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %minus = arith.constant -1 : index
      %zero = arith.constant 0 : i32
      %wide = arith.constant 32 : i32
      {body}
      return
    }}"""
    with mlir.new_context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(code)
        block = module.body.operations[0].regions[0].blocks[0]
        operand, result = Buffer.of(np.arange(4, dtype=np.int32)), Buffer.fresh(4, np.int32)
        Translation().function(block)(View.whole(operand, [4]), View.whole(result, [4]))


@pytest.mark.parametrize(
    "body",
    [
        "%1 = memref.load %x[%c4] : memref<4xi32>",
        "%1 = memref.load %x[%minus] : memref<4xi32>",
        "memref.store %zero, %y[%c4] : memref<4xi32>",
        "memref.store %zero, %x[%c0] : memref<4xi32>",
        "%1 = memref.load %y[%c0] : memref<4xi32>\n %2 = arith.index_cast %1 : i32 to index\n"
        "%3 = memref.load %x[%2] : memref<4xi32>",
        "%1 = arith.divsi %wide, %zero : i32",
        "%1 = arith.shli %wide, %wide : i32\n %2 = arith.cmpi eq, %1, %zero : i32\n scf.if %2 {\n }",
        "%v = memref.reinterpret_cast %x to offset: [3], sizes: [2], strides: [1]"
        " : memref<4xi32> to memref<2xi32, strided<[1], offset: 3>>\n %one = arith.constant 1 : index\n"
        "%1 = memref.load %v[%one] : memref<2xi32, strided<[1], offset: 3>>",
        "scf.for %i = %c0 to %c4 step %c0 {\n }",
    ],
    ids=["beyond", "before", "stored_beyond", "operand", "unknown_place", "zero", "poison", "window", "step"],
)
def test_faults(body: str) -> None:
    with pytest.raises(KernelFault):
        run(body)


def test_what_is_unknown_may_be_moved() -> None:
    run("%1 = memref.load %y[%c3] : memref<4xi32>\n memref.store %1, %y[%c0] : memref<4xi32>")
    assert UNKNOWN + 1 is UNKNOWN
    assert np.float32(1) * UNKNOWN is UNKNOWN
