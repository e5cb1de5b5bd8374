// A bias and what lies below zero: the kernel applies them to its sums before it stores them.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},convolution-kernels' | filecheck %s

func.func @f(%x: tensor<1x18x18x16xf32>, %k: tensor<3x3x16x32xf32>, %b: tensor<32xf32>) -> tensor<1x16x16x32xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 0, 3, 1, 2>, out_spec = array<i64: 0, 3, 1, 2>, padding = [array<i64: 0, 0>, array<i64: 0, 0>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 2, 0, 1>, window_strides = array<i64: 1, 1>} : (tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x16x16x32xf32>
  %1 = "adze.broadcast_in_dim"(%b) {dimensions = array<i64: 3>, shape = array<i64: 1, 16, 16, 32>} : (tensor<32xf32>) -> tensor<1x16x16x32xf32>
  %2 = "adze.add"(%0, %1) : (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %3 = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %4 = "adze.broadcast_in_dim"(%3) {dimensions = array<i64>, shape = array<i64: 1, 16, 16, 32>} : (tensor<f32>) -> tensor<1x16x16x32xf32>
  %5 = "adze.max"(%2, %4) : (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %5 : tensor<1x16x16x32xf32>
}

// CHECK: stream.executable private @kernel_convolution
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @f
// CHECK-NOT: adze.add
// CHECK: flow.dispatch @kernel_convolution::@kernel_convolution({{.*}}, %arg2, {{.*}}tensor<32xf32>
// CHECK-NOT: adze.max
// CHECK: adze.reshape
// CHECK-NEXT: return
