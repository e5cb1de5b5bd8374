// Transforms see a complex array as one of its parts; the roots of unity follow the operands.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},routine-kernels' | filecheck %s

func.func @f(%x: tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>> {
  %0 = "adze.linear_routine"(%x) {callee = @callee, kernel = "fft", transposed = @callee, transposed_kernel = "fft", results = [tensor<3x64xcomplex<f32>>]} : (tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>>
  return %0 : tensor<3x64xcomplex<f32>>
}
func.func private @callee(%x: tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>> {
  return %x : tensor<3x64xcomplex<f32>>
}

// CHECK: stream.executable private @kernel_fft
// CHECK: stream.return %c3, %c1, %c1
// CHECK: -> memref<3x128xf32>
// CHECK: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-LABEL: func.func @f
// CHECK: %[[ROOTS:.*]] = arith.constant dense<{{.*}}> : tensor<{{.*}}xf32>
// CHECK: flow.dispatch @kernel_fft::@kernel_fft(%arg0, %[[ROOTS]]
// CHECK-NOT: callee
