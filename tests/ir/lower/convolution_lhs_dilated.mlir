// A convolution of an lhs-dilated image is one dense convolution for each phase of the result.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x3xf32>) -> tensor<1x5x5x3xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x5x5x3xf32>
  return %0 : tensor<1x5x5x3xf32>
}

// CHECK: tensor.extract_slice %arg1[0, 0, 0, 0] [2, 2, 2, 3] [2, 2, 1, 1]
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK: tensor.insert_slice {{.*}}[0, 0, 0, 0] [1, 3, 3, 3] [1, 2, 2, 1]
// CHECK: tensor.insert_slice {{.*}}[0, 0, 1, 0] [1, 3, 2, 3] [1, 2, 2, 1]
// CHECK: tensor.insert_slice {{.*}}[0, 1, 0, 0] [1, 2, 3, 3] [1, 2, 2, 1]
// CHECK: tensor.insert_slice {{.*}}[0, 1, 1, 0] [1, 2, 2, 3] [1, 2, 2, 1]
// CHECK-NOT: tensor.pad
