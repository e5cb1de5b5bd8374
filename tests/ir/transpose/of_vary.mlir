// The transpose of an invariant array that meets varying ones is the sum over ranks.
// RUN: adze opt %s --pass-pipeline='transpose{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.vary"(%x, %i) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<i32>, %arg1: tensor<4x2xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %0 = "adze.all_reduce"(%arg1, %arg0) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %0 : tensor<4x2xf32>
