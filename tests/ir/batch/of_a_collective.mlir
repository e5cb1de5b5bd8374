// A sum over a named axis that the batch pass meets is a reduction of the batch axis, repeated for each element.
// RUN: adze opt %s --pass-pipeline='batch{function=f size=8}' | filecheck %s

func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "adze.axis_sum"(%x, %i) {axis_name = "batch", length = array<i64: 8>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<8x4xf32>, %arg1: tensor<8xi32>) -> tensor<8x4xf32> {
// CHECK-NEXT: %0 = "adze.reduce_sum"(%arg0) {axes = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 1>, shape = array<i64: 8, 4>} : (tensor<4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %1 : tensor<8x4xf32>
