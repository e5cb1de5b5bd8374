// The directional derivative of a gradient: a Hessian-vector product.
// RUN: adze opt %s --pass-pipeline='grad{function=f},jvp{function=f_grad}' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.exp"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "adze.sin"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @f_grad_jvp(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT: %0 = "adze.exp"(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %1 = "adze.mul"(%arg1, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %2 = "adze.cos"(%0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %3 = "adze.sin"(%0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %4 = "adze.neg"(%3) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %5 = "adze.mul"(%1, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %6 = "adze.mul"(%2, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %7 = "adze.mul"(%5, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %8 = "adze.mul"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %9 = "adze.add"(%7, %8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %6, %9 : tensor<f32>, tensor<f32>
