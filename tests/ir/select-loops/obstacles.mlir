// Loops with effects or ops that kernels do not have stay on the host, and say so.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "adze.scan"(%x) {body = @sorts, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "adze.scan"(%x) {body = @checks, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}
func.func private @sorts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sort"(%x) {axis = 0 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @checks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.is_finite"(%x) : (tensor<4xf32>) -> tensor<4xi1>
  %1 = "adze.reduce_and"(%0) {axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  "adze.check"(%1) {message = "a number is not finite"} : (tensor<i1>) -> ()
  return %x : tensor<4xf32>
}

// CHECK: adze.loop = "host: adze.sort has no form in kernels"
// CHECK: adze.loop = "host: adze.check has an effect"
