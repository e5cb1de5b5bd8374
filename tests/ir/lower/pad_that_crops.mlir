// A negative pad is a slice before the pad.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<5xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %0 = "adze.pad"(%x, %v) {high = array<i64: 2>, interior = array<i64: 0>, low = array<i64: -1>} : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK: [[REST:%.+]] = tensor.extract_slice %arg0[1] [4] [1]
// CHECK: tensor.pad [[REST]] low[0] high[2]
