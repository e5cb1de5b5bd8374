module @jit_special attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf32>) -> (tensor<7xf32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}, tensor<7xf32> {jax.result_info = "result[2]"}, tensor<7xf32> {jax.result_info = "result[3]"}, tensor<7xf32> {jax.result_info = "result[4]"}, tensor<7xf32> {jax.result_info = "result[5]"}, tensor<7xf32> {jax.result_info = "result[6]"}, tensor<7xf32> {jax.result_info = "result[7]"}, tensor<7xf32> {jax.result_info = "result[8]"}, tensor<7xf32> {jax.result_info = "result[9]"}, tensor<7xf32> {jax.result_info = "result[10]"}, tensor<7xf32> {jax.result_info = "result[11]"}, tensor<7xf32> {jax.result_info = "result[12]"}, tensor<7xf32> {jax.result_info = "result[13]"}, tensor<7xf32> {jax.result_info = "result[14]"}) {
    %0 = stablehlo.abs %arg0 : tensor<7xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.add %0, %1 : tensor<7xf32>
    %3 = stablehlo.tanh %arg0 : tensor<7xf32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<7xf32>
    %6 = chlo.erf %arg0 : tensor<7xf32> -> tensor<7xf32>
    %7 = chlo.erfc %arg0 : tensor<7xf32> -> tensor<7xf32>
    %8 = chlo.erf_inv %5 : tensor<7xf32> -> tensor<7xf32>
    %9 = chlo.lgamma %2 : tensor<7xf32> -> tensor<7xf32>
    %10 = chlo.digamma %2 : tensor<7xf32> -> tensor<7xf32>
    %11 = stablehlo.atan2 %arg0, %2 : tensor<7xf32>
    %12 = chlo.asinh %arg0 : tensor<7xf32> -> tensor<7xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %14 = stablehlo.add %2, %13 : tensor<7xf32>
    %15 = call @arccosh(%14) : (tensor<7xf32>) -> tensor<7xf32>
    %16 = chlo.atanh %5 : tensor<7xf32> -> tensor<7xf32>
    %17 = stablehlo.cbrt %arg0 : tensor<7xf32>
    %18 = stablehlo.exponential_minus_one %arg0 : tensor<7xf32>
    %19 = stablehlo.log_plus_one %2 : tensor<7xf32>
    %20 = stablehlo.negate %arg0 : tensor<7xf32>
    %21 = stablehlo.exponential %20 : tensor<7xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %23 = stablehlo.add %22, %21 : tensor<7xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %25 = stablehlo.divide %24, %23 : tensor<7xf32>
    %26 = chlo.sinh %arg0 : tensor<7xf32> -> tensor<7xf32>
    %27 = chlo.asin %5 : tensor<7xf32> -> tensor<7xf32>
    return %6, %7, %8, %9, %10, %11, %12, %15, %16, %17, %18, %19, %25, %26, %27 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
  }
  func.func private @arccosh(%arg0: tensor<7xf32>) -> tensor<7xf32> {
    %0 = chlo.acosh %arg0 : tensor<7xf32> -> tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}
