// The quotients of the same elements of two arrays are those elements of the quotients, of which there are fewer.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @more_windows(%x: tensor<10xf32>, %y: tensor<10xf32>, %i: tensor<50x1xi32>) -> tensor<50xf32> {
  %0 = "adze.gather"(%x, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.0> : tensor<f32>, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<50x1xi32>) -> tensor<50xf32>
  %1 = "adze.gather"(%y, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.0> : tensor<f32>, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<50x1xi32>) -> tensor<50xf32>
  %2 = "adze.div"(%0, %1) : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
  return %2 : tensor<50xf32>
}

// CHECK-LABEL: func.func @more_windows(
// CHECK: %0 = "adze.div"(%arg0, %arg1)
// CHECK: %1 = "adze.gather"(%0, %arg2)
// CHECK: return %1

func.func @fewer_windows(%x: tensor<10xf32>, %y: tensor<10xf32>, %i: tensor<5x1xi32>) -> tensor<5xf32> {
  %0 = "adze.gather"(%x, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.0> : tensor<f32>, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  %1 = "adze.gather"(%y, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<0.0> : tensor<f32>, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  %2 = "adze.div"(%0, %1) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %2 : tensor<5xf32>
}

// CHECK-LABEL: func.func @fewer_windows(
// CHECK: "adze.gather"
// CHECK: "adze.gather"
// CHECK: "adze.div"

// Elements out of range have values of their own.
func.func @filled(%x: tensor<10xf32>, %y: tensor<10xf32>, %i: tensor<50x1xi32>) -> tensor<50xf32> {
  %0 = "adze.gather"(%x, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<1.0> : tensor<f32>, mode = "fill", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<50x1xi32>) -> tensor<50xf32>
  %1 = "adze.gather"(%y, %i) {collapsed_slice_dims = array<i64: 0>, fill_value = dense<2.0> : tensor<f32>, mode = "fill", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<10xf32>, tensor<50x1xi32>) -> tensor<50xf32>
  %2 = "adze.add"(%0, %1) : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
  return %2 : tensor<50xf32>
}

// CHECK-LABEL: func.func @filled(
// CHECK: "adze.gather"
// CHECK: "adze.gather"
// CHECK: "adze.add"
