// A factor of one, a term of minus zero and a conversion to the same dtype are nothing.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = "adze.constant"() {dtype = f32, value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %ones = "adze.broadcast_in_dim"(%one) {dimensions = array<i64>, shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
  %zero = "adze.constant"() {dtype = f32, value = dense<-0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "adze.mul"(%x, %ones) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.add"(%0, %zero) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "adze.convert"(%1) {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: return %arg0 : tensor<4xf32>
