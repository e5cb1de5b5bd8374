// MLIR's own canonicalizer folds what it knows.
// RUN: adze opt %s --pass-pipeline='canonicalize' | filecheck %s

func.func @f() -> index {
  %c2 = arith.constant 2 : index
  %0 = arith.addi %c2, %c2 : index
  return %0 : index
}

// CHECK: %c4 = arith.constant 4 : index
// CHECK-NEXT: return %c4
