// The tangent of a maximum over ranks is the mean of those of the ranks that hold it.
// RUN: adze opt %s --pass-pipeline='jvp{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.all_reduce"(%x, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_jvp(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>, %arg2: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
// CHECK-NEXT: %0 = "adze.all_reduce"(%arg0, %arg1) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: %1 = "adze.vary"(%0, %arg1) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: %2 = "adze.compare"(%arg0, %1) {direction = "EQ"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xi1>
// CHECK-NEXT: %3 = "adze.constant"() {dtype = f32, value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %4 = "adze.broadcast_in_dim"(%3) {dimensions = array<i64>, shape = array<i64: 4, 2>} : (tensor<f32>) -> tensor<4x2xf32>
// CHECK-NEXT: %5 = "adze.constant"() {dtype = f32, value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %6 = "adze.broadcast_in_dim"(%5) {dimensions = array<i64>, shape = array<i64: 4, 2>} : (tensor<f32>) -> tensor<4x2xf32>
// CHECK-NEXT: %7 = "adze.select"(%2, %4, %6) : (tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %8 = "adze.all_reduce"(%7, %arg1) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: %9 = "adze.select"(%2, %arg2, %6) : (tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %10 = "adze.all_reduce"(%9, %arg1) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK-NEXT: %11 = "adze.div"(%10, %8) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %0, %11 : tensor<4x2xf32>, tensor<4x2xf32>
