// Each rank receives from one other at most.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.ppermute"(%x, %i) {axis = 0 : i64, axis_name = "d", perm = [array<i64: 0, 1>, array<i64: 1, 1>], mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK: error: in @f: ppermute: perm [(0, 1), (1, 1)] must pair distinct positions of 2
// CHECK-NEXT: at {{.*}}:5
