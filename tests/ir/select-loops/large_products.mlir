// A loop over a large product stays on the host, where products have tiles; a small loop in its body does not.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops' | filecheck %s

func.func @f(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = "adze.scan"(%x) {body = @outer, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<256x256xf32>], reverse = false} : (tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
func.func private @outer(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = "adze.dot_general"(%x, %x) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = "adze.slice"(%0) {limit = array<i64: 1, 4>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<256x256xf32>) -> tensor<1x4xf32>
  %2 = "adze.scan"(%1) {body = @inner, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 5>, results = [tensor<1x4xf32>], reverse = false} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = "adze.reduce_sum"(%2) {axes = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
  %4 = "adze.broadcast_in_dim"(%3) {dimensions = array<i64>, shape = array<i64: 256, 256>} : (tensor<f32>) -> tensor<256x256xf32>
  %5 = "adze.mul"(%0, %4) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %5 : tensor<256x256xf32>
}
func.func private @inner(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: adze.loop = "host: a step takes about
// CHECK-LABEL: func.func private @outer
// CHECK: adze.loop = "kernel: a step takes about
