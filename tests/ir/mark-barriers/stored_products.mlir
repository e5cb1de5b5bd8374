// For Adreno a product that is used twice goes behind a barrier, and one that is used once does not.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:adreno},mark-barriers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},mark-barriers' | filecheck %s --check-prefix=AMPERE

func.func @f(%x: tensor<16x32xf32>, %w: tensor<32x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %1 = "adze.tanh"(%0) : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %2 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %3 = "adze.tanh"(%2) : (tensor<16x64xf32>) -> tensor<16x64xf32>
  return %0, %1, %3 : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>
}

// CHECK: "adze.dot_general"({{.*}}) {adze.barrier,
// CHECK-NOT: adze.barrier
// AMPERE-NOT: adze.barrier
