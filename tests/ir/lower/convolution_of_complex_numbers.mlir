// A convolution of complex numbers is a generic: the named op has no complex product.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<1x5x5x2xcomplex<f32>>, %arg1: tensor<3x3x2x3xcomplex<f32>>) -> tensor<1x3x3x3xcomplex<f32>> {
  %0 = "adze.conv_general"(%arg0, %arg1) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x5x5x2xcomplex<f32>>, tensor<3x3x2x3xcomplex<f32>>) -> tensor<1x3x3x3xcomplex<f32>>
  return %0 : tensor<1x3x3x3xcomplex<f32>>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK: linalg.generic {indexing_maps = [#map, {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK: [[PRODUCT:%.+]] = func.call @scalar.mul.complex64
// CHECK: func.call @scalar.add.complex64(%out, [[PRODUCT]])
// CHECK-NOT: linalg.conv
