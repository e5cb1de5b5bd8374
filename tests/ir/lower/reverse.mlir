// A reversal extracts from the end of the axis, and keeps the other axes.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK: %c2 = arith.constant 2 : index
// CHECK: [[ROW:%.+]] = linalg.index 0 : index
// CHECK: [[COLUMN:%.+]] = linalg.index 1 : index
// CHECK: [[FROM:%.+]] = arith.subi %c2, [[COLUMN]] : index
// CHECK: tensor.extract %arg0{{\[}}[[ROW]], [[FROM]]] : tensor<2x3xf32>
