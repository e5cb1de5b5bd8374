module @jit_narrow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xi32>) -> (tensor<3xbf16> {jax.result_info = "result[0]"}, tensor<3xf16> {jax.result_info = "result[1]"}, tensor<3xi8> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}, tensor<3xi1> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<[1.000980e-01, 2.001950e-01, 3.007810e-01]> : tensor<3xbf16>
    %0 = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xbf16>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<3xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<3xbf16>
    %3 = stablehlo.add %2, %cst : tensor<3xbf16>
    %4 = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xf16>
    %5 = stablehlo.convert %arg1 : (tensor<3xi32>) -> tensor<3xi8>
    %6 = stablehlo.reduce_precision %arg0, format = e5m3 : tensor<3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.compare GT, %arg0, %7, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    return %3, %4, %5, %6, %8 : tensor<3xbf16>, tensor<3xf16>, tensor<3xi8>, tensor<3xf32>, tensor<3xi1>
  }
}
