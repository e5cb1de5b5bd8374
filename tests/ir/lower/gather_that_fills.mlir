// A gather that fills selects by whether the clamped index is the index.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>) -> tensor<4x6xf32> {
  %0 = "adze.gather"(%x, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.000000e+00> : tensor<f32>, mode = "fill", offset_dims = array<i64: 1>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<5x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK: [[CLAMPED:%.+]] = arith.maxsi
// CHECK: arith.cmpi eq, [[CLAMPED]], {{.*}} : i32
// CHECK: iree_linalg_ext.gather
// CHECK: [[ROWS:%.+]] = iree_tensor_ext.compute_barrier.start
// CHECK: linalg.generic {{.*}}ins([[ROWS]], {{.*}} : tensor<4x6xf32>, tensor<4xi1>)
// CHECK: arith.select {{.*}}, %cst : f32
