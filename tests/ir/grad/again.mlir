// A gradient is a function as any other: its gradient is the second derivative.
// RUN: adze opt %s --pass-pipeline='grad{function=f},grad{function=f_grad}' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.sin"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @f_grad_grad(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %0 = "adze.sin"(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %1 = "adze.neg"(%0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %1 : tensor<f32>
