// On GPUs without kernels of loops: where sizes are static, an iteration of a while loop computes the next state and its condition.
// RUN: adze opt %s --pass-pipeline='lower{target=rocm:gfx942},canonicalize' | filecheck %s

func.func private @condition(%i: tensor<i32>, %x: tensor<3xf32>) -> tensor<i1> {
  %0 = "adze.constant"() {value = dense<9> : tensor<i32>, dtype = i32} : () -> tensor<i32>
  %1 = "adze.compare"(%i, %0) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %x: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  %0 = "adze.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "adze.neg"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<i32>, tensor<3xf32>
}
func.func @f(%i: tensor<i32>, %x: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  %0, %1 = "adze.while"(%i, %x) {condition = @condition, body = @body, condition_constants = 0 : i64, body_constants = 0 : i64, saved_states = 0 : i64} : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
  return %0, %1 : tensor<i32>, tensor<3xf32>
}

// CHECK: %12 = arith.cmpi slt, %in, %in_0 : i32
// CHECK: %10:3 = scf.while (%arg2 = %3, %arg3 = %7, %arg4 = %9) : (tensor<i32>, tensor<3xf32>, tensor<i1>) -> (tensor<i32>, tensor<3xf32>, tensor<i1>) {
// CHECK: scf.condition(%extracted) %arg2, %arg3, %arg4 : tensor<i32>, tensor<3xf32>, tensor<i1>
// CHECK: %23 = arith.addi %in, %in_0 : i32
// CHECK: %23 = arith.negf %in : f32
// CHECK: %23 = arith.cmpi slt, %in, %in_0 : i32
// CHECK: %23 = arith.andi %in, %in_0 : i1
// CHECK: scf.yield %16, %18, %22 : tensor<i32>, tensor<3xf32>, tensor<i1>
