// On GPUs: a scatter of windows goes element by element to row-major positions; a window that is not inside as a whole is masked off.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:lavapipe},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<5x6xi32>, %arg1: tensor<4x2xi32>, %arg2: tensor<4x2x3xi32>) -> tensor<5x6xi32> {
  %0 = "adze.scatter"(%arg0, %arg1, %arg2) {indices_are_sorted = false, inserted_window_dims = array<i64>, kind = "max", mode = "drop", operand_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, scatter_indices_batching_dims = array<i64>, unique_indices = false, update_window_dims = array<i64: 1, 2>} : (tensor<5x6xi32>, tensor<4x2xi32>, tensor<4x2x3xi32>) -> tensor<5x6xi32>
  return %0 : tensor<5x6xi32>
}

// CHECK: [[ROW:%.+]] = linalg.index 1 : index
// CHECK: [[INSIDE1:%.+]] = arith.cmpi eq
// CHECK: [[Y:%.+]] = arith.addi [[ROW]]
// CHECK: [[COLUMN:%.+]] = linalg.index 2 : index
// CHECK: [[INSIDE2:%.+]] = arith.cmpi eq
// CHECK: [[INSIDE:%.+]] = arith.andi [[INSIDE1]], [[INSIDE2]] : i1
// CHECK: [[X:%.+]] = arith.addi [[COLUMN]]
// CHECK: [[BEFORE:%.+]] = arith.muli [[Y]], %c6 : index
// CHECK: [[PLACE:%.+]] = arith.addi [[BEFORE]], [[X]] : index
// CHECK: [[WORD:%.+]] = arith.index_cast [[PLACE]] : index to i64
// CHECK: linalg.yield [[WORD]], [[INSIDE]] : i64, i1
// CHECK: iree_linalg_ext.scatter {{.*}} ins({{.*}} : tensor<24xi32>, tensor<24x1xi64>, tensor<24xi1>)
// CHECK: arith.maxsi
