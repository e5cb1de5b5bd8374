module @jit_running attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<4x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}) {
    %0 = call @cumsum(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %1 = call @cumprod(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %2 = call @cummax(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %3 = stablehlo.slice %arg0 [0:3:2, 0:5] : (tensor<4x5xf32>) -> tensor<2x5xf32>
    %4 = stablehlo.slice %arg0 [1:4:2, 0:5] : (tensor<4x5xf32>) -> tensor<2x5xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x5xf32>
    %6 = stablehlo.slice %5 [0:1:2, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %7 = stablehlo.slice %5 [1:2:2, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x5xf32>
    %9 = stablehlo.slice %8 [0:0, 0:5] : (tensor<1x5xf32>) -> tensor<0x5xf32>
    %10 = stablehlo.slice %5 [2:2:2, 0:5] : (tensor<2x5xf32>) -> tensor<0x5xf32>
    %11 = stablehlo.add %9, %10 : tensor<0x5xf32>
    %12 = stablehlo.slice %5 [0:1, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %13 = stablehlo.concatenate %12, %11, dim = 0 : (tensor<1x5xf32>, tensor<0x5xf32>) -> tensor<1x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.pad %13, %cst, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x5xf32>, tensor<f32>) -> tensor<2x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %8, %cst_0, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x5xf32>, tensor<f32>) -> tensor<2x5xf32>
    %16 = stablehlo.add %14, %15 : tensor<2x5xf32>
    %17 = stablehlo.slice %16 [0:1, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %18 = stablehlo.slice %arg0 [2:4:2, 0:5] : (tensor<4x5xf32>) -> tensor<1x5xf32>
    %19 = stablehlo.add %17, %18 : tensor<1x5xf32>
    %20 = stablehlo.slice %arg0 [0:1, 0:5] : (tensor<4x5xf32>) -> tensor<1x5xf32>
    %21 = stablehlo.concatenate %20, %19, dim = 0 : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.pad %21, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %16, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    %24 = stablehlo.add %22, %23 : tensor<4x5xf32>
    return %0, %1, %2, %24 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
  }
  func.func private @cumsum(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func private @cumprod(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = call @cumprod_1(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  func.func private @cumprod_1(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  func.func private @cummax(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
}
