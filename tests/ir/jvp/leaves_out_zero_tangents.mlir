// An argument that does not move has no tangent, and nothing is computed for it.
// RUN: adze opt %s --pass-pipeline='jvp{function=f argnums=1}' | filecheck %s

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.mul"(%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_jvp(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %0 = "adze.sin"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "adze.mul"(%0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = "adze.mul"(%arg2, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %1, %2 : tensor<4xf32>, tensor<4xf32>
