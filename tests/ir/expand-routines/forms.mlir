// A routine stays where there is a kernel for its name and static sizes, but not on small matrices in a loop.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},expand-routines' | filecheck %s

func.func @f(%x: tensor<4x4xf32>, %y: tensor<?x4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4x4xf32>, tensor<4x4xf32>) {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "adze.routine"(%x) {callee = @callee, kernel = "unheard of", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "adze.routine"(%y) {callee = @open, kernel = "cholesky", results = [tensor<?x4x4xf32>]} : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  %3 = "adze.scan"(%x) {body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4x4xf32>], reverse = false} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4x4xf32>, tensor<4x4xf32>
}
func.func private @callee(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "adze.sin"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @open(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %0 = "adze.cos"(%x) : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %0 : tensor<?x4x4xf32>
}
func.func private @step(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.routine"(%arg0) {callee = @callee, kernel = "cholesky"
// CHECK-NEXT: "adze.sin"(%arg0)
// CHECK-NEXT: "adze.cos"(%arg1)
// CHECK-NEXT: "adze.scan"
// CHECK-LABEL: func.func private @step
// CHECK-NEXT: "adze.sin"
