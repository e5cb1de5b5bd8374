// A sum of one row that every row gets is broadcast along an inner axis; one of one column is not.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},mark-barriers' | filecheck %s

func.func @f(%x: tensor<1x16xf32>, %w: tensor<16x8xf32>) -> (tensor<4x8xf32>, tensor<16x8xf32>) {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 0, 1>, shape = array<i64: 4, 8>} : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = "adze.dot_general"(%w, %1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 1>], dtype = f32} : (tensor<16x8xf32>, tensor<4x8xf32>) -> tensor<16x4xf32>
  %3 = "adze.reduce_sum"(%2) {axes = array<i64: 1>} : (tensor<16x4xf32>) -> tensor<16xf32>
  %4 = "adze.broadcast_in_dim"(%3) {dimensions = array<i64: 0>, shape = array<i64: 16, 1>} : (tensor<16xf32>) -> tensor<16x1xf32>
  %5 = "adze.broadcast_in_dim"(%4) {dimensions = array<i64: 0, 1>, shape = array<i64: 16, 8>} : (tensor<16x1xf32>) -> tensor<16x8xf32>
  return %1, %5 : tensor<4x8xf32>, tensor<16x8xf32>
}

// CHECK: "adze.dot_general"(%arg0, %arg1) {adze.barrier,
// CHECK-NOT: adze.barrier
