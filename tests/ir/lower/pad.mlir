// A pad around an array is a pad of tensor that yields the padding value.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %0 = "adze.pad"(%x, %v) {high = array<i64: 2>, interior = array<i64: 0>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK: [[VALUE:%.+]] = tensor.extract %arg1[] : tensor<f32>
// CHECK: tensor.pad %arg0 low[1] high[2] {
// CHECK: tensor.yield [[VALUE]] : f32
