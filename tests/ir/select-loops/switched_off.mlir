// With kernels=off every loop stays on the host.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops{kernels=off}' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.scan"(%x) {body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: adze.loop = "host: kernels of loops are switched off"
