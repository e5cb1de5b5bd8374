// Where a size is dynamic, a while loop of the host computes its condition first, then the next state.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:lavapipe},canonicalize' | filecheck %s

func.func private @condition(%i: tensor<i32>, %x: tensor<?xf32>) -> tensor<i1> {
  %0 = "adze.constant"() {value = dense<9> : tensor<i32>, dtype = i32} : () -> tensor<i32>
  %1 = "adze.compare"(%i, %0) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %x: tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) {
  %0 = "adze.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "adze.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<i32>, tensor<?xf32>
}
func.func @f(%i: tensor<i32>, %x: tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) {
  %0, %1 = "adze.while"(%i, %x) {condition = @condition, body = @body, condition_constants = 0 : i64, body_constants = 0 : i64, saved_states = 0 : i64} : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>)
  return %0, %1 : tensor<i32>, tensor<?xf32>
}

// CHECK: %1 = flow.tensor.tie_shape %arg1 : tensor<?xf32>{%0}
// CHECK: %10:2 = scf.while (%arg2 = %5, %arg3 = %9) : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) {
// CHECK: %16 = arith.cmpi slt, %in, %in_0 : i32
// CHECK: scf.condition(%extracted) %arg2, %arg3 : tensor<i32>, tensor<?xf32>
// CHECK: } do {
// CHECK: %13 = flow.tensor.tie_shape %arg3 : tensor<?xf32>{%0}
// CHECK: %20 = arith.addi %in, %in_0 : i32
// CHECK: %20 = arith.negf %in : f32
// CHECK: scf.yield %17, %19 : tensor<i32>, tensor<?xf32>
// CHECK: %11 = flow.tensor.tie_shape %10#1 : tensor<?xf32>{%0}
