// A window as large as the image, as in the gradient of a kernel, is a matrix product for each row of the window.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4x8x8x3xf32>, %k: tensor<4x8x8x5xf32>) -> tensor<3x3x3x5xf32> {
  %0 = "adze.conv_general"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, lhs_spec = array<i64: 3, 0, 1, 2>, out_spec = array<i64: 2, 3, 0, 1>, padding = [array<i64: 1, 1>, array<i64: 1, 1>], rhs_dilation = array<i64: 1, 1>, rhs_spec = array<i64: 3, 0, 1, 2>, window_strides = array<i64: 1, 1>} : (tensor<4x8x8x3xf32>, tensor<4x8x8x5xf32>) -> tensor<3x3x3x5xf32>
  return %0 : tensor<3x3x3x5xf32>
}

// CHECK: tensor.pad %arg0 low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK: tensor.insert_slice {{.*}}[0, 0, 6] [4, 98, 3] [1, 1, 1]
// CHECK: tensor.extract_slice {{.*}}[0, 0, 0] [4, 78, 9] [1, 1, 1]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins({{.*}} : tensor<4x78x9xf32>, tensor<4x78x5xf32>)
// CHECK: tensor.extract_slice {{.*}}[0, 10, 0] [4, 78, 9] [1, 1, 1]
// CHECK: tensor.extract_slice {{.*}}[0, 20, 0] [4, 78, 9] [1, 1, 1]
// CHECK: linalg.generic {{.*}}ins({{.*}} : tensor<3x4x9x5xf32>) outs({{.*}} : tensor<3x9x5xf32>)
// CHECK-NOT: linalg.conv
