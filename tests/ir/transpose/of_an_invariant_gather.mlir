// The transpose of a gather whose result is invariant is the own part of the cotangent, without a message.
// RUN: adze opt %s --pass-pipeline='transpose{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<8x2xf32> {
  %0 = "adze.all_gather"(%x, %i) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, is_invariant = true, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<i32>, %arg1: tensor<8x2xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = i32, value = dense<4> : tensor<i32>} : () -> tensor<i32>
// CHECK-NEXT: %1 = "adze.mul"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %2 = "adze.constant"() {dtype = i32, value = dense<0> : tensor<i32>} : () -> tensor<i32>
// CHECK-NEXT: %3 = "adze.vary"(%arg1, %arg0) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : (tensor<8x2xf32>, tensor<i32>) -> tensor<8x2xf32>
// CHECK-NEXT: %4 = "adze.dynamic_slice"(%3, %1, %2) {slice_sizes = array<i64: 4, 2>} : (tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %4 : tensor<4x2xf32>
