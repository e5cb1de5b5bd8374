// A gather of rows clamps its indices in 64 bits, and is an op of linalg_ext behind a barrier.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>) -> tensor<4x6xf32> {
  %0 = "adze.gather"(%x, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.000000e+00> : tensor<f32>, mode = "clip", offset_dims = array<i64: 1>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<5x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK: [[UPPER:%.+]] = arith.minsi {{.*}}, %c4_i32 : i32
// CHECK: arith.maxsi [[UPPER]], %c0_i32 : i32
// CHECK: [[ROWS:%.+]] = iree_linalg_ext.gather dimension_map = [0] ins(%arg0, {{.*}} : tensor<5x6xf32>, tensor<4xi64>)
// CHECK: iree_tensor_ext.compute_barrier.start [[ROWS]] : tensor<4x6xf32>
// CHECK-NOT: arith.select
