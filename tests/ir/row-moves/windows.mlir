// Windows of a rolled image are one copy of its rows, whose places are a table for one image of the batch.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},row-moves' | filecheck %s

func.func @f(%x: tensor<4x8x8x16xf32>) -> tensor<16x16x16xf32> {
  %0 = "adze.slice"(%x) {start = array<i64: 0, 2, 0, 0>, limit = array<i64: 4, 8, 8, 16>, strides = array<i64: 1, 1, 1, 1>} : (tensor<4x8x8x16xf32>) -> tensor<4x6x8x16xf32>
  %1 = "adze.slice"(%x) {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 4, 2, 8, 16>, strides = array<i64: 1, 1, 1, 1>} : (tensor<4x8x8x16xf32>) -> tensor<4x2x8x16xf32>
  %2 = "adze.concatenate"(%0, %1) {axis = 1 : i64} : (tensor<4x6x8x16xf32>, tensor<4x2x8x16xf32>) -> tensor<4x8x8x16xf32>
  %3 = "adze.reshape"(%2) {shape = array<i64: 4, 2, 4, 2, 4, 16>} : (tensor<4x8x8x16xf32>) -> tensor<4x2x4x2x4x16xf32>
  %4 = "adze.transpose"(%3) {permutation = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<4x2x4x2x4x16xf32>) -> tensor<4x2x2x4x4x16xf32>
  %5 = "adze.reshape"(%4) {shape = array<i64: 16, 16, 16>} : (tensor<4x2x2x4x4x16xf32>) -> tensor<16x16x16xf32>
  return %5 : tensor<16x16x16xf32>
}

// CHECK: stream.executable private @kernel_row_move
// CHECK: memref<16xi32>
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK-LABEL: func.func @f
// CHECK-NOT: adze.slice
// CHECK-NOT: adze.concatenate
// CHECK: flow.dispatch @kernel_row_move::@kernel_row_move
// CHECK-NOT: adze.transpose
// CHECK: return
