// An axis that ranks share is a multiple of their number.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<5x2xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  %0 = "adze.reduce_scatter"(%x, %i) {axis = 0 : i64, axis_name = "d", dim = 0 : i64, mesh = array<i64: 2>} : (tensor<5x2xf32>, tensor<i32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK: error: in @f: reduce_scatter: axis 0 of f32[5,2] is not divisible by the 2 ranks of the axis
// CHECK-NEXT: at {{.*}}:5
