// A broadcast to a size operand makes its empty result with the size.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<3xf32>, %y: tensor<?xf32>) -> tensor<?x3xf32> {
  %0 = "adze.dim"(%y) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "adze.broadcast_in_dim"(%x, %0) {dimensions = array<i64: 1>, shape = array<i64: -9223372036854775808, 3>} : (tensor<3xf32>, index) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// CHECK: [[SIZE:%.+]] = tensor.dim %arg1, %c0
// CHECK: tensor.empty([[SIZE]]) : tensor<?x3xf32>
// CHECK: linalg.generic {{.*}}ins(%arg0 : tensor<3xf32>) outs({{.*}} : tensor<?x3xf32>)
