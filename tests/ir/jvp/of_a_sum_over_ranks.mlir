// The tangent of a sum over ranks is the sum of the tangents.
// RUN: adze opt %s --pass-pipeline='jvp{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.all_reduce"(%x, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_jvp(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>, %arg2: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
// CHECK-NEXT: %0 = "adze.all_reduce"(%arg0, %arg1) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: %1 = "adze.all_reduce"(%arg2, %arg1) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
