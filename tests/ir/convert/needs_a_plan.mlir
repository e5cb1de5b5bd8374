// A module without a plan says which pass is lacking.
// RUN: not adze opt %s --pass-pipeline='convert' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK: error: the module has no attribute adze.target
// CHECK-NEXT: hint: run the pass plan{target=...} before this one
