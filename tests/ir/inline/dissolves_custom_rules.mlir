// Once it is not differentiated any more, a function with a rule of its own is its body.
// RUN: adze opt %s --pass-pipeline='inline,simplify' | filecheck %s

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.custom_jvp_call"(%x) {callee = @body, rule = @rule, closed_over = 0 : i64, results = [tensor<f32>]} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  %0 = "adze.floor"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @rule(%x: tensor<f32>, %dx: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.floor"(%x) : (tensor<f32>) -> tensor<f32>
  return %0, %dx : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %0 = "adze.floor"(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %0 : tensor<f32>
