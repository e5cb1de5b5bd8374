// Each image of a batch whose size shows at the call has workgroups of its own.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},convolution-kernels' | filecheck %s

func.func @of_each(%x: tensor<?x18x18x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<?x16x16x32xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<?x18x18x16xf32>, tensor<3x3x16x32xf32>) -> tensor<?x16x16x32xf32>
  return %0 : tensor<?x16x16x32xf32>
}

// CHECK: memref.subview %{{.+}}[%workgroup_id_y, 0] [1, 5184] [1, 1]
// CHECK-LABEL: func.func @of_each
// CHECK: [[N:%.+]] = "adze.dim"(%arg0)
// CHECK: flow.dispatch @kernel_convolution::@kernel_convolution{{\[}}[[N]]{{\]}}({{.*}}) : (tensor<?x5184xf32>{[[N]]}
// CHECK-NOT: adze.conv_general
