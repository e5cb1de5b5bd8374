// A collective names an axis that its mesh has.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.all_reduce"(%x, %i) {axis = 1 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK: error: in @f: all_reduce: axis 1 is out of range for a mesh of 1 axes
// CHECK-NEXT: at {{.*}}:5
