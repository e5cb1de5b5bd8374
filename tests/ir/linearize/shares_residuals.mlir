// One residual serves all: exp is its own derivative, and the result is not saved twice.
// RUN: adze opt %s --pass-pipeline='linearize{function=f}' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_primal(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %0 = "adze.exp"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "adze.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %1, %0 : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @f_linear(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %0 = "adze.mul"(%arg2, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "adze.mul"(%0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %1 : tensor<4xf32>
