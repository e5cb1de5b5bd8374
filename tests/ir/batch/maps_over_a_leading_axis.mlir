// Each op gets the batch as axis 0; an argument that is shared is repeated only where it meets one that is not.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0 size=3}' | filecheck %s

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.exp"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.mul"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<3x4xf32>, %arg1: tensor<4xf32>) -> tensor<3x4xf32> {
// CHECK-NEXT: %0 = "adze.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 1>, shape = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %2 = "adze.mul"(%arg0, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %2 : tensor<3x4xf32>
