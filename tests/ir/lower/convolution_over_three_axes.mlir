// A convolution over three axes is the named op of linalg; it has no tiles of ours.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1x4x6x6x2xf32>, %k: tensor<3x3x3x2x8xf32>) -> tensor<1x2x4x4x8xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1, 1>, lhs_spec = array<i64: 0, 4, 1, 2, 3>, out_spec = array<i64: 0, 4, 1, 2, 3>, padding = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1, 1>, rhs_spec = array<i64: 4, 3, 0, 1, 2>, window_strides = array<i64: 1, 1, 1>} : (tensor<1x4x6x6x2xf32>, tensor<3x3x3x2x8xf32>) -> tensor<1x2x4x4x8xf32>
  return %0 : tensor<1x2x4x4x8xf32>
}

// CHECK-NOT: compilation_info
// CHECK: linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 :
