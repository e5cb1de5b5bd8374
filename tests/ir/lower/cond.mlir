// A choice between three functions is a chain of two branches, the last function being the rest.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func private @negative(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "adze.neg"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @same(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @f(%i: tensor<i32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "adze.cond"(%i, %x) {branches = [@negative, @same, @twice], results = [tensor<3xf32>]} : (tensor<i32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK: %extracted = tensor.extract %arg0[] : tensor<i32>
// CHECK: %0 = arith.cmpi sle, %extracted, %c0_i32 : i32
// CHECK: %1 = scf.if %0 -> (tensor<3xf32>) {
// CHECK: %5 = arith.negf %in : f32
// CHECK: scf.yield %4 : tensor<3xf32>
// CHECK: } else {
// CHECK: %3 = arith.cmpi sle, %extracted, %c1_i32 : i32
// CHECK: %4 = scf.if %3 -> (tensor<3xf32>) {
// CHECK: scf.yield %arg1 : tensor<3xf32>
// CHECK: } else {
// CHECK: %7 = arith.addf %in, %in_0 : f32
// CHECK: scf.yield %6 : tensor<3xf32>
// CHECK: scf.yield %4 : tensor<3xf32>
