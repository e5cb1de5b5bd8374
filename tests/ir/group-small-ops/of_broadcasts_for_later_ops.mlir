// A broadcast goes where the first op that takes it goes: here behind the product, not into the kernel before.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},group-small-ops' | filecheck %s

func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x1024xf32>) -> tensor<64xf32> {
  %0 = "adze.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "adze.add"(%x, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "adze.reduce_sum"(%1) {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %3 = "adze.broadcast_in_dim"(%2) {dimensions = array<i64: 0>, shape = array<i64: 64, 64>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %4 = "adze.mul"(%1, %3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = "adze.reduce_sum"(%4) {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %6 = "adze.broadcast_in_dim"(%5) {dimensions = array<i64: 0>, shape = array<i64: 64, 200>} : (tensor<64xf32>) -> tensor<64x200xf32>
  %7 = "adze.exp"(%w) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %8 = "adze.slice"(%7) {limit = array<i64: 64, 200>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<64x1024xf32>) -> tensor<64x200xf32>
  %9 = "adze.sin"(%8) : (tensor<64x200xf32>) -> tensor<64x200xf32>
  %10 = "adze.mul"(%9, %6) : (tensor<64x200xf32>, tensor<64x200xf32>) -> tensor<64x200xf32>
  %11 = "adze.reduce_sum"(%10) {axes = array<i64: 1>} : (tensor<64x200xf32>) -> tensor<64xf32>
  return %11 : tensor<64xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: "adze.call"(%arg0) {adze.loop = "kernel: 6 ops
// CHECK-SAME: (tensor<64x64xf32>) -> tensor<64xf32>
