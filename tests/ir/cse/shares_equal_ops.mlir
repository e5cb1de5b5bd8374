// MLIR's own pass shares equal ops.
// RUN: adze opt %s --pass-pipeline='cse' | filecheck %s

func.func @f(%x: index) -> index {
  %0 = arith.addi %x, %x : index
  %1 = arith.addi %x, %x : index
  %2 = arith.muli %0, %1 : index
  return %2 : index
}

// CHECK: arith.addi
// CHECK-NEXT: arith.muli %0, %0
