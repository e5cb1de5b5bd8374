// A product of dynamic sizes is transposed and meets positions: its lowered result goes behind a barrier.
// RUN: adze opt %s --pass-pipeline='mark-barriers' | filecheck %s

func.func @f(%x: tensor<?x4xf32>, %y: tensor<4x8xf32>) -> (tensor<8x?xf32>, tensor<?x8xf32>) {
  %n = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %0 = "adze.dot_general"(%x, %y) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %1 = "adze.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %2 = "adze.iota"(%n) {axis = 0 : i64, dtype = f32, shape = array<i64: 8, -9223372036854775808>} : (index) -> tensor<8x?xf32>
  %3 = "adze.mul"(%1, %2) : (tensor<8x?xf32>, tensor<8x?xf32>) -> tensor<8x?xf32>
  %4 = "adze.dot_general"(%x, %y) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %5 = "adze.iota"(%n) {axis = 1 : i64, dtype = f32, shape = array<i64: -9223372036854775808, 8>} : (index) -> tensor<?x8xf32>
  %6 = "adze.mul"(%4, %5) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %3, %6 : tensor<8x?xf32>, tensor<?x8xf32>
}

// CHECK: "adze.dot_general"({{.*}}) {adze.barrier,
// CHECK-NOT: adze.barrier
