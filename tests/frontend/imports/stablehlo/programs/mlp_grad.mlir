module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32x5xf32>, %arg3: tensor<5xf32>, %arg4: tensor<6x4xf32>) -> (tensor<4x32xf32> {jax.result_info = "result[0]"}, tensor<32x5xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x32xf32>) -> tensor<6x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<6x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<6x32xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<6x32xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<6x32xf32>
    %6 = stablehlo.multiply %3, %3 : tensor<6x32xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<6x32xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<6x32xf32>
    %11 = stablehlo.add %3, %10 : tensor<6x32xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<6x32xf32>
    %14 = stablehlo.tanh %13 : tensor<6x32xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<6x32xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %18 = stablehlo.add %17, %14 : tensor<6x32xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<6x32xf32>
    %21 = stablehlo.multiply %3, %20 : tensor<6x32xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x32xf32>, tensor<32x5xf32>) -> tensor<6x5xf32>
    %23 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<6x5xf32>
    %25 = stablehlo.add %22, %24 : tensor<6x5xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_5) applies stablehlo.maximum across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<6xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x5xf32>
    %31 = stablehlo.subtract %25, %30 : tensor<6x5xf32>
    %32 = stablehlo.exponential %31 : tensor<6x5xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %35 = stablehlo.multiply %34, %34 : tensor<6x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %37 = stablehlo.divide %36, %35 : tensor<6x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.pad %39, %cst_10, low = [0, 0], high = [0, 4], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x5xf32>
    %41 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x5xf32>
    %42 = stablehlo.multiply %40, %41 : tensor<6x5xf32>
    %43 = stablehlo.multiply %42, %32 : tensor<6x5xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_11) applies stablehlo.add across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
    %45 = stablehlo.reshape %44 : (tensor<6xf32>) -> tensor<6x1xf32>
    %46 = stablehlo.negate %45 : tensor<6x1xf32>
    %47 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x5xf32>
    %48 = stablehlo.divide %40, %47 : tensor<6x5xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%46 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<6xf32>) -> tensor<6x5xf32>
    %51 = stablehlo.add %48, %50 : tensor<6x5xf32>
    %52 = stablehlo.multiply %51, %32 : tensor<6x5xf32>
    %53 = stablehlo.dot_general %52, %21, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x5xf32>, tensor<6x32xf32>) -> tensor<5x32xf32>
    %54 = stablehlo.transpose %53, dims = [1, 0] : (tensor<5x32xf32>) -> tensor<32x5xf32>
    %55 = stablehlo.dot_general %52, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<6x5xf32>, tensor<32x5xf32>) -> tensor<6x32xf32>
    %56 = stablehlo.multiply %3, %55 : tensor<6x32xf32>
    %57 = stablehlo.multiply %55, %20 : tensor<6x32xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %59 = stablehlo.multiply %58, %56 : tensor<6x32xf32>
    %60 = stablehlo.multiply %59, %16 : tensor<6x32xf32>
    %61 = stablehlo.multiply %60, %14 : tensor<6x32xf32>
    %62 = stablehlo.add %60, %61 : tensor<6x32xf32>
    %cst_14 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %64 = stablehlo.multiply %63, %62 : tensor<6x32xf32>
    %65 = stablehlo.add %57, %64 : tensor<6x32xf32>
    %cst_15 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %67 = stablehlo.multiply %66, %64 : tensor<6x32xf32>
    %68 = stablehlo.multiply %67, %8 : tensor<6x32xf32>
    %69 = stablehlo.add %65, %68 : tensor<6x32xf32>
    %70 = stablehlo.dot_general %69, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x32xf32>, tensor<6x4xf32>) -> tensor<32x4xf32>
    %71 = stablehlo.transpose %70, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
    return %71, %54 : tensor<4x32xf32>, tensor<32x5xf32>
  }
}
