// The transpose of a gather is the sum of which each rank has its part.
// RUN: adze opt %s --pass-pipeline='transpose{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<8x2xf32> {
  %0 = "adze.all_gather"(%x, %i) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, is_invariant = false, mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<i32>, %arg1: tensor<8x2xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %0 = "adze.reduce_scatter"(%arg1, %arg0) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, mesh = array<i64: 2>} : (tensor<8x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %0 : tensor<4x2xf32>
