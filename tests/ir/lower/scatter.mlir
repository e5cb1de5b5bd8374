// On GPUs: a scatter that drops passes linalg_ext a mask of the indices that are inside; each operand is behind a barrier.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:lavapipe},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %0 = "adze.scatter"(%x, %i, %u) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "add", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK: arith.cmpi eq, {{.*}} : i32
// CHECK: [[UPDATES:%.+]] = iree_tensor_ext.compute_barrier.start %arg2 :
// CHECK: [[INDICES:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<4x1xi64>
// CHECK: [[MASK:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<4xi1>
// CHECK: util.optimization_barrier %true : i1
// CHECK: linalg.generic {{.*}}ins(%arg0 : tensor<5x6xf32>)
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins([[UPDATES]], [[INDICES]], [[MASK]] :
// CHECK: arith.addf %arg4, %arg3 : f32
