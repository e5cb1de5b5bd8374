// A convolution of each channel by its own kernel (depthwise) has as many groups as channels, and sums over the window alone.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<1x5x5x4xf32>, %arg1: tensor<3x3x1x4xf32>) -> tensor<1x3x3x4xf32> {
  %0 = "adze.conv_general"(%arg0, %arg1) {batch_group_count = 1 : i64, feature_group_count = 4 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x5x5x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x3x3x4xf32>
  return %0 : tensor<1x3x3x4xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d2 + d6, d3, d7)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>
// CHECK: [[KERNEL:%.+]] = tensor.expand_shape %arg1 {{.*}} output_shape [3, 3, 1, 4, 1]
// CHECK: [[IMAGE:%.+]] = tensor.expand_shape %arg0 {{.*}} output_shape [1, 5, 5, 4, 1]
// CHECK: linalg.generic {indexing_maps = [#map, #map1, {{.*}}ins([[IMAGE]], [[KERNEL]] :
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x3x3x4x1xf32> into tensor<1x3x3x4xf32>
