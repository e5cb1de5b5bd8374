"""What the calls of a kernel say of the numbers that they pass."""

from __future__ import annotations

from typing import Any

import pytest

from adze.dialects import mlir
from adze.passes.lower.kernels.counted_sizes import Counted
from adze.passes.lower.kernels.dispatches import executables_of, function_of
from adze.passes.lower.kernels.passed_numbers import numbers_passed_to

N, M, K = Counted(0), Counted(1), Counted(2)

PROGRAM = """
flow.executable private @k {{
  flow.executable.export public @k workgroups(%a: index, %b: index, %c: index) -> (index, index, index) {{
    flow.return %a, %b, %c : index, index, index
  }}
  builtin.module {{ func.func @k(%a: index, %b: index, %c: index) {{ return }} }}
}}
util.func public @main(%n: index, %m: index, %same: i1) {{
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  {lines}
  util.return
}}
"""
CALL = "flow.dispatch @k::@k[{0}, {1}, {2}]({0}, {1}, {2}) : (index, index, index) -> ()"


def numbers(*lines: str) -> dict[Counted, Any]:
    context = mlir.new_context(foreign_ops=False)
    module = mlir.ir.Module.parse(PROGRAM.format(lines="\n".join(lines)), context)
    function = function_of(executables_of(module)["k"])
    assert function is not None
    return numbers_passed_to(function)


@pytest.mark.parametrize(
    ("line", "terms"),
    [
        ("%x = arith.muli %n, %m : index", {(N, M): 1}),
        ("%x = arith.muli %n, %c256 : index", {(N,): 256}),
        ("%x = arith.subi %m, %c1 : index", {(M,): 1, (): -1}),
        ("%x = arith.subi %n, %n : index", {}),
        ("%y = arith.addi %n, %m : index\n%x = arith.muli %y, %n : index", {(N, N): 1, (N, M): 1}),
        ("%x = arith.divsi %n, %m : index", {(K,): 1}),
    ],
)
def test_numbers(line: str, terms: Any) -> None:
    assert numbers(line, CALL.format("%n", "%m", "%x")) == {N: {(N,): 1}, M: {(M,): 1}, K: terms}


def test_a_number_that_is_made_of_what_is_not_passed() -> None:
    assert numbers("%x = arith.muli %m, %c256 : index", CALL.format("%n", "%n", "%x")) == {
        N: {(N,): 1},
        M: {(N,): 1},
    }


def test_sizes_that_are_checked_before_are_equal() -> None:
    check = '%e = arith.cmpi eq, %n, %m : index\ncf.assert %e, "differ"'
    product = "%x = arith.muli %m, %m : index"
    assert numbers(product, check, CALL.format("%n", "%m", "%x"))[K] == {(N, N): 1}
    assert numbers(product, CALL.format("%n", "%m", "%x"), check)[K] == {(M, M): 1}
    other = check.replace("cmpi eq", "cmpi sle")
    assert numbers(product, other, CALL.format("%n", "%m", "%x"))[K] == {(M, M): 1}


def test_all_calls_agree() -> None:
    lines = "%x = arith.muli %n, %m : index", CALL.format("%n", "%m", "%x"), CALL.format("%n", "%m", "%n")
    assert numbers(*lines) == {N: {(N,): 1}, M: {(M,): 1}}


def test_what_doubles_in_each_step_is_short() -> None:
    lines = [f"%x{k + 1} = arith.addi %x{k}, %x{k} : index" for k in range(40)]
    found = numbers("%x0 = arith.addi %n, %m : index", *lines, CALL.format("%n", "%m", "%x40"))
    assert found[K] == {(N,): 1 << 40, (M,): 1 << 40}
    squares = [f"%x{k + 1} = arith.muli %x{k}, %x{k} : index" for k in range(40)]
    found = numbers("%x0 = arith.addi %n, %m : index", *squares, CALL.format("%n", "%m", "%x40"))
    assert found[N] == {(N,): 1}
