// Mapped over its own axis, a permutation over ranks is computed by one program that has the arrays of all.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0,1 size=2}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.ppermute"(%x, %i) {axis = 0 : i64, axis_name = "d", perm = [array<i64: 0, 1>], mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<2x4x2xf32>, %arg1: tensor<2xi32>) -> tensor<2x4x2xf32> {
// CHECK-NEXT: %0 = "adze.slice"(%arg0) {limit = array<i64: 1, 4, 2>, start = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: %1 = "adze.constant"() {dtype = f32, value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %2 = "adze.broadcast_in_dim"(%1) {dimensions = array<i64>, shape = array<i64: 1, 4, 2>} : (tensor<f32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: %3 = "adze.concatenate"(%2, %0) {axis = 0 : i64} : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<2x4x2xf32>
// CHECK-NEXT: return %3 : tensor<2x4x2xf32>
