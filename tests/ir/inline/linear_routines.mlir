// Once it is not differentiated any more, a linear routine has no transpose.
// RUN: adze opt %s --pass-pipeline='inline,simplify' | filecheck %s

func.func @f(%t: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "adze.linear_routine"(%t, %b) {callee = @solve, kernel = "solve_lower", transposed = @back, transposed_kernel = "solve_upper", results = [tensor<3x2xf32>]} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func private @solve(%t: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "adze.linear_routine"(%t, %b) {callee = @part, kernel = "part", transposed = @back, transposed_kernel = "solve_upper", results = [tensor<3x2xf32>]} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func private @part(%t: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "adze.sin"(%b) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func private @back(%t: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "adze.cos"(%b) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: %0 = "adze.routine"(%arg0, %arg1) {callee = @solve, kernel = "solve_lower", results = [tensor<3x2xf32>]}
// CHECK: func.func private @solve(
// CHECK-NEXT: %0 = "adze.routine"(%arg0, %arg1) {callee = @part, kernel = "part", results = [tensor<3x2xf32>]}
// CHECK: func.func private @part(
// CHECK-NEXT: "adze.sin"
// CHECK-NOT: adze.cos
