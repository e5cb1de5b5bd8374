// x + 0 is not x where x is -0: the term stays.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %zero = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "adze.add"(%x, %zero) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.add"(%arg0, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %1 : tensor<f32>
