"""What the ranges of integers in kernels decide, and what they must leave alone."""

from __future__ import annotations

import pytest

from adze.dialects import mlir
from adze.passes.lower.kernels.ranges import simplify_ranges

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
