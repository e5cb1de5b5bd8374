// On CPUs a scatter is a kernel that updates rows in place, in a copy of the array where it is an argument; equal scatters share it.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %0 = "adze.scatter"(%x, %i, %u) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "add", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %1 = "adze.scatter"(%0, %i, %u) {indices_are_sorted = false, inserted_window_dims = array<i64: 0>, kind = "add", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1>} : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}

// CHECK: stream.executable private @kernel_scatter {
// CHECK: [[INSIDE:%.+]] = arith.cmpi ult, {{.*}}, %c5_i64 : i64
// CHECK: scf.if [[INSIDE]] {
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.load {{.*}} vector<2xf32>
// CHECK-NOT: stream.executable
// CHECK: func.func @f(
// CHECK: [[COPY:%.+]] = linalg.generic {{.*}}ins(%arg0 :
// CHECK: [[ONCE:%.+]] = flow.dispatch @kernel_scatter::@kernel_scatter(%arg2, {{.*}}, [[COPY]]) : {{.*}} -> [[COPY]]
// CHECK: flow.dispatch @kernel_scatter::@kernel_scatter(%arg2, {{.*}}, [[ONCE]]) : {{.*}} -> [[ONCE]]
