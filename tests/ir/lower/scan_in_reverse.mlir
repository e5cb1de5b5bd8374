// On GPUs without kernels of loops: a scan in reverse counts its rows from the last.
// RUN: adze opt %s --pass-pipeline='lower{target=rocm:gfx942},canonicalize' | filecheck %s

func.func private @body(%c: tensor<f32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.add"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func @f(%c: tensor<f32>, %xs: tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  %0, %1 = "adze.scan"(%c, %xs) {body = @body, constant_count = 0 : i64, carry_count = 1 : i64, length = array<i64: 5>, reverse = true, results = [tensor<f32>, tensor<5xf32>]} : (tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>)
  return %0, %1 : tensor<f32>, tensor<5xf32>
}

// CHECK: %5:2 = scf.for %arg2 = %c0 to %c5 step %c1 iter_args(%arg3 = %3, %arg4 = %4) -> (tensor<f32>, tensor<5xf32>) {
// CHECK: %9 = arith.subi %c4, %arg2 : index
// CHECK: %extracted_slice = tensor.extract_slice %arg1[%9] [1] [1] : tensor<5xf32> to tensor<1xf32>
// CHECK: %inserted_slice = tensor.insert_slice %expanded into %8[%9] [1] [1] : tensor<1xf32> into tensor<5xf32>
