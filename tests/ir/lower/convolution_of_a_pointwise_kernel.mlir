// A convolution with a kernel of one element in space is a matrix product.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2x4x4x3xf32>, %k: tensor<1x1x3x5xf32>) -> tensor<2x4x4x5xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<2x4x4x3xf32>, tensor<1x1x3x5xf32>) -> tensor<2x4x4x5xf32>
  return %0 : tensor<2x4x4x5xf32>
}

// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<32x3xf32>
// CHECK: tensor.collapse_shape %arg1 {{.*}} into tensor<3x5xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 4, 4, 5]
// CHECK-NOT: linalg.conv
