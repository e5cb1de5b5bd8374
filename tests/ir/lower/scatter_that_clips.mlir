// On GPUs: a scatter that clips clamps its indices and has no mask; an update replaces the element.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:lavapipe},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xi32>, %i: tensor<4x1xi32>, %u: tensor<4x6xi32>) -> tensor<5x6xi32> {
  %0 = "adze.scatter"(%x, %i, %u) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "set", mode = "clip", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<5x6xi32>, tensor<4x1xi32>, tensor<4x6xi32>) -> tensor<5x6xi32>
  return %0 : tensor<5x6xi32>
}

// CHECK: arith.minsi {{.*}}, %c4_i32 : i32
// CHECK: arith.maxsi {{.*}}, %c0_i32 : i32
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins({{.*}} : tensor<4x6xi32>, tensor<4x1xi64>) outs(
// CHECK: iree_linalg_ext.yield %arg3 : i32
