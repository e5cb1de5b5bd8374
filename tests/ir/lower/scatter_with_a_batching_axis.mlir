// On GPUs: updates of an axis that all three operands share go to its own row: the row-major position counts it.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:lavapipe},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<3x5xf32>, %arg1: tensor<3x4x1xi32>, %arg2: tensor<3x4xf32>) -> tensor<3x5xf32> {
  %0 = "adze.scatter"(%arg0, %arg1, %arg2) {indices_are_sorted = false, inserted_window_dims = array<i64: 1>, kind = "add", mode = "clip", operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, unique_indices = false, update_window_dims = array<i64>} : (tensor<3x5xf32>, tensor<3x4x1xi32>, tensor<3x4xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK: [[ROW:%.+]] = linalg.index 0 : index
// CHECK: arith.minsi {{.*}}, %c4_i32 : i32
// CHECK: [[COLUMN:%.+]] = arith.index_cast {{.*}} : i32 to index
// CHECK: [[BEFORE:%.+]] = arith.muli [[ROW]], %c5 : index
// CHECK: arith.addi [[BEFORE]], [[COLUMN]] : index
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins({{.*}} : tensor<12xf32>, tensor<12x1xi64>) outs({{.*}} : tensor<15xf32>)
// CHECK: arith.addf
// CHECK: tensor.expand_shape {{.*}} output_shape [3, 5]
