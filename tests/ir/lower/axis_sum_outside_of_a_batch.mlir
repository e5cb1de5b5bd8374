// Outside of a batch every element of a named axis is the same: their sum is a product with the length.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "adze.axis_sum"(%x, %i) {axis_name = "batch", length = array<i64: 8>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: [[LENGTH:%.+]] = arith.constant 8.000000e+00 : f32
// CHECK: arith.mulf %in, [[LENGTH]] : f32
