// Operands have the dtypes that the op takes.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.and"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: and: operand 'x' has dtype f32, expected one of i1, i16, i32, i64, i8, ui16, ui32, ui64, ui8
// CHECK-NEXT: at {{.*}}:5
