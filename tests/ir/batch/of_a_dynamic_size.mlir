// Without a size the batch is dynamic, and its size is the first argument.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: index, %arg1: tensor<?x4xf32>, %arg2: tensor<4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT: %0 = "adze.broadcast_in_dim"(%arg2, %arg0) {dimensions = array<i64: 1>, shape = array<i64: -9223372036854775808, 4>} : (tensor<4xf32>, index) -> tensor<?x4xf32>
// CHECK-NEXT: %1 = "adze.add"(%arg1, %0) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: return %1 : tensor<?x4xf32>
