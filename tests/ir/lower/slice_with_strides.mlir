// A slice keeps its start and strides; its limit becomes a size.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<10xf32>) -> tensor<4xf32> {
  %0 = "adze.slice"(%x) {limit = array<i64: 9>, start = array<i64: 1>, strides = array<i64: 2>} : (tensor<10xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: tensor.extract_slice %arg0[1] [4] [2] : tensor<10xf32> to tensor<4xf32>
