// A gather from a table of dynamic size checks that the table has a row if the result has an element, and clamps in the bits of the indices.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x6xf32>, %arg1: tensor<?x1xi32>) -> tensor<?x6xf32> {
  %0 = "adze.gather"(%arg0, %arg1) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0x7FC00000> : tensor<f32>, mode = "clip", offset_dims = array<i64: 1>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<?x6xf32>, tensor<?x1xi32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK: [[ROWS:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[COUNT:%.+]] = tensor.dim %arg1, %c0
// CHECK: [[ELEMENTS:%.+]] = arith.muli [[COUNT]], %c6 : index
// CHECK: [[LEAST:%.+]] = arith.minsi [[ELEMENTS]], %c1 : index
// CHECK: [[FITS:%.+]] = arith.cmpi sle, [[LEAST]], [[ROWS]] : index
// CHECK: cf.assert [[FITS]], "adze: the window exceeds axis 0 of the array"
// CHECK: [[LAST:%.+]] = arith.subi [[ROWS]], %c1 : index
// CHECK: [[WIDE:%.+]] = arith.index_cast [[LAST]] : index to i64
// CHECK: [[CUT:%.+]] = arith.minsi [[WIDE]], %c2147483647_i64 : i64
// CHECK: [[MOST:%.+]] = arith.trunci [[CUT]] : i64 to i32
// CHECK: arith.minsi {{.*}}, [[MOST]] : i32
// CHECK: [[TABLE:%.+]] = iree_tensor_ext.compute_barrier.start %arg0
// CHECK: iree_linalg_ext.gather dimension_map = [0] ins([[TABLE]], {{.*}} : tensor<?x6xf32>, tensor<?xi64>)
