// A routine is one dispatch: a workgroup for each matrix, scratch of whole panels, and no callee any more.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},routine-kernels' | filecheck %s

func.func @f(%x: tensor<3x20x20xf32>) -> tensor<3x20x20xf32> {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<3x20x20xf32>]} : (tensor<3x20x20xf32>) -> tensor<3x20x20xf32>
  return %0 : tensor<3x20x20xf32>
}
func.func private @callee(%x: tensor<3x20x20xf32>) -> tensor<3x20x20xf32> {
  return %x : tensor<3x20x20xf32>
}

// CHECK: stream.executable private @kernel_cholesky
// CHECK: stream.return %c3, %c1, %c1
// CHECK: memref<3x32x32xf32>
// CHECK: math.fma {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @f
// CHECK: %[[X:.*]]:2 = flow.dispatch @kernel_cholesky::@kernel_cholesky
// CHECK-NEXT: return %[[X]]#0
// CHECK-NOT: callee
