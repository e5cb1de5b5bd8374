// Steps of loops that are kernels are rewritten; those that the host or each element runs for itself are not.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},join-numbers' | filecheck %s

func.func private @of_kernel(%a: tensor<f32>) -> tensor<f32> {
  %0 = "adze.add"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "adze.add"(%a, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "adze.add"(%a, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = "adze.pow"(%a, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = "adze.pow"(%0, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = "adze.pow"(%1, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %6 = "adze.pow"(%2, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %7 = "adze.add"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %8 = "adze.add"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %9 = "adze.add"(%7, %8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %9 : tensor<f32>
}
func.func private @of_host(%a: tensor<f32>) -> tensor<f32> {
  %0 = "adze.add"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "adze.add"(%a, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "adze.add"(%a, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = "adze.sin"(%a) : (tensor<f32>) -> tensor<f32>
  %4 = "adze.sin"(%0) : (tensor<f32>) -> tensor<f32>
  %5 = "adze.sin"(%1) : (tensor<f32>) -> tensor<f32>
  %6 = "adze.sin"(%2) : (tensor<f32>) -> tensor<f32>
  %7 = "adze.add"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %8 = "adze.add"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %9 = "adze.add"(%7, %8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %9 : tensor<f32>
}
func.func @f(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "adze.scan"(%a) {adze.loop = "kernel: one", body = @of_kernel, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 9>, results = [tensor<f32>], reverse = false} : (tensor<f32>) -> tensor<f32>
  %1 = "adze.scan"(%a) {adze.loop = "host: no", body = @of_host, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 9>, results = [tensor<f32>], reverse = false} : (tensor<f32>) -> tensor<f32>
  %2 = "adze.scan"(%a) {adze.loop = "kernel: each of its elements", body = @of_host, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 9>, results = [tensor<f32>], reverse = false} : (tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func private @of_kernel
// CHECK: %[[SIDE:.*]] = "adze.broadcast_in_dim"
// CHECK: "adze.pow"({{.*}}, %[[SIDE]])
// CHECK-LABEL: func.func private @of_host
// CHECK-NOT: adze.concatenate
// CHECK-LABEL: func.func @f
