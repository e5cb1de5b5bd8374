// A transposed result of arrays that are repeated is computed from arrays that are repeated along other axes.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<4x3xf32>, %y: tensor<3xf32>) -> tensor<4x3x5xf32> {
  %0 = "adze.broadcast_in_dim"(%x) {dimensions = array<i64: 0, 2>, shape = array<i64: 4, 5, 3>} : (tensor<4x3xf32>) -> tensor<4x5x3xf32>
  %1 = "adze.broadcast_in_dim"(%y) {dimensions = array<i64: 2>, shape = array<i64: 4, 5, 3>} : (tensor<3xf32>) -> tensor<4x5x3xf32>
  %2 = "adze.mul"(%0, %1) : (tensor<4x5x3xf32>, tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %3 = "adze.add"(%2, %2) : (tensor<4x5x3xf32>, tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %4 = "adze.reverse"(%3) {axes = array<i64: 2>} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %5 = "adze.transpose"(%4) {permutation = array<i64: 0, 2, 1>} : (tensor<4x5x3xf32>) -> tensor<4x3x5xf32>
  return %5 : tensor<4x3x5xf32>
}

// What another op reads, too, would be computed twice.
func.func @g(%x: tensor<4x3xf32>) -> (tensor<4x3x5xf32>, tensor<4x5x3xf32>) {
  %0 = "adze.broadcast_in_dim"(%x) {dimensions = array<i64: 0, 2>, shape = array<i64: 4, 5, 3>} : (tensor<4x3xf32>) -> tensor<4x5x3xf32>
  %1 = "adze.exp"(%0) : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %2 = "adze.transpose"(%1) {permutation = array<i64: 0, 2, 1>} : (tensor<4x5x3xf32>) -> tensor<4x3x5xf32>
  return %2, %1 : tensor<4x3x5xf32>, tensor<4x5x3xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-DAG: %[[X:.*]] = "adze.broadcast_in_dim"(%arg0) {dimensions = array<i64: 0, 1>, shape = array<i64: 4, 3, 5>}
// CHECK-DAG: %[[Y:.*]] = "adze.broadcast_in_dim"(%arg1) {dimensions = array<i64: 1>, shape = array<i64: 4, 3, 5>}
// CHECK: %[[XY:.*]] = "adze.mul"(%[[X]], %[[Y]])
// CHECK: %[[TWICE:.*]] = "adze.add"(%[[XY]], %[[XY]])
// CHECK: %[[TURNED:.*]] = "adze.reverse"(%[[TWICE]]) {axes = array<i64: 1>}
// CHECK: return %[[TURNED]]
// CHECK-LABEL: func.func @g(
// CHECK: "adze.transpose"
