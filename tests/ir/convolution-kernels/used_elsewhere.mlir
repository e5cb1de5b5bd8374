// A chain ends before a result that something else uses too: here the sums themselves, and the second sum.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},convolution-kernels' | filecheck %s

func.func @f(%x: tensor<1x18x18x16xf32>, %k: tensor<3x3x16x32xf32>, %b: tensor<1x16x16x32xf32>) -> (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x16x16x32xf32>
  %1 = "adze.add"(%0, %b) : (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %2 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x16x16x32xf32>
  %3 = "adze.mul"(%2, %b) : (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %4 = "adze.abs"(%3) : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %5 = "adze.exp"(%3) : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %0, %1, %5 : tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>
}
func.func @unknown_height(%x: tensor<1x?x18x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<1x?x16x32xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x?x18x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x?x16x32xf32>
  return %0 : tensor<1x?x16x32xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: flow.dispatch
// CHECK: adze.add
// CHECK: flow.dispatch
// CHECK-NOT: adze.mul
// CHECK: adze.exp
// CHECK-LABEL: func.func @unknown_height
// CHECK: adze.conv_general
