// Constants, and what repeats them, are made again in the linear part.
// RUN: adze opt %s --pass-pipeline='linearize{function=f}' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = "adze.constant"() {dtype = f32, value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %twos = "adze.broadcast_in_dim"(%two) {dimensions = array<i64>, shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
  %0 = "adze.mul"(%x, %twos) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_primal(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<2.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = "adze.mul"(%arg0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %2 : tensor<4xf32>
// CHECK-LABEL: func.func @f_linear(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<2.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = "adze.mul"(%arg0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %2 : tensor<4xf32>
