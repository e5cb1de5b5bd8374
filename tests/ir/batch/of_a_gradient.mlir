// Per-example gradients: the batch of a gradient, with shared parameters.
// RUN: adze opt %s --pass-pipeline='grad{function=f},batch{function=f_grad argnums=1 size=8}' | filecheck %s

func.func @f(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.mul"(%w, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "adze.exp"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @f_grad_batched(%arg0: tensor<f32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %0 = "adze.broadcast_in_dim"(%arg0) {dimensions = array<i64>, shape = array<i64: 8>} : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = "adze.mul"(%0, %arg1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = "adze.exp"(%1) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = "adze.mul"(%2, %arg1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %3 : tensor<8xf32>
