// An axis that operand and indices share is the same loop of both: each row is indexed by its own indices.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<3x5xf32>, %arg1: tensor<3x4x1xi32>) -> tensor<3x4xf32> {
  %0 = "adze.gather"(%arg0, %arg1) {collapsed_slice_dims = array<i64: 1>, fill_value = dense<0x7FC00000> : tensor<f32>, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<3x5xf32>, tensor<3x4x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK: linalg.generic {{.*}}ins({{.*}} : tensor<3x4xi32>)
// CHECK: [[ROW:%.+]] = linalg.index 0 : index
// CHECK: [[UPPER:%.+]] = arith.minsi {{.*}}, %c4_i32 : i32
// CHECK: [[LOWER:%.+]] = arith.maxsi [[UPPER]], %c0_i32 : i32
// CHECK: [[COLUMN:%.+]] = arith.index_cast [[LOWER]] : i32 to index
// CHECK: tensor.extract %arg0{{\[}}[[ROW]], [[COLUMN]]{{\]}} : tensor<3x5xf32>
// CHECK-NOT: iree_linalg_ext.gather
