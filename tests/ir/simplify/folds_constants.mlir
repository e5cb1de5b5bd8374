// Ops of constants are computed, as evaluation computes them.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %two = "adze.constant"() {dtype = f32, value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = "adze.constant"() {dtype = f32, value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "adze.mul"(%two, %three) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = "adze.add"(%x, %six) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<6.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.add"(%arg0, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %1 : tensor<f32>
