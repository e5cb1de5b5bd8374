// A window that is wider than one along one axis only is a convolution along it: the axis after it is merged with it and dilates the window.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<2x8x6x4xf32>, %arg1: tensor<3x1x4x16xf32>) -> tensor<2x6x6x16xf32> {
  %0 = "adze.conv_general"(%arg0, %arg1) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<2x8x6x4xf32>, tensor<3x1x4x16xf32>) -> tensor<2x6x6x16xf32>
  return %0 : tensor<2x6x6x16xf32>
}

// CHECK: [[IMAGE:%.+]] = tensor.collapse_shape %arg0 {{.*}} : tensor<2x8x6x4xf32> into tensor<2x48x4xf32>
// CHECK: [[KERNEL:%.+]] = tensor.collapse_shape %arg1 {{.*}} into tensor<3x4x16xf32>
// CHECK: linalg.conv_1d_nwc_wcf {dilations = dense<6> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins([[IMAGE]], [[KERNEL]] :
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 6, 6, 16]
