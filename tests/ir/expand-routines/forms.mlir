// A routine stays if there is a kernel for its name, dtype and sizes, but not small ones in a loop.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},expand-routines' | filecheck %s

func.func @f(%x: tensor<4x4xf32>, %y: tensor<?x4x4xf32>, %z: tensor<4x?x?xf32>, %h: tensor<?x4x4xf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4x4xf32>, tensor<4x?x?xf32>, tensor<?x4x4xf16>, tensor<4x4xf32>) {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "adze.routine"(%x) {callee = @callee, kernel = "unheard of", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "adze.routine"(%y) {callee = @counted, kernel = "cholesky", results = [tensor<?x4x4xf32>]} : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  %3 = "adze.routine"(%z) {callee = @open, kernel = "jacobi", results = [tensor<4x?x?xf32>]} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %4 = "adze.routine"(%h) {callee = @half, kernel = "cholesky", results = [tensor<?x4x4xf16>]} : (tensor<?x4x4xf16>) -> tensor<?x4x4xf16>
  %5 = "adze.scan"(%x) {body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4x4xf32>], reverse = false} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4x4xf32>, tensor<4x?x?xf32>, tensor<?x4x4xf16>, tensor<4x4xf32>
}
func.func private @callee(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "adze.sin"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @counted(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  return %x : tensor<?x4x4xf32>
}
func.func private @open(%x: tensor<4x?x?xf32>) -> tensor<4x?x?xf32> {
  %0 = "adze.cos"(%x) : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  return %0 : tensor<4x?x?xf32>
}
func.func private @half(%x: tensor<?x4x4xf16>) -> tensor<?x4x4xf16> {
  %0 = "adze.tanh"(%x) : (tensor<?x4x4xf16>) -> tensor<?x4x4xf16>
  return %0 : tensor<?x4x4xf16>
}
func.func private @step(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<4x4xf32>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.routine"(%arg0) {callee = @callee, kernel = "cholesky"
// CHECK-NEXT: "adze.sin"(%arg0)
// CHECK-NEXT: "adze.routine"(%arg1) {callee = @counted, kernel = "cholesky"
// CHECK-NEXT: "adze.cos"(%arg2)
// CHECK-NEXT: "adze.tanh"(%arg3)
// CHECK-NEXT: "adze.scan"
// CHECK-LABEL: func.func private @step
// CHECK-NEXT: "adze.sin"
