// Batch axes of a product are brought into one order and become one axis.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2x3x4x5xf32>, %y: tensor<5x3x2x6xf32>) -> tensor<3x2x4x6xf32> {
  %0 = "adze.dot_general"(%x, %y) {batch = [array<i64: 1, 0>, array<i64: 1, 2>], contracting = [array<i64: 3>, array<i64: 0>], dtype = f32} : (tensor<2x3x4x5xf32>, tensor<5x3x2x6xf32>) -> tensor<3x2x4x6xf32>
  return %0 : tensor<3x2x4x6xf32>
}

// CHECK: [[LEFT:%.+]] = linalg.generic {{.*}}ins(%arg0 : tensor<2x3x4x5xf32>) outs({{.*}} : tensor<3x2x4x5xf32>)
// CHECK: tensor.collapse_shape [[LEFT]] {{.*}} into tensor<6x4x5xf32>
// CHECK: tensor.collapse_shape %arg1 {{.*}} into tensor<5x6x6xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: tensor.expand_shape {{.*}} output_shape [3, 2, 4, 6]
