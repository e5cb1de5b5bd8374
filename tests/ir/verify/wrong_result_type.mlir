// A result must have the type that the op gives.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = "adze.sin"(%x) : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK: error: in @f: op 'adze.sin' states results (f32[3]), its operands and attributes imply (f32[4])
// CHECK-NEXT: at {{.*}}:5
