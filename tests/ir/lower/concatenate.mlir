// A concatenation inserts each operand behind the one before.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %0 = "adze.concatenate"(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// CHECK: [[EMPTY:%.+]] = tensor.empty() : tensor<6x3xf32>
// CHECK: [[FIRST:%.+]] = tensor.insert_slice %arg0 into [[EMPTY]][0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %arg1 into [[FIRST]][2, 0] [4, 3] [1, 1]
