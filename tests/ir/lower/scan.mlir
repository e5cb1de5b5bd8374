// On GPUs without kernels of loops: a scan is a loop that carries the state and the stack of results, a row a step.
// RUN: adze opt %s --pass-pipeline='lower{target=rocm:gfx942},canonicalize' | filecheck %s

func.func private @body(%c: tensor<f32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.add"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func @f(%c: tensor<f32>, %xs: tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  %0, %1 = "adze.scan"(%c, %xs) {body = @body, constant_count = 0 : i64, carry_count = 1 : i64, length = array<i64: 5>, reverse = false, results = [tensor<f32>, tensor<5xf32>]} : (tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>)
  return %0, %1 : tensor<f32>, tensor<5xf32>
}

// CHECK: %4 = flow.tensor.alloca : tensor<5xf32>
// CHECK: %5:2 = scf.for %arg2 = %c0 to %c5 step %c1 iter_args(%arg3 = %3, %arg4 = %4) -> (tensor<f32>, tensor<5xf32>) {
// CHECK: %7 = flow.tensor.barrier %arg3 : tensor<f32> on #hal.device.promise<@__device_0>
// CHECK: %8 = flow.tensor.barrier %arg4 : tensor<5xf32> on #hal.device.promise<@__device_0>
// CHECK: %extracted_slice = tensor.extract_slice %arg1[%arg2] [1] [1] : tensor<5xf32> to tensor<1xf32>
// CHECK: %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
// CHECK: %11 = arith.addf %in, %in_0 : f32
// CHECK: %inserted_slice = tensor.insert_slice %expanded into %8[%arg2] [1] [1] : tensor<1xf32> into tensor<5xf32>
// CHECK: scf.yield %10, %inserted_slice : tensor<f32>, tensor<5xf32>
