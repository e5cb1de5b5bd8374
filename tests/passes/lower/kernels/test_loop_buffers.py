"""Copies between buffers that loops in kernels drop, and those that must stay."""

from __future__ import annotations

from adze.dialects import mlir
from adze.passes.lower.kernels.loops.buffers import write_directly

COPIED_TO_A_LATER_ALLOCATION = """
func.func @kernel(%x: memref<4xf32>, %y: memref<4xf32>) {
  %made = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                  iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%made : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %kept = memref.alloc() : memref<4xf32>
  memref.copy %made, %kept : memref<4xf32> to memref<4xf32>
  memref.copy %kept, %y : memref<4xf32> to memref<4xf32>
  return
}
"""


def test_what_is_copied_to_an_allocation_arrives_in_that_allocation() -> None:
    """It was written to a copy of the allocation, and the other uses of the allocation had no value."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(COPIED_TO_A_LATER_ALLOCATION)
        write_directly(module)
        inside = [o.operation for o in module.body.operations[0].regions[0].blocks[0].operations]
        (copied,) = [o.operands[0] for o in inside if o.name == "memref.copy"][-1:]
        written = [o.operands[1] for o in inside if o.name in ("memref.copy", "linalg.generic")]
        assert copied in written
