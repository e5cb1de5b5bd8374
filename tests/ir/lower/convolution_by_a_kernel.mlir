// A large convolution is a kernel of our own: its image is padded and its weights are packed by another one.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1x32x32x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<1x32x32x32xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 1, 1>, array<i64: 1, 1>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x32x32x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x32x32x32xf32>
  return %0 : tensor<1x32x32x32xf32>
}

// CHECK: stream.executable private @kernel_convolution
// CHECK: vector<16xf32>
// CHECK: func.func @f
// CHECK: %[[IMAGE:.+]] = flow.dispatch @kernel_copy::@kernel_copy({{.*}}tensor<18496xf32>)
// CHECK: %[[WEIGHTS:.+]] = flow.dispatch @kernel_copy_1::@kernel_copy_1({{.*}}tensor<4608xf32>)
// CHECK: flow.dispatch @kernel_convolution::@kernel_convolution(%[[IMAGE]], %[[WEIGHTS]],
// CHECK-NOT: linalg.conv
