// A maximum over ranks is not linear.
// RUN: not adze opt %s --pass-pipeline='transpose{function=f argnums=0}' 2>&1 | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.all_reduce"(%x, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK: error: all_reduce of kind max is not linear
