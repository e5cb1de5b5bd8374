// The image of a convolution is padded as far as its last position; its strides stay with the named op.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x16xf32>) -> tensor<1x4x4x16xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 1, 1>, array<i64: 0, 2>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x4x4x16xf32>
  return %0 : tensor<1x4x4x16xf32>
}

// CHECK: %cst = arith.constant 0.000000e+00 : f32
// CHECK: [[IMAGE:%.+]] = tensor.pad %arg0 low[0, 1, 0, 0] high[0, 0, 1, 0] {
// CHECK: tensor.yield %cst : f32
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}}strides = dense<2> : tensor<2xi64>} ins([[IMAGE]], %arg1 :
