// A convolution of dynamic sizes is a product of overlapping rows; the number of positions is computed, never negative.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x?x?x4xf32>, %arg1: tensor<3x3x4x16xf32>) -> tensor<?x?x?x16xf32> {
  %0 = "adze.conv_general"(%arg0, %arg1) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 1, 1>, array<i64: 0, 2>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 2, 1>} : (tensor<?x?x?x4xf32>, tensor<3x3x4x16xf32>) -> tensor<?x?x?x16xf32>
  return %0 : tensor<?x?x?x16xf32>
}

// CHECK: [[ROWS:%.+]] = tensor.dim %arg0, %c1
// CHECK: [[COLUMNS:%.+]] = tensor.dim %arg0, %c2
// CHECK: [[IMAGE:%.+]] = tensor.pad %arg0 low[0, 1, 0, 0] high[0, 1, 2, 0]
// CHECK: [[SPAN:%.+]] = arith.addi [[ROWS]], %c-1 : index
// CHECK: [[STEPS:%.+]] = arith.floordivsi [[SPAN]], %c2 : index
// CHECK: [[COUNT:%.+]] = arith.addi [[STEPS]], %c1 : index
// CHECK: [[HEIGHT:%.+]] = arith.maxsi [[COUNT]], %c0 : index
// CHECK: [[WIDTH:%.+]] = arith.maxsi [[COLUMNS]], %c0 : index
// CHECK: [[ROWS_OF_WINDOWS:%.+]] = tensor.collapse_shape [[IMAGE]]
// CHECK: flow.dispatch @kernel_windows::@kernel_windows{{.*}}([[ROWS_OF_WINDOWS]], {{.*}}, [[WIDTH]], {{.*}} : (tensor<?x?x?xf32>
