// A GPU has no kernels of routines: the ops of a callee, and of the routines in it, take their place.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:turing},expand-routines' | filecheck %s

func.func @f(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %0 = "adze.routine"(%x) {callee = @outer, kernel = "cholesky", results = [tensor<40x40xf32>]} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}
func.func private @outer(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %0 = "adze.linear_routine"(%x, %x) {callee = @inner, kernel = "solve_lower", transposed = @inner, transposed_kernel = "solve_lower_transposed", results = [tensor<40x40xf32>]} : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = "adze.cos"(%0) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  return %1 : tensor<40x40xf32>
}
func.func private @inner(%x: tensor<40x40xf32>, %y: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %0 = "adze.mul"(%x, %y) : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.mul"
// CHECK-NEXT: "adze.cos"
// CHECK-NEXT: return
// CHECK-NOT: func.func
