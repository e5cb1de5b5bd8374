// Complex numbers over ranks have no maximum.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4x2xcomplex<f32>>, %i: tensor<i32>) -> tensor<4x2xcomplex<f32>> {
  %0 = "adze.all_reduce"(%x, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4x2xcomplex<f32>>, tensor<i32>) -> tensor<4x2xcomplex<f32>>
  return %0 : tensor<4x2xcomplex<f32>>
}

// CHECK: error: in @f: all_reduce: max of complex numbers
// CHECK-NEXT: at {{.*}}:5
