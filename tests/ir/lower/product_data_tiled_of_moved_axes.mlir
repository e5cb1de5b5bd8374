// An operand whose dynamic axis is moved is copied before its axes are merged, where products are data-tiled.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<8x?x16xf32>, %arg1: tensor<8x16x32xf32>) -> tensor<?x32xf32> {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 0, 2>, array<i64: 0, 1>], dtype = f32} : (tensor<8x?x16xf32>, tensor<8x16x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK: [[MOVED:%.+]] = linalg.generic {{.*}}ins(%arg0 : tensor<8x?x16xf32>) outs({{.*}} : tensor<?x8x16xf32>)
// CHECK: [[COPY:%.+]] = iree_tensor_ext.compute_barrier.start [[MOVED]]
// CHECK: tensor.collapse_shape [[COPY]] {{.*}} : tensor<?x8x16xf32> into tensor<?x128xf32>
