// On CUDA each element goes through all updates, in their order, and takes those of its row; one that is outside has row -1.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %0 = "adze.scatter"(%x, %i, %u) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "add", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK: arith.select {{.*}} : i64
// CHECK: [[PLACES:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<4xi32>
// CHECK: [[UPDATES:%.+]] = iree_tensor_ext.compute_barrier.start %arg2 :
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} ins([[PLACES]], [[UPDATES]] : tensor<4xi32>, tensor<4x6xf32>)
// CHECK: linalg.index 0
// CHECK: arith.addf
// CHECK: arith.select
// CHECK-NOT: iree_linalg_ext.scatter
