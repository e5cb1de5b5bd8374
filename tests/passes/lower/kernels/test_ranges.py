"""What the ranges of integers in kernels decide, and what they must leave alone."""

from __future__ import annotations

import pytest

from adze.dialects import mlir
from adze.passes.lower.kernels.ranges import SimplifyRanges, simplify_ranges

PROGRAM = """
func.func @kernel(%b: i1, %n: i32) -> i1 {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %no = arith.constant false
  %most = arith.constant 2147483647 : i32
  %signed = arith.extsi %b : i1 to i32
  %unsigned = arith.extui %b : i1 to i32
  %two = arith.constant 2 : i32
  %masked = arith.andi %n, %one : i32
  %next = arith.addi %n, %one : i32
  %0 = {comparison}
  return %0 : i1
}}
"""


def decided(comparison: str) -> bool | None:
    """What the comparison is known to be, None where it is left alone."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(PROGRAM.format(comparison=comparison))
        simplify_ranges(module)
        ends = module.body.operations[0].regions[0].blocks[0].operations
        owner = ends[len(ends) - 1].operands[0].owner.operation
        return bool(owner.attributes["value"].value) if owner.name == "arith.constant" else None


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ("arith.cmpi sge, %unsigned, %zero : i32", True),
        ("arith.cmpi sgt, %unsigned, %one : i32", False),
        ("arith.cmpi slt, %signed, %zero : i32", None),  # a true i1 is -1
        ("arith.cmpi sgt, %signed, %zero : i32", False),
        ("arith.cmpi sgt, %b, %no : i1", None),  # signed: true is less than false
        ("arith.cmpi sgt, %next, %n : i32", None),  # it may wrap
        ("arith.cmpi sle, %next, %most : i32", True),
        ("arith.cmpi ult, %n, %most : i32", None),
        ("arith.cmpi slt, %masked, %two : i32", True),
        ("arith.cmpi sge, %masked, %one : i32", None),
        ("arith.cmpi sge, %masked, %zero : i32", True),
    ],
)
def test_comparisons(comparison: str, expected: bool | None) -> None:
    assert decided(comparison) is expected


OF_TWO_RESULTS = """
flow.executable private @e {
  flow.executable.export public @f
  builtin.module {
    func.func @f(%n: i32) -> (i32, i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %bit = arith.andi %n, %one : i32
      %clamped = arith.maxsi %bit, %zero : i32
      %low, %high = arith.mului_extended %n, %n : i32
      return %high, %clamped : i32, i32
    }
  }
}
"""


def test_ops_of_which_one_result_is_used_stay() -> None:
    """The upper half of a product, as in random bits."""
    with mlir.ir.Context() as context, mlir.ir.Location.unknown():
        mlir.load_dialects(context)
        module = mlir.ir.Module.parse(OF_TWO_RESULTS)
        assert SimplifyRanges().run(module)
        text = str(module)
    assert "arith.mului_extended" in text
    assert "arith.maxsi" not in text
