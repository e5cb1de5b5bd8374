// On CUDA a workgroup transforms rows in its memory; rows that do not fit are ops.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},expand-routines,routine-kernels' | filecheck %s

func.func @f(%x: tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>> {
  %0 = "adze.linear_routine"(%x) {callee = @callee, kernel = "fft", transposed = @callee, transposed_kernel = "fft", results = [tensor<3x64xcomplex<f32>>]} : (tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>>
  return %0 : tensor<3x64xcomplex<f32>>
}
func.func private @callee(%x: tensor<3x64xcomplex<f32>>) -> tensor<3x64xcomplex<f32>> {
  return %x : tensor<3x64xcomplex<f32>>
}
func.func @long(%x: tensor<8192xcomplex<f32>>) -> tensor<8192xcomplex<f32>> {
  %0 = "adze.linear_routine"(%x) {callee = @long_callee, kernel = "fft", transposed = @long_callee, transposed_kernel = "fft", results = [tensor<8192xcomplex<f32>>]} : (tensor<8192xcomplex<f32>>) -> tensor<8192xcomplex<f32>>
  return %0 : tensor<8192xcomplex<f32>>
}
func.func private @long_callee(%x: tensor<8192xcomplex<f32>>) -> tensor<8192xcomplex<f32>> {
  %0 = "adze.neg"(%x) : (tensor<8192xcomplex<f32>>) -> tensor<8192xcomplex<f32>>
  return %0 : tensor<8192xcomplex<f32>>
}

// CHECK: no_pipeline workgroup_size = [24, 1, 1]
// CHECK: stream.executable private @kernel_fft
// CHECK: stream.return %c1, %c1
// CHECK: memref.alloc() : memref<192xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-LABEL: func.func @f
// CHECK: %[[ROOTS:.*]] = arith.constant dense<{{.*}}> : tensor<{{.*}}xf32>
// CHECK: flow.dispatch @kernel_fft::@kernel_fft(%arg0, %[[ROOTS]]
// CHECK-LABEL: func.func @long
// CHECK: adze.neg
