// A loop of small steps is marked for a kernel; the loop in its body is part of that kernel and has no mark.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.scan"(%x) {body = @outer, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.scan"(%x) {body = @inner, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 5>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: "adze.scan"(%arg0) {adze.loop = "kernel: a step takes about {{.*}} ns in a kernel, 18 us on the host"
// CHECK-LABEL: func.func private @outer
// CHECK: "adze.scan"(%arg0) {body = @inner
