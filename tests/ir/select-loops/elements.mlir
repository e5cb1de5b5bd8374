// A loop computes each element for itself only where elements that are done stay what they are as long as others go on.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops' | filecheck %s

func.func @f(%x: tensor<40xi32>) -> (tensor<40xi32>, tensor<40xi32>, tensor<40xi32>) {
  %0 = "adze.while"(%x) {body = @masked, body_constants = 0 : i64, condition = @any, condition_constants = 0 : i64, saved_states = 0 : i64} : (tensor<40xi32>) -> tensor<40xi32>
  %1 = "adze.while"(%x) {body = @every, body_constants = 0 : i64, condition = @any, condition_constants = 0 : i64, saved_states = 0 : i64} : (tensor<40xi32>) -> tensor<40xi32>
  %2 = "adze.scan"(%x) {body = @reversed, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<40xi32>], reverse = false} : (tensor<40xi32>) -> tensor<40xi32>
  return %0, %1, %2 : tensor<40xi32>, tensor<40xi32>, tensor<40xi32>
}
func.func private @any(%x: tensor<40xi32>) -> tensor<i1> {
  %0 = "adze.constant"() {dtype = i32, value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 40>} : (tensor<i32>) -> tensor<40xi32>
  %2 = "adze.compare"(%x, %1) {direction = "LT"} : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
  %3 = "adze.reduce_or"(%2) {axes = array<i64: 0>} : (tensor<40xi1>) -> tensor<i1>
  return %3 : tensor<i1>
}
func.func private @masked(%x: tensor<40xi32>) -> tensor<40xi32> {
  %0 = "adze.constant"() {dtype = i32, value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 40>} : (tensor<i32>) -> tensor<40xi32>
  %2 = "adze.compare"(%x, %1) {direction = "LT"} : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
  %3 = "adze.convert"(%2) {dtype = i32} : (tensor<40xi1>) -> tensor<40xi32>
  %4 = "adze.add"(%x, %3) : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  return %4 : tensor<40xi32>
}
func.func private @every(%x: tensor<40xi32>) -> tensor<40xi32> {
  %0 = "adze.add"(%x, %x) : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  return %0 : tensor<40xi32>
}
func.func private @reversed(%x: tensor<40xi32>) -> tensor<40xi32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 0>} : (tensor<40xi32>) -> tensor<40xi32>
  return %0 : tensor<40xi32>
}

// CHECK-LABEL: func.func @f
// CHECK: adze.loop = "kernel: each of its 40 elements runs by itself, in registers"{{.*}}body = @masked
// CHECK: adze.loop = "kernel: a step takes about{{.*}}body = @every
// CHECK: adze.loop = "kernel: a step takes about{{.*}}body = @reversed
