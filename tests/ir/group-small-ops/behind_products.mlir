// What is elementwise on a large product, and has it for itself, stays with the product; the others are grouped.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},group-small-ops' | filecheck %s

func.func @f(%x: tensor<64x512xf32>, %w: tensor<512x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<64x512xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
  %1 = "adze.add"(%0, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "adze.tanh"(%1) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = "adze.transpose"(%2) {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = "adze.add"(%2, %3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = "adze.reduce_sum"(%4) {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %6 = "adze.broadcast_in_dim"(%5) {dimensions = array<i64: 0>, shape = array<i64: 64, 64>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %7 = "adze.mul"(%4, %6) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %7 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: adze.dot_general
// CHECK-NEXT: adze.add
// CHECK-NEXT: adze.tanh
// CHECK-NEXT: "adze.call"(%2) {adze.loop = "kernel: 5 ops
