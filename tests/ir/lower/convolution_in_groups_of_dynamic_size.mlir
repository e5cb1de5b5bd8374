// A grouped convolution of dynamic sizes has the axis of groups in it too; only the image's sizes are values.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?x?x5x4xf32>, %k: tensor<3x3x2x6xf32>) -> tensor<?x?x3x6xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<?x?x5x4xf32>, tensor<3x3x2x6xf32>) -> tensor<?x?x3x6xf32>
  return %0 : tensor<?x?x3x6xf32>
}

// CHECK: [[BATCH:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[ROWS:%.+]] = tensor.dim %arg0, %c1
// CHECK: [[POSITIONS:%.+]] = arith.addi [[ROWS]], %c-2 : index
// CHECK: [[HEIGHT:%.+]] = arith.maxsi [[POSITIONS]], %c0 : index
// CHECK: tensor.expand_shape %arg1 {{.*}} output_shape [3, 3, 2, 2, 3]
// CHECK: tensor.expand_shape %arg0 {{.*}} output_shape {{\[}}[[BATCH]], [[ROWS]], 5, 2, 2]
// CHECK: tensor.empty([[BATCH]], [[HEIGHT]]) : tensor<?x?x3x2x3xf32>
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x?x3x2x3xf32> into tensor<?x?x3x6xf32>
