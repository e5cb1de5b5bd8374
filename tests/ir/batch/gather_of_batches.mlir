// Mapped over another axis, a gather over ranks is one of the whole batch, along the same axis of each element.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0 size=3}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<8x2xf32> {
  %0 = "adze.all_gather"(%x, %i) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, is_invariant = false, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<3x4x2xf32>, %arg1: tensor<i32>) -> tensor<3x8x2xf32> {
// CHECK-NEXT: %0 = "adze.all_gather"(%arg0, %arg1) {axis = 0 : i64, axis_name = "d", dim = 1 : i64, is_invariant = false, mesh = array<i64: 2>} : (tensor<3x4x2xf32>, tensor<i32>) -> tensor<3x8x2xf32>
// CHECK-NEXT: return %0 : tensor<3x8x2xf32>
