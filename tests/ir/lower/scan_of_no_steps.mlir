// A scan of no steps returns its carry and an empty stack: there is no loop.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func private @body(%c: tensor<f32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.add"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func @f(%c: tensor<f32>, %xs: tensor<0xf32>) -> (tensor<f32>, tensor<0xf32>) {
  %0, %1 = "adze.scan"(%c, %xs) {body = @body, constant_count = 0 : i64, carry_count = 1 : i64, length = array<i64: 0>, reverse = false, results = [tensor<f32>, tensor<0xf32>]} : (tensor<f32>, tensor<0xf32>) -> (tensor<f32>, tensor<0xf32>)
  return %0, %1 : tensor<f32>, tensor<0xf32>
}

// CHECK: %0 = flow.tensor.alloca : tensor<0xf32>
// CHECK: return %arg0, %0 : tensor<f32>, tensor<0xf32>
