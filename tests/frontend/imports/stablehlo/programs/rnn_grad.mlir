module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32>, %arg1: tensor<5x2x4xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<4x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x2x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x2x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:8 = stablehlo.while(%iterArg = %arg1, %iterArg_6 = %arg2, %iterArg_7 = %arg3, %iterArg_8 = %c, %iterArg_9 = %arg0, %iterArg_10 = %0, %iterArg_11 = %1, %iterArg_12 = %2) : tensor<5x2x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>
    cond {
      %c_13 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg_8, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<5x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %9:4 = func.call @closed_call(%iterArg_6, %iterArg_7, %iterArg_9, %8) : (tensor<8x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
      %10 = func.call @dynamic_update_index_in_dim(%iterArg_10, %9#1, %iterArg_8) : (tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<i32>) -> tensor<5x2x8xf32>
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_11, %9#2, %iterArg_8) : (tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<i32>) -> tensor<5x2x8xf32>
      %12 = func.call @dynamic_update_index_in_dim(%iterArg_12, %9#3, %iterArg_8) : (tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<i32>) -> tensor<5x2x8xf32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %iterArg_8, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_6, %iterArg_7, %13, %9#0, %10, %11, %12 : tensor<5x2x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>
    }
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x2x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %7:8 = stablehlo.while(%iterArg = %4, %iterArg_6 = %3#5, %iterArg_7 = %3#6, %iterArg_8 = %3#7, %iterArg_9 = %arg2, %iterArg_10 = %c_5, %iterArg_11 = %6, %iterArg_12 = %5) : tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<2x8xf32>
    cond {
      %c_13 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg_10, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_13 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.subtract %c_13, %iterArg_10 : tensor<i32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.subtract %8, %c_14 : tensor<i32>
      %10 = func.call @dynamic_index_in_dim_0(%iterArg, %9) : (tensor<5x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
      %11 = func.call @dynamic_index_in_dim_0(%iterArg_6, %9) : (tensor<5x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
      %12 = func.call @dynamic_index_in_dim_0(%iterArg_7, %9) : (tensor<5x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
      %13 = func.call @dynamic_index_in_dim_0(%iterArg_8, %9) : (tensor<5x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
      %14:2 = func.call @closed_call_1(%iterArg_9, %iterArg_11, %iterArg_12, %10, %11, %12, %13) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<2x8xf32>)
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.add %iterArg_10, %c_15 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %15, %14#0, %14#1 : tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<2x8xf32>
    }
    return %7#6 : tensor<8x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 4] : (tensor<5x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<2x8xf32>, %arg3: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x8xf32>
    %3 = stablehlo.tanh %2 : tensor<2x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<2x8xf32>
    return %3, %arg2, %3, %5 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x2x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i32>) -> tensor<5x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x8xf32>
    return %1 : tensor<5x2x8xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<5x2x8xf32>, %arg1: tensor<i32>) -> tensor<2x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 8] : (tensor<5x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<2x8xf32>, %arg3: tensor<2x8xf32>, %arg4: tensor<2x8xf32>, %arg5: tensor<2x8xf32>, %arg6: tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<2x8xf32>) {
    %0 = stablehlo.add %arg2, %arg3 : tensor<2x8xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<2x8xf32>
    %2 = stablehlo.multiply %1, %arg5 : tensor<2x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x8xf32>
    %4 = stablehlo.dot_general %3, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.add %arg1, %5 : tensor<8x8xf32>
    %7 = stablehlo.dot_general %3, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    return %6, %7 : tensor<8x8xf32>, tensor<2x8xf32>
  }
}
