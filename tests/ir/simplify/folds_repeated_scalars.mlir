// An op of repeated scalars is a repeated scalar, whatever the size.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%n: index) -> tensor<?xf32> {
  %two = "adze.constant"() {dtype = f32, value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %twos = "adze.broadcast_in_dim"(%two, %n) {dimensions = array<i64>, shape = array<i64: -9223372036854775808>} : (tensor<f32>, index) -> tensor<?xf32>
  %fours = "adze.add"(%twos, %twos) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %fours : tensor<?xf32>
}

// CHECK-LABEL: func.func @f(%arg0: index) -> tensor<?xf32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<4.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0, %arg0) {dimensions = array<i64>, shape = array<i64: -9223372036854775808>} : (tensor<f32>, index) -> tensor<?xf32>
// CHECK-NEXT: return %1 : tensor<?xf32>
