// Mapped over another axis, an all-to-all over ranks is one of the whole batch, along the same axis of each element.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0 size=3}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<2x4xf32> {
  %0 = "adze.all_to_all"(%x, %i) {axis = 0 : i64, axis_name = "d", concat = 1 : i64, split = 0 : i64, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<3x4x2xf32>, %arg1: tensor<i32>) -> tensor<3x2x4xf32> {
// CHECK-NEXT: %0 = "adze.all_to_all"(%arg0, %arg1) {axis = 0 : i64, axis_name = "d", concat = 2 : i64, mesh = array<i64: 2>, split = 1 : i64} : (tensor<3x4x2xf32>, tensor<i32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: return %0 : tensor<3x2x4xf32>
