// A convolution with an rhs-dilated kernel is the named op with dilations: no zeros are put into the kernel.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<1x10x10x4xf32>, %arg1: tensor<3x3x4x16xf32>) -> tensor<1x6x4x16xf32> {
  %0 = "adze.conv_general"(%arg0, %arg1) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 2, 3>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x4x16xf32>
  return %0 : tensor<1x6x4x16xf32>
}

// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}}dilations = dense<[2, 3]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs({{.*}} : tensor<1x6x4x16xf32>)
// CHECK-NOT: tensor.pad
