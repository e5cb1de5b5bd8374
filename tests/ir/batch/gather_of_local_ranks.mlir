// Mapped over its own axis, a gather over ranks is computed by one program that has the arrays of all.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0,1 size=2}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<8x2xf32> {
  %0 = "adze.all_gather"(%x, %i) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, is_invariant = false, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<2x4x2xf32>, %arg1: tensor<2xi32>) -> tensor<2x8x2xf32> {
// CHECK-NEXT: %0 = "adze.reshape"(%arg0) {shape = array<i64: 8, 2>} : (tensor<2x4x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 1, 2>, shape = array<i64: 2, 8, 2>} : (tensor<8x2xf32>) -> tensor<2x8x2xf32>
// CHECK-NEXT: return %1 : tensor<2x8x2xf32>
