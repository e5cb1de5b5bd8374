// IREE has no vectors of complex numbers: LLVM's vectorizer is asked for them, on CPUs.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu}' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:turing}' | filecheck %s --check-prefix=GPU

func.func @f(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = "adze.mul"(%x, %x) : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// CHECK: module attributes {adze.hints = {{.*}}, adze.target = "cpu{{.*}}", adze.vectorized} {
// GPU: module attributes {adze.hints = {{.*}}, adze.target = "vulkan:turing"} {
