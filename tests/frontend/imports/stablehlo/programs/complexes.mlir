module @jit_complexes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<2x5xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %arg0 [1:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.convert %3 : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
    %6 = stablehlo.multiply %5, %4 : tensor<8xcomplex<f32>>
    %7 = stablehlo.convert %1 : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
    %8 = stablehlo.add %7, %6 : tensor<8xcomplex<f32>>
    %9 = stablehlo.abs %8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %10 = call @angle(%8) : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %11 = stablehlo.exponential %8 : tensor<8xcomplex<f32>>
    %12 = stablehlo.real %8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %13 = stablehlo.imag %8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %14 = stablehlo.negate %13 : tensor<8xf32>
    %15 = stablehlo.complex %12, %14 : tensor<8xcomplex<f32>>
    %16 = stablehlo.multiply %11, %15 : tensor<8xcomplex<f32>>
    %17 = call @fft(%arg0) : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    %18 = call @fft_0(%8) : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %19 = stablehlo.real %18 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    return %9, %10, %16, %17, %19 : tensor<8xf32>, tensor<8xf32>, tensor<8xcomplex<f32>>, tensor<2x5xcomplex<f32>>, tensor<8xf32>
  }
  func.func private @angle(%arg0: tensor<8xcomplex<f32>>) -> tensor<8xf32> {
    %0 = stablehlo.real %arg0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %1 = stablehlo.imag %arg0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func private @fft(%arg0: tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    return %0 : tensor<2x5xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
}
