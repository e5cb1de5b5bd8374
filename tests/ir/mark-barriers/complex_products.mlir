// SPIR-V has no code for complex numbers in the kernel of what they are made of: only that sum gets a barrier.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},mark-barriers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},mark-barriers' | filecheck %s --check-prefix=CPU

func.func @f(%x: tensor<3x64xf32>, %y: tensor<3xf32>) -> (tensor<3xcomplex<f32>>, tensor<3xf32>) {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<3x64xf32>) -> tensor<3xf32>
  %1 = "adze.complex"(%0, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xcomplex<f32>>
  %2 = "adze.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<3x64xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<3xcomplex<f32>>, tensor<3xf32>
}

// CHECK: "adze.reduce_sum"({{.*}}) {adze.barrier,
// CHECK-NOT: adze.barrier
// CPU-NOT: adze.barrier
