// On GPUs without kernels of loops: a long scan with a small body does eight steps in an iteration, the rest in a second loop.
// RUN: adze opt %s --pass-pipeline='lower{target=rocm:gfx942},canonicalize' | filecheck %s

func.func private @body(%c: tensor<f32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.add"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func @f(%c: tensor<f32>, %xs: tensor<19xf32>) -> (tensor<f32>, tensor<19xf32>) {
  %0, %1 = "adze.scan"(%c, %xs) {body = @body, constant_count = 0 : i64, carry_count = 1 : i64, length = array<i64: 19>, reverse = false, results = [tensor<f32>, tensor<19xf32>]} : (tensor<f32>, tensor<19xf32>) -> (tensor<f32>, tensor<19xf32>)
  return %0, %1 : tensor<f32>, tensor<19xf32>
}

// CHECK: %c19 = arith.constant 19 : index
// CHECK: %c8 = arith.constant 8 : index
// CHECK: %c16 = arith.constant 16 : index
// CHECK: %5:2 = scf.for %arg2 = %c0 to %c16 step %c8 iter_args(%arg3 = %3, %arg4 = %4) -> (tensor<f32>, tensor<19xf32>) {
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %12 = arith.addi %arg2, %c1 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %15 = arith.addi %arg2, %c2 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %18 = arith.addi %arg2, %c3 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %21 = arith.addi %arg2, %c4 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %24 = arith.addi %arg2, %c5 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %27 = arith.addi %arg2, %c6 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: %30 = arith.addi %arg2, %c7 : index
// CHECK: %33 = arith.addf %in, %in_28 : f32
// CHECK: scf.yield %32, %inserted_slice_27 : tensor<f32>, tensor<19xf32>
// CHECK: %6:2 = scf.for %arg2 = %c16 to %c19 step %c1 iter_args(%arg3 = %5#0, %arg4 = %5#1) -> (tensor<f32>, tensor<19xf32>) {
// CHECK: %12 = arith.addf %in, %in_0 : f32
// CHECK: scf.yield %11, %inserted_slice : tensor<f32>, tensor<19xf32>
