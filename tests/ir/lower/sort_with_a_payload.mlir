// Operands of a sort that are no keys are scattered by the rank of the key.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%keys: tensor<50xi32>, %values: tensor<50xf32>) -> (tensor<50xi32>, tensor<50xf32>) {
  %0:2 = "adze.sort"(%keys, %values) {axis = 0 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<50xi32>, tensor<50xf32>) -> (tensor<50xi32>, tensor<50xf32>)
  return %0#0, %0#1 : tensor<50xi32>, tensor<50xf32>
}

// CHECK: linalg.generic {{.*}}ins({{.*}} : tensor<1x50xi32>, tensor<1x50xi32>)
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins({{.*}} : tensor<50xi32>, tensor<50x1xi32>)
// CHECK: iree_tensor_ext.compute_barrier.start %arg1 : tensor<50xf32>
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins({{.*}} : tensor<50xf32>, tensor<50x1xi32>)
