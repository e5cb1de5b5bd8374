// A transpose that moves only axes of size one is a reshape.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1x3x4xf32>) -> tensor<3x1x4xf32> {
  %0 = "adze.transpose"(%x) {permutation = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// CHECK-NOT: linalg.generic
// CHECK: [[FLAT:%.+]] = tensor.collapse_shape %arg0 {{.*}} : tensor<1x3x4xf32> into tensor<3x4xf32>
// CHECK: tensor.expand_shape [[FLAT]] {{.*}} : tensor<3x4xf32> into tensor<3x1x4xf32>
// CHECK-NOT: linalg.generic
