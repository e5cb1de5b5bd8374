// Elementwise ops do not broadcast.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = "adze.constant"() {dtype = f32, value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "adze.add"(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: add: operands must have equal shapes, got f32[4], f32[]
// CHECK-NEXT: at {{.*}}:6
