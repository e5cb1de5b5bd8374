// Branches yield their dynamic sizes beside their values.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4}' | filecheck %s

func.func private @negative(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @same(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @f(%i: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.cond"(%i, %x) {branches = [@negative, @same], results = [tensor<?xf32>]} : (tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: %dim = tensor.dim %arg1, %c0 : tensor<?xf32>
// CHECK: %1 = flow.tensor.tie_shape %arg1 : tensor<?xf32>{%0}
// CHECK: %3:2 = scf.if %2 -> (tensor<?xf32>, index) {
// CHECK: %dim_1 = tensor.dim %1, %c0_0 : tensor<?xf32>
// CHECK: %dim_3 = tensor.dim %7, %c0_2 : tensor<?xf32>
// CHECK: scf.yield %7, %dim_3 : tensor<?xf32>, index
// CHECK: %dim_1 = tensor.dim %1, %c0_0 : tensor<?xf32>
// CHECK: scf.yield %1, %dim_1 : tensor<?xf32>, index
// CHECK: %4 = flow.tensor.tie_shape %3#0 : tensor<?xf32>{%3#1}
