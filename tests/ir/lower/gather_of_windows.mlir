// A gather of windows takes element by element, from starts at which the whole window is inside, and fills unless both starts were.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<5x6xf32>, %arg1: tensor<4x2xi32>) -> tensor<4x2x3xf32> {
  %0 = "adze.gather"(%arg0, %arg1) {collapsed_slice_dims = array<i64>, fill_value = dense<7.000000e+00> : tensor<f32>, mode = "fill", offset_dims = array<i64: 1, 2>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 2, 3>, start_index_map = array<i64: 0, 1>, start_indices_batching_dims = array<i64>} : (tensor<5x6xf32>, tensor<4x2xi32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// CHECK: [[ROW:%.+]] = linalg.index 1 : index
// CHECK: [[FIRST:%.+]] = arith.minsi {{.*}}, %c3_i32 : i32
// CHECK: [[INSIDE1:%.+]] = arith.cmpi eq
// CHECK: [[Y:%.+]] = arith.addi [[ROW]]
// CHECK: [[COLUMN:%.+]] = linalg.index 2 : index
// CHECK: arith.minsi {{.*}}, %c3_i32 : i32
// CHECK: [[INSIDE2:%.+]] = arith.cmpi eq
// CHECK: [[INSIDE:%.+]] = arith.andi [[INSIDE1]], [[INSIDE2]] : i1
// CHECK: [[X:%.+]] = arith.addi [[COLUMN]]
// CHECK: [[ELEMENT:%.+]] = tensor.extract %arg0{{\[}}[[Y]], [[X]]{{\]}} : tensor<5x6xf32>
// CHECK: arith.select [[INSIDE]], [[ELEMENT]], %cst : f32
