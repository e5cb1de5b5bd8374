module @jit_indexed attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x8xf32>, %arg1: tensor<2x2xi32>) -> (tensor<2x8xf32> {jax.result_info = "result[0]"}, tensor<10x8xf32> {jax.result_info = "result[1]"}, tensor<10x8xf32> {jax.result_info = "result[2]"}, tensor<10x8xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2x2xi1>, tensor<2x2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<2x2x1xi32>) -> tensor<2x2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %8 = stablehlo.slice %arg1 [0:2, 0:1] : (tensor<2x2xi32>) -> tensor<2x1xi32>
    %9 = stablehlo.reshape %8 : (tensor<2x1xi32>) -> tensor<2xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_2 = stablehlo.constant dense<10> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %13 = stablehlo.add %9, %12 : tensor<2xi32>
    %14 = stablehlo.select %11, %13, %9 : tensor<2xi1>, tensor<2xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %17 = "stablehlo.scatter"(%arg0, %15, %16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<10x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<10x8xf32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_5 = stablehlo.constant dense<2> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %18, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %cst_6 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %21 = "stablehlo.scatter"(%arg0, %20, %cst_6) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<10x8xf32>, tensor<2xi32>, tensor<f32>) -> tensor<10x8xf32>
    %22 = stablehlo.slice %arg1 [0:2, 0:1] : (tensor<2x2xi32>) -> tensor<2x1xi32>
    %23 = stablehlo.reshape %22 : (tensor<2x1xi32>) -> tensor<2xi32>
    %24 = stablehlo.slice %arg1 [0:2, 1:2] : (tensor<2x2xi32>) -> tensor<2x1xi32>
    %25 = stablehlo.reshape %24 : (tensor<2x1xi32>) -> tensor<2xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %27 = stablehlo.compare LT, %23, %26, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_8 = stablehlo.constant dense<10> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %29 = stablehlo.add %23, %28 : tensor<2xi32>
    %30 = stablehlo.select %27, %29, %23 : tensor<2xi1>, tensor<2xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %32 = stablehlo.compare LT, %25, %31, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_10 = stablehlo.constant dense<8> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.add %25, %33 : tensor<2xi32>
    %35 = stablehlo.select %32, %34, %25 : tensor<2xi1>, tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %38 = stablehlo.concatenate %36, %37, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %40 = "stablehlo.scatter"(%arg0, %38, %39) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.multiply %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<10x8xf32>, tensor<2x2xi32>, tensor<2xf32>) -> tensor<10x8xf32>
    return %7, %17, %21, %40 : tensor<2x8xf32>, tensor<10x8xf32>, tensor<10x8xf32>, tensor<10x8xf32>
  }
}
