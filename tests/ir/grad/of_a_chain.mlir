// Reverse mode: what a person would write for d/dx sin(exp(x)).
// RUN: adze opt %s --pass-pipeline='grad{function=f}' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.exp"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "adze.sin"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @f_grad(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %0 = "adze.exp"(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %1 = "adze.cos"(%0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %2 = "adze.mul"(%1, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %2 : tensor<f32>
