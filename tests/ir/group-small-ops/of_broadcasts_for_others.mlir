// A broadcast that only elementwise ops outside of the group take stays with them, which repeat its elements.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},group-small-ops' | filecheck %s

func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x512xf32>, %w: tensor<512x200xf32>) -> tensor<64x200xf32> {
  %0 = "adze.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "adze.add"(%x, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "adze.reduce_sum"(%1) {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %3 = "adze.broadcast_in_dim"(%2) {dimensions = array<i64: 0>, shape = array<i64: 64, 64>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %4 = "adze.mul"(%1, %3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = "adze.reduce_sum"(%4) {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %6 = "adze.broadcast_in_dim"(%5) {dimensions = array<i64: 0>, shape = array<i64: 64, 200>} : (tensor<64xf32>) -> tensor<64x200xf32>
  %7 = "adze.dot_general"(%y, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<64x512xf32>, tensor<512x200xf32>) -> tensor<64x200xf32>
  %8 = "adze.mul"(%7, %6) : (tensor<64x200xf32>, tensor<64x200xf32>) -> tensor<64x200xf32>
  return %8 : tensor<64x200xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.call"(%arg0) {adze.loop = "kernel: 6 ops
// CHECK-SAME: (tensor<64x64xf32>) -> tensor<64xf32>
// CHECK-NEXT: adze.broadcast_in_dim
