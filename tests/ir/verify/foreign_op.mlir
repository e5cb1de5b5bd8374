// Ops of other dialects have no place before lowering.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: op 'arith.addf' has no place in adze IR
// CHECK-NEXT: at {{.*}}:5
