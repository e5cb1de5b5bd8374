// A call states the results of its callee.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func private @g(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @f(%x: tensor<3xf32>) -> tensor<4xf32> {
  %0 = "adze.call"(%x) {callee = @g, results = [tensor<4xf32>]} : (tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: op 'adze.call' states results (f32[4]) where @g has (f32[3])
// CHECK-NEXT: at {{.*}}:8
