// Mapped over another axis, a permutation over ranks is one of the whole batch.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0 size=3}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.ppermute"(%x, %i) {axis = 0 : i64, axis_name = "d", perm = [array<i64: 0, 1>], mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<3x4x2xf32>, %arg1: tensor<i32>) -> tensor<3x4x2xf32> {
// CHECK-NEXT: %0 = "adze.ppermute"(%arg0, %arg1) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>, perm = [array<i64: 0, 1>]} : (tensor<3x4x2xf32>, tensor<i32>) -> tensor<3x4x2xf32>
// CHECK-NEXT: return %0 : tensor<3x4x2xf32>
