"""Which comparisons of sizes hold whatever the sizes are."""

from __future__ import annotations

import pytest

from adze.dialects import mlir
from adze.passes.ir.functions import functions
from adze.passes.lower.kernels.loops.decided_checks import always_holds

CHECKS = [
    ("%s = arith.addi %n, %m : index", "sle, %n, %s", True),
    ("%s = arith.addi %n, %m : index", "sge, %s, %m", True),
    ("%s = arith.addi %n, %m : index", "slt, %n, %s", False),
    ("%s = arith.addi %n, %one : index", "slt, %n, %s", True),
    ("%s = arith.addi %n, %one : index", "sgt, %s, %n", True),
    ("%s = arith.subi %n, %one : index", "sle, %s, %n", True),
    ("%s = arith.subi %n, %one : index", "sge, %s, %n", False),
    ("%s = arith.muli %n, %two : index", "sle, %n, %s", True),
    ("%s = arith.muli %two, %n : index", "eq, %s, %n", False),
    ("%s = arith.muli %n, %m : index", "sle, %n, %s", False),
    ("%s = arith.addi %k, %n : index", "sle, %k, %s", True),
    ("%s = arith.addi %k, %n : index", "sle, %n, %s", False),  # %k, which is no size, may be negative
    ("%s = arith.addi %n, %n : index  %t = arith.muli %n, %two : index", "eq, %s, %t", True),
    ("%s = arith.addi %n, %m : index  %t = arith.subi %s, %m : index", "eq, %n, %t", True),
    ("%s = arith.addi %n, %m : index", "ne, %n, %s", False),
    ("%s = arith.addi %n, %m : index", "ule, %n, %s", False),
    ("", "eq, %n, %n", True),
    ("", "eq, %n, %m", False),
    ("", "sle, %one, %n", False),
]


def holds(code: str, condition: str) -> bool:
    """Whether a condition of two sizes, `n` and `m`, and of a number `k` always holds."""
    text = f"""func.func @f(%n: index, %m: index, %k: index) -> i1 {{
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      {code}
      {condition}
      return %c : i1
    }}"""
    with mlir.new_context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(text)
        block = functions(module)["f"].operation.regions[0].blocks[0]
        returned = list(block.operations)[-1].operation
        return always_holds(returned.operands[0], list(block.arguments)[:2])


@pytest.mark.parametrize(("code", "condition", "expected"), CHECKS)
def test_a_comparison(code: str, condition: str, expected: bool) -> None:
    assert holds(code, f"%c = arith.cmpi {condition} : index") is expected


def test_several_comparisons_hold_where_each_does() -> None:
    first = "%a = arith.cmpi eq, %n, %n : index"
    assert holds(f"{first} %b = arith.cmpi sle, %m, %m : index", "%c = arith.andi %a, %b : i1")
    assert not holds(f"{first} %b = arith.cmpi eq, %n, %m : index", "%c = arith.andi %a, %b : i1")
