// A program that uses the triangle alone has no kernel for the orthonormal columns.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},routine-kernels' | filecheck %s

func.func @f(%x: tensor<9x3xf32>) -> tensor<3x3xf32> {
  %0:2 = "adze.routine"(%x) {callee = @callee, kernel = "qr", results = [tensor<9x3xf32>, tensor<3x3xf32>]} : (tensor<9x3xf32>) -> (tensor<9x3xf32>, tensor<3x3xf32>)
  return %0#1 : tensor<3x3xf32>
}
func.func private @callee(%x: tensor<9x3xf32>) -> (tensor<9x3xf32>, tensor<3x3xf32>) {
  %0 = "adze.slice"(%x) {start = array<i64: 0, 0>, limit = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<9x3xf32>) -> tensor<3x3xf32>
  return %x, %0 : tensor<9x3xf32>, tensor<3x3xf32>
}

// CHECK: stream.executable private @kernel_qr_r
// CHECK-LABEL: func.func @f
// CHECK: %[[R:.*]]:4 = flow.dispatch @kernel_qr_r::@kernel_qr_r(%arg0
// CHECK-NEXT: return %[[R]]#0
// CHECK-NOT: callee
