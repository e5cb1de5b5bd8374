// On GPUs: the operands of a scatter of dynamic sizes are behind barriers that IREE sees no sizes through, and their sizes are stated again.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x6xf32>, %arg1: tensor<?x1xi32>, %arg2: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %0 = "adze.dim"(%arg1) {axis = 0 : i64} : (tensor<?x1xi32>) -> index
  %1 = "adze.dim"(%arg2) {axis = 0 : i64} : (tensor<?x6xf32>) -> index
  "adze.size_check"(%0, %1) {message = "adze: dimension 'k' must have one size: axis 0 of 'i' and axis 0 of 'u' differ"} : (index, index) -> ()
  %2 = "adze.scatter"(%arg0, %arg1, %arg2) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "add", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<?x6xf32>, tensor<?x1xi32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return %2 : tensor<?x6xf32>
}

// CHECK: [[UPDATES:%.+]] = util.optimization_barrier %arg2 : tensor<?x6xf32>
// CHECK: [[TIED:%.+]] = flow.tensor.tie_shape [[UPDATES]]
// CHECK: util.optimization_barrier {{.*}} : tensor<?x1xi64>
// CHECK: [[PLACES:%.+]] = flow.tensor.tie_shape
// CHECK: util.optimization_barrier {{.*}} : tensor<?xi1>
// CHECK: [[MASK:%.+]] = flow.tensor.tie_shape
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins([[TIED]], [[PLACES]], [[MASK]] :
// CHECK: arith.addf
