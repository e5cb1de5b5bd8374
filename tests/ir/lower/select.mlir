// A select is elementwise.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.select"(%p, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: linalg.generic {{.*}}ins(%arg0, %arg1, %arg2 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>)
// CHECK: ^bb0(%in: i1, [[TRUE:%.+]]: f32, [[FALSE:%.+]]: f32, %out: f32):
// CHECK: arith.select %in, [[TRUE]], [[FALSE]] : f32
