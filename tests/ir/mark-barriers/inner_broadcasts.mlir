// A sum that is broadcast along an inner axis goes behind a barrier for Vulkan; one along the last axis does not.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},mark-barriers' | filecheck %s

func.func @f(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> (tensor<4x16x8xf32>, tensor<4x8xf32>) {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = "adze.dot_general"(%x, %0) {batch = [array<i64: 0>, array<i64: 0>], contracting = [array<i64>, array<i64>], dtype = f32} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x16x8xf32>
  %2 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4xf32>
  %3 = "adze.broadcast_in_dim"(%2) {dimensions = array<i64: 0>, shape = array<i64: 4, 8>} : (tensor<4xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<4x16x8xf32>, tensor<4x8xf32>
}

// CHECK: "adze.dot_general"({{.*}}) {adze.barrier,
// CHECK-NOT: adze.barrier
