// The transpose of an all-to-all exchanges the axis that is divided and the axis that grows.
// RUN: adze opt %s --pass-pipeline='transpose{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<2x4xf32> {
  %0 = "adze.all_to_all"(%x, %i) {axis = 0 : i64, axis_name = "d", concat = 1 : i64, split = 0 : i64, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<i32>, %arg1: tensor<2x4xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %0 = "adze.all_to_all"(%arg1, %arg0) {axis = 0 : i64, axis_name = "d", concat = 0 : i64, mesh = array<i64: 2>, split = 1 : i64} : (tensor<2x4xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %0 : tensor<4x2xf32>
