// Mapped over its own axis, an all-to-all over ranks is computed by one program that has the arrays of all.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0,1 size=2}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<2x4xf32> {
  %0 = "adze.all_to_all"(%x, %i) {axis = 0 : i64, axis_name = "d", concat = 1 : i64, split = 0 : i64, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<2x4x2xf32>, %arg1: tensor<2xi32>) -> tensor<2x2x4xf32> {
// CHECK-NEXT: %0 = "adze.reshape"(%arg0) {shape = array<i64: 2, 2, 2, 2>} : (tensor<2x4x2xf32>) -> tensor<2x2x2x2xf32>
// CHECK-NEXT: %1 = "adze.transpose"(%0) {permutation = array<i64: 1, 2, 0, 3>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
// CHECK-NEXT: %2 = "adze.reshape"(%1) {shape = array<i64: 2, 2, 4>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x4xf32>
// CHECK-NEXT: return %2 : tensor<2x2x4xf32>
